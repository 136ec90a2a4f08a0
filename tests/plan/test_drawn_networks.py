# SPDX-License-Identifier: Apache-2.0
"""Plans of random networks: all are right, none is worse than first fit, and wrong ones are caught."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from harness.errors import BoundViolation
from harness.liveness.literal import collisions, events
from harness.network import Network, network_of
from harness.plan import (
    Budget,
    Limits,
    NetworkPlan,
    Step,
    Strategy,
    check_plan,
    plan_network,
)
from harness.schema.constants import Traversal
from tests.plan.by_bytes import runs_clean
from tests.plan.drawn import draw_network
from tests.plan.graphs import WHOLE

V = 4
FAST = [range(start, start + 20) for start in range(0, 100, 20)]
MANY = [range(start, start + 100) for start in range(100, 2000, 100)]
_BUDGET = Budget(milp=Limits(nodes=2_000, seconds=60))


@cache
def _plans(seed: int) -> tuple[NetworkPlan, ...]:
    """Of every strategy but that of segments, and of rip with depthwise by pixels; each has passed the
    checker."""
    network = draw_network(seed)
    plans = [plan_network(network, way, budget=_BUDGET) for way in WHOLE]
    spatial = plan_network(network, Strategy.RIP, spatial_depthwise=True, budget=_BUDGET)
    return (*plans, spatial)


def _first_fit_peak(network: Network) -> int:
    """Largest first, lowest address, nothing shared; by trying every address."""
    made = dict.fromkeys(network.inputs, -1)
    made |= {node.output: n for n, node in enumerate(network.nodes)}
    dies = {tensor: max(made[tensor], network.last_readers[tensor]) for tensor in made}
    size = {tensor: network.tensors[tensor].size for tensor in made}
    at: dict[int, int] = {}
    for tensor in sorted(made, key=lambda t: (-size[t], t)):
        near = [t for t in at if made[t] <= dies[tensor] and made[tensor] <= dies[t]]
        offset = 0
        while any(offset < at[t] + size[t] and at[t] < offset + size[tensor] for t in near):
            offset += V
        at[tensor] = offset
    return max(at[tensor] + size[tensor] for tensor in at)


def _moved(plan: NetworkPlan, tensor: int, offset: int) -> NetworkPlan:
    """The same plan with one tensor elsewhere, and the peak that it then has."""
    offsets = list(plan.offsets)
    offsets[tensor] = offset
    lift = max(0, -offset)
    steps = tuple(
        step if step.moved_to is None else replace(step, moved_to=step.moved_to + lift)
        for step in plan.steps
    )
    network = plan.network
    ends = [at + shape.size for at, shape in zip(offsets, network.tensors, strict=True)]
    for step in plan.steps:
        if step.moved_to is not None and step.onto is not None:
            source = network.nodes[step.ops[0]].inputs[step.onto]
            ends.append(step.moved_to + network.tensors[source].size)
    moved = tuple(at + lift for at in offsets)
    return replace(plan, offsets=moved, steps=steps, peak=max(ends) + lift)


def _closer(plan: NetworkPlan) -> Iterator[tuple[NetworkPlan, NetworkPlan]]:
    """Each tight alias whose kernel destroys something a word closer, by the simulator of single
    scalars: the plan with its output there, and the op alone at that distance."""
    for step in plan.steps:
        if step.onto is None or step.execution.traversal is Traversal.CHANNEL:
            continue
        node = plan.network.nodes[step.ops[0]]
        layer, source = node.layer, node.inputs[step.onto]
        start = plan.offsets[source] if step.moved_to is None else step.moved_to
        toward = -V if step.execution.traversal is Traversal.REVERSE else V
        distance = start - plan.offsets[node.output] - toward
        happened = events(layer.kind, layer.geometry, step.execution, step.onto)
        if node.inputs.count(source) == 1 and collisions(happened, distance):
            moved = _moved(plan, node.output, plan.offsets[node.output] + toward)
            yield moved, _alone(plan, step, distance)


def _alone(plan: NetworkPlan, step: Step, distance: int) -> NetworkPlan:
    """A plan of the step's op alone, at that distance; its other operands far above."""
    layer = plan.network.nodes[step.ops[0]].layer
    far = 10_000  # more than tensors of these networks take
    offsets = [far * (operand + 2) for operand in range(len(layer.inputs))]
    assert step.onto is not None
    offsets[step.onto] = far + distance
    offsets.append(far)
    network = network_of(layer)
    ends = [at + shape.size for at, shape in zip(offsets, network.tensors, strict=True)]
    one = replace(step, ops=(0,), moved_to=None)
    return replace(
        plan, network=network, steps=(one,), offsets=tuple(offsets), peak=max(ends)
    )  # fmt: skip


