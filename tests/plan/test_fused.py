# SPDX-License-Identifier: Apache-2.0
"""Plans with segments: the peaks of the eleven models, and what the checker does not let pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from harness.bounds import round_up
from harness.case.segment_layout import network_of_segment
from harness.errors import BoundViolation, ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.geometry.segment import Segment
from harness.kernels import PLAIN, KernelTraits
from harness.liveness.segment_values import Layout, draw_values, layer_by_layer, run_rows
from harness.network import Layer, Network, Node
from harness.plan import (
    FUSED_KERNELS,
    PLANAR,
    Buffer,
    FusedKernel,
    NetworkPlan,
    Placer,
    RingForm,
    Step,
    Strategy,
    check_plan,
    needs_by_op,
    needs_one_by_one,
    occupancies,
    parts_of,
    plan_network,
)
from harness.plan.cuts import best_cuts
from harness.plan.fused import fused_problem
from harness.plan.fused_kernel import XIP_RULE, weights_bytes
from harness.plan.parts import Parts
from harness.plan.solve import bounds_by_op
from harness.schema.constants import OpKind, Rounding
from tests.drawn_segments import draw_segments
from tests.plan.drawn import draw_network
from tests.plan.graphs import keras, model

# name, peaks of arena, rings and scratch with the forms least, pixel, planar; the segments of least
PEAKS = [
    ("mcunet-in0", 16_844, 17_792, 19_072, "0-5"),
    ("mcunet-in1", 30_104, 32_760, 32_856, "0-2 3-4 6-8"),
    ("mcunet-in2", 80_888, 85_176, 85_272, "0-2 3-4 6-8 10-12 14-16 18-19"),
    ("mcunet-in3", 97_424, 102_120, 102_216, "0-2 3-4 6-8 10-12 14-16 18-19"),
    ("mcunet-in4", 113_244, 118_016, 120_224, "0-4 6-8 10-12 14-15"),
    ("mbv2-w0.35", 65_888, 69_768, 69_864, "0-2 3-5 6-8"),
    ("proxyless-w0.3", 97_424, 102_120, 102_216, "0-2 3-4 6-8"),
    ("mcunet-vww0", 16_052, 17_792, 18_752, "0-2 3-5 6-8 10-11"),
    ("mcunet-vww1", 21_248, 23_496, 23_592, "0-2 3-5 6-8 10-12"),
    ("mcunet-vww2", 65_888, 69_768, 69_864, "0-2 3-4 6-8 10-12 14-16 18-19"),
    ("person-det", 74_488, 78_776, 79_064, "0-4 6-7"),
]


@cache
def fused(network: Network, form: RingForm = RingForm.PLANAR) -> NetworkPlan:
    return plan_network(network, Strategy.FUSED, fused=FUSED_KERNELS[form])


def segments(plan: NetworkPlan) -> list[Step]:
    return [step for step in plan.steps if len(step.ops) > 1]


def check_peak(name: str, form: RingForm, peak: int) -> NetworkPlan:
    """All scratch is in it. The last buffer on top is not rounded up."""
    plan = fused(model(name), form)
    assert round_up(plan.peak, 4) == peak
    assert (plan.proof, plan.lower_bound, plan.scratch_bytes) == ("bound", plan.peak, 0)
    assert all(step.moved_to is None for step in plan.steps)
    return plan


@pytest.mark.parametrize(("name", "planar"), [(row[0], row[3]) for row in PEAKS])
def test_peaks(name: str, planar: int) -> None:
    check_peak(name, RingForm.PLANAR, planar)


@pytest.mark.extra
@pytest.mark.parametrize(("name", "least", "pixel", "planar", "cuts"), PEAKS)
def test_peaks_of_all_forms(name: str, least: int, pixel: int, planar: int, cuts: str) -> None:
    for form, peak in zip(RingForm, (planar, pixel, least), strict=True):
        plan = check_peak(name, form, peak)
    assert " ".join(f"{s.ops[0]}-{s.ops[-1]}" for s in segments(plan)) == cuts


def test_segments_of_in4() -> None:
    for form in RingForm:
        plan = fused(model("mcunet-in4"), form)
        assert [(s.ops[0], s.ops[-1]) for s in segments(plan)] == [
            (0, 4), (6, 8), (10, 12), (14, 15),
        ]  # fmt: skip


def test_mobilenet_v2_of_keras() -> None:
    plan = fused(keras("MobileNetV2"), RingForm.PIXEL)
    assert (plan.peak, plan.proof) == (206_848, "bound")
    assert round_up(fused(keras("MobileNetV2"), RingForm.LEAST).peak, 4) == 195_672


@pytest.mark.parametrize("chip", [("m0plus", "rp2040"), ("m33", "rp2350")])
def test_the_other_ops_kernels_do_not_raise_the_peak(chip: tuple[str, str]) -> None:
    """They take less scratch where the peak is, as much as is free elsewhere."""
    kernel = KernelTraits(*chip)
    plan = plan_network(model("mcunet-vww2"), Strategy.FUSED, kernel=kernel, fused=PLANAR)
    assert plan.peak == 69_864
    limits = {step.kernel.limits.scratch_bytes for step in plan.steps if step.kernel is not None}
    assert max(limits) == kernel.limits.scratch_bytes > min(limits)


def test_every_segment_keeps_the_rules() -> None:
    """Weights within the flash cache, no tensor inside that anybody outside reads, and alone in its
    memory."""
    largest = {}
    for name, *_ in PEAKS:
        plan = fused(model(name))
        readers = plan.network.last_readers
        for step in segments(plan):
            found = plan.fused(step)
            assert found is not None
            largest[name] = max(largest.get(name, 0), weights_bytes(found.segment))
            assert all(readers[tensor] in step.ops for tensor in found.inner)
            here = {"-"} | {
                extent.tensor
                for extent in occupancies(plan)[plan.steps.index(step)].extents
                if extent.buffer is None
            }
            assert not here & found.inner
    assert max(largest.values()) <= XIP_RULE
    assert largest["mcunet-in4"] == 11_640


def test_needs_are_the_problems_own() -> None:
    """The cuts are chosen by the same need that the placer's lower bound has."""
    network = model("mcunet-vww0")
    parts = Parts(network, PLANAR, 4)
    singles = parts.singles(PLAIN)
    cuts = best_cuts(singles, parts.segments(), parts.loaded)
    needs = [part.need for part in cuts.parts]
    assert bounds_by_op(fused_problem(network, cuts, 4))[1:] == needs
    plan = fused(network)
    assert needs_by_op(plan) == needs == [part.need for part in parts_of(plan)]
    assert needs_one_by_one(plan) == [part.need for part in singles]


