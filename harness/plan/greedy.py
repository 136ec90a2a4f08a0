# SPDX-License-Identifier: Apache-2.0
"""First fit in the order of ops, with sharing: each tensor takes the lowest place that is legal when it
is made, and no later one is looked at. What the paper's Sec. 4.3 sets its program against."""

from __future__ import annotations

from collections.abc import Iterator

from harness.bounds import round_up
from harness.plan.problem import Problem


def in_schedule_order(problem: Problem) -> dict[int, int]:
    """Offsets of all tensors."""
    offsets: dict[int, int] = {}
    for tensor in sorted(problem.tensors, key=lambda tensor: _made(problem, tensor)):
        offsets[tensor] = min(at for at in _candidates(problem, offsets, tensor) if at >= 0)
    return offsets


def _made(problem: Problem, tensor: int) -> tuple[int, int]:
    life = problem.lives[tensor]
    assert life is not None
    return life.first, tensor


def _candidates(problem: Problem, offsets: dict[int, int], tensor: int) -> Iterator[int]:
    """Every legal place among the ends of what is there and the distances of shared operands."""
    placed = [other for other in problem.neighbours[tensor] if other in offsets]
    places = {0, *(round_up(offsets[o] + problem.sizes[o], problem.alignment) for o in placed)}
    for other in placed:
        places |= {offsets[other] - edge.at for edge in problem.edges.get((tensor, other), ())}
    for at in places:
        if _legal(problem, offsets, placed, tensor, at):
            yield at


def _legal(
    problem: Problem, offsets: dict[int, int], placed: list[int], tensor: int, at: int
) -> bool:
    """Apart from all of them but one, onto which it may be laid."""
    meets = [
        other
        for other in placed
        if at < offsets[other] + problem.padded[other]
        and offsets[other] < at + problem.padded[tensor]
    ]
    if not meets:
        return True
    ways = problem.edges.get((tensor, meets[0]), ())
    return len(meets) == 1 and any(way.allows(offsets[meets[0]] - at) for way in ways)
