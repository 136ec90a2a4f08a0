# SPDX-License-Identifier: Apache-2.0
"""Kernels that copy input rows to a ring: when each row is read for the last, and only, time.

Before output row r the rows of its field that have not been copied yet are, with all their columns; a
row that lies before the field by then is skipped. The field of r is rows r s - pad to
r s - pad + k_eff - 1, and fields only move down, so the lowest row copied for r is

    y(r) = max(0, r s - pad + max(0, k_eff - s))        for r >= 1, if row r - 1 has copied any.

A band of rows is copied for as a whole, before its first one: up to the end of its last row's field, and
from y(r) on, r its first row.
"""

from __future__ import annotations

from harness.bounds.axis import Axis


def worst_row(rows: Axis, write: int, read: int, band: int = 1) -> int | None:
    """The maximum of (r * write - y * read) over the first rows r of all bands of `band` output rows but
    the first one, and the input rows y copied for them; None if none copies any.

    y(r) is linear but for the first r for which rows are copied, whose y may be cut off at 0: three
    candidates.
    """
    k_eff = (rows.k - 1) * rows.d + 1
    new = max(0, k_eff - rows.s)  # how far into the field the rows are known already
    low = max(1, ((rows.pad - k_eff) // rows.s + 1) // band)
    high = min(rows.n_out - 1, (rows.n - 1 + rows.pad - new) // rows.s) // band
    starts = [number * band for number in (low, low + 1, high) if low <= number <= high]
    return max(
        (r * write - max(0, r * rows.s - rows.pad + new) * read for r in starts), default=None
    )


def first_row(rows: Axis, band: int = 1) -> int | None:
    """The first input row that is copied at all."""
    k_eff = (rows.k - 1) * rows.d + 1
    output = max(0, (rows.pad - k_eff) // rows.s + 1)
    row = max(0, output // band * band * rows.s - rows.pad)
    return row if output < rows.n_out and row < rows.n else None
