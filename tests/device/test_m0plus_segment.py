# SPDX-License-Identifier: Apache-2.0
"""The segment kernel of m0plus: random segments, weights of every kind, streams kept or not, and damaged
constants."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import pytest

from harness.boards import Board
from harness.build import RunnerImage, build_runner
from harness.case import NetworkCase, build_pack, make_network_case
from harness.case.network_records import network_records
from harness.errors import ConfigError, ProtocolError
from harness.geometry import ConvGeometry, Pad, Shape
from harness.geometry.segment import Segment, Stage
from harness.kernels import KernelTraits
from harness.kernels.packers.guarded import RECORD
from harness.plan import NetworkPlan, Strategy, plan_network
from harness.reference import AddParameters, ConvParameters, Parameters
from harness.schema.constants import OpKind
from harness.selection import choose_models
from tests.bounds.test_fused import bottleneck
from tests.device.forced_segments import forced_case, forced_plan
from tests.device.support import new_entry
from tests.plan.test_fused import PEAKS

CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD
M0PLUS = KernelTraits("m0plus", "rp2040")
RESIDUAL = bottleneck(8, 3, 7, 3, 3, 1, adds=True)
BLOCK = bottleneck(9, 5, 6, 4, 5, 1)
LARGE = bottleneck(12, 16, 96, 16, 7, 1)
"""Its packed constants are nearly as large as the flash cache."""


def draw_segments(seed: int) -> Iterator[Segment]:
    """That the kernel takes: any padding narrower than the kernel, rows of 1 to 21 pixels, stems,
    several depthwise stages, skips inside and at the end, operands from outside."""
    rng = random.Random(seed)
    while True:
        shapes = [Shape(rng.randint(1, 12), rng.randint(1, 21), rng.randint(1, 9))]
        stages: list[Stage] = []
        try:
            for number in range(1, rng.randint(2, 6) + 1):
                stages.append(_stage(rng, number, shapes))
                shapes.append(stages[-1].output)
            segment = Segment(tuple(stages))
            kernel = M0PLUS.choose_segment(segment, []).kernel
        except ConfigError:  # no output, or a skip that comes too late
            continue
        if kernel.name == "m0plus_segment" and len(segment.operands) <= 4:
            yield segment


def _stage(rng: random.Random, number: int, shapes: Sequence[Shape]) -> Stage:
    shape = shapes[-1]
    skips = [tensor for tensor, other in enumerate(shapes[:-1]) if other == shape]
    kind = rng.choice((CONV, CONV, DEPTHWISE, DEPTHWISE, ADD)) if number > 1 else CONV
    if kind is ADD:
        other = rng.choice(skips) if skips else -number
        return Stage(ADD, ConvGeometry(shape.h, shape.w, shape.c, shape.c), other)
    if kind is DEPTHWISE:
        k, s = rng.choice((3, 5, 7)), rng.randint(1, 2)
        pad = Pad(*(rng.randint(0, k - 1) for _ in range(4)))
        usual = Pad.same(k // 2, k // 2)
        pad = usual if rng.random() < 0.5 else pad
        return Stage(kind, ConvGeometry(shape.h, shape.w, shape.c, shape.c, k, k, s, s, pad=pad))
    c_out = rng.choice((rng.randint(1, 20), shapes[0].c))
    if number == 1 and rng.random() < 0.4:
        k, s = rng.choice((2, 3, 5)), rng.randint(1, 3)
        pad = Pad(*(rng.randint(0, k - 1) for _ in range(4)))
        return Stage(CONV, ConvGeometry(shape.h, shape.w, shape.c, c_out, k, k, s, s, pad=pad))
    return Stage(CONV, ConvGeometry(shape.h, shape.w, shape.c, c_out))


def plan_with_spare(segment: Segment, name: str, spare: int) -> NetworkPlan:
    """As tight as its gap allows, with so many bytes more of scratch than it needs."""
    plan = forced_plan(segment, name, kernel=M0PLUS)
    (step,) = plan.steps
    *rings, scratch = step.buffers
    step = replace(step, buffers=(*rings, replace(scratch, size=scratch.size + spare)))
    return replace(plan, steps=(step,), peak=plan.peak + spare)


def drawn_case(segment: Segment, name: str, rng: random.Random) -> NetworkCase:
    """Its plan as tight as its gap allows, in three of four with more scratch than it needs, and weights
    of which some channels are hostile."""
    plan = plan_with_spare(segment, name, rng.choice((0, 52, 400, 4000)))
    parameters = forced_case(plan).parameters
    return make_network_case(plan, tuple(_hostile(p, rng) for p in parameters))


def _hostile(p: Parameters, rng: random.Random) -> Parameters:
    """Channels that are dead or saturate, that no guard covers, and the most weight that there is."""
    if isinstance(p, AddParameters):
        return replace(p, shift_1=rng.choice((p.shift_1, -20, 1)))
    if not isinstance(p, ConvParameters):
        return p
    weights, shift, bias = p.weights.copy(), p.shift.copy(), p.bias.copy()
    multiplier = p.multiplier.copy()
    for channel in range(len(shift)):
        of_channel = (channel, ...) if weights.shape[0] == len(shift) else (..., channel)
        match rng.randrange(12):
            case 0:
                weights[of_channel] = 0
            case 1:
                weights[of_channel] = -128
            case 2:
                shift[channel] = 3
            case 3:
                shift[channel] = -31
            case 4:
                multiplier[channel] = -multiplier[channel]
            case 5:
                bias[channel] = rng.randint(-(2**31), 2**31 - 1)
    return replace(p, weights=weights, shift=shift, bias=bias, multiplier=multiplier)


@pytest.fixture(scope="module")
def image() -> RunnerImage:
    return build_runner("rp2040", kernels=M0PLUS.kernels.all())


def wrong_ones(image: RunnerImage, cases: Sequence[NetworkCase]) -> list[str]:
    """Those whose output is not the host's under either paint, or that touch what is not theirs."""
    found = []
    with Board(new_entry()) as board:
        board.start(image, build_pack(cases))
        for number, case in enumerate(cases):
            right = case.output_crc(case.tensors(1))
            for paint in (0, 1):
                (result,) = board.run(number, 1, paint=paint).results
                if result.output_crc != right or result.outside_count:
                    found.append(f"{case.id}, paint {paint}")
    return found


