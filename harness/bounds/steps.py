# SPDX-License-Identifier: Apache-2.0
"""Convolution kernels that make several pixels a step, by rows: the gap, exact, by formula.

A step makes B consecutive output pixels. Steps either begin anew on each output row or run on over the
rows' ends. Output u's taps are all read before a moment when some number of scalars is written, which
depends on the step of u alone; so with released(u) the address behind the highest of these,

    debt = max over u, and its stored taps x, of (released(u) - x),

and within a step the first output on a tap's run is the worst, while over whole steps all is linear: a
few candidates a tap. Where steps run on over rows, the place of a row's start within a step repeats
after B / gcd(B, w_out) rows, and each of these is looked at apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import gcd

from harness.bounds.axis import Axis, axes
from harness.bounds.ring import worst_row
from harness.bounds.rip import Bound, clamped
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution
from harness.schema.constants import Layout, Traversal


@dataclass(frozen=True)
class Steps:
    """B pixels and Q channels. over_rows: do steps run on over the ends of rows? channels: written
    between two readings of the field, in direct order. Errors: ConfigError unless both are positive."""

    pixels: int
    channels: int = 1
    over_rows: bool = False

    def __post_init__(self) -> None:
        if self.pixels < 1 or self.channels < 1:
            raise ConfigError(f"steps of {self.pixels} pixels by {self.channels} channels")

    @classmethod
    def row(cls, g: ConvGeometry, channels: int = 1) -> Steps:
        """One output row a step."""
        return cls(g.w_out, channels)

    @classmethod
    def whole(cls, g: ConvGeometry, channels: int = 1) -> Steps:
        """All of the output in one step."""
        return cls(g.pixels_out, channels, over_rows=True)


def gather(g: ConvGeometry, steps: Steps, layout: Layout = Layout.DENSE) -> Bound:
    """All fields of a step are copied before its first write. Never more than one pixel a step needs.

    released(u): the start of u's step. Nothing is written before the first one.
    """
    first_step = steps.pixels if steps.over_rows else min(steps.pixels, g.w_out)
    debt = _debt(g, steps, layout, first_step, lambda start, _: start * g.c_out)
    return _bound(g, layout, 0, debt)


def direct(g: ConvGeometry, steps: Steps, layout: Layout = Layout.DENSE) -> Bound:
    """The fields are read anew for each Q channels, of all pixels of the step, which are then written.

    With J = ceil(c_out / Q) > 1 blocks, J - 1 of them are written before the last reading: u is released
    behind channel (J - 1) Q of the last pixel of its step. sigma is what that lies above the first one.
    One block is gather. B = Q = 1 is dense_scalar_direct.
    """
    early = (-(-g.c_out // steps.channels) - 1) * steps.channels
    if early == 0:
        return gather(g, steps, layout)
    debt = _debt(g, steps, layout, 0, lambda _, last: last * g.c_out + early)
    widest = min(steps.pixels, g.pixels_out if steps.over_rows else g.w_out)
    return _bound(g, layout, (widest - 1) * g.c_out + early, debt)


def pipelined(g: ConvGeometry, steps: Steps, layout: Layout = Layout.DENSE) -> Bound:
    """The fields of the next step are copied before a step is written: never more than gather.

    released(u): the start of the step before u's. Nothing is written before the first two are read.
    """
    two = 2 * steps.pixels
    last_of_row = (g.w_out - 1) % steps.pixels + 1  # pixels in a row's last step
    if not steps.over_rows:
        two = 2 * g.w_out if steps.pixels >= g.w_out else min(two, g.w_out)

    def released(start: int, _: int) -> int:
        before = last_of_row if start == 0 and not steps.over_rows else steps.pixels
        return (start - before) * g.c_out

    return _bound(g, layout, 0, _debt(g, steps, layout, two, released))


def ring(g: ConvGeometry, layout: Layout = Layout.DENSE, band: int = 1) -> Bound:
    """Before each output row the input rows of its field that are not in a ring of k_h_eff rows yet are
    copied there, and nothing else is read: mostly no gap for padding, at k_h_eff rows of scratch. band:
    output rows for which that is done at once, into a ring of all that they read."""
    rows, columns = axes(g, Execution(layout, traversal=Traversal.CHANNEL))  # with all taps
    debt = worst_row(rows, write=rows.write, read=rows.read, band=band)
    return _bound(g, layout, 0, debt, n_in=rows.n * columns.n * g.c_in)


Released = Callable[[int, int], int]


def _debt(
    g: ConvGeometry, steps: Steps, layout: Layout, first_output: int, released: Released
) -> int | None:
    """The maximum over outputs from `first_output` on. released(start, last): of the outputs of a step,
    from the start of a row on; start and last are its first and last pixel counted from there."""
    rows, columns = axes(g, Execution(layout))
    found = []
    for first, end, period, offset, begin, cap in _row_sets(g, steps, first_output):
        outer = _worst_of_class(rows, first, end, period)
        inner = _worst_in_steps(columns, steps.pixels, offset, begin, cap, released)
        if outer is not None and inner is not None:
            found.append(outer + inner)
    return max(found, default=None)


def _row_sets(
    g: ConvGeometry, steps: Steps, first_output: int
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Rows that see the same steps: (first, end, period, place of the row's start in its step, first
    column, last pixel of the last step counted from the row's start)."""
    width, total = g.w_out, g.pixels_out
    special = min(g.h_out, -(-first_output // width))  # rows of which not all columns count
    tail = g.h_out
    if steps.over_rows and total % steps.pixels:
        tail = max(special, (total - total % steps.pixels) // width)  # with the step that is short
    for r in (*range(special), *range(tail, g.h_out)):
        offset = r * width % steps.pixels if steps.over_rows else 0
        begin = max(0, first_output - r * width)
        yield r, r + 1, 1, offset, begin, _last(g, steps, r)
    period = steps.pixels // gcd(steps.pixels, width) if steps.over_rows else 1
    for r in range(special, min(special + period, tail)):
        offset = r * width % steps.pixels if steps.over_rows else 0
        yield r, tail, period, offset, 0, _last(g, steps, r)


def _last(g: ConvGeometry, steps: Steps, row: int) -> int:
    return (g.pixels_out - row * g.w_out if steps.over_rows else g.w_out) - 1


def _worst_of_class(axis: Axis, first: int, end: int, period: int) -> int | None:
    """The maximum of write * i - read * position over outputs first, first + period, ... below end."""
    return max(
        (
            axis.write * i - axis.read * (i * axis.s - start)
            for start, low, high in axis.runs(first)
            for lowest in [first + -(-(low - first) // period) * period]
            for highest in [first + (min(high, end - 1) - first) // period * period]
            if lowest <= highest
            for i in (lowest, highest)
        ),
        default=None,
    )


def _worst_in_steps(
    axis: Axis, pixels: int, offset: int, begin: int, cap: int, released: Released
) -> int | None:
    """The maximum of released - read * position over columns from `begin` on. Worst in each step is its
    first column of the run; over steps it is linear but for a row's first and its last, short one."""
    return max(
        (
            released(step, min(step + pixels - 1, cap)) - axis.read * (i * axis.s - start)
            for start, low, high in axis.runs(begin)
            for i in _starts(low, high, pixels, offset)
            for step in [(offset + i) // pixels * pixels - offset]
        ),
        default=None,
    )


def _starts(low: int, high: int, pixels: int, offset: int) -> set[int]:
    """low, and of the columns in (low, high] that begin a step the first one and the last two."""
    following = -(-(low + 1 + offset) // pixels) * pixels - offset
    last = (high + offset) // pixels * pixels - offset
    return {low} | {i for i in (following, last - pixels, last) if low < i <= high}


def _bound(
    g: ConvGeometry, layout: Layout, sigma: int, debt: int | None, n_in: int | None = None
) -> Bound:
    if n_in is None:
        rows, columns = axes(g, Execution(layout))
        n_in = rows.n * columns.n * g.c_in
    return clamped(sigma, debt, n_in, g.n_out)
