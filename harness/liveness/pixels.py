# SPDX-License-Identifier: Apache-2.0
"""The debt of a convolution from the turns in which its input pixels are last read: fast enough for
ten thousand layers.

All channels of an input pixel are released together, so one turn a pixel says what the simulator of
single scalars says (tests hold the two equal), and no formula of the debt is used: every pixel is
looked at. Two facts make the turns cheap. An input pixel is read by a rectangle of output pixels,
some rows times some columns; and in each traversal but REVERSE a later row or a later column is a
later turn, so the rectangle's last corner reads last (in REVERSE its first).

Release says when a pixel's scalars may be written over:
`scalar`  after its last read by a kernel that writes one scalar at a time;
`pixel`   (direct order) after all channels of the last output pixel that reads it: the paper's G.1;
`block`   (direct order, padding stored) with the output pixel that steps over it, whether or not that
          is later than its last read: every output pixel frees its s_h x s_w corner, the last of a row
          or column all that remains. The paper's herringbone (Theorem 11) counts so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Execution
from harness.geometry.traversal import stored_geometry
from harness.schema.constants import Layout, Traversal

Int64s = NDArray[np.int64]
PixelRelease = Literal["scalar", "pixel", "block"]
_NEVER = -1


def conv_debt(
    geometry: ConvGeometry, execution: Execution, *, release: PixelRelease = "pixel"
) -> int | None:
    """The least distance from which on no distance has a collision; None if none ever has one.

    As `debt(schedule(OpKind.CONV, ...))`, mirrored in REVERSE. Errors: ValueError for CHANNEL, and for
    `block` but with PADDED, DIRECT and a traversal from the first pixel on.
    """
    traversal = execution.traversal
    if traversal is Traversal.CHANNEL:
        raise ValueError("a convolution does not run channel by channel")
    stored = stored_geometry(geometry, execution)
    if release == "block":
        if execution.layout is not Layout.PADDED or not execution.direct:
            raise ValueError("release by blocks is of stored padding, in direct order")
        if traversal is Traversal.REVERSE:
            raise ValueError("release by blocks goes from the first pixel on")
        return _by_turn(_blocks(stored, traversal), stored, stored.c_out)
    within = 0
    if execution.direct:
        within = stored.c_out - (release == "scalar")
    if traversal is Traversal.HERRINGBONE:
        return _by_turn(_released_a_turn(stored), stored, within)
    return _by_place(_last_turns(stored, traversal), stored, within, traversal)


@dataclass(frozen=True)
class Debts:
    """Of one layer in row order, and in herringbone with its padding stored; sigma c_out in `direct`."""

    padded_gather: int | None
    padded_direct: int | None
    dense_gather: int | None
    dense_direct: int | None
    herringbone: int | None
    herringbone_literal: int | None


def row_and_herringbone(geometry: ConvGeometry) -> Debts:
    """The five configurations of the paper's sweep, and herringbone under literal release (`pixel`)."""
    row, herringbone = Traversal.ROW, Traversal.HERRINGBONE
    found = []
    for layout in (Layout.PADDED, Layout.DENSE):
        stored = stored_geometry(geometry, Execution(layout))
        last = _last_turns(stored, row)
        found += [_by_place(last, stored, within, row) for within in (0, stored.c_out)]
    stored = stored_geometry(geometry, Execution(Layout.PADDED))
    legs = (_blocks(stored, herringbone), _released_a_turn(stored))
    return Debts(*found, *(_by_turn(freed, stored, stored.c_out) for freed in legs))


def _by_place(last: Int64s, g: ConvGeometry, within: int, traversal: Traversal) -> int | None:
    """last: for each pixel in order of memory its last reader's turn, or _NEVER.

    A scalar dies when last * c_out + within scalars are written; the worst one of a pixel is the one
    that the frontier meets first.
    """
    read = last != _NEVER if within else last > 0
    if not read.any():
        return None
    written = last * g.c_out + within
    places = np.arange(len(last), dtype=np.int64)
    if traversal is Traversal.REVERSE:
        ends = np.where(read, written + (places + 1) * g.c_in, np.iinfo(np.int64).min)
        return int(ends.max()) - g.n_in
    return int(np.where(read, written - places * g.c_in, np.iinfo(np.int64).min).max())