def test_fewest_ops_are_fused() -> None:
    """No cuts with fewer ops fused reach the peak: each segment, taken apart, needs more."""
    for name in ("mcunet-in4", "mcunet-vww0"):
        plan = fused(model(name))
        singles = needs_one_by_one(plan)
        for step in segments(plan):
            assert max(singles[op] for op in step.ops) > plan.peak


def test_other_kernels_fuse_no_more_ops_for_the_sake_of_their_scratch() -> None:
    plan = plan_network(
        model("mcunet-vww0"), Strategy.FUSED, kernel=KernelTraits("m0plus", "rp2040")
    )
    assert [step.ops for step in segments(plan)] == [(3, 4, 5), (6, 7, 8), (10, 11)]
    assert plan.peak == 18_752
    slow = [
        step.ops
        for step, choice in zip(plan.steps, plan.step_choices, strict=True)
        if choice.kernel.name.startswith("plain_conv")
    ]
    assert slow == [(0,), (50,)]  # beside the image nothing is left; of one pixel


def values_of(plan: NetworkPlan) -> int:
    """Runs every segment on values at the plan's own offsets, in an arena of the peak; how many."""
    for step in segments(plan):
        found = plan.fused(step)
        assert found is not None
        segment, values = found.segment, draw_values(found.segment, 7)
        layout = Layout(
            plan.offsets[found.tensors[segment.last]],
            {t: plan.offsets[found.tensors[t]] for t in segment.operands},
            {b.ring.tensor: b.offset for b in step.buffers if b.ring is not None},
            plan.peak,
        )
        rings = [b.ring for b in step.buffers if b.ring is not None]
        made = run_rows(segment, values, rings, layout)
        assert np.array_equal(made, layer_by_layer(segment, values)), step.ops
    return len(segments(plan))


