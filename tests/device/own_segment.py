# SPDX-License-Identifier: Apache-2.0
"""A segment's kernel of one's own for tests: the plain one, copied as docs/kernels.md says, with texts
replaced."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

from harness import resources
from harness.boards import Board, BoardEntry
from harness.build import build_runner
from harness.case.segment_trials import trial_segments
from harness.judge import KernelVerdict
from harness.judge.segment_kernel import judge_segment_kernel
from harness.kernels import KernelTraits, find_kernels
from harness.measure import SpeedRuns
from harness.measure.segment_kernel import SegmentRuns, kernels_of, measure_segments
from harness.measure.segment_trials import make_segment_trials
from harness.validation import own_kernels

DOCS = resources.root() / "docs" / "kernels.md"
Change = tuple[str, str]


def shown_commands() -> tuple[str, str]:
    """Of the section in docs/kernels.md: the script that makes the folder, and what validates it."""
    text = DOCS.read_text()
    section = text[text.index("## A segment's kernel") : text.index("## The step's size")]
    lines = [line for line in section.splitlines() if line.startswith("    ") or not line]
    script = textwrap.dedent("\n".join(lines)).strip()
    made, validate = script.rsplit("\n", 1)
    return made, validate


def own_segment(folder: Path, *changes: Change) -> str:
    """`folder`/my_segment with these texts, each of which is there, replaced once."""
    (folder / "firmware").symlink_to(resources.firmware())
    subprocess.run(["sh", "-e"], input=shown_commands()[0], cwd=folder, text=True, check=True)
    mine = folder / "my_segment"
    for old, new in changes:
        files = [path for path in sorted(mine.iterdir()) if old in path.read_text()]
        assert files, old
        files[0].write_text(files[0].read_text().replace(old, new, 1))
    find_kernels.cache_clear()
    return str(mine)


def try_segments(entry: BoardEntry, folder: str, count: int, seed: int = 1) -> SegmentRuns:
    """Its trials alone."""
    traits = KernelTraits(folder, entry.chip)
    (kernel,) = own_kernels(traits)
    networks = trial_segments(kernel, traits, count, seed)
    trials = make_segment_trials(kernel, traits, networks, seed)
    image = build_runner(entry.chip, kernels=kernels_of(trials))
    with Board(entry) as board:
        return measure_segments(board, image, trials)


def judged_segment(entry: BoardEntry, folder: str, count: int, seed: int = 1) -> KernelVerdict:
    runs = try_segments(entry, folder, count, seed)
    return judge_segment_kernel("my_segment", runs, SpeedRuns(()))
