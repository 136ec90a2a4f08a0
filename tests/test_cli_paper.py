# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.cli import main
from harness.paper import table2
from harness.paper.ledger import State
from harness.paper.stated import TABLE2


@pytest.mark.parametrize("name", ["table2", "table5", "table6"])
def test_tables(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", name]) == 0
    assert "cells equal the paper's" in capsys.readouterr().out
    assert main(["paper", name, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    assert answer["equal"] is True
    assert all(row["ours"] == row["paper"] for row in (*answer["rows"], *answer["facts"]))


def test_a_wrong_cell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (replace(TABLE2[0], published=532), *TABLE2[1:])
    monkeypatch.setattr(table2, "TABLE2", rows)
    assert main(["paper", "table2"]) == 1
    out = capsys.readouterr().out
    assert "531 (paper: 532)" in out
    assert "1 of 46 cells differ:" in out
    assert main(["paper", "table2", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["equal"] is False


def test_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "ledger"]) == 0
    assert "not-yet-measured" in capsys.readouterr().out
    assert main(["paper", "ledger", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert {entry["state"] for entry in entries} <= {state.value for state in State}
