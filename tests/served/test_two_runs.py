# SPDX-License-Identifier: Apache-2.0
"""Two processes and one served board: the second is refused or waits, as it asks, and never both run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.served.conftest import Serve
from tests.served.support import NAMES

ROOT = Path(__file__).parents[2]
BOARD = NAMES["rp2040"]
# The first run has the board until it is told to go on.
SUITE = """
import pathlib, time
from harness.network import find_set, load_set

def test_layer(bench):
    layer = load_set(find_set("first"))[-1]
    assert bench.prove(layer).ok
    pathlib.Path("has-it").touch()
    while not pathlib.Path("go-on").exists():
        time.sleep(0.02)
"""


def _pytest(folder: Path, *words: str) -> subprocess.Popen[str]:
    options = ["--board", BOARD, "--seeds", "1", "--repeat", "1", "--history", "", *words]
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_two.py", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture
def first(serve: Serve, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that has the served board."""
    serve("rp2040")
    (tmp_path / "test_two.py").write_text(SUITE)
    process = _pytest(tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "has-it").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    yield process
    process.kill()
    process.wait()


def test_the_second_is_refused_and_one_that_waits_gets_it(
    first: subprocess.Popen[str], tmp_path: Path
) -> None:
    refused = _pytest(tmp_path)
    out, _ = refused.communicate(timeout=60)
    assert refused.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"BusyError: {BOARD} is in use\n  cause: pid {first.pid} on " in out

    waiting = _pytest(tmp_path, "--wait", "1m")
    assert waiting.stdout is not None
    assert any(f"waiting for {BOARD}" in line for line in iter(waiting.stdout.readline, ""))
    (tmp_path / "go-on").touch()
    assert "1 passed" in first.communicate(timeout=60)[0]
    assert "1 passed" in waiting.communicate(timeout=60)[0]


def test_a_killed_one_lets_go(first: subprocess.Popen[str], tmp_path: Path) -> None:
    first.kill()
    (tmp_path / "go-on").touch()
    following = _pytest(tmp_path, "--wait", "10s")
    out, _ = following.communicate(timeout=60)
    assert "1 passed" in out, out
