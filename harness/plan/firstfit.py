# SPDX-License-Identifier: Apache-2.0
"""Placing without looking back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.bounds import round_up
from harness.plan.problem import Problem

Block = tuple[int, int]  # start and end, in bytes


def lowest_hole(size: int, taken: Iterable[Block], alignment: int) -> int:
    """The lowest multiple of V from which on `size` bytes meet none of the blocks."""
    at = 0
    for start, end in sorted(taken):
        if at + size <= start:
            break
        at = max(at, round_up(end, alignment))
    return at


def put_back(
    problem: Problem,
    offsets: dict[int, int],
    tensors: Iterable[int],
    copies: Sequence[tuple[int, Block]] = (),
) -> None:
    """Each into the lowest hole that its neighbours leave, apart from all. copies: blocks that a shift
    takes during one op."""
    for tensor in tensors:
        life = problem.lives[tensor]
        assert life is not None
        taken = [
            (offsets[other], offsets[other] + problem.padded[other])
            for other in problem.neighbours[tensor]
            if other in offsets
        ]
        taken += [block for op, block in copies if life.first <= op <= life.last]
        offsets[tensor] = lowest_hole(problem.sizes[tensor], taken, problem.alignment)


def first_fit(problem: Problem) -> dict[int, int]:
    """Without any sharing: the largest first, ties in the order of tensors."""
    offsets: dict[int, int] = {}
    put_back(problem, offsets, sorted(problem.tensors, key=lambda t: -problem.sizes[t]))
    return offsets
