# SPDX-License-Identifier: Apache-2.0
"""Kernels of one's own for tests: the templates of `ripbench kernel new`, with texts replaced."""

from __future__ import annotations

from pathlib import Path

from harness.boards import Board, BoardEntry
from harness.build import build_runner
from harness.case.trials import trial_layers
from harness.judge import KernelVerdict, judge_kernel
from harness.kernels import KernelTraits, find_kernels
from harness.kernels.scaffold import new_kernel
from harness.measure import SpeedRuns, TrialRuns, measure_trials
from harness.measure.trials import make_trials
from harness.validation import own_kernels

Change = tuple[str, str]


def own_folder(folder: Path, op: str, *changes: Change) -> str:
    """`folder`/mine, a template with these texts, each of which is there, replaced everywhere."""
    mine = folder / "mine"
    written = new_kernel(mine, op, (), "pico2-emu")
    for old, new in changes:
        files = [path for path in written if path.suffix != ".md" and old in path.read_text()]
        assert files, old
        for path in files:
            path.write_text(path.read_text().replace(old, new))
    find_kernels.cache_clear()
    return str(mine)


def try_kernel(entry: BoardEntry, folder: str, count: int, seed: int = 1) -> TrialRuns:
    """Its trials alone."""
    traits = KernelTraits(folder, entry.chip)
    (kernel,) = own_kernels(traits)
    trials = make_trials(kernel, traits, trial_layers(kernel, traits, count, seed), seed)
    image = build_runner(entry.chip, kernels=traits.kernels.select([kernel]))
    with Board(entry) as board:
        return measure_trials(board, image, trials)


def judged(entry: BoardEntry, folder: str, count: int, seed: int = 1) -> KernelVerdict:
    runs = try_kernel(entry, folder, count, seed)
    return judge_kernel("mine", runs, (), SpeedRuns(()))