class Everything(FusedKernel):
    """Takes whatever is a segment."""

    def takes(self, segment: Segment, roundings: Sequence[Rounding]) -> bool:  # noqa: ARG002
        return segment.last > 1


EVERYTHING = Everything(RingForm.LEAST, FUSED_KERNELS[RingForm.LEAST].scratch)


def test_drawn_networks() -> None:
    """No plan is refused by the checker, and all run on values."""
    ran = 0
    for segment in islice(draw_segments(seed=9), 60):
        plan = plan_network(network_of_segment(segment), Strategy.FUSED, fused=EVERYTHING)
        ran += values_of(plan)
    assert ran > 20


def test_drawn_graphs_with_other_ops() -> None:
    """Concatenations, several readers, several outputs: every single op has its scratch in the arena,
    and no plan needs more than rip with the most of all scratch beside it."""
    for seed in range(40):
        network = draw_network(seed)
        plan = plan_network(network, Strategy.FUSED, fused=EVERYTHING)
        rip = plan_network(network, Strategy.RIP)
        assert plan.lower_bound <= round_up(rip.lower_bound, 4) + round_up(rip.scratch_bytes, 4)
        for step in plan.steps:
            own = sum(b.size for b in step.buffers if b.ring is None)
            if len(step.ops) == 1:
                layer = network.nodes[step.ops[0]].layer
                way = layer.kind, layer.geometry, step.execution, layer.rounding
                assert own == PLAIN.scratch_bytes(*way)


@pytest.mark.parametrize("name", ["mcunet-in0", "mcunet-vww0"])
def test_segments_on_values(name: str) -> None:
    assert values_of(fused(model(name), RingForm.LEAST)) > 0


@pytest.mark.extra
@pytest.mark.parametrize("name", [name for name, *_ in PEAKS])
def test_all_segments_on_values(name: str) -> None:
    for form in (RingForm.LEAST, RingForm.PIXEL):
        assert values_of(fused(model(name), form)) > 0


def block() -> NetworkPlan:
    """A residual block of 12 x 12 between two pointwise ops, whose ring is the peak."""
    shape = (12, 12)
    wide = ConvGeometry(*shape, 48, 48, 3, 3, pad=Pad.same(1, 1))
    layers = [
        Layer("a", ConvGeometry(*shape, 12, 8)),
        Layer("b", ConvGeometry(*shape, 8, 48)),
        Layer("c", wide, OpKind.DEPTHWISE),
        Layer("d", ConvGeometry(*shape, 48, 8)),
        Layer("e", ElementwiseGeometry(*shape, 8, 2), OpKind.ADD),
        Layer("f", ConvGeometry(*shape, 8, 12)),
    ]
    operands = [(0,), (1,), (2,), (3,), (4, 1), (5,)]
    nodes = tuple(
        Node(layer, inputs, n + 1)
        for n, (layer, inputs) in enumerate(zip(layers, operands, strict=True))
    )
    shapes = (layers[0].inputs[0], *(layer.output for layer in layers))
    return fused(Network("block", shapes, nodes, (0,), (6,)))


def test_a_residual_block_is_one_step_in_place() -> None:
    plan = block()
    (step,) = segments(plan)
    assert (step.ops, step.gap, step.onto) == ((1, 2, 3, 4), 0, 0)
    assert plan.operands(step) == (1,)
    assert plan.offsets[1] == plan.offsets[5]
    assert [b.ring and (b.ring.tensor, b.ring.rows, b.ring.guest) for b in step.buffers] == [
        (1, 3, 2), (3, 1, None), None,
    ]  # fmt: skip


def _with(plan: NetworkPlan, change: Callable[[Step], Step]) -> NetworkPlan:
    """With its segments changed, and the peak that it then has."""
    steps = tuple(change(step) if len(step.ops) > 1 else step for step in plan.steps)
    inner = {plan.network.nodes[op].output for step in steps for op in step.ops[:-1]}
    ends = [
        plan.offsets[tensor] + shape.size
        for tensor, shape in enumerate(plan.network.tensors)
        if tensor not in inner
    ]
    ends += [buffer.end for step in steps for buffer in step.buffers]
    return replace(plan, steps=steps, peak=max(ends))


def _ring_row_less(step: Step) -> Step:
    first, *rest = step.buffers
    assert first.ring is not None
    ring = replace(first.ring, rows=first.ring.rows - 1)
    return replace(step, buffers=(Buffer(first.offset, ring.size, ring), *rest))