def cases_of(count: int, seed: int) -> list[NetworkCase]:
    rng = random.Random(seed)
    segments = islice(draw_segments(seed), count)
    return [drawn_case(segment, f"drawn{seed}.{n}", rng) for n, segment in enumerate(segments)]


def test_drawn_segments(image: RunnerImage) -> None:
    cases = cases_of(60, 1)
    kinds = {stage.layer.kind for case in cases for stage in case.plan.network.nodes}
    assert kinds == {CONV, DEPTHWISE, ADD}
    assert wrong_ones(image, cases) == []


def test_quantisations_in_scratch(image: RunnerImage) -> None:
    """Of no channel, of the last ones of a stage, of whole stages, and streams behind them."""
    rng = random.Random(1)
    plans = [plan_with_spare(LARGE, f"spare{n}", n) for n in (0, 100, 768, 1000, 1700, 9000)]
    cases = [forced_case(plan) for plan in plans]
    cases += [
        make_network_case(
            replace(plan, network=replace(plan.network, name=f"{plan.network.name}-hostile")),
            tuple(_hostile(p, rng) for p in case.parameters),
        )
        for plan, case in zip(plans, cases, strict=True)
    ]
    assert wrong_ones(image, cases) == []


def test_quantisations_in_scratch_leave_the_cache_to_the_constants(image: RunnerImage) -> None:
    """Lines fetched: with room for no quantisation, for about half of them, and for all."""
    cases = [forced_case(plan_with_spare(LARGE, f"spare{n}", n)) for n in (0, 8 * 104, 8 * 208)]
    misses = []
    with Board(new_entry()) as board:
        board.start(image, build_pack(cases))
        for number in range(len(cases)):
            ((op,),) = board.run(number, 1, keep_interrupts=True).ops
            misses.append(op.xip_accesses - op.xip_hits)
    none, half, everything = misses
    assert everything < half < none
    constants = sum(op.weights_bytes for op in network_records(cases[0]).ops[1:])
    assert everything < (constants + 12 * 208) / 8 * 1.05 < none


