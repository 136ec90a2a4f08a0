# SPDX-License-Identifier: Apache-2.0
"""What operators are, in Python's own whole numbers and loops: nothing of the reference in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.geometry import ConvGeometry
from harness.schema.constants import Rounding


def real_taps(g: ConvGeometry, row: int, column: int) -> Iterator[tuple[int, int, int, int]]:
    """i, j, y, x: taps of an output pixel's window that fall on the image, and where."""
    for i in range(g.k_h):
        for j in range(g.k_w):
            y = row * g.s_h + i * g.d_h - g.pad.top
            x = column * g.s_w + j * g.d_w - g.pad.left
            if 0 <= y < g.h_in and 0 <= x < g.w_in:
                yield i, j, y, x


def pixels(g: ConvGeometry) -> Iterator[tuple[int, int]]:
    return ((row, column) for row in range(g.h_out) for column in range(g.w_out))


def half_away(numerator: int, denominator: int) -> int:
    """numerator / denominator to the nearest whole number, ties away from zero."""
    magnitude = (2 * abs(numerator) + denominator) // (2 * denominator)
    return -magnitude if numerator < 0 else magnitude


def half_up(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)


def requantized(value: int, multiplier: int, shift: int, rounding: Rounding) -> int:
    """value * multiplier * 2^(shift - 31), where nothing overflows."""
    if rounding is Rounding.SINGLE:
        return half_up(value * multiplier, 2 ** (31 - shift))
    high = half_up(value * 2 ** max(shift, 0) * multiplier, 2**31)
    return half_away(high, 2 ** max(-shift, 0))


def clamped(value: int, low: int = -128, high: int = 127) -> int:
    return max(low, min(high, value))


def int8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape).astype(np.int8)


def hostile_zero_point(rng: np.random.Generator) -> int:
    return int(rng.choice([-128, 127, 0, rng.integers(-128, 128)]))
