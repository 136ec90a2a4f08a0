# SPDX-License-Identifier: Apache-2.0
"""Tensors that always find a place are set aside, and the rest falls into parts that never meet.

With a peak of P bytes, tensor t can start at floor((P - size) / V) + 1 places, and a neighbour j takes
away (padded_t + padded_j) / V - 1 of them at most. While the sum over the neighbours is less, t needs no
thought: it is placed after all that are left, anywhere, as a tensor that shares memory with nobody.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from harness.plan.problem import Problem


@dataclass(frozen=True)
class Peeled:
    """core: the tensors that are left, in parts without a common neighbour. aside: the others, in the
    order in which they were taken away; they go back in reverse order."""

    core: tuple[tuple[int, ...], ...]
    aside: tuple[int, ...]


def peel(problem: Problem, peak: int) -> Peeled:
    """The smallest ones first. What may be peeled at one peak may be at any larger one."""
    v = problem.alignment
    words = [size // v for size in problem.padded]
    left = set(problem.tensors)
    taken = [0] * len(words)  # by the neighbours that are left
    for tensor in left:
        near = problem.neighbours[tensor]
        own = words[tensor] - 1
        taken[tensor] = sum(words[other] for other in near) + own * len(near)
    places = [(peak - size) // v + 1 for size in problem.sizes]
    ready = [(words[t], t) for t in left if taken[t] < places[t]]
    heapq.heapify(ready)
    aside: list[int] = []
    while ready:
        _, tensor = heapq.heappop(ready)
        if tensor not in left:
            continue
        left.discard(tensor)
        aside.append(tensor)
        for other in problem.neighbours[tensor]:
            if other in left:
                before = taken[other]
                taken[other] = before - words[tensor] - words[other] + 1
                if taken[other] < places[other] <= before:
                    heapq.heappush(ready, (words[other], other))
    return Peeled(parts_of(problem, left), tuple(aside))


def parts_of(problem: Problem, tensors: set[int]) -> tuple[tuple[int, ...], ...]:
    """Connected by being in memory together."""
    left = set(tensors)
    parts = []
    while left:
        part = []
        reached = [left.pop()]
        while reached:
            tensor = reached.pop()
            part.append(tensor)
            near = left.intersection(problem.neighbours[tensor])
            left -= near
            reached.extend(near)
        parts.append(tuple(sorted(part)))
    return tuple(sorted(parts))