def _onto_the_living(plan: NetworkPlan) -> Iterator[NetworkPlan]:
    """Each output at the place of an operand that is read again, or is an output."""
    readers = plan.network.last_readers
    for step in plan.steps:
        node = plan.network.nodes[step.ops[0]]
        for tensor in dict.fromkeys(node.inputs):
            if readers[tensor] > step.ops[0]:
                yield _moved(plan, node.output, plan.offsets[tensor])


def _check(seeds: range, *, by_bytes: bool) -> tuple[int, int, int]:
    """Aliases, words closer and living tensors that were tried."""
    aliases = closer = living = 0
    for seed in seeds:
        plans = _plans(seed)
        most = _first_fit_peak(draw_network(seed))
        for plan in plans:
            assert plan.lower_bound <= plan.peak <= most
            assert plan.proof != "bound" or plan.peak == plan.lower_bound
            aliases += sum(step.onto is not None for step in plan.steps)
            if by_bytes:
                assert runs_clean(plan), (seed, plan.strategy)
            for moved, alone in _closer(plan):
                closer += 1
                with pytest.raises(BoundViolation):
                    check_plan(moved)
                with pytest.raises(BoundViolation, match="while it still reads it"):
                    check_plan(alone)
            for wrong in _onto_the_living(plan):
                living += 1
                with pytest.raises(BoundViolation):
                    check_plan(wrong)
        dual, _, rip, extended, _ = (plan.peak for plan in plans)
        if all(plan.proof for plan in plans) and not any(_shifts(plan) for plan in plans):
            assert extended <= rip <= dual
    return aliases, closer, living


def _shifts(plan: NetworkPlan) -> int:
    return sum(step.moved_to is not None for step in plan.steps)


@pytest.mark.parametrize("seeds", FAST, ids=str)
def test_every_plan_is_right_and_wrong_ones_are_caught(seeds: range) -> None:
    aliases, closer, living = _check(seeds, by_bytes=seeds.start == 0)
    assert aliases > 100
    assert closer > 40
    assert living > 100


@pytest.mark.extra
@pytest.mark.parametrize("seeds", MANY, ids=str)
def test_many_more(seeds: range) -> None:
    _check(seeds, by_bytes=seeds.start % 400 == 0)
    _plans.cache_clear()


def test_the_plan_is_the_same_every_time() -> None:
    """Also where the first order of the search does not do, and where the solver stops early."""
    budget = Budget(milp=Limits(nodes=100, seconds=60))
    for seed in (21, 1022, 1353):
        first = plan_network(draw_network(seed), Strategy.RIP, budget=budget)
        assert plan_network(draw_network(seed), Strategy.RIP, budget=budget) == first


@pytest.mark.parametrize("budget", [_BUDGET, Budget(milp=None)], ids=["solver", "alone"])
def test_a_shift_that_is_worth_it(budget: Budget) -> None:
    """Found by the solver, and without one; 310 is the bound."""
    plan = plan_network(draw_network(1353), Strategy.RIP, budget=budget)
    assert (plan.peak, plan.lower_bound, _shifts(plan)) == (310, 310, 1)
    assert plan.proof is not None
    assert runs_clean(plan)


def test_larger_alignments() -> None:
    for seed in range(30):
        network = draw_network(seed)
        for alignment in (8, 32):
            for way in WHOLE:
                plan = plan_network(network, way, alignment=alignment, budget=_BUDGET)
                assert all(offset % alignment == 0 for offset in plan.offsets)
                assert plan.peak >= plan_network(network, way, budget=_BUDGET).lower_bound
