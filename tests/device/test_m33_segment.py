# SPDX-License-Identifier: Apache-2.0
"""The segments of set m33 on an emulated Pico 2: exact whatever it takes; the peaks of its plans."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import pytest

from harness.boards import Board
from harness.build import build_runner
from harness.case import NetworkCase, build_pack, make_network_case
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad
from harness.geometry.segment import Segment, Stage
from harness.kernels import KernelTraits
from harness.plan import NetworkPlan, Strategy, plan_network
from harness.schema.constants import OpKind
from tests.device.forced_segments import forced_case, forced_plan
from tests.device.m33_layers import unusual
from tests.device.support import new_entry
from tests.plan.graphs import model

M33 = KernelTraits("m33", "rp2350")
CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD
_A_PACK = 50  # cases
_MOST_OPERANDS = 4

# name, the most that the plan may take, first and last op of each segment
MODELS = [
    ("mcunet-vww0", 18_752, ["3-5", "6-8", "10-11"]),
    ("mcunet-in0", 19_072, ["3-4"]),
]
MORE_MODELS = [
    ("person-det", 79_064, ["0-4", "6-7"]),
    ("mcunet-vww1", 23_592, ["0-2", "3-5", "6-8", "10-12"]),
    ("mcunet-in1", 32_856, ["0-2", "3-4", "6-8"]),
    ("mcunet-in2", 85_272, ["0-2", "3-4", "6-9", "10-12", "14-16", "18-19"]),
    ("mcunet-in3", 102_216, ["0-2", "3-4", "6-8", "10-12", "14-16", "18-19"]),
    ("mcunet-in4", 120_224, ["0-4", "6-8", "10-12", "14-15"]),
    ("mbv2-w0.35", 69_864, ["0-2", "3-5", "6-8"]),
    ("proxyless-w0.3", 102_216, ["0-2", "3-4", "6-8"]),
    ("mcunet-vww2", 69_864, ["0-2", "3-4", "6-8", "10-12", "14-16", "18-19"]),
]


def draw_fusable(seed: int) -> Iterator[Segment]:
    """Without end: a stem or an expansion, one or two depthwise stages, most of them projected, some
    added to X or to a tensor from outside; odd widths, channels and padding among them."""
    rng = random.Random(seed)
    while True:
        try:
            yield Segment(tuple(_stages(rng)))
        except ConfigError:  # no output
            continue


def _stages(rng: random.Random) -> list[Stage]:
    h, w, c = rng.randint(1, 14), rng.randint(1, 18), rng.choice((1, 2, 3, 4, 5, 8))
    k, s = rng.choice((1, 1, 1, 3, 3, 5)), rng.choice((1, 2))
    pad = _pad(rng, k)
    wide = rng.choice((1, 3, 4, 5, 8, 9, 12))
    first = (
        ConvGeometry(h, w, c, wide, k, k, s, s, pad=pad) if k > 1 else ConvGeometry(h, w, c, wide)
    )
    stages = [Stage(CONV, first)]
    for _ in range(rng.choice((1, 1, 1, 2))):
        o = stages[-1].output
        k, s = rng.choice((3, 3, 5, 7)), rng.choice((1, 1, 2))
        pad = _pad(rng, k)
        stages.append(Stage(DEPTHWISE, ConvGeometry(o.h, o.w, o.c, o.c, k, k, s, s, pad=pad)))
        if rng.random() < 0.7:
            o = stages[-1].output
            stages.append(Stage(CONV, ConvGeometry(o.h, o.w, o.c, rng.choice((c, 1, 4, 7, 8)))))
        o = stages[-1].output
        if rng.random() < 0.5:
            outside = -1 - sum((stage.other or 0) < 0 for stage in stages)
            other = 0 if (o.h, o.w, o.c) == (h, w, c) else outside
            stages.append(Stage(ADD, ConvGeometry(o.h, o.w, o.c, o.c), other))
    return stages


def _pad(rng: random.Random, k: int) -> Pad:
    if rng.random() < 0.6:
        return Pad.same(k // 2, k // 2)
    return Pad(*(rng.randint(0, k - 1) for _ in range(4)))


def with_spare(plan: NetworkPlan, words: int) -> NetworkPlan:
    """The same with so many words more of scratch."""
    (step,) = plan.steps
    *rings, scratch = step.buffers
    scratch = replace(scratch, size=scratch.size + 4 * words)
    step = replace(step, buffers=(*rings, scratch))
    return replace(plan, steps=(step,), peak=scratch.end)


def plans(count: int, seed: int) -> Iterator[NetworkPlan]:
    """Of segments that the kernel takes, as tight as their gap allows: without memory to spare, with all
    that it can use, and with some of that."""
    rng = random.Random(seed)
    for number, segment in enumerate(draw_fusable(seed)):
        try:
            choice = M33.choose_segment(segment, [])
            taken = choice.kernel.name == "m33_segment"
        except ConfigError:
            taken = False
        if taken and len(segment.operands) <= _MOST_OPERANDS and count > 0:
            count -= 1
            spare = choice.spare_bytes // 4
            words = rng.choice((0, spare, rng.randint(0, spare)))
            yield with_spare(forced_plan(segment, f"drawn{number}", kernel=M33), words)
        elif count == 0:
            return


def case_of(plan: NetworkPlan, seed: int) -> NetworkCase:
    """Every other one with records as no model has them, so that channels go by the exact code, or
    negated."""
    if seed % 2 == 0:
        return forced_case(plan)
    return make_network_case(
        plan, tuple(unusual(node.layer, seed + n) for n, node in enumerate(plan.network.nodes))
    )


def wrong(cases: Sequence[NetworkCase]) -> list[str]:
    """Those whose output is not the host's in an arena dirty two ways, or that store outside of it."""
    found = []
    left = iter(cases)
    while some := list(islice(left, _A_PACK)):
        with Board(new_entry("rp2350")) as board:
            board.start(build_runner("rp2350", kernels=some[0].plan.kernels), build_pack(some))
            for number, case in enumerate(some):
                right = case.output_crc(case.tensors(1))
                for paint in (0, 1):
                    (result,) = board.run(number, 1, paint=paint).results
                    if (
                        result.output_crc != right
                        or result.outside_count
                        or result.high_water > case.arena_bytes
                    ):
                        found.append(f"{case.id}, paint {paint}")
    return found


@pytest.mark.parametrize(
    ("count", "seed"), [(200, 1), pytest.param(2_000, 2, marks=pytest.mark.extra)]
)
def test_drawn_segments_are_exact(count: int, seed: int) -> None:
    cases = [case_of(plan, number) for number, plan in enumerate(plans(count, seed))]
    assert len(cases) == count
    assert wrong(cases) == []


@pytest.mark.parametrize(
    ("name", "most", "segments"),
    [*MODELS, *(pytest.param(*row, marks=pytest.mark.extra) for row in MORE_MODELS)],
)
def test_the_segments_of_models_are_exact(name: str, most: int, segments: list[str]) -> None:
    """Within the peak of the fused formulas."""
    plan = plan_network(model(name), Strategy.FUSED, kernel=M33)
    assert plan.peak <= most
    fused = [step for step in plan.steps if len(step.ops) > 1]
    assert [f"{step.ops[0]}-{step.ops[-1]}" for step in fused] == segments
    forced = [forced_plan(plan.fused(s).segment, f"at{s.ops[0]}", kernel=M33) for s in fused]
    assert wrong([forced_case(each) for each in forced]) == []
