# SPDX-License-Identifier: Apache-2.0
"""Requantisation of int32 accumulators, with each of three roundings.

double:   TFLite's reference kernels: RDBPOT(SRDHM(x << left, m), right), with left = max(shift, 0)
          and right = max(-shift, 0): a saturating rounding doubling high multiply, then a rounding
          division by a power of two.
single:   TFLite built with TFLITE_SINGLE_ROUNDING: (x * m + 2^(30 - shift)) >> (31 - shift).
truncate: TinyEngine's fp_requantize kernels: (int32)((float)x * scale), towards zero, where scale
          is m * 2^(shift - 31) as float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from harness.schema.constants import Rounding

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


def requantize(
    accumulators: Int64s,
    multiplier: Int64s,
    shift: Int64s,
    rounding: Rounding = Rounding.DOUBLE,
) -> Int64s:
    """Scales `accumulators` (int32 values) by m * 2^(shift - 31), arrays that broadcast; shift -31 to
    30, m over -2^31. The zero point and the clamp come after it."""
    return _FUNCTIONS[rounding](accumulators, multiplier, shift)


def to_int32(values: Int64s) -> Int64s:
    """The low 32 bits as a signed number, which is what a 32-bit register would hold."""
    wrapped: Int64s = ((values + 2**31) & 0xFFFF_FFFF) - 2**31
    return wrapped


def _double(accumulators: Int64s, multiplier: Int64s, shift: Int64s) -> Int64s:
    left = np.maximum(shift, 0)
    right = np.maximum(-shift, 0)
    shifted = to_int32(accumulators << left) if np.any(left) else accumulators
    return _rounding_divide(_doubling_high_multiply(shifted, multiplier), right)


def _single(accumulators: Int64s, multiplier: Int64s, shift: Int64s) -> Int64s:
    """In 64 bits nothing overflows before the shift; the result is cast to int32, not saturated."""
    product = accumulators.astype(np.int64) * multiplier
    return to_int32((product + (np.int64(1) << (30 - shift))) >> (31 - shift))


def _truncate(accumulators: Int64s, multiplier: Int64s, shift: Int64s) -> Int64s:
    """Three float32 operations, of which the first two round to nearest even: accumulator to float,
    times the scale, to integer. What does not fit int32 saturates, as Arm's VCVT and f2iz do."""
    scale = np.ldexp(multiplier.astype(np.float32), (shift - 31).astype(np.int32))
    product = accumulators.astype(np.float32) * scale
    whole = np.trunc(product).astype(np.int64)
    return np.clip(whole, _INT32_MIN, _INT32_MAX)


def _doubling_high_multiply(a: Int64s, b: Int64s) -> Int64s:
    """gemmlowp's SaturatingRoundingDoublingHighMul: (2 a b + nudge) / 2^32 towards zero, with a nudge of
    2^31 for a product of 0 or more and 2 - 2^31 for a negative one. Both are (a b + 2^30) >> 31, which
    rounds ties up; the one overflow saturates."""
    result: Int64s = a * b
    result = result + (1 << 30)
    result >>= 31
    if np.any(b == _INT32_MIN):
        result = np.where((a == _INT32_MIN) & (b == _INT32_MIN), _INT32_MAX, result)
    return result


def _rounding_divide(x: Int64s, exponent: Int64s) -> Int64s:
    """gemmlowp's RoundingDivideByPOT: x / 2^exponent, ties away from zero."""
    mask = (np.int64(1) << exponent) - 1
    threshold = (mask >> 1) + (x < 0)
    result: Int64s = (x >> exponent) + ((x & mask) > threshold)
    return result


_FUNCTIONS: dict[Rounding, Callable[[Int64s, Int64s, Int64s], Int64s]] = {
    Rounding.DOUBLE: _double,
    Rounding.SINGLE: _single,
    Rounding.TRUNCATE: _truncate,
}
