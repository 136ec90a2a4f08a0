# SPDX-License-Identifier: Apache-2.0
"""The gap of a convolution in the dense layout, row-major traversal: exact, in O(k_h + k_w).

The input lies right-aligned at distance `gap` above the output, which starts at index 0. With the
outputs numbered u = 0, 1, ... in row-major order and first(u) the lowest input scalar that output u
reads, a gap is safe when the write frontier u * c_out, plus the headroom sigma of the tap order, never
passes gap + first(u). So

    debt = sigma + max over u of (u * c_out - first(u))

and because u = r * w_out + c and first(u) both split into a row part and a column part, so does the
maximum: over rows F, over columns G. For one axis with k taps, only the first and the last output
whose tap t lies on the real input can be the maximum, since the term is linear in the output index;
hence 2 k candidates an axis. This replaces the paper's Theorem 13 (4 k + 3 breakpoints an axis and
their product), needs no precondition, and is exact where the theorem is loose or, for p >= k_eff,
unsafe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.geometry import ConvGeometry


@dataclass(frozen=True)
class Bound:
    """What an in-place convolution needs, in scalars.

    sigma: headroom of the tap order. gap: least distance of the input above the output, never
    negative. debt: the same before it is clamped at 0 and at n_out - n_in, so it may be negative;
    None where no write can meet a live scalar (one output pixel, or no later tap on real input).
    workspace: gap + n_in.
    """

    sigma: int
    gap: int
    debt: int | None
    workspace: int


def dense(geometry: ConvGeometry, *, direct: bool) -> Bound:
    """The paper's convention: a pixel's taps are all released together.

    gather (direct=False, sigma 0): before the pixel's first write. direct (sigma c_out): after its
    last one.
    """
    if not direct:
        return _bound(geometry, 0, _gather_debt(geometry))
    return _bound(geometry, geometry.c_out, _first_tap_debt(geometry, geometry.c_out))


def dense_scalar_direct(geometry: ConvGeometry) -> Bound:
    """A direct kernel that writes one scalar at a time, each right after its own reads.

    The last channel's taps are read before it is written, so channel c_out - 2 is the last write that
    can hurt the pixel itself: sigma is c_out - 1. The last channel can only hurt later pixels, as in
    gather. (A register tile of B pixels by Q channels with B = Q = 1.)
    """
    debts = [_gather_debt(geometry)]
    if geometry.c_out > 1:
        debts.append(_first_tap_debt(geometry, geometry.c_out - 1))
    known = [debt for debt in debts if debt is not None]
    sigma = geometry.c_out - 1
    return _bound(geometry, sigma, max(known) if known else None)


def round_up(value: int, multiple: int) -> int:
    """The least multiple that is not below `value`, which may be negative."""
    return -(-value // multiple) * multiple


def _bound(geometry: ConvGeometry, sigma: int, debt: int | None) -> Bound:
    gap = max(0, geometry.n_out - geometry.n_in, debt if debt is not None else 0)
    return Bound(sigma=sigma, gap=gap, debt=debt, workspace=gap + geometry.n_in)


@dataclass(frozen=True)
class _Axis:
    """One axis: n inputs, n_out outputs, k taps; `write` and `read` scalars a step."""

    n: int
    n_out: int
    k: int
    s: int
    d: int
    pad: int
    write: int
    read: int

    def candidates(self, first_output: int) -> Iterator[int]:
        """write * i - read * position at the ends of each tap's run of outputs on real input."""
        for tap in range(self.k):
            # position of tap on output i: i * s + tap * d - pad, real when within [0, n)
            start = self.pad - tap * self.d
            low = max(first_output, -(-start // self.s))
            high = min(self.n_out - 1, (start + self.n - 1) // self.s)
            if low <= high:
                for i in (low, high):
                    yield self.write * i - self.read * (i * self.s - start)

    def worst(self, first_output: int = 0) -> int | None:
        """The maximum over outputs from `first_output` on, or None where no tap is real."""
        return max(self.candidates(first_output), default=None)

    def at_zero(self) -> int | None:
        """The same for output 0 alone."""
        return _Axis(self.n, 1, self.k, self.s, self.d, self.pad, self.write, self.read).worst()


def _axes(g: ConvGeometry) -> tuple[_Axis, _Axis]:
    rows = _Axis(
        g.h_in, g.h_out, g.k_h, g.s_h, g.d_h, g.pad.top, g.w_out * g.c_out, g.w_in * g.c_in
    )
    columns = _Axis(g.w_in, g.w_out, g.k_w, g.s_w, g.d_w, g.pad.left, g.c_out, g.c_in)
    return rows, columns


def _first_tap_debt(geometry: ConvGeometry, sigma: int) -> int | None:
    """sigma + max over all outputs u of (u c_out - first(u))."""
    rows, columns = _axes(geometry)
    f, g = rows.worst(), columns.worst()
    return None if f is None or g is None else sigma + f + g


def _gather_debt(geometry: ConvGeometry) -> int | None:
    """max over outputs u >= 1 of (u c_out - first(u)): nothing is written before output 0 is read.

    Output 0 is left out by taking either a later row with any column, or row 0 with a later column.
    """
    rows, columns = _axes(geometry)
    pairs = ((rows.worst(1), columns.worst()), (rows.at_zero(), columns.worst(1)))
    debts = [f + g for f, g in pairs if f is not None and g is not None]
    return max(debts, default=None)
