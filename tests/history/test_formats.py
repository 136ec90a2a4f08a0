# SPDX-License-Identifier: Apache-2.0
"""JSON lines, CSV and pytest-benchmark's JSON, and what hostile names do in them: nothing."""

from __future__ import annotations

import csv
import io
import json
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.history import append, points, read, read_failures, reading, runs, series, writing
from harness.history.benchmarkjson import benchmark_stats
from harness.history.export import export
from harness.history.lines import Imported, import_lines, verdict_lines
from harness.paper.cost import RECORD, cost
from harness.results import Failure
from tests.history.support import PROVENANCE, VERDICT, keep, verdict

FAILURE = Failure("desk", "odd", "rip", "ProbeError", "gone", "unplugged", 1)
EVIL = (
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    'a"b,c\n=d',
    "\x1b[2J",
    "<script>",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


def _text(path: Path, form: str, run: int | None = None) -> str:
    with reading(path) as db:
        return "".join(export(db, form, run))


# ---- JSON lines ----


def test_lines_are_imported_as_they_were_exported(path: Path, tmp_path: Path) -> None:
    """By another history, twice: all of it once."""
    keep(path, VERDICT, verdict(plan="dual", ratio=None), cycles=[1000, 903, 900])
    keep(path, VERDICT, end=False)
    with writing(path) as db:
        append(tmp_path / "failure.jsonl", FAILURE)
        import_lines(db, tmp_path / "failure.jsonl")
    lines, other = tmp_path / "lines.jsonl", tmp_path / "other.sqlite"
    lines.write_text(_text(path, "jsonl"))
    with writing(other) as db:
        assert import_lines(db, lines) == Imported(verdicts=3, failures=1)
        assert import_lines(db, lines) == Imported(known=4)
    assert _text(other, "jsonl") == lines.read_text()
    with reading(path) as here, reading(other) as there:
        assert runs(here) == runs(there)
        for key in series(here):
            assert points(here, key) == points(there, key)
    assert len(list(read(lines))) == 3 and len(list(read_failures(lines))) == 1


def test_the_papers_record_is_a_history(path: Path) -> None:
    """Lines of before there was a database: cost reads them as well from one."""
    with writing(path) as db:
        found = import_lines(db, RECORD, "plain")
        assert found.verdicts == len(list(read(RECORD))) > 40
        assert {key.kernels for key in series(db)} == {"plain"}
        assert [row.info.status for row in runs(db)] == ["imported"]
        (point, *_) = points(db, series(db)[0])
    assert point.samples == (point.cycles,) and point.run_ended
    assert cost(path) == cost(RECORD)


@pytest.mark.parametrize(
    "line",
    [
        "{}", "[]", '{"version": 1}', '{"version": 2}', "\x00",
        json.dumps({"version": 1, "time": 5, "error": "x"}),
        json.dumps({"version": 1, "error": "x", "board": ["b"]}),
    ],
)  # fmt: skip
def test_one_bad_line_and_nothing_is_imported(path: Path, tmp_path: Path, line: str) -> None:
    keep(path, VERDICT)
    lines = tmp_path / "lines.jsonl"
    lines.write_text(_text(path, "jsonl").replace('"uid": "', '"uid": "x') + line + "\n")
    with writing(path) as db:
        with pytest.raises(ConfigError, match=r"lines\.jsonl:2 ") as caught:
            import_lines(db, lines)
        assert runs(db)[0].verdicts == 1
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cycles", "x"), ("cycles", 2**70), ("ok", 1), ("provenance", 3), ("samples", [{}]),
        ("uid", 7), ("run", []), ("run", {"token": 1}), ("flash_bytes", "x"), ("failures", "x"),
    ],
)  # fmt: skip
def test_values_that_are_none(path: Path, tmp_path: Path, name: str, value: object) -> None:
    keep(path, VERDICT)
    with reading(path) as db:
        (line,) = verdict_lines(db)
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps({**line, "uid": "new", name: value}) + "\n")
    with writing(path) as db, pytest.raises(ConfigError, match=r"lines\.jsonl:1 is not a row"):
        import_lines(db, lines)


# ---- CSV ----


def test_csv(path: Path) -> None:
    keep(path, VERDICT, cycles=[1000, 903, 900])
    (row,) = csv.DictReader(io.StringIO(_text(path, "csv")))
    assert (row["layer"], row["plan"], row["board"], row["cycles"]) == ("odd", "rip", "desk", "900")
    assert row["samples"] == "[1000, 903, 900, 77, 78]"
    assert (row["ratio"], row["budget"], row["commit"]) == ("1.5", "", row["commit"])
    assert row["recovered"] == '["first: ProbeError: gone"]'


@pytest.mark.parametrize("evil", EVIL)
def test_no_cell_is_a_formula(path: Path, evil: str) -> None:
    names = replace(PROVENANCE, board=evil, compiler=evil)
    keep(path, verdict(layer=evil, plan=evil, debt=evil, failures=(evil,), provenance=names))
    text = _text(path, "csv")
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 2 and len(rows[0]) == len(rows[1]) > 40
    for cell in rows[1]:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell
    assert all(c.isprintable() or c == "\n" for c in text)
    assert text.count("\n") == 2


def test_a_negative_number_is_a_number(path: Path) -> None:
    keep(path, verdict(workspace_reached=-4))
    (row,) = csv.DictReader(io.StringIO(_text(path, "csv")))
    assert row["workspace_reached"] == "-4"


# ---- pytest-benchmark ----


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=40))
def test_statistics_are_pytest_benchmarks(cycles: list[int]) -> None:
    from pytest_benchmark.stats import Stats

    data = [count / 125_000_000 for count in cycles]
    theirs = Stats()
    for value in data:
        theirs.update(value)
    ours = benchmark_stats(data)
    assert (ours.pop("data"), ours.pop("iterations")) == (data, 1)
    assert ours == theirs.as_dict()


def test_the_file(path: Path) -> None:
    keep(path, VERDICT, cycles=[1000, 500, 250, 750])
    keep(path, verdict(layer="b"), verdict(layer="c"))
    found = json.loads(_text(path, "pytest-benchmark", 1))
    (entry,) = found["benchmarks"]
    assert (entry["name"], entry["fullname"]) == ("test", "t.py::test")
    assert entry["stats"]["data"] == [500 / 125e6, 250 / 125e6, 750 / 125e6] == [4e-6, 2e-6, 6e-6]
    assert entry["stats"]["mean"] == statistics.mean([4e-6, 2e-6, 6e-6])
    assert entry["extra_info"]["arena_bytes"] == 12
    last = json.loads(_text(path, "pytest-benchmark"))
    assert [e["fullname"] for e in last["benchmarks"]] == ["t.py::test-b-rip", "t.py::test-c-rip"]


def test_no_verdict_is_no_file(path: Path) -> None:
    with writing(path) as db, pytest.raises(ConfigError, match="has no verdict"):
        list(export(db, "pytest-benchmark"))
