# SPDX-License-Identifier: Apache-2.0
"""`ripbench sweep`."""

from __future__ import annotations

import json

import pytest

from harness.cli import main
from harness.paper.stated import TABLE5


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "-n", "300", "--seed", "4", "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "of 300 layers" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["rip", "dense", "gather", "exact", "0", "300", "0", "yes"] in lines
    assert "NO" not in out


def test_json_is_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    outs = []
    for jobs in ("1", "2"):
        assert main(["sweep", "-n", "500", "--jobs", jobs, "--json"]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]
    answer = json.loads(outs[0])
    assert answer["version"] == 1
    assert answer["holds"] is True
    assert (answer["count"], answer["seed"]) == (500, 1)
    assert sum(answer["generators"].values()) == 500
    assert len(answer["verdicts"]) == 12


def test_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--generators"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [row.generator for row in TABLE5]


@pytest.mark.parametrize("words", [["-n", "0"], ["--jobs", "0"], ["-n", "2000000"]])
def test_out_of_range(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *words]) == 1
    assert "is not within" in capsys.readouterr().err
