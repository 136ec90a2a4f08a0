# SPDX-License-Identifier: Apache-2.0
"""The lower bound: what no placement can go below, with or without shifts.

During op k all tensors in memory are apart, but for the output and one operand, which at best take the
smallest workspace of the two (Eq. 10) instead of their sum. The peak is at least the largest of these
sums over all ops.
"""

from __future__ import annotations

from harness.bounds import round_up
from harness.plan.problem import Problem


def bounds_by_op(problem: Problem) -> list[int]:
    """Bytes that the tensors of each op need at least; entry 0 is of the inputs as they are loaded."""
    padded, sizes = problem.padded, problem.sizes
    found = []
    for moment, tensors in enumerate(problem.during):
        total = sum(map(padded.__getitem__, tensors))
        best = total - max((padded[t] - sizes[t] for t in tensors), default=0)
        for edge in problem.edges_at[moment - 1] if moment else ():
            pair = (edge.output, edge.source)
            room = edge.workspace(sizes)
            rounded = round_up(room, problem.alignment)
            # the one on top need not be rounded up: the pair, or any other
            spare = max((padded[t] - sizes[t] for t in tensors if t not in pair), default=0)
            spare = max(spare, rounded - room)
            best = min(best, total - padded[pair[0]] - padded[pair[1]] + rounded - spare)
        found.append(best)
    return found


def lower_bound(problem: Problem) -> int:
    return max(bounds_by_op(problem), default=0)
