# SPDX-License-Identifier: Apache-2.0
"""Every window of an image at once, as a view, or one tap of all windows."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from harness.geometry import ConvGeometry

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
Numbers = TypeVar("Numbers", bound=np.generic)


def windows(g: ConvGeometry, image: NDArray[np.integer], padding: int) -> Int64s:
    """image [h_in, w_in, c] -> [h_out, w_out, c, k_h, k_w], a padding tap being `padding`."""
    p = g.pad
    rows, columns = (p.top, p.bottom), (p.left, p.right)
    padded = np.pad(image.astype(np.int64), (rows, columns, (0, 0)), constant_values=padding)
    every = sliding_window_view(padded, (g.k_h_eff, g.k_w_eff), axis=(0, 1))
    return every[:: g.s_h, :: g.s_w, :, :: g.d_h, :: g.d_w]


def taps(g: ConvGeometry) -> Int64s:
    """[h_out, w_out, 1]: how many taps of each window fall on the image."""
    image = np.ones((g.h_in, g.w_in, 1), np.int64)
    count: Int64s = windows(g, image, padding=0).sum(axis=(3, 4))
    return count


def padded(g: ConvGeometry, x: Int8s, zero_point: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """x [h_in, w_in, c] less its zero point, in its padding of zeros."""
    p = g.pad
    shape = (g.h_in + p.top + p.bottom, g.w_in + p.left + p.right, x.shape[2])
    image = np.zeros(shape, dtype)
    inside = image[p.top : p.top + g.h_in, p.left : p.left + g.w_in]
    np.subtract(x, dtype.type(zero_point), out=inside, dtype=dtype)
    return image


def tap(g: ConvGeometry, image: NDArray[Numbers], row: int, column: int) -> NDArray[Numbers]:
    """Of an image with its padding, what tap (row, column) of every window reads: [h_out, w_out, c]."""
    y, x = row * g.d_h, column * g.d_w
    rows = slice(y, y + (g.h_out - 1) * g.s_h + 1, g.s_h)
    return image[rows, x : x + (g.w_out - 1) * g.s_w + 1 : g.s_w]
