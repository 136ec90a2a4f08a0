# SPDX-License-Identifier: Apache-2.0
"""From a kernel's source to the alarm: one NOP a step in a folder of kernels, measured on an emulated
board, is one alarm on the layer that this kernel runs, and none on another."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.bench import Bench, BenchOptions
from harness.boards import BoardEntry
from harness.judge import State, judge_trend
from harness.results import Point, SeriesKey, Verdict
from tests.device.support import ODD

FOLDER = Path(__file__).parent / "firmware" / "two_pixels"
OTHER = "rip-direct"  # which the folder's kernel does not run: a plain one does
STEPS = 5 * 4  # two pixels each, in 5 rows of 7
NOP = {"rp2040": 1, "rp2350": 2}  # cycles; of the M33 by the conservative model

pytestmark = pytest.mark.extra


def _measured(entry: BoardEntry, folder: Path) -> list[Verdict]:
    """Of the op that the folder's kernel runs, and of one that it does not."""
    bench = Bench(entry, BenchOptions(seeds=(1,), repeats=2, kernels=str(folder)))
    try:
        found = [bench.judge(ODD, plan) for plan in ("rip", OTHER)]
    finally:
        bench.close()
    verdicts = [verdict for verdict in found if verdict is not None]
    assert [verdict.kernel for verdict in verdicts] == ["two_pixels", "plain"]
    assert all(verdict.ok for verdict in verdicts)
    return verdicts


def _point(run: int, commit: str, verdict: Verdict) -> Point:
    return Point(
        run=run,
        time=f"2026-01-0{run + 1}T03:00:00+00:00",
        commit=commit,
        dirty=False,
        build=verdict.provenance.elf_hash,
        ok=verdict.ok,
        cycles=verdict.cycles,
        samples=(verdict.cycles,),
        cold_cycles=verdict.cold_cycles,
        arena_bytes=verdict.workspace_given,
        scratch_bytes=verdict.scratch_bytes,
        stack_peak=verdict.stack_peak,
        flash_bytes=0,
        xip_misses=verdict.xip_misses,
    )


def _key(verdict: Verdict) -> SeriesKey:
    where = verdict.provenance
    return SeriesKey(
        where.board,
        where.kind,
        where.chip,
        where.clk_sys_hz,
        where.compiler,
        FOLDER.name,
        verdict.layer,
        verdict.plan,
    )


def test_one_nop_in_a_kernel_is_one_alarm(entry: BoardEntry, tmp_path: Path) -> None:
    """Commits: as it was; a comment, which is another build; the NOP; a comment more."""
    source = "two_pixels.c"
    begin = "            gather(call, row, column, first);\n"
    changes = {
        "c0": "",
        "c1": "/* a comment */\n",
        "c2": '__asm__ volatile("nop");\n',
        "c3": '/* a comment */ __asm__ volatile("nop");\n',
    }
    history: dict[SeriesKey, list[Point]] = {}
    states: dict[str, list[State]] = {"rip": [], OTHER: []}
    for run, (commit, change) in enumerate(changes.items()):
        folder = tmp_path / commit / FOLDER.name
        shutil.copytree(FOLDER, folder)
        text = (folder / source).read_text()
        assert text.count(begin) == 1
        (folder / source).write_text(text.replace(begin, change + begin))
        for verdict in _measured(entry, folder):
            points = history.setdefault(_key(verdict), [])
            points.append(_point(run, commit, verdict))
            trend = judge_trend(_key(verdict), points)
            states[verdict.plan].append(trend.state)
            if trend.state is State.REGRESSED:
                assert (verdict.plan, trend.after, trend.commit) == ("rip", "c1", "c2")
                assert points[-1].cycles - points[-2].cycles == STEPS * NOP[entry.chip]
    assert states["rip"] == [State.NEW, State.SAME, State.REGRESSED, State.SAME]
    assert states[OTHER] == [State.NEW, State.SAME, State.SAME, State.SAME]
