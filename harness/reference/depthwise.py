# SPDX-License-Identifier: Apache-2.0
"""Exact int8 depthwise convolution in NumPy."""

from __future__ import annotations

import numpy as np

from harness.geometry import ConvGeometry
from harness.reference.conv import ConvParameters, Int8s, Int64s, finish
from harness.reference.windows import padded, tap


def depthwise(g: ConvGeometry, p: ConvParameters, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_out], with p.weights int8 [k_h, k_w, c_out].

    c_out = m c_in, and output channel o reads input channel o // m alone. Errors: ValueError when
    c_out is not a multiple of c_in or the weights have another shape."""
    if g.c_out % g.c_in or p.weights.shape != (g.k_h, g.k_w, g.c_out):
        raise ValueError(f"weights {p.weights.shape} for a depthwise {g}")
    return finish(p, depthwise_sums(g, p.weights, x, p.input_zero_point))


def depthwise_sums(g: ConvGeometry, weights: Int8s, x: Int8s, zero_point: int) -> Int64s:
    """int64 [h_out, w_out, c_out], without the bias, tap by tap. In int32, which wraps as the kernel's
    register does: equal modulo 2^32, and to the sum itself below 65,000 taps."""
    image = padded(g, x, zero_point, np.dtype(np.int32))
    image = np.repeat(image, g.c_out // g.c_in, axis=2)
    taps = weights.astype(np.int32)
    sums = np.zeros((g.h_out, g.w_out, g.c_out), np.int32)
    for row in range(g.k_h):
        for column in range(g.k_w):
            sums += tap(g, image, row, column) * taps[row, column]
    return sums.astype(np.int64)
