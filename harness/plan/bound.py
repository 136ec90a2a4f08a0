# SPDX-License-Identifier: Apache-2.0
"""The lower bound: what no placement can go below, with or without shifts.

During op k all tensors in memory are apart, but for the output and one operand, which at best take the
smallest workspace of the two (Eq. 10) instead of their sum. The peak is at least the largest of these
sums over all ops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from harness.bounds import round_up
from harness.plan.edges import Edge
from harness.plan.problem import Problem


def bounds_by_op(problem: Problem) -> list[int]:
    """Bytes that the tensors of each op need at least; entry 0 is of the inputs as they are loaded."""
    return [
        need_of(
            tensors,
            problem.edges_at[moment - 1] if moment else (),
            problem.sizes,
            problem.alignment,
        )
        for moment, tensors in enumerate(problem.during)
    ]


def need_of(
    tensors: Collection[int], edges: Iterable[Edge], sizes: Sequence[int], alignment: int
) -> int:
    """Bytes that these tensors need at least while an op runs whose output may be laid along one of the
    edges. sizes: of all tensors by number."""
    padded = {tensor: round_up(sizes[tensor], alignment) for tensor in tensors}
    spares = {tensor: padded[tensor] - sizes[tensor] for tensor in tensors}
    total = sum(padded.values())
    best = total - max(spares.values(), default=0)
    for edge in edges:
        pair = (edge.output, edge.source)
        room = edge.workspace(sizes)
        rounded = round_up(room, alignment)
        # the one on top need not be rounded up: the pair, or any other
        spare = max((spares[t] for t in tensors if t not in pair), default=0)
        spare = max(spare, rounded - room)
        best = min(best, total - padded[pair[0]] - padded[pair[1]] + rounded - spare)
    return best


def lower_bound(problem: Problem) -> int:
    return max(bounds_by_op(problem), default=0)
