# SPDX-License-Identifier: Apache-2.0
"""Same ELF, pack, seed and nonce: same frames and cycles in a fresh process, at any slicing, with any
compiler of the core."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOARDS = {"rp2040": "pico1-emu", "rp2350": "pico2-emu"}


def _replay(chip: str, layer: str, slice_cycles: int, **environment: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.device.replay", BOARDS[chip], layer, str(slice_cycles)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def first(chip: str) -> dict[str, object]:
    return _replay(chip, "odd-3x3", 0)


def test_a_fresh_process(chip: str, first: dict[str, object]) -> None:
    assert _replay(chip, "odd-3x3", 0) == first


@pytest.mark.parametrize("slice_cycles", [97, 10_000, 1_000_000])
def test_any_slicing(chip: str, first: dict[str, object], slice_cycles: int) -> None:
    assert _replay(chip, "odd-3x3", slice_cycles) == first


@pytest.mark.parametrize("slice_cycles", [10_000])
def test_any_slicing_of_a_real_layer(chip: str, slice_cycles: int) -> None:
    assert _replay(chip, "mcunet-in0.5", slice_cycles) == _replay(chip, "mcunet-in0.5", 0)


@pytest.mark.extra
def test_any_compiler(chip: str, first: dict[str, object]) -> None:
    assert shutil.which("clang"), "make test-all installs clang"
    assert _replay(chip, "odd-3x3", 0, CC="clang") == first
    assert _replay(chip, "odd-3x3", 0, CC="gcc") == first