def _rings_swapped(step: Step) -> Step:
    one, two, *rest = step.buffers
    moved = replace(two, offset=one.offset)
    return replace(step, buffers=(one, moved, *rest))


def _without_a_ring(step: Step) -> Step:
    return replace(step, buffers=step.buffers[1:])


def _without_padding(step: Step) -> Step:
    first, *rest = step.buffers
    assert first.ring is not None
    ring = replace(first.ring, w=12)
    return replace(step, buffers=(Buffer(first.offset, ring.size, ring), *rest))


def _smaller(step: Step) -> Step:
    first, *rest = step.buffers
    return replace(step, buffers=(replace(first, size=first.size - 4), *rest))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_ring_row_less, "a row is lost before it is read"),
        (_rings_swapped, "the ring of inner tensor 1 is not the step's own"),
        (_without_a_ring, "a row is lost before it is read"),
        (_smaller, "does not hold its rows"),
        (_without_padding, "does not hold its rows"),
        (lambda step: replace(step, ops=(*step.ops, 5)), "not the ops in their order"),
        (lambda step: replace(step, onto=1), "it shares operand 1"),
    ],
)
def test_the_checker_judges_rings(change: Callable[[Step], Step], message: str) -> None:
    check_plan(block())
    with pytest.raises(BoundViolation, match=message):
        check_plan(_with(block(), change))


def test_the_checker_judges_where_the_output_lies() -> None:
    """A pixel above its input, Y destroys what the add still reads; the ring on X destroys X."""
    plan = block()
    offsets = list(plan.offsets)
    shifted = replace(plan, offsets=(*offsets[:5], offsets[5] + 8, *offsets[6:]))
    shifted = replace(shifted, peak=max(plan.peak, offsets[5] + 8 + plan.network.tensors[5].size))
    with pytest.raises(BoundViolation, match="destroys tensor 1 while it still reads it"):
        check_plan(shifted)

    def onto_x(step: Step) -> Step:
        first, *rest = step.buffers
        return replace(step, buffers=(replace(first, offset=plan.offsets[1]), *rest))

    with pytest.raises(BoundViolation, match="tensor 1 is not there any more"):
        check_plan(_with(plan, onto_x))


def test_the_checker_finds_a_gap_that_is_4_bytes_less() -> None:
    """mcunet-in4's ops 14 and 15, the one segment of it with a gap."""
    plan = fused(model("mcunet-in4"))
    step = next(step for step in plan.steps if step.ops == (14, 15))
    source, output = plan.operands(step)[0], 16
    assert step.gap == 6_720
    assert plan.offsets[source] - plan.offsets[output] >= step.gap
    offsets = list(plan.offsets)
    offsets[output] = offsets[source] - step.gap + 4
    later = [s for s in plan.steps if s.ops[0] <= 15]
    with pytest.raises(BoundViolation, match=f"ops 14 to 15 destroys tensor {source}"):
        check_plan(replace(plan, offsets=tuple(offsets), steps=(*later, *plan.steps[len(later) :])))


def test_a_step_that_is_no_segment() -> None:
    plan = block()
    with pytest.raises(ConfigError, match="ops 0 to 2 are no segment"):
        plan.operands(Step((0, 1, 2), plan.steps[0].execution))  # tensor 1 is added later


def test_what_fused_has_not() -> None:
    network = model("mcunet-vww0")
    for change in ({"placer": Placer.FIRST_FIT}, {"spatial_depthwise": True}):
        with pytest.raises(ConfigError, match="no first fit and no depthwise by pixels"):
            plan_network(network, Strategy.FUSED, **change)  # type: ignore[arg-type]


def test_the_peaks_in_the_docs() -> None:
    """Not rounded up there."""
    text = (Path(__file__).parents[2] / "docs" / "fused.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    said = {row[0]: row[1:] for row in rows if len(row) == 5}
    for name, least, pixel, planar, _ in PEAKS:
        plan = fused(model(name))
        image, *peaks = (int(cell.replace(",", "")) for cell in said[name])
        assert image == plan.network.tensors[plan.network.inputs[0]].size
        assert peaks[0] == plan.peak
        assert [round_up(peak, 4) for peak in peaks] == [planar, pixel, least]
