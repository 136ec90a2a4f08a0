# SPDX-License-Identifier: Apache-2.0
"""Depth first through a few places of each tensor: at an end of the arena, flush with a neighbour, or
laid onto it at its gap. Finding a placement below a peak proves that there is one; not finding one
proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.plan.edges import Edge
from harness.plan.problem import Problem


@dataclass
class Effort:
    """What a search may cost, counted in pairs of tensors that are compared: the same plan on any
    machine. left: of all searches that share it."""

    left: int

    def spend(self, pairs: int) -> bool:
        """Is there enough?"""
        self.left -= pairs
        return self.left >= 0


@dataclass
class Placement:
    """offsets: of the tensors placed so far. laid: by op, the operand onto which its output lies."""

    problem: Problem
    offsets: dict[int, int] = field(default_factory=dict)
    laid: dict[int, int] = field(default_factory=dict)

    def edges_at(self, tensor: int, at: int) -> list[Edge] | None:
        """The edges that `tensor` uses there; None if it cannot be there."""
        problem, offsets = self.problem, self.offsets
        end = at + problem.padded[tensor]
        used: list[Edge] = []
        for other in problem.neighbours[tensor]:
            start = offsets.get(other)
            if start is None or end <= start or start + problem.padded[other] <= at:
                continue
            edge = self._fitting(tensor, at, other, start)
            if edge is None:
                return None
            if self.laid.get(edge.op, edge.source) != edge.source:
                return None
            if any(edge.op == before.op and edge.source != before.source for before in used):
                return None
            used.append(edge)
        return used

    def _fitting(self, tensor: int, at: int, other: int, start: int) -> Edge | None:
        for edge in self.problem.between(tensor, other):
            distance = start - at if edge.output == tensor else at - start
            if edge.allows(distance):
                return edge
        return None

    def put(self, tensor: int, at: int, used: list[Edge]) -> list[int]:
        """Returns the ops whose output is now laid: what `take` needs."""
        self.offsets[tensor] = at
        fresh = [edge.op for edge in used if edge.op not in self.laid]
        for edge in used:
            self.laid[edge.op] = edge.source
        return fresh

    def take(self, tensor: int, fresh: list[int]) -> None:
        del self.offsets[tensor]
        for op in fresh:
            self.laid.pop(op, None)


def candidates(placement: Placement, tensor: int, peak: int) -> list[int]:
    """Offsets to try, in this order: laid onto a neighbour, then from the bottom up."""
    problem = placement.problem
    v = problem.alignment
    highest = (peak - problem.sizes[tensor]) // v * v
    own, size = problem.padded[tensor], problem.sizes[tensor]
    onto: list[int] = []
    flush = {0, highest}
    for other in problem.neighbours[tensor]:
        start = placement.offsets.get(other)
        if start is None:
            continue
        flush.update((start - own, start + problem.padded[other]))
        ends = start + problem.sizes[other] - size
        for edge in problem.between(tensor, other):
            exact = start - edge.at if edge.output == tensor else start + edge.at
            onto += [exact, ends // v * v, start]
    tried = dict.fromkeys([*onto, *sorted(flush)])
    return [at for at in tried if 0 <= at <= highest]


def search(
    problem: Problem, order: list[int], peak: int, most: int, effort: Effort
) -> Placement | None:
    """Places the tensors of `order` one after the other, below `peak`; None if it finds no way, or has
    spent `most` or all the effort that is left."""
    given = Effort(min(most, effort.left))
    before = given.left
    placement = _search(problem, order, peak, given)
    effort.spend(before - given.left)
    return placement


def _search(problem: Problem, order: list[int], peak: int, effort: Effort) -> Placement | None:
    placement = Placement(problem)
    stack: list[tuple[Iterator[int], list[int]]] = []
    depth = 0
    while depth < len(order):
        tensor = order[depth]
        if len(stack) == depth:
            if not effort.spend(len(problem.neighbours[tensor]) + 1):
                return None
            stack.append((iter(candidates(placement, tensor, peak)), []))
        choices, _ = stack[depth]
        for at in choices:
            if not effort.spend(len(problem.neighbours[tensor]) + 1):
                return None
            used = placement.edges_at(tensor, at)
            if used is not None:
                stack[depth] = (choices, placement.put(tensor, at, used))
                depth += 1
                break
        else:
            stack.pop()
            if depth == 0:
                return None
            depth -= 1
            placement.take(order[depth], stack[depth][1])
    return placement
