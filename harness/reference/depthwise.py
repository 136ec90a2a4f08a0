# SPDX-License-Identifier: Apache-2.0
"""Exact int8 depthwise convolution in NumPy."""

from __future__ import annotations

import numpy as np

from harness.geometry import ConvGeometry
from harness.reference.conv import ConvParameters, Int8s, finish
from harness.reference.windows import windows


def depthwise(g: ConvGeometry, p: ConvParameters, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_out], with p.weights int8 [k_h, k_w, c_out].

    c_out = m c_in, and output channel o reads input channel o // m alone. Errors: ValueError when
    c_out is not a multiple of c_in or the weights have another shape."""
    if g.c_out % g.c_in or p.weights.shape != (g.k_h, g.k_w, g.c_out):
        raise ValueError(f"weights {p.weights.shape} for a depthwise {g}")
    repeated = np.repeat(x.astype(np.int64) - p.input_zero_point, g.c_out // g.c_in, axis=2)
    fields = windows(g, repeated, padding=0)
    return finish(p, np.einsum("rcoij,ijo->rco", fields, p.weights.astype(np.int64)))
