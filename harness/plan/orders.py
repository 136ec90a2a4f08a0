# SPDX-License-Identifier: Apache-2.0
"""Orders in which a search places tensors. None is best: each finds what others miss."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from harness.plan.lifetimes import Life
from harness.plan.problem import Problem

Part = tuple[int, ...]


def orders(problem: Problem, part: Part, op: int, restarts: int) -> Iterator[list[int]]:
    """Outwards from `op`, the one with the highest bound, first; then by size, by time both ways and by
    size times life; then `restarts` that mix the first two, the same ones for the same part."""
    life = {tensor: _life(problem, tensor) for tensor in part}
    size = problem.sizes
    keys: list[Callable[[int], tuple[int, ...]]] = [
        lambda t: (max(0, life[t].first - op, op - life[t].last), -size[t], t),
        lambda t: (-size[t], t),
        lambda t: (life[t].first, t),
        lambda t: (-life[t].last, t),
        lambda t: (-size[t] * (life[t].last - life[t].first + 1), t),
    ]
    for key in keys:
        yield sorted(part, key=key)
    rank = {tensor: n for n, tensor in enumerate(sorted(part, key=keys[0]))}
    for number in range(restarts):
        rng = random.Random(number)
        if number % 2:
            yield sorted(part, key=lambda t: rank[t] * rng.uniform(0.5, 1))
        else:
            yield sorted(part, key=lambda t: -size[t] * rng.uniform(0.3, 1))


def highest_op(problem: Problem, by_op: list[int], part: Part) -> int:
    """Of the ops during which the part is in memory the one with the highest bound. by_op: as
    `bounds_by_op` has them."""
    highest, where = -1, 0
    last = len(by_op) - 2
    for tensor in part:
        life = _life(problem, tensor)
        for op in range(life.first, min(life.last, last) + 1):
            if by_op[op + 1] > highest:
                highest, where = by_op[op + 1], op
    return where


def _life(problem: Problem, tensor: int) -> Life:
    life = problem.lives[tensor]
    assert life is not None
    return life
