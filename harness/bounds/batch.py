# SPDX-License-Identifier: Apache-2.0
"""The bounds of many convolutions at once: arrays in, arrays out, equal to the scalar forms.

Layers are a mapping from each name in FIELDS to an int64 array, all of one shape. What comes out has
that shape too: `gap`, `workspace` and `debt`, in scalars, with NO_DEBT where no write can meet a live
scalar. Direct order releases whole pixels, as the paper does (sigma = c_out); the traversal is by rows,
but for `herringbone`. Nothing is checked: each layer must have an output, and sizes far below 2 ** 60.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.bounds.exact import bound_of
from harness.geometry import ConvGeometry, Execution, Pad
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

Int64s = NDArray[np.int64]
Layers = Mapping[str, Int64s]
Bools = NDArray[np.bool_]

NO_DEBT = int(np.iinfo(np.int64).min)
_LOW = NO_DEBT // 4  # "no candidate": three of them still add up without a wrap
_HERRINGBONE = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.HERRINGBONE)
FIELDS = (
    "h_in", "w_in", "c_in", "c_out", "k_h", "k_w", "s_h", "s_w", "d_h", "d_w",
    "pad_top", "pad_left", "pad_bottom", "pad_right",
)  # fmt: skip


def layers_of(geometries: Iterable[ConvGeometry]) -> dict[str, Int64s]:
    """The arrays of a list of geometries."""
    rows = [
        (
            g.h_in, g.w_in, g.c_in, g.c_out, g.k_h, g.k_w, g.s_h, g.s_w, g.d_h, g.d_w,
            g.pad.top, g.pad.left, g.pad.bottom, g.pad.right,
        )
        for g in geometries
    ]  # fmt: skip
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), len(FIELDS)).T
    return dict(zip(FIELDS, columns, strict=True))


def geometries_of(layers: Layers) -> list[ConvGeometry]:
    """The way back, of one-dimensional arrays. Errors: ConfigError for a layer without an output."""
    rows: list[list[int]] = np.stack([layers[name] for name in FIELDS], axis=-1).tolist()
    return [
        ConvGeometry(h, w, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, Pad(*pad))
        for h, w, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, *pad in rows
    ]


def outputs(layers: Layers) -> tuple[Int64s, Int64s]:
    """h_out and w_out."""
    found = [
        (stored - (layers[f"k_{axis}"] - 1) * layers[f"d_{axis}"] - 1) // layers[f"s_{axis}"] + 1
        for axis, stored in zip("hw", _padded_extents(layers), strict=True)
    ]
    return found[0], found[1]


def dual(layers: Layers, *, stores_padding: bool) -> dict[str, Int64s]:
    """Two buffers: `workspace` alone."""
    h, w = _padded_extents(layers) if stores_padding else (layers["h_in"], layers["w_in"])
    h_out, w_out = outputs(layers)
    return {"workspace": h * w * layers["c_in"] + h_out * w_out * layers["c_out"]}


def dense(layers: Layers, direct: bool) -> dict[str, Int64s]:
    """harness.bounds.rip.dense."""
    h_out, w_out = outputs(layers)
    c_in, c_out = layers["c_in"], layers["c_out"]
    rows = _Axes(
        layers["h_in"], h_out, layers["k_h"], layers["s_h"], layers["d_h"], layers["pad_top"],
        w_out * c_out, layers["w_in"] * c_in,
    )  # fmt: skip
    columns = _Axes(
        layers["w_in"], w_out, layers["k_w"], layers["s_w"], layers["d_w"], layers["pad_left"],
        c_out, c_in,
    )  # fmt: skip
    return _bound(layers, rows, columns, direct)


def padded(layers: Layers, direct: bool) -> dict[str, Int64s]:
    """The same with the padding stored, where tap 0 alone decides: the paper's Theorem 4."""
    h_out, w_out = outputs(layers)
    h, w = _padded_extents(layers)
    c_in, c_out = layers["c_in"], layers["c_out"]
    one, none = np.ones_like(h), np.zeros_like(h)
    rows = _Axes(h, h_out, one, layers["s_h"], one, none, w_out * c_out, w * c_in)
    columns = _Axes(w, w_out, one, layers["s_w"], one, none, c_out, c_in)
    return _bound(layers, rows, columns, direct)


