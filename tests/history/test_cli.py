# SPDX-License-Identifier: Apache-2.0
"""`ripbench history`: every action as text and as JSON, and what is said of wrong words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.history import Recorder
from harness.history.export import FORMATS
from harness.results import Failure
from tests.history.support import PROVENANCE, VERDICT, keep, verdict

EVIL = "\x1b[2J\u202e=cmd()"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of two verdicts, and one that was killed, with names that no boards.yaml takes."""
    path = tmp_path / "history.sqlite"
    keep(path, VERDICT, verdict(plan="dual", ok=True), cycles=[1000, 903, 900])
    recorder = Recorder(path)
    recorder.verdict(
        verdict(layer=EVIL, plan=EVIL, provenance=replace(PROVENANCE, board=EVIL)),
        None,
        kernels=EVIL,
    )
    recorder.failure(Failure(EVIL, "odd", "rip", "ProbeError", EVIL, EVIL, 1))
    recorder.close()
    return path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], path: Path) -> Any:
    def call(*words: str, status: int = 0) -> str:
        assert main(["history", *words, "--history", str(path)]) == status
        out, err = capsys.readouterr()
        assert err == "" or status
        return out + err

    return call


def test_runs(said: Any) -> None:
    rows = [line.split() for line in said("runs").splitlines()[2:]]
    assert [row[-4:] for row in rows] == [["2", "1", "0", "passed"], ["1", "did", "not", "end"]]
    found = json.loads(said("runs", "--json"))
    assert (found["version"], [run["verdicts"] for run in found["runs"]]) == (1, [2, 1])
    assert [run["info"]["status"] for run in found["runs"]] == ["passed", ""]
    assert found["failures"][0]["failure"]["message"] == EVIL


def test_series(said: Any) -> None:
    assert len(said("series").splitlines()) == 2 + 3
    found = json.loads(said("series", "--json", "--board", "desk", "--plan", "rip"))
    assert [(key["case"], key["plan"], key["clock_hz"]) for key in found["series"]] == [
        ("odd", "rip", 125_000_000)
    ]


def test_show(said: Any) -> None:
    text = said("show", "odd", "--plan", "rip")
    assert "odd rip on desk, board: rp2040 at 125000000 Hz, kernels plain, gcc 12.2" in text
    (row,) = (line.split() for line in text.splitlines() if line.rstrip().endswith("fail"))
    assert row[-6:] == ["901", "3", "1000", "12", "18", "fail"]
    found = json.loads(said("show", "odd", "--json"))
    assert [of["key"]["plan"] for of in found["series"]] == ["dual", "rip"]
    assert [p["samples"] for of in found["series"] for p in of["points"]] == [[903, 900]] * 2
    assert "no such series of 'even'" in said("show", "even", status=1)


@pytest.mark.parametrize("form", FORMATS)
def test_export(said: Any, path: Path, form: str) -> None:
    text = said("export", "--format", form, "--run", "1")
    out = path.with_name("out")
    assert said("export", "--format", form, "--run", "1", "--output", str(out)) == ""
    written = out.read_text()
    if form == "pytest-benchmark":
        documents = [json.loads(document) for document in (text, written)]
        for document in documents:
            del document["datetime"]
        assert documents[0] == documents[1]
        assert [len(b["stats"]["data"]) for b in documents[0]["benchmarks"]] == [2, 2]
    else:
        assert written == text
        assert len(text.splitlines()) == {"jsonl": 2, "csv": 3}[form]
    assert "has no run 9" in said("export", "--run", "9", status=1)
    assert "cannot be written" in said("export", "--output", str(path / "x"), status=1)


def test_import(said: Any, path: Path) -> None:
    lines = path.with_name("lines.jsonl")
    lines.write_text(said("export"))
    assert "0 verdicts and 0 failures added" in said("import", str(lines))
    lines.write_text(lines.read_text().replace('"uid": "', '"uid": "x'))
    found = json.loads(said("import", str(lines), "--json"))
    assert found == {"version": 1, "verdicts": 3, "failures": 1, "known": 0}
    assert "cannot be read" in said("import", str(path.with_name("none")), status=1)


def test_check_and_prune(said: Any, path: Path) -> None:
    assert said("check") == f"{path} is whole\n"
    assert json.loads(said("check", "--json")) == {"version": 1, "problems": []}
    assert "would go" in said("prune", "--older-than", "1d", "--dry-run")
    gone = json.loads(said("prune", "--max-bytes", "2k", "--older-than", "30d", "--json"))
    assert (gone["runs"], gone["files"], gone["dry_run"]) == (0, 0, False)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(4096) + data[8192:])
    assert said("check", status=1) != f"{path} is whole\n"


@pytest.mark.parametrize(
    "words",
    [[], ["walk"], ["show"], ["export", "--format", "xml"], ["prune", "--older-than", "2x"],
     ["prune", "--max-bytes", "-1"], ["export", "--run", "x"]],
    ids=" ".join,
)  # fmt: skip
def test_wrong_words(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["history", *words])
    assert caught.value.code == 2


def test_prune_without_a_measure(said: Any) -> None:
    assert "--older-than 90d" in said("prune", status=2)


@pytest.mark.parametrize("action", ["runs", "series", "check", "export", "prune --max-bytes 0"])
def test_no_history(tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str) -> None:
    words = [*action.split(), "--history", str(tmp_path / "none.sqlite")]
    assert main(["history", *words]) == 1
    assert "there is no history" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("action", ["runs", "series", "check", "export", "export --format csv"])
def test_hostile_names_do_nothing(said: Any, action: str) -> None:
    text = said(*action.split())
    assert all(c.isprintable() or c == "\n" for c in text)


def test_hostile_names_in_a_table(said: Any) -> None:
    text = said("show", EVIL)
    assert "?[2J?=cmd()" in text and all(c.isprintable() or c == "\n" for c in text)
