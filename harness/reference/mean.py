# SPDX-License-Identifier: Apache-2.0
"""Exact int8 mean over all pixels in NumPy: one requantisation of the sum, no division.

    y = zp_out + requantize(sum(x) - pixels zp_in, m, shift)

The division by the number of pixels is in the multiplier, which `mean_multiplier` makes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.geometry import MeanGeometry
from harness.reference.requantize import quantize_multiplier, requantize, to_int32
from harness.schema.constants import Rounding

Int8s = NDArray[np.int8]
_LEAST_SHIFT = -31


@dataclass(frozen=True)
class MeanParameters:
    """multiplier, shift: input scale / (output scale * pixels), from `mean_multiplier`. The sum is an
    int32 that wraps, which takes 2^31 / 255 pixels, over 8 million."""

    input_zero_point: int
    output_zero_point: int
    multiplier: int
    shift: int
    rounding: Rounding = Rounding.DOUBLE


def mean_multiplier(input_scale: float, output_scale: float, pixels: int) -> tuple[int, int]:
    """m, shift, as TFLite's reference kernel makes them from float32 scales.

    The quotient of the scales, in double, is quantized first. Its m is then divided by `pixels` as
    whole numbers, rounding down, after a shift to the left by as many bits as `pixels` has behind its
    first: 30 or 31 significant bits are left, and a power of two changes nothing of m. It is shifted
    less where the shift would fall below -31."""
    multiplier, shift = quantize_multiplier(float(input_scale) / float(output_scale))
    left = min(pixels.bit_length() - 1, shift - _LEAST_SHIFT)
    return (multiplier << left) // pixels, shift - left


def mean(g: MeanGeometry, p: MeanParameters, x: Int8s) -> Int8s:
    """x int8 [h, w, c] -> int8 [1, 1, c]."""
    total = x.astype(np.int64).sum(axis=(0, 1), keepdims=True)
    accumulators = to_int32(total - g.h * g.w * p.input_zero_point)
    multiplier, shift = np.array([p.multiplier], np.int64), np.array([p.shift], np.int64)
    scaled = requantize(accumulators, multiplier, shift, p.rounding)
    return np.clip(scaled + p.output_zero_point, -128, 127).astype(np.int8)
