# SPDX-License-Identifier: Apache-2.0
"""The checker itself: against the simulator of single scalars, and what it says."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from harness.errors import BoundViolation
from harness.geometry import DIRECT, GATHER, ConvGeometry, ElementwiseGeometry, Execution, Pad
from harness.geometry.step import Step as PixelStep
from harness.kernels import PLAIN, KernelTraits, executions, schedule_of
from harness.liveness import debt as simulated_debt
from harness.liveness import first_collision
from harness.liveness.literal import collisions, events
from harness.network import Layer, Network, Node, network_of
from harness.network.draw import draw_geometry
from harness.plan import NetworkPlan, Step, Strategy, check_plan, plan_network
from harness.plan.edges import CHANNEL, REVERSED
from harness.plan.replay import Harm, Replay
from harness.schema.constants import Layout, OpKind, Traversal

KINDS = [
    kind for kind in OpKind if kind not in (OpKind.MOVE, OpKind.SEGMENT, OpKind.FULLY_CONNECTED)
]
STEM = Layer("stem", ConvGeometry(7, 7, 3, 8, 3, 3, 2, 2, pad=Pad.same(1, 1)))


def _ways(layer: Layer) -> list[Execution]:
    by_rows = (Traversal.ROW, Traversal.REVERSE, Traversal.CHANNEL)
    return [
        way
        for way in executions(layer.kind, layer.geometry)
        if way.layout is Layout.DENSE and way.traversal in by_rows
    ]


def _agree(kind: OpKind, seed: int, count: int) -> tuple[int, int]:
    """How many harmed and harmless distances were compared."""
    rng = random.Random(seed)
    geometries = draw_geometry(kind, seed)
    seen = [0, 0]
    replay = Replay()
    for _ in range(count):
        layer = Layer("drawn", next(geometries), kind)
        way = rng.choice(_ways(layer))
        operand = rng.randrange(len(layer.inputs))
        n_in, n_out = layer.inputs[operand].size, layer.n_out
        if isinstance(layer.geometry, ElementwiseGeometry) and layer.geometry.broadcast:
            operand, n_in = 0, n_out
        happened = events(kind, layer.geometry, way, operand)
        near = 0 if way == CHANNEL else n_out - n_in if way.traversal is Traversal.REVERSE else 0
        for distance in {near, *(rng.randint(-n_in, n_out) for _ in range(6))}:
            wrong = collisions(happened, distance)
            found = replay.harm(layer, way, operand, distance)
            seen[found is None] += 1
            assert (found is None) == (not wrong), (layer, way, operand, distance)
            if found is not None:
                assert found.written in {address for _, address, _ in wrong}
                assert found.lost == found.written - distance
                if way.traversal is not Traversal.CHANNEL:
                    assert found.written == wrong[0][1]
    return seen[0], seen[1]


@pytest.mark.parametrize("kind", KINDS)
def test_replay_of_an_op_is_what_single_scalars_say(kind: OpKind) -> None:
    harmed, harmless = _agree(kind, 1, 60)
    assert harmless > 20
    assert harmed > (-1 if kind is OpKind.MEAN else 20)


@pytest.mark.extra
@pytest.mark.parametrize("kind", KINDS)
def test_replay_of_many_ops(kind: OpKind) -> None:
    _agree(kind, 2, 1500)


FAST = KernelTraits("m33", "rp2350")


def _stepped(rng: random.Random) -> tuple[Layer, Execution]:
    """A convolution, or a depthwise one channel by channel, that kernels take in steps of pixels."""
    number = rng.randint
    if rng.random() < 0.5:
        k = rng.choice((1, 3))
        g = ConvGeometry(
            number(1, 8), number(1, 8), number(1, 4), number(1, 5), k, k, number(1, 2), number(1, 2),
            pad=Pad.same(k // 2, k // 2),
        )  # fmt: skip
        return Layer("drawn", g), GATHER
    c, s = number(1, 6), number(1, 2)
    g = ConvGeometry(number(1, 9), number(1, 9), c, c, 3, 3, s, s, pad=Pad.same(1, 1))
    return Layer("drawn", g, OpKind.DEPTHWISE), CHANNEL


def test_replay_of_a_kernel_that_makes_steps() -> None:
    """By its own order, which lets distances pass that single pixels do not, and finds each other."""
    rng = random.Random(6)
    replay, single = Replay(FAST), Replay()
    seen = {True: 0, False: 0}
    gained = 0
    for _ in range(300):
        layer, way = _stepped(rng)
        choice = FAST.choose(layer.kind, layer.geometry, way, layer.rounding)
        assert choice.kernel.set == "m33"
        steps = FAST.schedule(layer.kind, layer.geometry, way, 0, layer.rounding)
        debt = FAST.bound(layer.kind, layer.geometry, way, 0, layer.rounding).debt or 0
        for distance in {
            0,
            debt,
            debt - 1,
            *(rng.randint(-layer.n_in, layer.n_out) for _ in "1234"),
        }:
            truth = first_collision(steps, distance)
            found = replay.harm(layer, way, 0, distance)
            assert (found is None) == (truth is None), (layer, way, distance)
            if found is not None and way == GATHER:
                assert truth is not None
                assert found == Harm(truth.address, truth.live)
            seen[found is None] += 1
            gained += found is None and single.harm(layer, way, 0, distance) is not None
    assert min(seen.values()) > 150
    assert gained > 20


def test_a_plan_is_judged_by_its_own_kernels() -> None:
    """A 3x3 of 10 rows of 4 pixels, whose first 16 pixels are one step: 10 pixels into the output the
    input is still whole for a kernel that reads the fields of 16 pixels at once."""
    layer = Layer("steps", ConvGeometry(10, 4, 64, 64, 3, 3, pad=Pad.same(1, 1)))
    fast, plain = (k.bound(layer.kind, layer.geometry, GATHER).gap for k in (FAST, PLAIN))
    assert fast < plain
    plan = replace(_plan(layer, GATHER, 0, fast), kernel=FAST)
    check_plan(plan)
    with pytest.raises(BoundViolation, match="destroys tensor 0"):
        check_plan(replace(plan, kernel=PLAIN))
    with pytest.raises(BoundViolation, match="destroys tensor 0"):
        check_plan(replace(_plan(layer, GATHER, 0, fast - 4), kernel=FAST))


@pytest.mark.parametrize("seed", range(3))
def test_replay_of_a_kernel_with_steps(seed: int) -> None:
    """Gather of several pixels a step, by its schedule scalar by scalar."""
    rng, replay, seen = random.Random(seed), Replay(), [0, 0]
    geometries = draw_geometry(OpKind.CONV, seed)
    for _ in range(60):
        layer = Layer("drawn", next(geometries), OpKind.CONV)
        step = PixelStep(
            rng.randint(1, 9), over_rows=rng.random() < 0.5, prefetch=rng.random() < 0.3
        )
        steps = schedule_of(OpKind.CONV, layer.geometry, GATHER, 0, step)
        debt = simulated_debt(steps)
        near = () if debt is None else (debt, debt - 1)
        for distance in {*near, *(rng.randint(-layer.n_in, layer.n_out) for _ in range(6))}:
            wrong = first_collision(steps, distance)
            found = replay.harm(layer, GATHER, 0, distance, step)
            seen[found is None] += 1
            said = None if wrong is None else Harm(wrong.address, wrong.live)
            assert found == said, (layer, step, distance)
    assert min(seen) > 40


def test_a_plan_is_checked_by_the_steps_of_its_kernels() -> None:
    """The same places hold for steps of several pixels and not for single ones."""
    network = network_of(Layer("wide", ConvGeometry(12, 12, 4, 8, 3, 3, pad=Pad.same(1, 1))))
    stepped = plan_network(network, Strategy.RIP, kernel=KernelTraits("m0plus", "rp2040"))
    assert stepped.steps[0].gap < plan_network(network, Strategy.RIP).steps[0].gap
    check_plan(stepped)
    with pytest.raises(BoundViolation, match="destroys tensor"):
        check_plan(replace(stepped, kernel=PLAIN))


def test_an_operand_that_every_pixel_reads_may_not_be_met() -> None:
    gate = ElementwiseGeometry(2, 2, 3, 2, broadcast=True)
    replay = Replay()
    layer = Layer("gate", gate, OpKind.MUL)
    assert replay.harm(layer, GATHER, 1, 12) is None
    assert replay.harm(layer, GATHER, 1, 11) == Harm(11, 0)
    assert replay.harm(layer, GATHER, 1, -2) == Harm(0, 2)
    assert replay.harm(layer, GATHER, 1, -3) is None
    fully_connected = Layer("fc", ConvGeometry(3, 3, 2, 4, 3, 3), OpKind.FULLY_CONNECTED)
    assert replay.harm(fully_connected, DIRECT, 0, 3) == Harm(3, 0)
    assert replay.harm(fully_connected, DIRECT, 0, 4) is None


def _plan(layer: Layer, way: Execution, output: int, *inputs: int) -> NetworkPlan:
    """Of one op, its output laid onto its first operand."""
    network = network_of(layer)
    offsets = (*inputs, output)
    ends = [at + shape.size for at, shape in zip(offsets, network.tensors, strict=True)]
    return NetworkPlan(
        network, Strategy.RIP, (Step((0,), way, 0),), offsets, max(ends), 0, None, 0
    )  # fmt: skip


def test_the_debt_of_the_stem_from_both_sides() -> None:
    """7x7x3 -> 4x4x8, 3x3 s2 p1, gather: output 4 r + c reads from row 2 r - 1, column 2 c - 1 on. The
    worst is (1, 3): 8 * 7 - 3 * (7 + 5) = 20. Below it the first to go is pixel (1, 3) of the input,
    scalar 30, which output 6 reads and output 5 has overwritten."""
    check_plan(_plan(STEM, GATHER, 0, 20))
    with pytest.raises(BoundViolation) as caught:
        check_plan(_plan(STEM, GATHER, 0, 16))
    evidence = caught.value.evidence
    assert evidence["op"] == "op 0 (conv)"
    assert (evidence["writes"], evidence["onto"]) == ("tensor 1, scalar 46", "tensor 0, scalar 30")
    assert evidence["byte"] == 46


def test_a_tensor_that_is_overwritten_before_its_last_reader() -> None:
    one, two = ElementwiseGeometry(2, 2, 4), ElementwiseGeometry(2, 2, 4, 2)
    table = Layer("table", one, OpKind.TABLE, "relu")
    nodes = (Node(table, (0,), 1), Node(Layer("sum", two, OpKind.ADD), (0, 1), 2))
    network = Network("skip", (one.output,) * 3, nodes, (0,), (2,))
    steps = (Step((0,), GATHER), Step((1,), GATHER))
    plan = NetworkPlan(network, Strategy.RIP, steps, (0, 16, 0), 32, 32, "bound", 0)
    check_plan(plan)
    with pytest.raises(BoundViolation) as caught:
        check_plan(replace(plan, offsets=(4, 0, 0), peak=20))
    # the table runs over its operand without harm, and the sum finds its output where scalar 0 was
    assert caught.value.evidence == {
        "op": "op 1 (add)",
        "reads": "tensor 0, scalar 0",
        "byte": 4,
        "holds": "tensor 1, scalar 4",
    }


def test_an_output_that_does_not_last() -> None:
    one = ElementwiseGeometry(2, 2, 4)
    table = Layer("table", one, OpKind.TABLE, "relu")
    nodes = (Node(table, (0,), 1), Node(table, (1,), 2))
    network = Network("two outputs", (one.output,) * 3, nodes, (0,), (1, 2))
    steps = (Step((0,), GATHER), Step((1,), GATHER))
    plan = NetworkPlan(network, Strategy.DUAL, steps, (0, 16, 0), 32, 32, None, 0)
    check_plan(plan)
    with pytest.raises(BoundViolation, match="tensor 1 is not there any more") as caught:
        check_plan(replace(plan, offsets=(0, 16, 16)))
    assert caught.value.evidence["op"] == "the network's output at the end"


def test_two_inputs_at_one_place() -> None:
    layer = Layer("sum", ElementwiseGeometry(2, 2, 4, 2), OpKind.ADD)
    check_plan(_plan(layer, GATHER, 0, 0, 16))
    for wrong in (0, 12):
        with pytest.raises(BoundViolation, match="tensor 0 is not there"):
            check_plan(_plan(layer, GATHER, 0, 0, wrong))


def test_a_second_operand_is_not_met_either() -> None:
    """The output lies on operand 0 as it may, and its end on the start of operand 1."""
    layer = Layer("sum", ElementwiseGeometry(2, 2, 4, 2), OpKind.ADD)
    check_plan(_plan(layer, GATHER, 0, 4, 20))
    check_plan(_plan(layer, GATHER, 4, 20, 0).__class__(**{
        **vars(_plan(layer, GATHER, 4, 20, 0)), "steps": (Step((0,), REVERSED, 1),)
    }))  # fmt: skip
    with pytest.raises(BoundViolation) as caught:
        check_plan(_plan(layer, GATHER, 8, 20, 4))
    assert caught.value.evidence["onto"] == "tensor 1, scalar 4"


def test_a_shift_moves_the_operand_and_may_run_over_its_old_place() -> None:
    plan = _plan(STEM, GATHER, 0, 0)
    moved = replace(plan, steps=(Step((0,), GATHER, 0, 20, moved_to=20),), peak=20 + 147)
    check_plan(moved)
    for wrong in (
        replace(moved, peak=147),  # the copy counts
        replace(moved, steps=(Step((0,), GATHER, 0, 20, moved_to=16),), peak=16 + 147),
        replace(moved, steps=(Step((0,), GATHER, None, 20, moved_to=20),)),
    ):
        with pytest.raises(BoundViolation):
            check_plan(wrong)


def test_a_shift_onto_another_tensor() -> None:
    layer = Layer("sum", ElementwiseGeometry(2, 2, 4, 2), OpKind.ADD)
    plan = _plan(layer, GATHER, 32, 0, 16)
    check_plan(replace(plan, steps=(Step((0,), GATHER, 0, 0, moved_to=32),)))
    with pytest.raises(BoundViolation, match="tensor 1 is not there any more"):
        check_plan(replace(plan, steps=(Step((0,), GATHER, 0, 0, moved_to=4),)))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"peak": 200}, "its peak is not so"),
        ({"offsets": (14, 0), "peak": 161}, "starts at byte 14"),
        ({"offsets": (-4, 0), "peak": 143}, "starts at byte -4"),
        ({"offsets": (12,)}, "does not place every tensor"),
        ({"steps": ()}, "not the ops in their order"),
        ({"steps": (Step((0, 0), GATHER, 0),)}, "not the ops in their order"),
        ({"steps": (Step((0,), CHANNEL, 0),)}, "no kernel runs"),
        ({"steps": (Step((0,), Execution(traversal=Traversal.COLUMN), 0),)}, "no kernel runs"),
        ({"steps": (Step((0,), Execution(Layout.PADDED), 0),)}, "no kernel runs"),
        ({"steps": (Step((0,), GATHER, 1),)}, "shares operand 1"),
    ],
)
def test_what_a_plan_may_not_say(changes: dict[str, object], what: str) -> None:
    with pytest.raises(BoundViolation, match=what):
        check_plan(replace(_plan(STEM, GATHER, 0, 12), **changes))  # type: ignore[arg-type]


def test_the_direct_kernel_needs_more_and_gets_judged_by_it() -> None:
    """7 more: all channels of a pixel but the last are written before its taps are let go."""
    check_plan(_plan(STEM, DIRECT, 0, 28))
    with pytest.raises(BoundViolation):
        check_plan(_plan(STEM, DIRECT, 0, 24))


def test_channel_by_channel_at_equal_bases() -> None:
    """Half a pixel off another channel is hit; two rows off one that is not read yet."""
    layer = Layer("dw", ConvGeometry(6, 6, 8, 8, 3, 3, pad=Pad.same(1, 1)), OpKind.DEPTHWISE)
    check_plan(_plan(layer, CHANNEL, 0, 0))
    check_plan(_plan(layer, CHANNEL, 0, 8))
    for output, source in ((0, 4), (4, 0), (0, 12), (2 * 6 * 8, 0)):
        with pytest.raises(BoundViolation):
            check_plan(_plan(layer, CHANNEL, output, source))


def test_reversed_by_the_ends() -> None:
    """As far below the output's end as it is above its base by rows: same padding is symmetric."""
    layer = Layer("conv", ConvGeometry(6, 6, 4, 4, 3, 3, pad=Pad.same(1, 1)))
    gap = (6 + 1) * 4
    check_plan(_plan(layer, REVERSED, gap, 0))
    check_plan(_plan(layer, GATHER, 0, gap))
    for output, source, way in ((gap - 4, 0, REVERSED), (0, gap - 4, GATHER), (gap, 0, GATHER)):
        with pytest.raises(BoundViolation):
            check_plan(_plan(layer, way, output, source))


def test_plans_are_checked_before_they_are_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr("harness.plan.planner.check_plan", seen.append)
    assert seen == [plan_network(network_of(STEM), Strategy.RIP)]
