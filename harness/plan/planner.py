# SPDX-License-Identifier: Apache-2.0
"""Plans of whole networks."""

from __future__ import annotations

import math
from enum import StrEnum

from harness.errors import ConfigError
from harness.kernels import PLAIN, KernelTraits
from harness.network import Network
from harness.plan.baseline import tinyengine_first_fit
from harness.plan.bound import bounds_by_op, lower_bound
from harness.plan.check import check_plan
from harness.plan.edges import edges_of, usual_execution
from harness.plan.firstfit import first_fit
from harness.plan.fused import parts_of, plan_segments
from harness.plan.fused_kernel import RunsSegments, SetFused
from harness.plan.greedy import in_schedule_order
from harness.plan.layer import Strategy
from harness.plan.network import NetworkPlan, Step
from harness.plan.problem import Problem, problem_of
from harness.plan.quicker import Slow, quicker, slow_edges
from harness.plan.rewrite import with_tables
from harness.plan.solve import Budget, Solution, solve

SHIFT_COST = 1e-4  # the paper's C: bytes of peak that a byte moved is worth


class Placer(StrEnum):
    """optimal: bound, search and program. first_fit: without looking back; of dual the largest first, of
    the baseline TinyEngine's own, where a depthwise convolution shares its input's place, of the others
    in the order of ops, where what may be shared is shared when that is the lowest place."""

    OPTIMAL = "optimal"
    FIRST_FIT = "first_fit"


def plan_network(
    network: Network,
    strategy: Strategy,
    *,
    kernel: KernelTraits = PLAIN,
    alignment: int = 4,
    shift_cost: float = SHIFT_COST,
    spatial_depthwise: bool = False,
    only_quick: bool = False,
    placer: Placer = Placer.OPTIMAL,
    budget: Budget | None = None,
    fused: RunsSegments | None = None,
) -> NetworkPlan:
    """The plan of the least peak plus shift_cost times the bytes that shifts move, in the order of ops
    as it is; of the same peak one whose ops run by quick executions (harness.plan.quicker). It is
    checked by replay before it is returned. Of `extended` the plan is of the network with its tables
    (harness.plan.rewrite).

    alignment: V, of every offset. shift_cost: infinite forbids shifts. spatial_depthwise: depthwise
    convolutions by pixels at their gap, not channel by channel. only_quick: no op by an execution for
    which its kernels are slower than for another, whatever the peak. budget: what may be tried; where it
    ends the best found is taken and nothing is claimed. fused: what runs the segments of strategy
    `fused`, whose peak includes all scratch; None: the kernel set. Errors: ConfigError for an alignment
    that the kernel does not know or a price that is none; BoundViolation if the plan does not hold.
    """
    if alignment < 1 or alignment % kernel.alignment:
        raise ConfigError(
            f"an alignment of {alignment} bytes",
            hint=f"the kernels of {kernel.name} want a multiple of {kernel.alignment}",
        )
    if not shift_cost >= 0:
        raise ConfigError(f"a shift cost of {shift_cost}", hint="0 or more; inf forbids shifts")
    if strategy is Strategy.EXTENDED:
        network = with_tables(network)
    if strategy is Strategy.FUSED:
        if placer is Placer.FIRST_FIT or spatial_depthwise:
            raise ConfigError("strategy fused has no first fit and no depthwise by pixels")
        runs = fused or SetFused(kernel)
        plan = plan_segments(network, kernel, runs, alignment, shift_cost, budget or Budget())
        check_plan(plan)
        return plan
    edges = edges_of(network, strategy, kernel, alignment, spatial_depthwise=spatial_depthwise)
    slow = slow_edges(network, kernel, edges)
    if only_quick:
        avoided = {item.edge for item in slow}
        edges, slow = tuple(edge for edge in edges if edge not in avoided), ()
    problem = problem_of(network, edges, alignment)
    if placer is Placer.FIRST_FIT:
        solution = _first_fit(problem, strategy)
    else:
        budget = budget if budget is not None else Budget()
        cost = shift_cost if edges and strategy is not Strategy.BASELINE else math.inf
        problem, solution = quicker(problem, solve(problem, cost, budget), slow, budget)
    plan = _plan(network, strategy, kernel, problem, solution, spatial_depthwise)
    check_plan(plan)
    return plan


def needs_by_op(plan: NetworkPlan) -> list[int]:
    """Bytes that each step of a plan needs at least, wherever everything lies: its operands, its output
    and what waits for later ones, the pair that may share taken once. The largest is the lower bound."""
    if plan.strategy is Strategy.FUSED:
        return [part.need for part in parts_of(plan)]
    edges = edges_of(plan.network, plan.strategy, plan.kernel, plan.alignment)
    return bounds_by_op(problem_of(plan.network, edges, plan.alignment))[1:]


def slow_steps(plan: NetworkPlan) -> tuple[Slow, ...]:
    """Ops that are laid onto an operand by an execution slower than another of theirs, for the peak."""
    edges = edges_of(plan.network, plan.strategy, plan.kernel, plan.alignment)
    used = {
        (step.ops[0], step.onto, step.execution) for step in plan.steps if step.onto is not None
    }
    return tuple(
        item
        for item in slow_edges(plan.network, plan.kernel, edges)
        if (item.edge.op, item.edge.onto, item.edge.execution) in used
    )


def _first_fit(problem: Problem, strategy: Strategy) -> Solution:
    if strategy is Strategy.DUAL:
        offsets = first_fit(problem)
    elif strategy is Strategy.BASELINE:
        offsets = tinyengine_first_fit(problem)
    else:
        offsets = in_schedule_order(problem)
    peak, least = problem.end(offsets), lower_bound(problem)
    return Solution(offsets, peak, least, "bound" if peak == least else None, peak)


def _plan(
    network: Network,
    strategy: Strategy,
    kernel: KernelTraits,
    problem: Problem,
    solution: Solution,
    spatial_depthwise: bool,
) -> NetworkPlan:
    shifts = {edge.op: edge for edge in solution.shifts}
    steps = []
    scratch = 0
    for op, node in enumerate(network.nodes):
        edge = shifts.get(op) or problem.edge_used(op, solution.offsets)
        if edge is None:
            way = usual_execution(node.layer, spatial_depthwise=spatial_depthwise)
            steps.append(Step((op,), way))
        else:
            way = edge.execution
            moved = solution.offsets[edge.output] + edge.at if op in shifts else None
            steps.append(Step((op,), way, edge.onto, edge.gap, moved))
        layer = node.layer
        needed = kernel.scratch_bytes(layer.kind, layer.geometry, way, layer.rounding)
        scratch = max(scratch, needed)
    return NetworkPlan(
        network=network,
        strategy=strategy,
        steps=tuple(steps),
        offsets=tuple(solution.offsets.get(t, 0) for t in range(len(network.tensors))),
        peak=solution.peak,
        lower_bound=solution.lower_bound,
        proof=solution.proof,
        scratch_bytes=scratch,
        alignment=problem.alignment,
        kernel=kernel,
    )
