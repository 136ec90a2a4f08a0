# SPDX-License-Identifier: Apache-2.0
"""What pytest leaves in a history: by one process and by several, and beside pytest-benchmark."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.history import failures, reading, runs
from harness.history.lines import verdict_lines

SUITE = """
import pytest
from harness.geometry import ConvGeometry
from harness.network import Layer

@pytest.mark.parametrize("plan", ["dual", "rip"])
def test_layer(device_benchmark, plan):
    assert device_benchmark(Layer("mine", ConvGeometry(5, 5, 4, 8)), plan).ok
"""
FIXED = ["--seeds", "1", "--repeat", "4", "-p", "no:cacheprovider", "-q"]


def _pytest(folder: Path, *words: str, status: int = 0, **more: str) -> str:
    """As if it were started by hand: pytest-benchmark is silent in what a worker of xdist starts."""
    outside = {name: value for name, value in os.environ.items() if "XDIST" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *FIXED, *words],
        cwd=folder, env={**outside, "CI_COMMIT_SHA": "c0" * 20, **more}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def _benchmarks(file: Path) -> dict[str, Any]:
    return {entry["fullname"]: entry for entry in json.loads(file.read_text())["benchmarks"]}


def test_device_time_in_pytest_benchmark(tmp_path: Path) -> None:
    """In its own table and JSON; under xdist, where it is silent, the same JSON is ours, and its
    `compare` works on both."""
    (tmp_path / "test_mine.py").write_text(SUITE)
    out = _pytest(tmp_path, "--benchmark-json", "theirs.json", "--device-json", "ours.json")
    theirs, ours = (_benchmarks(tmp_path / f"{name}.json") for name in ("theirs", "ours"))
    names = {f"test_mine.py::test_layer[pico1-emu-{plan}]" for plan in ("dual", "rip")}
    assert set(theirs) == set(ours) == names
    for name in names:
        for field in ("name", "fullname", "stats", "extra_info"):
            assert ours[name][field] == theirs[name][field], field
        data = ours[name]["stats"]["data"]
        assert data == [ours[name]["extra_info"]["cycles"] / 125_000_000] * 3
    assert "Name (time in" in out and out.count("test_layer[pico1-emu-") >= 2

    out = _pytest(tmp_path, "-n", "2", "--dist", "load", "--device-json", "parallel.json")
    assert "Name (time in" not in out
    parallel = _benchmarks(tmp_path / "parallel.json")
    assert {name: entry["stats"] for name, entry in parallel.items()} == {
        name: entry["stats"] for name, entry in theirs.items()
    }
    compare = [
        sys.executable, "-m", "pytest_benchmark", "compare", "theirs.json", "ours.json",
        "parallel.json", "--columns=min,median,rounds",
    ]  # fmt: skip
    done = subprocess.run(compare, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^test_layer\[pico1-emu-(\w+)\] \((\w+)\)", done.stdout, re.M)
    assert sorted(shown) == [
        (plan, file) for plan in ("dual", "rip") for file in ("ours", "parallel", "theirs")
    ]

    # both runs are in the history: the second is one, although two processes wrote it
    with reading(tmp_path / "reports" / "history.sqlite") as db:
        found = runs(db)
        lines = list(verdict_lines(db))
    assert [(row.verdicts, row.info.status) for row in found] == [(2, "passed")] * 2
    assert {line["test"] for line in lines} == names
    assert {line["kernels"] for line in lines} == {"plain"}
    assert all(line["flash_bytes"] > 10_000 and line["frames"] for line in lines)
    assert [row.info.commit for row in found] == ["c0" * 20] * 2


LOST = """
from harness.geometry import ConvGeometry
from harness.network import Layer

def test_layer(bench):
    assert bench.prove(Layer("mine", ConvGeometry(5, 5, 4, 8))).ok
"""


@pytest.mark.parametrize("workers", [[], pytest.param(["-n", "1"], marks=pytest.mark.extra)])
def test_a_history_that_cannot_be_written_changes_no_outcome(
    tmp_path: Path, spill: Path, workers: list[str]
) -> None:
    (tmp_path / "test_mine.py").write_text(LOST)
    (tmp_path / "history.sqlite").write_text("mine\n")
    words = ["--history", "history.sqlite", "--device-json", "d.json"]
    out = _pytest(tmp_path, *words, *workers)
    assert "1 passed" in out
    assert "ripbench: the history is not complete" in out
    assert "history.sqlite is damaged, or no history" in out
    assert "--device-json could not be written" in out
    (lines,) = spill.glob("*.jsonl")
    assert f"`ripbench history import {lines}`" in out
    assert json.loads(lines.read_text())["layer"] == "mine"
    assert (tmp_path / "history.sqlite").read_text() == "mine\n"


def test_a_build_that_fails_leaves_a_failure(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(LOST)
    cache = str(tmp_path / "cache")
    _pytest(tmp_path, status=1, PATH=str(tmp_path), RIPBENCH_CACHE=cache)
    with reading(tmp_path / "reports" / "history.sqlite") as db:
        (row,) = failures(db)
        (run,) = runs(db)
    assert (row.failure.error, row.failure.layer, row.failure.attempts) == ("BuildError", "mine", 0)
    assert row.test == "test_mine.py::test_layer[pico1-emu]"
    assert (run.info.status, run.failures) == ("failed", 1)


@pytest.mark.parametrize("history", ["", "rows.jsonl"])
def test_device_json_needs_a_database(tmp_path: Path, history: str) -> None:
    (tmp_path / "test_mine.py").write_text("def test(): pass\n")
    _pytest(tmp_path, "--device-json", "d.json", "--history", history, status=4)


def test_who_uses_no_board_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test(): pass\n")
    _pytest(tmp_path)
    _pytest(tmp_path, "-n", "1")
    assert not (tmp_path / "reports").exists()
