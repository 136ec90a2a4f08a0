# SPDX-License-Identifier: Apache-2.0
"""Theorem 13 of many layers at once, and the closed forms that tables and sweeps compare.

harness.bounds.published.theorem_13 says it for one layer, breakpoint by breakpoint. Here the maximum
over the product of row and column breakpoints is taken axis by axis: the next live input after pixel
(r, c) is the lower of (lowest row that output row r reads, lowest column of outputs from c + 1 on) and
(lowest row of output rows from r + 1 on, lowest column of all), and both split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from harness.bounds import batch

Int64s = NDArray[np.int64]
Layers = Mapping[str, Int64s]
Found = dict[str, Int64s]

_FAR = (
    1 << 40
)  # a position that is nowhere: no extent is near it, and times channels it fits 62 bits
_CELLS = 1 << 21


def closed_forms(layers: Layers) -> dict[str, Found]:
    """Gap, debt and workspace of each configuration: exact, but `herringbone` is Theorem 11."""
    return {
        "rip_padded_gather": batch.padded(layers, False),
        "rip_padded_direct": batch.padded(layers, True),
        "rip_dense_gather": in_groups(layers, lambda part: batch.dense(part, False)),
        "rip_dense_direct": in_groups(layers, lambda part: batch.dense(part, True)),
        "herringbone": batch.herringbone(layers),
    }


def printed_forms(layers: Layers) -> dict[str, Found]:
    """Gap and workspace as the paper prints them. Theorem 4 is sigma + the largest debt of nine pixels,
    which includes the last one's: so it is never below sigma, where the exact debt may be."""
    sizes = _sizes(layers)
    found = {}
    for order, direct in (("gather", False), ("direct", True)):
        gap = theorem_4(layers, direct)
        found[f"rip_padded_{order}"] = {"gap": gap, "workspace": gap + sizes["padded"]}
        gap = theorem_13(layers, direct)
        found[f"rip_dense_{order}"] = {"gap": gap, "workspace": gap + sizes["dense"]}
    theorem_11 = batch.herringbone(layers)
    found["herringbone"] = {name: theorem_11[name] for name in ("gap", "workspace")}
    return found


def theorem_4(layers: Layers, direct: bool) -> Int64s:
    """Eq. 8 to 10, at the nine breakpoints."""
    h_out, w_out = batch.outputs(layers)
    c_in, c_out = layers["c_in"], layers["c_out"]
    w_p = layers["w_in"] + layers["pad_left"] + layers["pad_right"]
    sigma = c_out if direct else np.zeros_like(c_out)
    beta = c_out * w_out - layers["s_h"] * w_p * c_in
    alpha = c_out - layers["s_w"] * c_in
    sizes = _sizes(layers)
    worst = sizes["out"] - sizes["padded"]
    for r in (np.zeros_like(h_out), h_out - 2, h_out - 1):
        for c in (np.zeros_like(w_out), w_out - 2, w_out - 1):
            at_end = np.where(r + 1 < h_out, beta * (r + 1), 0)
            debt = sigma + np.where(c + 1 < w_out, beta * r + alpha * (c + 1), at_end)
            worst = np.where((r >= 0) & (c >= 0), np.maximum(worst, debt), worst)
    return worst


def theorem_13(layers: Layers, direct: bool) -> Int64s:
    """The gap at all breakpoints of Theorem 13, with the crossings that Lemma 12 prints."""
    return in_groups(layers, lambda part: {"gap": _theorem_13(part, direct)})["gap"]


def outside_13(layers: Layers) -> NDArray[np.bool_]:
    """Layers that break Theorem 13's precondition: padding as wide as the dilated kernel."""
    wide = np.zeros(len(layers["h_in"]), dtype=np.bool_)
    for axis, sides in (("h", ("top", "bottom")), ("w", ("left", "right"))):
        kernel = (layers[f"k_{axis}"] - 1) * layers[f"d_{axis}"] + 1
        for side in sides:
            wide |= layers[f"pad_{side}"] >= kernel
    return wide


def in_groups(layers: Layers, form: Callable[[Layers], Found]) -> Found:
    """The form of layers of like size, group by group: its arrays have a column for each output, and
    its loops a turn for each tap, of the largest layer."""
    count = len(layers["h_in"])
    if not count:
        return form(layers)
    found: Found = {}
    for chosen in _groups(layers):
        part = form({name: column[chosen] for name, column in layers.items()})
        for name, column in part.items():
            found.setdefault(name, np.zeros(count, dtype=np.int64))[chosen] = column
    return found


