# SPDX-License-Identifier: Apache-2.0
"""One axis of a window's traversal: where its taps meet the stored input.

Tap t of output i lies at position i * s + t * d - pad, which is stored when it is in [0, n). The outputs
for which a tap is stored are a run of consecutive ones, so whatever is linear in the output index has
its maximum over them at the run's two ends: that is why the bounds here look at 2 k candidates an axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.geometry import ConvGeometry, Execution
from harness.schema.constants import Layout, Traversal

_STRAIGHT = (Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE)


@dataclass(frozen=True)
class Axis:
    """n stored inputs, n_out outputs, k taps. write, read: scalars of output and input that one step
    along the axis passes. pad is negative where leading inputs are never read."""

    n: int
    n_out: int
    k: int
    s: int
    d: int
    pad: int
    write: int
    read: int

    def runs(self, first_output: int = 0) -> Iterator[tuple[int, int, int]]:
        """(start, low, high) of each tap that is stored for any output from `first_output` on: those
        outputs are low to high, and output i's is at i * s - start."""
        for tap in range(self.k):
            low, high = self.run(tap)
            low = max(first_output, low)
            if low <= high:
                yield self.pad - tap * self.d, low, high

    def run(self, tap: int) -> tuple[int, int]:
        """The first and last output for which the tap is stored; there is none if last < first."""
        start = self.pad - tap * self.d
        return max(0, -(-start // self.s)), min(self.n_out - 1, (start + self.n - 1) // self.s)

    def worst(self, first_output: int = 0) -> int | None:
        """The maximum of write * i - read * position over outputs i from `first_output` on and their
        taps; None where no tap is stored."""
        rise = self.write - self.read * self.s
        return max(
            (
                rise * (high if rise > 0 else low) + self.read * start
                for start, low, high in self.runs(first_output)
            ),
            default=None,
        )

    def at_zero(self) -> int | None:
        """The same for output 0 alone."""
        return max((self.read * start for start, low, _ in self.runs() if low == 0), default=None)

    def lowest_from(self, first_output: int) -> int | None:
        """The lowest position that any output from `first_output` on reads; None if there is none."""
        return min(
            (low * self.s - start for start, low, _ in self.runs(first_output)), default=None
        )


def axes(g: ConvGeometry, execution: Execution) -> tuple[Axis, Axis]:
    """The outer and the inner axis in order of traversal, each from where the traversal starts.

    PADDED: the padding is input. Every tap is then stored for every output, and the first one is the
    lowest, so by rows or columns it alone is kept. COLUMN: the outer axis is the width. REVERSE: from
    the last pixel. Others: as for ROW.
    """
    padded = execution.layout is Layout.PADDED
    first_tap_alone = padded and execution.traversal in _STRAIGHT
    k_h, k_w = (1, 1) if first_tap_alone else (g.k_h, g.k_w)
    p, h_out, w_out = g.pad, g.h_out, g.w_out
    h, top = (g.h_in + p.top + p.bottom, 0) if padded else (g.h_in, p.top)
    w, left = (g.w_in + p.left + p.right, 0) if padded else (g.w_in, p.left)
    if execution.traversal is Traversal.COLUMN:
        steps = (g.c_out, g.c_in), (h_out * g.c_out, h * g.c_in)
    else:
        steps = (w_out * g.c_out, w * g.c_in), (g.c_out, g.c_in)
    if execution.traversal is Traversal.REVERSE:
        # what the last output's last tap reads beyond the input; what it leaves unread is negative
        top = (h_out - 1) * g.s_h + (g.k_h - 1) * g.d_h - top - (h - 1)
        left = (w_out - 1) * g.s_w + (g.k_w - 1) * g.d_w - left - (w - 1)
    rows = Axis(h, h_out, k_h, g.s_h, g.d_h, top, *steps[0])
    columns = Axis(w, w_out, k_w, g.s_w, g.d_w, left, *steps[1])
    return (columns, rows) if execution.traversal is Traversal.COLUMN else (rows, columns)


def window_debt(outer: Axis, inner: Axis, sigma: int, *, first: bool) -> int | None:
    """sigma + the maximum over outputs u and their stored taps x of (u c_out - x), x in scalars.

    Both terms split by axis, so the maximum does. first: does output 0 count? It does not where nothing
    is written before all of its taps are read; it is then left out by taking either a later step of the
    outer axis with any of the inner one, or step 0 with a later one. None: nothing to maximise over.
    """
    pairs = [(outer.worst(), inner.worst())]
    if not first:
        pairs = [(outer.worst(1), inner.worst()), (outer.at_zero(), inner.worst(1))]
    return max((sigma + f + g for f, g in pairs if f is not None and g is not None), default=None)
