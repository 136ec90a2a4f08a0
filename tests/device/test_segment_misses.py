# SPDX-License-Identifier: Apache-2.0
"""A segment misses no more lines of the flash cache than its ops one by one: what it reads of flash in
its window is their constants. Both begin with an empty cache."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import pytest

from benchmarks.fused import segments
from harness.boards import Board
from harness.build import build_runner
from harness.case import NetworkCase, build_pack
from harness.case.network import network_case
from harness.case.segment_layout import network_of_segment
from harness.geometry.segment import Segment
from harness.kernels import KernelTraits
from harness.plan import Strategy, plan_network
from tests.device.forced_segments import forced_case, forced_plan
from tests.device.support import new_entry
from tests.device.test_segments import NAMED, choice_of, usable
from tests.plan.graphs import model

PLAIN = [KernelTraits("plain", chip) for chip in ("rp2040", "rp2350")]
M0PLUS, M33 = KernelTraits("m0plus", "rp2040"), KernelTraits("m33", "rp2350")
DRAWN = 10


def _named(kernel: KernelTraits) -> str:
    return f"{kernel.name}-{kernel.chip}"


@pytest.mark.parametrize("kernel", [PLAIN[0], M0PLUS, M33], ids=_named)
@pytest.mark.parametrize("name", ["mcunet-in0", "mcunet-vww0"])
def test_segments_of_models_miss_no_more_than_their_ops(name: str, kernel: KernelTraits) -> None:
    found = {one.ops: (one.fused.misses, one.apart.misses) for one in segments(model(name), kernel)}
    assert found
    assert _more(found) == {}


def _more(found: dict[Any, tuple[int, int]]) -> dict[Any, tuple[int, int]]:
    """Misses of segments, and of their ops one by one, where they are too many."""
    return {name: (one, ones) for name, (one, ones) in found.items() if one > ones}


def _misses(case: NetworkCase) -> int:
    """Of a first run, all of its ops."""
    chip = case.plan.kernel.chip
    assert chip is not None
    with Board(new_entry(chip)) as board:
        board.start(build_runner(chip, kernels=case.plan.kernels), build_pack([case]))
        run = board.run(0, seed=1, repeats=1)
    assert run.results[0].output_crc == case.output_crc(case.tensors(1)), case.id
    return sum(op.xip_accesses - op.xip_hits for op in run.ops[0])


def _reads_all_weights(segment: Segment) -> bool:
    """Is each tap of a window on a pixel somewhere? Plain kernels read no weight of one that never is,
    but in a segment, where padding is stored."""
    for g in (stage.window for stage in segment.stages):
        for k, s, pad, n, made in (
            (g.k_h, g.s_h, g.pad.top, g.h_in, g.h_out),
            (g.k_w, g.s_w, g.pad.left, g.w_in, g.w_out),
        ):
            if not all(any(0 <= o * s - pad + tap < n for o in range(made)) for tap in range(k)):
                return False
    return True


@pytest.mark.parametrize("kernel", [*PLAIN, M33], ids=_named)
def test_drawn_segments_miss_no_more_than_their_ops(kernel: KernelTraits) -> None:
    """Not of m0plus, which reads the quantisation of a channel only where a value is near a tie: of the
    columns that pad a row of planes to four pixels some are."""
    every = chain(NAMED.items(), usable(3, kernel))
    found = {}
    for name, segment in islice((e for e in every if _reads_all_weights(e[1])), DRAWN):
        if choice_of(kernel, segment).kernel.set != kernel.name:
            continue
        network = network_of_segment(segment, f"{name}-apart")
        apart = network_case(network, plan_network(network, Strategy.RIP, kernel=kernel))
        assert len(apart.plan.steps) == segment.last
        found[name] = (
            _misses(forced_case(forced_plan(segment, name, kernel=kernel))),
            _misses(apart),
        )
    assert len(found) >= DRAWN - 2
    assert _more(found) == {}
