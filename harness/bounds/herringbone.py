# SPDX-License-Identifier: Apache-2.0
"""The debt of the herringbone traversal: an enumeration of its outputs, not a closed form.

The input is stored in order of release, so before turn t the inputs that are not needed any more lie
below the live ones, and the write frontier t * c_out may come as far as

    gap + c_in * (stored pixels - live(t)),   live(t): pixels that a turn from t on still reads.

While a leg runs, the outputs left are a rectangle and the rest of the leg beside it. What they read is a
product of rows and columns for either, so turn t and live(t) follow from the output's place alone and
from how many rows, and columns, the outputs from an index on read. Under literal liveness an input is
released by its last reader. Block release, the accounting of the paper's Theorem 11, gives each output
the s_h x s_w block that it steps over and the last one of a leg the residual; that theorem is its O(1)
form at sigma = c_out (harness.bounds.published).
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np
from numpy.typing import NDArray

from harness.bounds.axis import Axis, axes
from harness.geometry import ConvGeometry, Execution
from harness.schema.constants import Layout, TapOrder, Traversal

Int64s = NDArray[np.int64]


def literal_debt(g: ConvGeometry, layout: Layout, sigma: int, *, first: bool) -> int | None:
    """Exact for tensors stored as harness.geometry.traversal says. first: does turn 0 count
    (harness.bounds.axis)?"""
    return _debt(g, layout, _read_from, sigma, 0 if first else 1)


def block_debt(g: ConvGeometry, sigma: int) -> int:
    """Under block release, which needs the padding stored."""
    debt = _debt(g, Layout.PADDED, _stepped_from, sigma, 0)
    assert debt is not None, "the first output releases something"
    return debt


def _read_from(axis: Axis) -> Int64s:
    """For each first output 0 to n_out: the inputs that outputs from it on read.

    Tap t of output i is tap t - s / g of output i + d / g, g = gcd(s, d), where both exist: so it is the
    last reader there if t < s / g, or if that output does not exist, and an input has one last reader.
    """
    common = gcd(axis.s, axis.d)
    firsts = np.arange(axis.n_out + 1, dtype=np.int64)
    read = np.zeros_like(firsts)
    for tap in range(axis.k):
        low, high = axis.run(tap)
        if tap >= axis.s // common:
            low = max(low, axis.n_out - axis.d // common)
        read += np.maximum(0, high - np.maximum(firsts, low) + 1)
    return read


def _stepped_from(axis: Axis) -> Int64s:
    """Each output s inputs, the last one all that are left (Eq. 23)."""
    left = axis.n - axis.s * np.arange(axis.n_out + 1, dtype=np.int64)
    left[-1] = 0
    return left


def _debt(
    g: ConvGeometry,
    layout: Layout,
    released_from: Callable[[Axis], Int64s],
    sigma: int,
    first_turn: int,
) -> int | None:
    """The maximum over turns from `first_turn` on that release anything or come before one that does."""
    rows, columns = axes(g, Execution(layout, TapOrder.DIRECT, Traversal.HERRINGBONE))
    turns, live = _turns_and_live(released_from(rows), released_from(columns))
    counted = (live > 0) & (turns >= first_turn)
    if not counted.any():
        return None
    worst = int((turns * g.c_out + live * g.c_in)[counted].max())
    return sigma + worst - rows.n * columns.n * g.c_in


def _turns_and_live(by_row: Int64s, by_column: Int64s) -> tuple[Int64s, Int64s]:
    """Of each output (r, c), from the inputs along each axis that outputs from an index on release.

    top, left: of the rectangle that is left when its leg begins. Where the grid is wide, leg r along row
    r begins at column r, and leg c along column c at row c + 1; where it is tall, the other way round.
    """
    h, w = len(by_row) - 1, len(by_column) - 1
    r, c = np.ogrid[:h, :w]
    wide = w >= h
    along_row = c >= r if wide else c > r
    top = np.where(along_row, r, c + wide)
    left = np.where(along_row, r + (not wide), c)
    turns = h * w - (h - top) * (w - left) + np.where(along_row, c - left, r - top)
    horizontal = by_row[r + 1] * by_column[left] + (by_row[r] - by_row[r + 1]) * by_column[c]
    vertical = by_row[top] * by_column[c + 1] + (by_column[c] - by_column[c + 1]) * by_row[r]
    return turns, np.where(along_row, horizontal, vertical)
