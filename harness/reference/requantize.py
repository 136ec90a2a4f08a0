# SPDX-License-Identifier: Apache-2.0
"""Requantisation of int32 accumulators as TFLite's reference kernels do it (rounding `double`).

result = RDBPOT(SRDHM(x << left, m), right), with left = max(shift, 0) and right = max(-shift, 0):
a saturating rounding doubling high multiply, then a rounding division by a power of two.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_LEAST_SHIFT = -31  # TFLite flushes a smaller multiplier to zero


def quantize_multiplier(real: float) -> tuple[int, int]:
    """real = m * 2^(shift - 31) with m in [2^30, 2^31): TFLite's QuantizeMultiplier."""
    if real == 0.0:
        return 0, 0
    mantissa, shift = math.frexp(real)
    multiplier = math.floor(abs(mantissa) * 2**31 + 0.5)
    if mantissa < 0:
        multiplier = -multiplier
    if abs(multiplier) == 2**31:
        multiplier //= 2
        shift += 1
    return (0, 0) if shift < _LEAST_SHIFT else (multiplier, shift)


def requantize(accumulators: Int64s, multiplier: Int64s, shift: Int64s) -> Int64s:
    """Rounds `accumulators` (int32 values) by m * 2^(shift - 31), arrays that broadcast."""
    left = np.maximum(shift, 0)
    right = np.maximum(-shift, 0)
    return _rounding_divide(
        _doubling_high_multiply(to_int32(accumulators << left), multiplier), right
    )


def to_int32(values: Int64s) -> Int64s:
    """The low 32 bits as a signed number, which is what a 32-bit register would hold."""
    wrapped: Int64s = ((values + 2**31) & 0xFFFF_FFFF) - 2**31
    return wrapped


def _doubling_high_multiply(a: Int64s, b: Int64s) -> Int64s:
    """gemmlowp's SaturatingRoundingDoublingHighMul: (2 a b + 2^31) / 2^32, ties away from zero on
    the positive side only; the one overflow saturates."""
    product = a * b
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    total = product + nudge
    truncated = np.where(total >= 0, total >> 31, -((-total) >> 31))
    return np.where((a == _INT32_MIN) & (b == _INT32_MIN), _INT32_MAX, truncated)


def _rounding_divide(x: Int64s, exponent: Int64s) -> Int64s:
    """gemmlowp's RoundingDivideByPOT: x / 2^exponent, ties away from zero."""
    mask = (np.int64(1) << exponent) - 1
    threshold = (mask >> 1) + (x < 0)
    result: Int64s = (x >> exponent) + ((x & mask) > threshold)
    return result
