# SPDX-License-Identifier: Apache-2.0
"""Exact int8 fully connected layer in NumPy."""

from __future__ import annotations

import numpy as np

from harness.reference.conv import ConvParameters, Int8s, finish
from harness.schema.constants import Rounding

FULLY_CONNECTED_ROUNDING = Rounding.SINGLE  # of LiteRT's kernels, also of its reference kernels


def fully_connected(p: ConvParameters, x: Int8s) -> Int8s:
    """x int8 of n_in scalars in any shape -> int8 [1, 1, c_out], with p.weights int8 [c_out, n_in].

    One multiplier for the whole tensor is c_out equal ones. p.rounding should be
    FULLY_CONNECTED_ROUNDING to equal LiteRT (docs/arithmetic.md)."""
    values = x.ravel().astype(np.int64) - p.input_zero_point
    return finish(p, p.weights.astype(np.int64) @ values)[None, None]