def _groups(layers: Layers) -> Iterator[Int64s]:
    extents = np.maximum(*batch.outputs(layers))
    kernels = np.maximum(layers["k_h"], layers["k_w"])
    sizes = (np.maximum(extents, 16), np.maximum(kernels, 8))
    steps = [np.ceil(np.log2(values)) for values in sizes]
    classes = (steps[0] * 64 + steps[1]).astype(np.int64)
    for value in np.unique(classes):
        members = np.flatnonzero(classes == value)
        size = max(1, _CELLS >> int(value // 64))
        yield from (members[at : at + size] for at in range(0, len(members), size))


def _theorem_13(layers: Layers, direct: bool) -> Int64s:
    h_out, w_out = batch.outputs(layers)
    c_in, c_out = layers["c_in"], layers["c_out"]
    sigma = c_out if direct else np.zeros_like(c_out)
    rows = _Lowest(layers, "h", "top", h_out)
    columns = _Lowest(layers, "w", "left", w_out)
    row_out, row_in = w_out * c_out, layers["w_in"] * c_in
    this_row = rows.worst(rows.at, 0, row_out, row_in) + columns.worst(
        columns.after, 1, c_out, c_in
    )
    later_row = rows.worst(rows.after, 0, row_out, row_in) + w_out * c_out - columns.first * c_in
    sizes = _sizes(layers)
    worst = np.maximum(0, np.maximum(this_row, later_row))
    gap: Int64s = np.maximum(sigma + worst, sizes["out"] - sizes["dense"])
    return gap


class _Lowest:
    """Of an axis, for each output (a column each): `at`, the lowest real position that it reads;
    `after`, the lowest that any later one does; _FAR where there is none. first: the lowest of all."""

    def __init__(self, layers: Layers, axis: str, side: str, n_out: Int64s) -> None:
        n, k = layers[f"{axis}_in"], layers[f"k_{axis}"]
        s, d, pad = layers[f"s_{axis}"], layers[f"d_{axis}"], layers[f"pad_{side}"]
        self.outputs = np.arange(int(n_out.max(initial=1)), dtype=np.int64)
        start = self.outputs * s[:, None] - pad[:, None]
        step = d[:, None]
        tap = np.maximum(0, -(start // step))  # the first one that is not before the input
        position = start + tap * step
        real = (tap < k[:, None]) & (position < n[:, None]) & (self.outputs < n_out[:, None])
        self.at = np.where(real, position, _FAR)
        backwards = np.minimum.accumulate(self.at[:, ::-1], axis=1)[:, ::-1]
        self.first = backwards[:, 0]
        nothing = np.full((len(n), 1), _FAR, dtype=np.int64)
        self.after = np.concatenate([backwards[:, 1:], nothing], axis=1)
        self.breakpoints = self._breakpoints(n, n_out, k, s, d, pad)

    def _breakpoints(
        self, n: Int64s, n_out: Int64s, k: Int64s, s: Int64s, d: Int64s, pad: Int64s
    ) -> NDArray[np.bool_]:
        """Eq. 9 and Lemma 12: each crossing and the index below it, clipped to the grid."""
        marked = np.zeros(self.at.shape, dtype=np.bool_)
        layer = np.arange(len(n))
        last = n_out - 1
        for index in (np.zeros_like(last), np.maximum(last - 1, 0), last):
            marked[layer, index] = True
        for tap in range(int(k.max(initial=0))):
            at = layer[tap < k]
            start = (pad - tap * d)[at]
            for crossing in (-(-start // s[at]), -(-(start + n[at] - 1) // s[at])):
                for index in (crossing, crossing - 1):
                    marked[at, np.clip(index, 0, last[at])] = True
        return marked

    def worst(self, positions: Int64s, more: int, write: Int64s, read: Int64s) -> Int64s:
        """The maximum over breakpoints i of (i + more) * write - position * read."""
        values = (self.outputs + more) * write[:, None] - positions * read[:, None]
        known = self.breakpoints & (positions != _FAR)
        most: Int64s = np.where(known, values, -_FAR * (1 << 20)).max(axis=1)
        return most


def _sizes(layers: Layers) -> dict[str, Int64s]:
    """Scalars of the input in either layout, and of the output."""
    h_out, w_out = batch.outputs(layers)
    h_p = layers["h_in"] + layers["pad_top"] + layers["pad_bottom"]
    w_p = layers["w_in"] + layers["pad_left"] + layers["pad_right"]
    return {
        "padded": h_p * w_p * layers["c_in"],
        "dense": layers["h_in"] * layers["w_in"] * layers["c_in"],
        "out": h_out * w_out * layers["c_out"],
    }
