# SPDX-License-Identifier: Apache-2.0
"""Kernels with one mistake each: the verdict fails and names the first wrong pixel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.boards import Board, BoardEntry
from harness.build import build_runner
from harness.case import make_case
from harness.judge import judge
from harness.measure import PlanRuns, measure_layer
from harness.plan import LAYER_STRATEGIES, Mode, Strategy, plan_layer
from tests.device.support import ODD

TABLE = Path(__file__).parent / "firmware" / "broken_table.c"
WIDTH = 7  # of ODD's output, 5 x 7 x 6


def _measure(entry: BoardEntry, folder: Path, broken: str) -> PlanRuns:
    path = folder / "table.c"
    path.write_text(f"#define BROKEN {broken}\n{TABLE.read_text()}")
    image = build_runner(entry.chip, path)
    with Board(entry) as board:
        return measure_layer(
            board, image, ODD, mode=Mode(), seeds=(1, 2), repeats=1, witness=board.witness
        )


def _failures(runs: PlanRuns, strategy: Strategy = Strategy.RIP) -> str:
    verdict = judge(runs, strategy)
    assert verdict is not None
    return "\n".join(verdict.failures)


def test_the_same_kernel_without_a_mistake(entry: BoardEntry, tmp_path: Path) -> None:
    runs = _measure(entry, tmp_path, "RIGHT")
    assert _failures(runs, Strategy.DUAL) == _failures(runs) == ""


@pytest.mark.parametrize(
    ("broken", "pixel"),
    [
        ("PAD_WITH_ZERO", "pixel 0 (row 0, column 0)"),
        ("EVEN_WIDTHS_ONLY", f"pixel {WIDTH - 1} (row 0, column {WIDTH - 1})"),
        ("STALE_SCRATCH", "pixel 0 (row 0, column 0)"),
    ],
)
def test_a_wrong_output(broken: str, pixel: str, entry: BoardEntry, tmp_path: Path) -> None:
    runs = _measure(entry, tmp_path, broken)
    for strategy in LAYER_STRATEGIES:
        assert f"bytes, the first in {pixel}, channel " in _failures(runs, strategy)


def test_stale_scratch_also_differs_between_paints(entry: BoardEntry, tmp_path: Path) -> None:
    runs = _measure(entry, tmp_path, "STALE_SCRATCH")
    assert runs.dual is not None
    crcs = {(s.seed, s.paint): s.output_crc for s in runs.dual.samples}
    assert crcs[1, 0] != crcs[1, 1]
    assert "bytes that nobody wrote" in _failures(runs)


def test_one_scalar_past_the_pixel(entry: BoardEntry, tmp_path: Path) -> None:
    """With two buffers the next pixel heals it, but for the last one, which the guard sees; in place it
    destroys live input."""
    runs = _measure(entry, tmp_path, "PAST_THE_PIXEL")
    assert "output's CRC" not in _failures(runs, Strategy.DUAL)
    assert "instead of" in _failures(runs)
    assert "live input scalars overwritten" in _failures(runs)


def test_single_instead_of_double_rounding(entry: BoardEntry, tmp_path: Path) -> None:
    """On the seed where the two roundings part, and only there; it is the first pixel where they do."""
    from dataclasses import replace

    from harness.schema.constants import Rounding

    case = make_case(plan_layer(ODD, Strategy.DUAL))
    single = make_case(case.plan, replace(case.parameters, rounding=Rounding.SINGLE))
    seed, wrong = next(
        (seed, found)
        for seed in range(1, 1000)
        if (found := np.flatnonzero(case.expected(seed) != single.expected(seed))).size
    )
    path = tmp_path / "table.c"
    path.write_text(f"#define BROKEN SINGLE_ROUNDING\n{TABLE.read_text()}")
    with Board(entry) as board:
        runs = measure_layer(
            board, build_runner(entry.chip, path), ODD, mode=Mode(), seeds=(seed,), repeats=1
        )
    pixel, channel = divmod(int(wrong[0]), ODD.output.c)
    row, column = divmod(pixel, WIDTH)
    where = f"the first in pixel {pixel} (row {row}, column {column}), channel {channel}: "
    for strategy in LAYER_STRATEGIES:
        assert where in _failures(runs, strategy)
