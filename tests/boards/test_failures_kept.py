# SPDX-License-Identifier: Apache-2.0
"""A measurement that failed leaves a line in the history, beside the verdicts and never among them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench import Bench, BenchOptions
from harness.boards import BoardEntry
from harness.boards.lock import BoardLock
from harness.errors import (
    BusyError,
    ConfigError,
    EnumerationError,
    FlashError,
    ProbeError,
    QuarantineError,
)
from harness.geometry import ConvGeometry
from harness.history import read, read_failures
from harness.network import Layer
from tests.device.support import ODD

Entries = Callable[..., BoardEntry]
BIG = Layer("big", ConvGeometry(160, 160, 8, 16))


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


@pytest.fixture
def options(rows: Path) -> BenchOptions:
    return BenchOptions(seeds=(1,), history=rows)


def test_a_layer_that_no_step_helps(fake_entry: Entries, options: BenchOptions, rows: Path) -> None:
    from fakeboards import faults

    bench = Bench(fake_entry(), options)
    assert bench.prove(ODD).ok
    faults.set_plan("probe", 60, times=10**9)
    other = replace(ODD, id="other")
    with pytest.raises(FlashError) as caught:
        bench.prove(other, "rip-direct")
    (row,) = read_failures(rows)
    assert row.pop("time")
    assert row == {
        "version": 1, "board": bench.entry.name, "layer": "other", "plan": "rip-direct",
        "error": "FlashError", "message": caught.value.message, "cause": caught.value.cause,
        "attempts": 3,
    }  # fmt: skip
    (verdict,) = read(rows)
    assert (verdict["layer"], verdict["ok"]) == (ODD.id, True)


def test_what_no_step_is_tried_against_was_tried_once(
    fake_entry: Entries, options: BenchOptions, rows: Path
) -> None:
    """And a failure that is remembered is a line of each test that it fails."""
    bench = Bench(fake_entry(), options)
    for _ in range(2):
        with pytest.raises(ConfigError, match="does not fit"):
            bench.judge(BIG)
    bench.close()
    found = [(row["layer"], row["error"], row["attempts"]) for row in read_failures(rows)]
    assert found == [("big", "ConfigError", 1)] * 2
    assert list(read(rows)) == []


def test_without_recovery(fake_entry: Entries, options: BenchOptions, rows: Path) -> None:
    from fakeboards import faults

    bench = Bench(fake_entry(), replace(options, recovery=False))
    faults.set_plan("port", 20)
    with pytest.raises(EnumerationError):
        bench.judge(ODD)
    bench.close()
    assert [(row["error"], row["attempts"]) for row in read_failures(rows)] == [
        ("EnumerationError", 1)
    ]


def test_an_error_after_a_step_counts_both_attempts(
    fake_entry: Entries, options: BenchOptions, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second attempt fails by something that no step helps against."""
    errors = [EnumerationError("first"), ConfigError("second", cause="of this")]

    def fails(*_: object, **__: object) -> None:
        raise errors.pop(0)

    monkeypatch.setattr("harness.bench.measure_layer", fails)
    bench = Bench(fake_entry(), options)
    with pytest.raises(ConfigError):
        bench.judge(ODD)
    bench.close()
    (row,) = read_failures(rows)
    assert (row["error"], row["message"], row["cause"]) == ("ConfigError", "second", "of this")
    assert row["attempts"] == 2


def test_a_board_that_was_not_had_is_a_failure_without_an_attempt(
    fake_entry: Entries, options: BenchOptions, rows: Path
) -> None:
    from fakeboards import faults

    entry = fake_entry()
    bench = Bench(entry, options)
    lock = BoardLock("another", [f"fake {entry.probe}"])
    lock.acquire()
    with pytest.raises(BusyError):
        bench.judge(ODD)
    lock.release()
    faults.set_plan("probe", 60, times=10**9)
    with pytest.raises(ProbeError):
        bench.judge(ODD)
    with pytest.raises(QuarantineError):
        bench.judge(replace(ODD, id="other"))
    found = [(row["layer"], row["error"], row["attempts"]) for row in read_failures(rows)]
    assert found == [
        (ODD.id, "BusyError", 0),
        (ODD.id, "ProbeError", 4),
        ("other", "QuarantineError", 0),
    ]


def test_a_history_that_cannot_be_written_hides_no_error(
    fake_entry: Entries, options: BenchOptions, rows: Path
) -> None:
    rows.symlink_to(rows.with_name("elsewhere"))
    notices: list[str] = []
    bench = Bench(fake_entry(), options, on_notice=notices.append)
    with pytest.raises(ConfigError, match="does not fit"):
        bench.judge(BIG)
    bench.close()
    assert f"{rows} cannot be written" in notices[0]


def test_what_a_board_says_is_one_line_of_ascii(
    fake_entry: Entries, options: BenchOptions, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "a\nb\x1b[2J\u202e" + '"}\n{"version": 1}'

    def fails(*_: object, **__: object) -> None:
        raise ConfigError(said)

    monkeypatch.setattr("harness.bench.measure_layer", fails)
    bench = Bench(fake_entry(), options)
    with pytest.raises(ConfigError):
        bench.judge(ODD)
    bench.close()
    (line,) = rows.read_bytes().splitlines()
    assert line.isascii() and b"\x1b" not in line
    assert json.loads(line)["message"] == said
