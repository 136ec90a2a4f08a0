# SPDX-License-Identifier: Apache-2.0
"""The gap and the rings of a segment run by row pull: Theorem F1, in closed form.

To write row r of Y, T_m(r) = r + 1 rows of Y and, going back from stage l to its source,

    T_{l-1}(r) = min(h_{l-1}, (T_l(r) - 1) s_l - p_l + k_l), and 0 where that is less or T_l(r) is 0

rows of every inner tensor have been made. All reads for row r happen before its first store, and from
then on stage 1 reads only rows of X from lambda(r) = max(0, s_1 T_1(r) - p_1) on, as long as T_1(r) is
below T_1*, its last value; then it reads nothing. An add of stage a reads row T_a(r) next, and if it is
the last stage it reads each pixel right before that pixel of Y is stored, which leaves the same debt. So

    debt = max over r of ((r + 1) w_out c_out - lambda(r) w c),  of all stages that read the operand.

Until it reaches T*, T is affine: T_l(r) = S_l r + A_l, S_{l-1} = S_l s_l, A_{l-1} = (A_l - 1) s_l - p_l
+ k_l. The debt then has one kink, at the last row r_0 at which lambda is still 0, and its maximum is at
one of r in {0, r_0, r_0 + 1, r*}, r* the last row with a lambda. O(m), whatever the extents are.

With dilation rows between the taps count as read, and so do rows of which only padding is seen: there
F1 may be larger than need be, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.bounds.rip import Bound, clamped
from harness.errors import ConfigError
from harness.geometry.segment import Ring, Segment
from harness.schema.constants import OpKind


@dataclass(frozen=True)
class Pull:
    """Rows made of a tensor when row r of Y is stored: slope * r + ahead, but 0 while r < first, and
    never more than `most`."""

    slope: int
    ahead: int
    first: int
    most: int

    @property
    def last(self) -> int:
        """The last r at which it is below `most`; below 0 where there is none."""
        if self.most <= 0:
            return -1
        return max(-((self.ahead - self.most) // self.slope) - 1, self.first - 1)


def pulls(segment: Segment) -> tuple[Pull, ...]:
    """Of tensors 1 to m."""
    found = [Pull(1, 1, 0, segment.shape(segment.last).h)]
    for stage in reversed(segment.stages[1:]):
        g, later = stage.window, found[-1]
        slope = later.slope * g.s_h
        ahead = (later.ahead - 1) * g.s_h - g.pad.top + g.k_h_eff
        first = max(later.first, -((ahead - 1) // slope))
        most = min(g.h_in, (later.most - 1) * g.s_h - g.pad.top + g.k_h_eff) if later.most else 0
        found.append(Pull(slope, ahead, first, max(0, most)))
    return tuple(reversed(found))


def segment_bound(segment: Segment, operand: int = 0) -> Bound:
    """Y laid onto an operand (Segment.operands): gap, debt and workspace in scalars. Errors: ConfigError
    for a tensor that is none."""
    if operand not in segment.operands:
        raise ConfigError(f"a segment's output cannot be laid onto its tensor {operand}")
    written = segment.shape(segment.last)
    read = segment.shape(operand)
    debts = [
        debt
        for pull, stride, pad in _readers(segment, operand)
        if (debt := _debt(pull, stride, pad, written.h, written.w * written.c, read.w * read.c))
        is not None
    ]
    return clamped(0, max(debts, default=None), read.size, written.size)


def _readers(segment: Segment, operand: int) -> Iterator[tuple[Pull, int, int]]:
    """Of each stage that reads it: what it makes, and the stride and top padding of its window."""
    made = pulls(segment)
    if operand == 0:
        g = segment.stages[0].window
        yield made[0], g.s_h, g.pad.top
    for adder in segment.adders(operand):
        yield made[adder - 1], 1, 0


def _debt(pull: Pull, stride: int, pad: int, rows: int, write: int, read: int) -> int | None:
    """write, read: scalars of a row of Y and of the operand. None where nothing is read later on."""
    last = min(pull.last, rows - 1)
    kink = max(pull.first - 1, (pad // stride - pull.ahead) // pull.slope)
    return max(
        (
            (r + 1) * write - _live(pull, stride, pad, r) * read
            for r in (0, kink, kink + 1, last)
            if 0 <= r <= last
        ),
        default=None,
    )


def _live(pull: Pull, stride: int, pad: int, r: int) -> int:
    """lambda(r): no row above it is read any more."""
    made = pull.slope * r + pull.ahead if r >= pull.first else 0
    return max(0, stride * made - pad)


def rings(segment: Segment) -> tuple[Ring, ...]:
    """The rows that row pull keeps of each inner tensor, pixel by pixel as everywhere else.

    The source of a window: its k_h rows. A skip to a later add: as many rows as the main path is ahead.
    A depthwise stage between two of them has no rows of its own where they can be parked in its source's
    ring (`Ring.guest`), which then needs a spare one if all of its tensor is shorter than the kernel.
    """
    parked: set[int] = set()
    for tensor in range(2, segment.last):
        if tensor - 1 not in parked and _parks(segment, tensor):
            parked.add(tensor)
    found = []
    for tensor in range(1, segment.last):
        if tensor in parked:
            continue
        shape = segment.shape(tensor)
        guest = tensor + 1 if tensor + 1 in parked else None
        rows = min(_rows(segment, tensor), shape.h + (guest is not None))
        found.append(Ring(tensor, rows, shape.w, shape.c, guest))
    return tuple(found)


def _rows(segment: Segment, tensor: int) -> int:
    """The source of stage `tensor` + 1, and a skip to all that add it."""
    most = segment.stage(tensor + 1).window.k_h_eff
    for adder in segment.adders(tensor):
        ahead = 1
        for stage in segment.stages[tensor : adder - 1]:
            ahead += stage.window.k_h_eff - 1 - stage.window.pad.top
        most = max(most, ahead)
    return most


def _parks(segment: Segment, tensor: int) -> bool:
    """Can the row of a depthwise stage lie where one of its source's retires? One row at a time, read by
    the next stage alone; of the source's ring nobody else reads; and it is no wider."""
    stage, reader = segment.stage(tensor), segment.stage(tensor + 1)
    g = stage.window
    return (
        stage.kind is OpKind.DEPTHWISE
        and g.c_in == g.c_out
        and g.w_out <= g.w_in
        and reader.window.k_h == 1
        and not segment.adders(tensor)
        and not segment.adders(tensor - 1)
    )
