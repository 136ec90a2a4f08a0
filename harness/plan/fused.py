# SPDX-License-Identifier: Apache-2.0
"""Plans whose steps may be segments: what has to be placed, and the plan of a placement.

A step's rings and scratch are tensors that live for that step, so the planner places them among all
others; tensors inside a segment are nowhere. Then it is a problem like any other, of fewer ops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from harness.bounds import round_up
from harness.geometry import GATHER
from harness.kernels import KernelTraits
from harness.network import Network
from harness.plan.cuts import Cuts, best_cuts
from harness.plan.edges import Edge, usual_execution
from harness.plan.fused_kernel import PLANAR, RunsSegments
from harness.plan.layer import Strategy
from harness.plan.lifetimes import BEFORE, Life, live_during, lives_of, neighbours_of
from harness.plan.network import Buffer, NetworkPlan, Step
from harness.plan.parts import Part, Parts, Room, renumbered
from harness.plan.problem import Problem
from harness.plan.solve import Budget, Solution, solve


def plan_segments(
    network: Network,
    kernel: KernelTraits,
    fused: RunsSegments,
    alignment: int,
    shift_cost: float,
    budget: Budget,
) -> NetworkPlan:
    """Cut where the least peak needs it, then placed like any other plan. fused: runs the segments;
    kernel: the other steps, each with the most scratch at which neither the peak is higher nor more ops
    have to be fused than with less; where they find no place at that peak, with the least that any has
    tried. Segments get what they can use of memory that is free beside them, unless the peak is higher
    then. Not checked yet."""
    parts = Parts(network, fused, alignment)
    segments = parts.segments()
    tried = kernel.with_less_scratch()
    singles = [parts.singles(one, slower) for slower, one in enumerate(tried)]
    plans = []
    for offered in (singles, singles[-1:]):
        cuts = best_cuts([part for each in offered for part in each], segments, parts.loaded)
        grown = tuple(parts.grown(part, cuts.least) for part in cuts.parts)
        for chosen in (replace(cuts, parts=grown), cuts):
            problem = fused_problem(network, chosen, alignment)
            solution = solve(problem, shift_cost, budget)
            plan = fused_plan(network, kernel, chosen, problem, solution)
            if plan.peak == cuts.least:
                return plan
            plans.append(plan)
    return min(plans, key=lambda plan: plan.peak)


def streamed_peak(
    network: Network, kernel: KernelTraits, fused: RunsSegments, alignment: int = 4
) -> int:
    """Of arena, rings and scratch, where the network's input is streamed into a ring of rows: a figure
    for comparison, no plan. Errors: as Parts."""
    parts = Parts(network, fused, alignment, streamed=True)
    cuts = best_cuts(parts.singles(kernel), parts.segments(), parts.loaded)
    problem = fused_problem(network, cuts, alignment, streamed=True)
    return solve(problem, math.inf, Budget()).peak


def parts_of(plan: NetworkPlan) -> tuple[Part, ...]:
    """The steps of a fused plan with what each needs."""
    parts = Parts(plan.network, PLANAR, plan.alignment)  # asks nothing of the fused kernel
    singles = {kernel: parts.singles(kernel) for kernel in map(plan.kernel_of, plan.steps)}
    found = []
    for step in plan.steps:
        fused = plan.fused(step)
        if fused is None:
            found.append(singles[plan.kernel_of(step)][step.ops[0]])
        else:
            rooms = tuple(Room(buffer.size, buffer.ring) for buffer in step.buffers)
            found.append(parts.segment(step.ops, fused, rooms))
    return tuple(found)


def needs_one_by_one(plan: NetworkPlan) -> list[int]:
    """Bytes that each op would need as a step of its own."""
    parts = Parts(plan.network, PLANAR, plan.alignment)
    return [part.need for part in parts.singles(plan.kernel)]


def fused_problem(
    network: Network, cuts: Cuts, alignment: int, *, streamed: bool = False
) -> Problem:
    """Tensors keep their numbers; the parts' rooms follow, part by part. streamed: there are no
    inputs."""
    parts = cuts.parts
    sizes = [shape.size for shape in network.tensors]
    lives = _lives(network, parts)
    if streamed:
        for tensor in network.inputs:
            lives[tensor] = None
    for number, part in enumerate(parts):
        sizes += [room.size for room in part.rooms]
        lives += [Life(number, number)] * len(part.rooms)
    edges_at = [list(renumbered(part, number)) for number, part in enumerate(parts)]
    pairs: dict[tuple[int, int], tuple[Edge, ...]] = {}
    for edges in edges_at:
        for edge in edges:
            pair = (edge.output, edge.source)
            pairs[pair] = (*pairs.get(pair, ()), edge)
    return Problem(
        alignment=alignment,
        sizes=tuple(sizes),
        padded=tuple(round_up(size, alignment) for size in sizes),
        lives=tuple(lives),
        neighbours=neighbours_of(tuple(lives), len(parts)),
        during=live_during(tuple(lives), len(parts)),
        edges=pairs,
        edges_at=edges_at,
    )


def _lives(network: Network, parts: Sequence[Part]) -> list[Life | None]:
    """In steps instead of ops; None of tensors inside a segment, too."""
    step_of = {BEFORE: BEFORE, len(network.nodes): len(parts)}
    inner: set[int] = set()
    for number, part in enumerate(parts):
        step_of |= dict.fromkeys(part.ops, number)
        if part.fused is not None:
            inner |= part.fused.inner
    return [
        None if life is None or tensor in inner else Life(step_of[life.first], step_of[life.last])
        for tensor, life in enumerate(lives_of(network))
    ]


def fused_plan(
    network: Network, kernel: KernelTraits, cuts: Cuts, problem: Problem, solution: Solution
) -> NetworkPlan:
    offsets = solution.offsets
    shifts = {edge.op: edge for edge in solution.shifts}
    room = len(network.tensors)
    steps = []
    for number, part in enumerate(cuts.parts):
        buffers = []
        for own in part.rooms:
            buffers.append(Buffer(offsets[room], own.size, own.ring))
            room += 1
        edge = shifts.get(number) or problem.edge_used(number, offsets)
        if edge is None:
            layer = network.nodes[part.ops[0]].layer
            way = usual_execution(layer) if part.fused is None else GATHER
            steps.append(Step(part.ops, way, buffers=tuple(buffers), kernel=part.kernel))
        else:
            moved = offsets[edge.output] + edge.at if number in shifts else None
            way = edge.execution
            steps.append(
                Step(part.ops, way, edge.onto, edge.gap, moved, tuple(buffers), part.kernel)
            )
    return NetworkPlan(
        network=network,
        strategy=Strategy.FUSED,
        steps=tuple(steps),
        offsets=tuple(offsets.get(t, 0) for t in range(len(network.tensors))),
        peak=solution.peak,
        lower_bound=cuts.least,
        proof=solution.proof,
        scratch_bytes=0,
        alignment=problem.alignment,
        kernel=kernel,
    )
