# SPDX-License-Identifier: Apache-2.0
"""The sum of two int8 tensors by two multiplications, proved right.

TFLite brings both operands to a common scale with 20 more bits, rounds each of them, adds, and rounds
the sum to the output's scale. In real arithmetic that is y = a * s_a + b * s_b + c, of which each of the
first two roundings is off by at most 1 of the common scale and the last one by its own slack.
"""

from __future__ import annotations

import math
from fractions import Fraction

from harness.kernels.packers.guarded import ALWAYS_EXACT, Scale, wrap

FRACTION = 20  # bits behind the point of p
_ONE = 1 << FRACTION
_LEFT_SHIFT = 20  # TFLite's
_INT32 = 1 << 31
_WIDEST = 255 << _LEFT_SHIFT  # an operand less its zero point, shifted

Three = tuple[int, int, int]


def linear_sum(zero_points: Three, multipliers: Three, shifts: Three) -> tuple[int, int, int, int]:
    """Factor of a, of b, offset and guard << 12, such that the output is
    (a * factor_a + b * factor_b + offset) >> 20, clamped, unless the fraction is below the guard."""
    scale_a, scale_b, scale_out = (
        Scale(m, s, 0, -128, 127) for m, s in zip(multipliers, shifts, strict=True)
    )
    nothing = (0, 0, 0, ALWAYS_EXACT)
    if not _fits(scale_a, scale_b, scale_out):
        return nothing
    real_a, real_b = (s.real * scale_out.real * (1 << _LEFT_SHIFT) for s in (scale_a, scale_b))
    constant = zero_points[2] - real_a * zero_points[0] - real_b * zero_points[1]
    if 255 * (abs(real_a) + abs(real_b)) + 256 >= _INT32 // _ONE:
        return nothing  # p may wrap
    factor_a, factor_b = round(real_a * _ONE), round(real_b * _ONE)
    drift = 128 * (abs(factor_a - real_a * _ONE) + abs(factor_b - real_b * _ONE))
    slack = 2 * abs(scale_out.real) + scale_out.slack
    error = drift + slack * _ONE + 1  # 1: offset is rounded, and ties
    guard = math.ceil(2 * error) + 1
    if guard >= _ONE:
        return nothing
    offset = round((constant + Fraction(1, 2)) * _ONE + error)
    return factor_a, factor_b, wrap(offset), guard << (32 - FRACTION)


def _fits(a: Scale, b: Scale, out: Scale) -> bool:
    """Does nothing wrap on the exact way?"""
    if any(_WIDEST << max(s.shift, 0) >= _INT32 for s in (a, b)):
        return False
    total = sum(_WIDEST * abs(s.real) + 1 for s in (a, b))
    return total * (1 << max(out.shift, 0)) < _INT32
