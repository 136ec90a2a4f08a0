# SPDX-License-Identifier: Apache-2.0
"""Every window of an image at once, as a view."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from harness.geometry import ConvGeometry

Int64s = NDArray[np.int64]


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
