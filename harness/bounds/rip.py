# SPDX-License-Identifier: Apache-2.0
"""The gap of a convolution in the dense layout, row-major traversal: exact, in O(k_h + k_w).

The input lies right-aligned at distance `gap` above the output, which starts at index 0. With the
outputs numbered u = 0, 1, ... in row-major order and first(u) the lowest input scalar that output u
reads, a gap is safe when the write frontier u * c_out, plus the headroom sigma of the tap order, never
passes gap + first(u). So

    debt = sigma + max over u of (u * c_out - first(u))

and because u = r * w_out + c and first(u) both split into a row part and a column part, so does the
maximum: over rows F, over columns G (harness.bounds.axis). This replaces the paper's Theorem 13
(4 k + 3 breakpoints an axis and their product), needs no precondition, and is exact where the theorem
is loose or, for p >= k_eff, unsafe.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.bounds.axis import axes, window_debt
from harness.geometry import GATHER, ConvGeometry


@dataclass(frozen=True)
class Bound:
    """What an in-place operator needs, in scalars.

    sigma: headroom of the tap order. gap: least distance of the input above the output, never
    negative. debt: the same before it is clamped at 0 and at n_out - n_in, so it may be negative;
    None where no write can meet a live scalar (one output pixel, or no later tap on real input).
    workspace: gap + n_in, n_in as stored. REVERSE: gap and debt are mirrored, from end to end.
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
    return _dense(geometry, geometry.c_out if direct else 0, first=direct)


def dense_scalar_direct(geometry: ConvGeometry) -> Bound:
    """A direct kernel that writes one scalar at a time, each right after its own reads.

    The last channel's taps are read before it is written, so channel c_out - 2 is the last write that
    can hurt the pixel itself: sigma is c_out - 1. With one channel that is gather. (A register tile of
    B pixels by Q channels with B = Q = 1.)
    """
    return _dense(geometry, geometry.c_out - 1, first=geometry.c_out > 1)


def round_up(value: int, multiple: int) -> int:
    """The least multiple that is not below `value`, which may be negative."""
    return -(-value // multiple) * multiple


def clamped(sigma: int, debt: int | None, n_in: int, n_out: int) -> Bound:
    """The gap is never negative, and the output fits in gap + stored input."""
    gap = max(0, n_out - n_in, debt if debt is not None else 0)
    return Bound(sigma=sigma, gap=gap, debt=debt, workspace=gap + n_in)


def _dense(geometry: ConvGeometry, sigma: int, *, first: bool) -> Bound:
    debt = window_debt(*axes(geometry, GATHER), sigma, first=first)
    return clamped(sigma, debt, geometry.n_in, geometry.n_out)
