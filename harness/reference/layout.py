# SPDX-License-Identifier: Apache-2.0
"""Operators that only move values: concatenation along the channels, and a border."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConcatGeometry, PadGeometry

Int8s = NDArray[np.int8]


def concat(g: ConcatGeometry, *xs: Int8s) -> Int8s:
    """xs int8 [h, w, channels[i]] -> int8 [h, w, sum of channels]; all of one quantisation. Errors:
    ValueError for another number of operands, or of another size."""
    shapes = zip(xs, g.inputs, strict=True)
    return np.concatenate([x.reshape(s.h, s.w, s.c) for x, s in shapes], axis=2)


def pad(g: PadGeometry, x: Int8s, value: int) -> Int8s:
    """x int8 [h, w, c] in a border of `value`, which is the zero point unless a network says else."""
    y = np.full((g.output.h, g.output.w, g.c), value, np.int8)
    y[g.pad.top : g.pad.top + g.h, g.pad.left : g.pad.left + g.w] = x.reshape(g.h, g.w, g.c)
    return y
