# SPDX-License-Identifier: Apache-2.0
"""What is kept comes back as it was, and nothing that was kept ever changes."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.history import (
    Recorder,
    all_points,
    failures,
    points,
    read,
    read_failures,
    reading,
    runs,
    series,
    writing,
)
from harness.history.lines import verdict_lines
from harness.history.plain import from_plain, to_plain
from harness.history.rows import verdict_values
from harness.history.tables import shape
from harness.results import Failure, Measurement, Point, Sample, SeriesKey, Verdict
from tests.history.support import PROVENANCE, SAMPLE, VERDICT, keep, measured, verdict

KEY = SeriesKey("desk", "board", "rp2040", 125_000_000, "gcc 12.2", "plain", "odd", "rip")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


def test_every_field_of_a_verdict(path: Path) -> None:
    keep(path, VERDICT)
    (row,) = read(path)
    assert (row.pop("version"), bool(row.pop("time"))) == (1, True)
    assert row == json.loads(json.dumps(to_plain(VERDICT)))
    assert from_plain(Verdict, row) == VERDICT


def test_every_field_of_a_sample(path: Path) -> None:
    """But for the witness, which the verdict sums up."""
    keep(path, VERDICT)
    with reading(path) as db:
        (line,) = verdict_lines(db)
    assert [from_plain(Sample, sample) for sample in line["samples"]] == list(
        measured([1000, 900]).samples
    )
    assert (line["test"], line["kernels"], line["budget"]) == ("t.py::test", "plain", None)


def test_a_field_that_has_no_column_is_kept() -> None:
    """Of a verdict that knows more than the tables do."""

    @dataclass(frozen=True)
    class Later(Verdict):
        volts: float = 0.0

    row = verdict_values(Later(**{**VERDICT.__dict__, "volts": 3.25}))
    assert json.loads(row["more"])["volts"] == 3.25


@pytest.mark.parametrize(
    ("cycles", "warm", "median"),
    [
        ([1000], (1000,), 1000),  # one run, which is cold
        ([1000, 905], (905,), 905),
        ([1000, 903, 900], (903, 900), 901),  # rounded down
        ([1000, 903, 900, 907], (903, 900, 907), 903),
    ],
)
def test_a_point(path: Path, cycles: list[int], warm: tuple[int, ...], median: int) -> None:
    keep(path, VERDICT, cycles=cycles)
    with reading(path) as db:
        (point,) = points(db, KEY)
        assert all_points(db) == {KEY: [point]}
    assert point == Point(
        run=1, time=point.time, commit=point.commit, dirty=point.dirty, build="ab" * 32, ok=False,
        cycles=median, samples=warm, cold_cycles=1000, arena_bytes=12, scratch_bytes=19,
        stack_peak=18, flash_bytes=0, xip_misses=17, budget=None, uid=point.uid,
    )  # fmt: skip
    assert len(point.uid) == 32


def test_what_makes_another_series(path: Path) -> None:
    """Any part of the key; neither the ELF file nor the very board does."""
    other = [
        replace(PROVENANCE, board="shelf"),
        replace(PROVENANCE, kind="emulated"),
        replace(PROVENANCE, chip="rp2350"),
        replace(PROVENANCE, clk_sys_hz=1),
        replace(PROVENANCE, compiler="gcc 13"),
    ]
    same = [replace(PROVENANCE, elf_hash="cd" * 32), replace(PROVENANCE, unique_id="00")]
    keep(path, VERDICT, *(verdict(provenance=p) for p in other + same))
    keep(path, verdict(layer="even"), verdict(plan="dual"))
    recorder = Recorder(path)
    recorder.verdict(VERDICT, None, kernels="m33")
    recorder.end("passed")
    with reading(path) as db:
        keys = series(db)
        found = {key: points(db, key) for key in keys}
        assert all_points(db) == found
        assert list(all_points(db)) == keys
        assert points(db, replace(KEY, board="nobody")) == []
    assert len(keys) == 1 + len(other) + 2 + 1
    assert [point.build[:2] for point in found[KEY]] == ["ab", "cd", "ab"]
    assert [len(of) for key, of in found.items() if key != KEY] == [1] * 8


def test_a_run_that_was_killed_says_so(path: Path) -> None:
    keep(path, VERDICT)
    keep(path, VERDICT, end=False)
    with reading(path) as db:
        first, second = runs(db)
        whole = [point.run_ended for point in points(db, KEY)]
    assert (first.info.status, first.verdicts, first.not_ok) == ("passed", 1, 1)
    assert (second.info.ended, second.info.status, second.verdicts) == ("", "", 1)
    assert whole == [True, False]


def test_processes_of_one_run(path: Path) -> None:
    """Each writes by itself; the first that ends the run is believed."""
    recorders = [Recorder(path, token="t"), Recorder(path, token="t")]
    for recorder in recorders:
        recorder.start()
        recorder.verdict(VERDICT, None)
    recorders[0].close()
    recorders[1].end("failed")
    recorders[1].end("passed")
    with reading(path) as db:
        (run,) = runs(db)
    assert (run.info.token, run.verdicts, run.info.status) == ("t", 2, "failed")


def test_a_run_without_a_verdict(path: Path) -> None:
    recorder = Recorder(path)
    recorder.end("passed")
    assert not path.exists()
    recorder.start()
    with reading(path) as db:
        (run,) = runs(db)
        assert series(db) == []
    assert run.info.status == ""
    recorder.end("no tests")


def test_failures_and_their_attempts(path: Path) -> None:
    failure = Failure("desk", "odd", "rip", "ProbeError", "gone", "unplugged", 2)
    recorder = Recorder(path)
    recorder.failure(failure, ("first: a", "after a reset: b"), test="t.py::test")
    recorder.end("failed")
    (row,) = read_failures(path)
    del row["time"]
    assert row == {"version": 1, **to_plain(failure)}
    with reading(path) as db:
        (found,) = failures(db)
        assert failures(db, run=2) == []
        tried = db.execute("SELECT number, error FROM attempt ORDER BY number").fetchall()
        assert series(db) == []
    assert (found.run, found.test, found.failure) == (1, "t.py::test", failure)
    assert tried == [(1, "first: a"), (2, "after a reset: b")]
    assert list(read(path)) == []


def test_nothing_is_ever_changed(path: Path) -> None:
    """Not by a mistake of ours either: the file itself refuses."""
    keep(path, VERDICT)
    recorder = Recorder(path)
    recorder.failure(Failure("desk", "odd", "rip", "ProbeError", "", "", 1), ("a",))
    recorder.end("failed")
    with writing(path) as db:
        tables = [name for kind, name, _ in shape(db) if kind == "table" and name != "pruning"]
        assert len(tables) == 10
        for table in tables:
            (column, *_) = (row[1] for row in db.execute(f'PRAGMA table_info("{table}")'))
            for change in (
                f'DELETE FROM "{table}"',
                f'UPDATE "{table}" SET "{column}" = "{column}"',
                f'REPLACE INTO "{table}" SELECT * FROM "{table}"',
            ):
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    db.execute(change)
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            db.execute("INSERT INTO ending VALUES (99, '', '')")


def test_who_only_reads_changes_nothing(path: Path) -> None:
    keep(path, VERDICT)
    before = path.read_bytes()
    with reading(path) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("INSERT INTO pruning VALUES ('')")
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["history.sqlite"]


def test_text_that_no_file_can_hold(path: Path) -> None:
    """Half a surrogate pair, as a board's log may give; the verdict is kept all the same."""
    keep(path, verdict(debt="\ud800", layer="a\0b", failures=("\udfff",)))
    (row,) = read(path)
    assert (row["debt"], row["layer"], row["failures"]) == ("?", "a\0b", ["\udfff"])


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        (Sample, {**to_plain(SAMPLE), "cycles": "7"}, "Sample.cycles is no int"),
        (Sample, {**to_plain(SAMPLE), "cycles": True}, "Sample.cycles is no int"),
        (Sample, {**to_plain(SAMPLE), "cycles": 2**63}, "Sample.cycles is no int"),
        (Sample, {**to_plain(SAMPLE), "op_cycles": [1, None]}, r"Sample.op_cycles\[1\] is no int"),
        (Sample, {**to_plain(SAMPLE), "wrong": []}, "Sample.wrong is no object"),
        (Verdict, {}, "Verdict.provenance is missing"),
        (Verdict, {**to_plain(VERDICT), "cycles_by_model": [["a"]]}, "has 1 items, not 2"),
        (Measurement, [], "Measurement is no object"),
    ],
)
def test_what_is_no_row(kind: type, value: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_plain(kind, value)