def _by_turn(freed: Int64s, g: ConvGeometry, within: int) -> int | None:
    """The same where pixels lie in the order in which turns free them. freed: pixels freed before any
    turn, then by each turn."""
    turns = np.flatnonzero(freed[1:])
    if not within:
        turns = turns[turns > 0]
    if not turns.size:
        return None
    before = np.cumsum(freed)[turns]
    return int((turns * g.c_out + within - before * g.c_in).max())


def _released_a_turn(g: ConvGeometry) -> Int64s:
    last = _last_turns(g, Traversal.HERRINGBONE)
    return np.bincount(last + 1, minlength=g.pixels_out + 1)


def _blocks(g: ConvGeometry, traversal: Traversal) -> Int64s:
    rows = np.full(g.h_out, g.s_h, dtype=np.int64)
    columns = np.full(g.w_out, g.s_w, dtype=np.int64)
    rows[-1] = g.h_in - g.s_h * (g.h_out - 1)
    columns[-1] = g.w_in - g.s_w * (g.w_out - 1)
    freed = np.zeros(g.pixels_out + 1, dtype=np.int64)
    freed[1 + _turns(g.h_out, g.w_out, traversal)] = rows[:, None] * columns
    return freed


def _last_turns(g: ConvGeometry, traversal: Traversal) -> Int64s:
    """For each pixel of the stored input the last turn that reads it. In order of memory, but for
    HERRINGBONE: row-major."""
    late = traversal is not Traversal.REVERSE
    rows = _readers(g.h_in, g.h_out, g.k_h, g.s_h, g.d_h, g.pad.top, late)
    columns = _readers(g.w_in, g.w_out, g.k_w, g.s_w, g.d_w, g.pad.left, late)
    turns = _turns(g.h_out, g.w_out, traversal)[rows[:, None], columns]
    turns = np.where((rows[:, None] == _NEVER) | (columns == _NEVER), _NEVER, turns)
    return (turns.T if traversal is Traversal.COLUMN else turns).ravel()


def _readers(n: int, n_out: int, k: int, s: int, d: int, pad: int, late: bool) -> Int64s:
    """Along an axis: for each input the last output that reads it (the first if not `late`)."""
    reader = np.full(n, _NEVER, dtype=np.int64)
    outputs = np.arange(n_out, dtype=np.int64)
    # the tap nearest the input's start reads an input last; written in that order, the last one stays
    for tap in range(k - 1, -1, -1) if late else range(k):
        inputs = outputs * s + (tap * d - pad)
        real = (inputs >= 0) & (inputs < n)
        reader[inputs[real]] = outputs[real]
    return reader


@lru_cache(maxsize=64)
def _turns(h_out: int, w_out: int, traversal: Traversal) -> Int64s:
    """[h_out, w_out]: the turn of each output pixel."""
    rows = np.arange(h_out, dtype=np.int64)[:, None]
    columns = np.arange(w_out, dtype=np.int64)[None, :]
    if traversal is Traversal.COLUMN:
        return columns * h_out + rows
    if traversal is Traversal.REVERSE:
        return h_out * w_out - 1 - (rows * w_out + columns)
    if traversal is Traversal.ROW:
        return rows * w_out + columns
    if h_out > w_out:
        return _turns(w_out, h_out, traversal).T
    # row r from column r on is a leg, and so is column c below row c; a pair of legs leaves a grid
    # that is one shorter on both axes
    pair = np.minimum(rows, columns)
    before = pair * (h_out + w_out) - pair * pair
    turns: Int64s = before + np.where(
        columns >= rows, columns - rows, w_out - pair + rows - columns - 1
    )
    return turns
