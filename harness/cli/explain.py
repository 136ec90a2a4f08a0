# SPDX-License-Identifier: Apache-2.0
"""Where a gap comes from: the debt of every output pixel in row order, and the one that binds.

When output u (from 0, row by row) is about to be made, u * c_out scalars are written and the lowest
scalar that it reads is first(u), so its debt is sigma + u * c_out - first(u). The largest one is the
layer's debt; in gather order output 0 has none, for nothing is written before it has read.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution
from harness.geometry.traversal import stored_geometry

Int64s = NDArray[np.int64]
_ROWS, _COLUMNS = 10, 64
_NO_TAP = -1
_MOST_PIXELS = 1 << 22  # of what looks at every output pixel


@dataclass(frozen=True)
class Binding:
    """Output pixel, tap and stored input pixel (row, column) where the debt is largest."""

    output: tuple[int, int]
    tap: tuple[int, int]
    stored: tuple[int, int]
    debt: int
    written: int
    address: int


@dataclass(frozen=True)
class Explanation:
    """geometry: as stored, its padding being input where that is stored. debts: of each output pixel in
    row order, scalars; `known` where there is one. binding: None where no pixel has any."""

    geometry: ConvGeometry
    sigma: int
    debts: Int64s
    known: NDArray[np.bool_]
    binding: Binding | None


def explain(geometry: ConvGeometry, execution: Execution) -> Explanation:
    """Of the row traversal, all taps of a pixel released together (the paper's convention).

    Errors: ConfigError for an output of too many pixels to look at each.
    """
    g = stored_geometry(geometry, execution)
    if g.pixels_out > _MOST_PIXELS:
        raise ConfigError(
            f"{g.pixels_out} output pixels are too many to explain", hint=f"up to {_MOST_PIXELS}"
        )
    sigma = g.c_out if execution.direct else 0
    rows, row_taps = _first_reads(g.h_in, g.h_out, g.k_h, g.s_h, g.d_h, g.pad.top)
    columns, column_taps = _first_reads(g.w_in, g.w_out, g.k_w, g.s_w, g.d_w, g.pad.left)
    known = ((rows != _NO_TAP)[:, None] & (columns != _NO_TAP)).ravel()
    if not execution.direct:
        known[0] = False
    addresses = (rows[:, None] * g.w_in + columns).ravel() * g.c_in
    debts = sigma + np.arange(g.pixels_out, dtype=np.int64) * g.c_out - addresses
    binding = None
    if known.any():
        u = int(np.where(known, debts, np.iinfo(np.int64).min).argmax())
        r, c = divmod(u, g.w_out)
        binding = Binding(
            output=(r, c),
            tap=(int(row_taps[r]), int(column_taps[c])),
            stored=(int(rows[r]), int(columns[c])),
            debt=int(debts[u]),
            written=u * g.c_out,
            address=int(addresses[u]),
        )
    return Explanation(g, sigma, debts, known, binding)


def _first_reads(n: int, n_out: int, k: int, s: int, d: int, pad: int) -> tuple[Int64s, Int64s]:
    """Along an axis: the lowest stored position that each output reads, and the tap that reads it."""
    outputs = np.arange(n_out, dtype=np.int64)
    positions = np.full(n_out, _NO_TAP, dtype=np.int64)
    taps = np.full(n_out, _NO_TAP, dtype=np.int64)
    for tap in range(k - 1, -1, -1):  # a lower tap reads lower and stays
        at = outputs * s + (tap * d - pad)
        real = (at >= 0) & (at < n)
        positions[real] = at[real]
        taps[real] = tap
    return positions, taps


def as_text(e: Explanation) -> str:
    """What binds, in words, and the debts as a chart."""
    if e.binding is None:
        return "no write can meet a live scalar: there is no debt"
    b, g = e.binding, e.geometry
    (r, c), (i, j), (y, x) = b.output, b.tap, b.stored
    words = [
        f"output pixel ({r}, {c}), number {r * g.w_out + c} of {g.pixels_out}, binds by tap ({i}, {j}), "
        f"which reads stored input pixel ({y}, {x}):",
        f"  {b.written} scalars written before it + sigma {e.sigma} - first live scalar {b.address} "
        f"= debt {b.debt}",
    ]
    if b.debt < 0:
        words.append("  below 0: the output may even start above the input")
    return "\n".join([*words, "", *_chart(e)])


def binned(e: Explanation, columns: int) -> list[int | None]:
    """The largest debt in each of at most `columns` equal runs of output pixels."""
    edges = np.linspace(0, len(e.debts), min(columns, len(e.debts)) + 1).astype(int)
    found: list[int | None] = []
    for low, high in itertools.pairwise(edges.tolist()):
        part = e.debts[low:high][e.known[low:high]]
        found.append(int(part.max()) if part.size else None)
    return found


def _chart(e: Explanation) -> list[str]:
    bins = binned(e, _COLUMNS)
    values = [value for value in bins if value is not None]
    low, high = min(values), max(values)
    span = max(1, high - low)
    width = max(len(str(low)), len(str(high)))
    lines = []
    for row in range(_ROWS, 0, -1):
        floor = low + span * (row - 1) / _ROWS
        marks = "".join(" " if value is None or value < floor else "#" for value in bins)
        label = {_ROWS: str(high), 1: str(low)}.get(row, "")
        lines.append(f"{label:>{width}} |{marks}")
    lines.append(f"{'':>{width}} +{'-' * len(bins)}")
    lines.append(f"{'':>{width}}  debt of output pixels 0 to {len(e.debts) - 1}, in row order")
    return lines