@pytest.mark.extra
@pytest.mark.parametrize("seed", range(2, 22))
def test_many_drawn_segments(image: RunnerImage, seed: int) -> None:
    assert wrong_ones(image, cases_of(100, seed)) == []


def test_a_row_and_a_pixel_less_are_wrong(image: RunnerImage) -> None:
    """What the comparison would see."""
    cases = [
        forced_case(forced_plan(RESIDUAL, "right", kernel=M0PLUS)),
        forced_case(forced_plan(RESIDUAL, "a-row-less", kernel=M0PLUS, fewer_rows=1)),
        forced_case(forced_plan(RESIDUAL, "a-pixel-up", kernel=M0PLUS, raised=3)),
        forced_case(forced_plan(BLOCK, "a-ring-row-less", kernel=M0PLUS, fewer_rows=1)),
    ]
    found = {name.split("/")[0] for name in wrong_ones(image, cases)}
    assert found == {"a-row-less", "a-pixel-up", "a-ring-row-less"}


def test_stages_have_the_constants_of_the_kernels_that_would_run_them_alone() -> None:
    records = network_records(forced_case(forced_plan(RESIDUAL, "residual", kernel=M0PLUS)))
    segment, *stages = records.ops
    names = [M0PLUS.kernels.name_of(op.kernel) for op in (segment, *stages)]
    assert names == [
        "m0plus_segment",
        "m0plus_conv",
        "m0plus_depthwise_k3",
        "m0plus_conv",
        "m0plus_add",
    ]
    assert [op.weights_offset for op in stages] == sorted(op.weights_offset for op in stages)
    assert stages[1].weights_bytes == 7 * (RECORD.itemsize + 9)
    assert segment.weights_bytes == stages[-1].weights_offset + 16


@pytest.mark.parametrize(
    ("stage", "change"),
    [
        (0, "group"),
        (2, "group"),
        (0, "short"),
        (1, "short"),
        (3, "short"),
        (0, "int8"),
        (1, "int8"),
    ],
    ids=[
        *("expand-group", "project-group", "expand-short", "depthwise-short", "add-short"),
        *("expand-int8", "depthwise-int8"),
    ],
)
def test_damaged_constants_are_refused(
    image: RunnerImage, stage: int, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups that have more taps than there are, constants that are shorter than a kernel reads, and
    those of the plain kernels, which are right for a stage by its own record."""
    case = forced_case(forced_plan(RESIDUAL, "residual", kernel=M0PLUS))
    records = network_records(case)
    op = records.ops[1 + stage]
    weights = bytearray(records.weights)
    if change == "group":
        weights[op.weights_offset + case.plan.network.nodes[stage].layer.output.c * 28] = 17
    elif change == "short":
        records.ops[1 + stage] = replace(op, weights_bytes=8)
    else:
        taps = 3 if stage == 0 else 9
        records.ops[1 + stage] = replace(op, kernel=0, weights_bytes=7 * taps)
    records.weights = bytes(weights)
    monkeypatch.setattr("harness.case.pack.network_records", lambda _: records)
    pack = build_pack([case])
    with Board(new_entry()) as board:
        board.start(image, pack)
        with pytest.raises(ProtocolError, match="refuses to run: bad record"):
            board.run(0, 1)


def _plan(name: str) -> NetworkPlan:
    (network,) = choose_models(name)
    return plan_network(network, Strategy.FUSED, kernel=M0PLUS)


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        pytest.param(name, planar, marks=() if name == "mcunet-vww0" else pytest.mark.extra)
        for name, _, _, planar, _ in PEAKS
    ],
)
def test_peaks_are_those_of_planar_rings(name: str, peak: int) -> None:
    """With all scratch, as declared and in plans, as high as by the formulas of docs/fused.md."""
    assert _plan(name).peak == peak


def test_segments_get_what_is_free_beside_them() -> None:
    """And no more than they can use."""
    plan = _plan("mcunet-vww1")
    spare = []
    for step, choice in zip(plan.steps, plan.step_choices, strict=True):
        if len(step.ops) > 1:
            spare.append(step.buffers[-1].size - choice.scratch_bytes)
            assert 0 <= spare[-1] <= choice.spare_bytes
    assert plan.peak == 23_592
    assert max(spare) > 3_000