@dataclass(frozen=True)
class _Axes:
    """harness.bounds.axis.Axis of each layer."""

    n: Int64s
    n_out: Int64s
    k: Int64s
    s: Int64s
    d: Int64s
    pad: Int64s
    write: Int64s
    read: Int64s

    def worst(self, first_output: int = 0, n_out: int | None = None) -> Int64s:
        """_LOW or less where no tap is stored for any of the outputs."""
        end = self.n_out if n_out is None else np.minimum(self.n_out, n_out)
        found = np.full(self.n.shape, _LOW, dtype=np.int64)
        for tap in range(int(self.k.max(initial=0))):
            start = self.pad - tap * self.d
            low = np.maximum(first_output, -(-start // self.s))
            high = np.minimum(end - 1, (start + self.n - 1) // self.s)
            known = (tap < self.k) & (low <= high)
            for i in (low, high):
                value = self.write * i - self.read * (i * self.s - start)
                np.maximum(found, np.where(known, value, _LOW), out=found)
        return found


def _bound(layers: Layers, rows: _Axes, columns: _Axes, direct: bool) -> dict[str, Int64s]:
    if direct:
        found = _sum(rows.worst(), columns.worst())
        found = np.where(found == NO_DEBT, NO_DEBT, found + layers["c_out"])
    else:
        found = np.maximum(
            _sum(rows.worst(1), columns.worst()), _sum(rows.worst(0, 1), columns.worst(1))
        )
    n_in = rows.n * columns.n * layers["c_in"]
    n_out = rows.n_out * columns.n_out * layers["c_out"]
    gap = np.maximum(np.maximum(found, n_out - n_in), 0)
    return {"gap": gap, "debt": found, "workspace": gap + n_in}


def _sum(f: Int64s, g: Int64s) -> Int64s:
    return np.where((f <= _LOW) | (g <= _LOW), NO_DEBT, f + g)


def herringbone(layers: Layers) -> dict[str, Int64s]:
    """The paper's Theorem 11 (Eq. 38): block release, padding stored, sigma = c_out. It is its own debt,
    never below c_out. harness.bounds.published.theorem_11 says it one layer at a time, with its
    equations."""
    h_out, w_out = outputs(layers)
    h_p, w_p = _padded_extents(layers)
    c_in, c_out, s_h, s_w = (layers[name] for name in ("c_in", "c_out", "s_h", "s_w"))
    wide = w_out >= h_out
    long: Int64s = np.maximum(h_out, w_out)
    short: Int64s = np.minimum(h_out, w_out)
    delta = long - short
    alpha = c_out - s_h * s_w * c_in
    rho_r = s_h * c_in * (w_p - s_w * w_out)
    rho_c = s_w * c_in * (h_p - s_h * h_out)
    rho_maj: Int64s = np.where(wide, rho_r, rho_c)
    rho_min: Int64s = np.where(wide, rho_c, rho_r)
    rho = rho_maj + rho_min
    rest = rho_min + s_h * s_w * c_in  # R_min

    def major(x: Int64s, y: Int64s) -> Int64s:
        """Eq. 32."""
        pairs = (long - x) * (alpha * (long + x - delta) - rho)
        return np.asarray(pairs + alpha * (y - 1) + c_out, dtype=np.int64)

    def minor(x: Int64s, y: Int64s) -> Int64s:
        """Eq. 35."""
        return np.asarray(major(x, y) + alpha * x - rho_maj, dtype=np.int64)

    one = np.ones_like(delta)
    slope: Int64s = np.maximum(0, (c_out - rest) * delta)
    worst: Int64s = np.maximum(c_out, minor(delta + 2, one) - rest + c_out + slope)
    rising = alpha > 0
    twice: Int64s = np.where(rising, 2 * alpha, 1)
    shortest = delta + 2
    for shift in (0, 1):  # the major legs, the minor ones
        top = rho + alpha * (delta + shift)
        for vertex, end in ((top // twice, shortest), (-(-top // twice), long)):
            clipped = np.minimum(np.maximum(vertex, shortest), long)
            x: Int64s = np.where(rising, clipped, end)
            y: Int64s = np.where(rising, x - shift * (delta + 1), one)
            value = minor(x, y) if shift else major(x, y)
            worst = np.where(short > 1, np.maximum(worst, value), worst)
    return {"gap": worst, "debt": worst, "workspace": worst + h_p * w_p * c_in}


def herringbone_literal(layers: Layers) -> dict[str, Int64s]:
    """The same traversal, layout and sigma, but an input is live until its last reader:
    harness.bounds.herringbone.literal_debt, each layer in its turn."""
    found = [bound_of(OpKind.CONV, g, _HERRINGBONE, release="pixel") for g in geometries_of(layers)]
    return {
        "gap": np.array([bound.gap for bound in found], dtype=np.int64),
        "debt": np.array(
            [NO_DEBT if bound.debt is None else bound.debt for bound in found], dtype=np.int64
        ),
        "workspace": np.array([bound.workspace for bound in found], dtype=np.int64),
    }


def _padded_extents(layers: Layers) -> tuple[Int64s, Int64s]:
    return (
        layers["h_in"] + layers["pad_top"] + layers["pad_bottom"],
        layers["w_in"] + layers["pad_left"] + layers["pad_right"],
    )
