# SPDX-License-Identifier: Apache-2.0
"""Of placements with one peak one whose ops run by quick kernels.

A fast kernel may not have every execution: reversed, say, an op falls to a plain kernel. Edges that
slow an op down are left out again where the peak allows it. An op whose own bound is above the peak
without its slow edges keeps them: it needs them. All others lose theirs, and if there is no placement
then, they lose them by halves, the dearest first. In the first case no op is slow that need not be; in
the second nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.kernels import Choice, KernelTraits
from harness.network import Layer, Network
from harness.plan.bound import bounds_by_op
from harness.plan.edges import Edge, usual_execution
from harness.plan.problem import Problem
from harness.plan.solve import Budget, Solution, placed_below, solve

_TRIES = 12  # placements, after the one without any slow edge that can be spared


@dataclass(frozen=True)
class Slow:
    """An edge whose execution is slower than another of its op. chosen, quickest: the kernels."""

    edge: Edge
    chosen: Choice
    quickest: Choice

    @property
    def excess(self) -> int:
        """Estimated cycles; 0 where one of the two has no estimate."""
        if self.chosen.cycles is None or self.quickest.cycles is None:
            return 0
        return max(0, self.chosen.cycles - self.quickest.cycles)


def slow_edges(network: Network, kernel: KernelTraits, edges: Iterable[Edge]) -> tuple[Slow, ...]:
    """Those by whose execution the op is slower than by another edge's, or in memory of its own."""
    by_op: dict[int, list[Edge]] = {}
    for edge in edges:
        by_op.setdefault(edge.op, []).append(edge)
    found = []
    for op, ways in by_op.items():
        layer = network.nodes[op].layer
        chosen = [_choice(kernel, layer, edge) for edge in ways]
        quickest = kernel.choose(layer.kind, layer.geometry, usual_execution(layer), layer.rounding)
        for choice in chosen:
            if quickest.slower_than(choice):
                quickest = choice
        found += [
            Slow(edge, choice, quickest)
            for edge, choice in zip(ways, chosen, strict=True)
            if choice.slower_than(quickest)
        ]
    return tuple(found)


def _choice(kernel: KernelTraits, layer: Layer, edge: Edge) -> Choice:
    return kernel.choose(layer.kind, layer.geometry, edge.execution, layer.rounding)


def without(problem: Problem, edges: frozenset[Edge]) -> Problem:
    """The same with less that may overlap."""
    kept = {
        pair: tuple(edge for edge in ways if edge not in edges)
        for pair, ways in problem.edges.items()
    }
    return replace(
        problem,
        edges={pair: ways for pair, ways in kept.items() if ways},
        edges_at=[[edge for edge in ways if edge not in edges] for ways in problem.edges_at],
    )


def quicker(
    problem: Problem, solution: Solution, slow: Sequence[Slow], budget: Budget
) -> tuple[Problem, Solution]:
    """A placement of no higher peak with fewer slow edges, and the problem with those that are left; the
    given ones where there is none. One with shifts is left as it is."""
    if not slow or solution.shifts:
        return problem, solution
    everywhere = bounds_by_op(without(problem, frozenset(item.edge for item in slow)))
    excess: dict[int, int] = {}
    for item in slow:
        if everywhere[item.edge.op + 1] <= solution.peak:
            excess[item.edge.op] = max(excess.get(item.edge.op, 0), item.excess)
    ops = sorted(excess, key=lambda op: (-excess[op], op))

    def dropped(spared: Iterable[int]) -> Problem:
        gone = set(spared)
        return without(problem, frozenset(i.edge for i in slow if i.edge.op in gone))

    if not ops:
        return problem, solution
    none = dropped(ops)
    found = solve(none, math.inf, budget)
    if found.peak <= solution.peak:
        return none, _better(solution, found.offsets, found.peak)
    best, spared = solution, list[int]()
    groups = _halves(ops)
    for _ in range(_TRIES):
        if not groups:
            break
        group = groups.pop(0)
        offsets = placed_below(dropped([*spared, *group]), solution.peak, budget)
        if offsets is None:
            groups[:0] = _halves(group)
        else:
            spared += group
            best = _better(solution, offsets, problem.end(offsets))
    return dropped(spared), best


def _halves(ops: list[int]) -> list[list[int]]:
    middle = len(ops) // 2
    return [ops[:middle], ops[middle:]] if middle else []


def _better(known: Solution, offsets: dict[int, int], peak: int) -> Solution:
    """Where the peak is lower still, what was known of the other one is not of this one."""
    if peak == known.peak:
        return replace(known, offsets=offsets)
    proof = "bound" if peak == known.lower_bound else None
    return Solution(offsets, peak, known.lower_bound, proof, peak)
