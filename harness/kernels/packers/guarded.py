# SPDX-License-Identifier: Apache-2.0
"""Requantisation by one multiplication and an addition, proved right for each channel.

A kernel adds up raw = sum of a * w over int8 activations, without zero point or bias, and the exact
output is f(raw) = clamp(zero point + requantize(raw + bias - zero_point_in * sum(w))). Of every channel
the whole range of raw is known from its weights. Where f is monotone on it, it is f(lowest) below some
raw, f(highest) above another one, and between the two, with x = raw - first,

    p = x * multiplier + offset,  in 2^-24 of an output step

lies within `guard / 2` of the real number whose floor f is. So where p's fraction is not below `guard`,
p >> 24 is f, and elsewhere the kernel asks the exact function. Where nothing of the kind can be proved,
guard covers everything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
ALWAYS_EXACT = 0xFFFF_FFFF  # guard of a channel for which nothing is proved
_FRACTION = 24
_ONE = 1 << _FRACTION
_INT32 = 1 << 31
RECORD = np.dtype(
    [
        ("start", "<i4"),
        ("base", "<i4"),
        ("multiplier", "<i4"),
        ("offset", "<i4"),
        ("range", "<u4"),
        ("guard", "<u4"),
        ("low_value", "i1"),
        ("high_value", "i1"),
        ("reserved", "<i2"),
    ]
)  # struct packed_channel of firmware/kernels/m0plus/guarded.h


@dataclass(frozen=True)
class Scale:
    """What an op does to a channel's accumulator: times multiplier * 2^(shift - 31) with double
    rounding, plus zero_point, clamped to [low, high]."""

    multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int

    def exact(self, accumulator: int) -> int:
        """Of any int32 accumulator, as TFLite's reference has it."""
        left, right = max(self.shift, 0), max(-self.shift, 0)
        product = wrap(accumulator << left) * self.multiplier
        high = (product + (1 << 30)) >> 31  # gemmlowp's nudge and truncation, taken together
        mask = (1 << right) - 1
        up = (high & mask) > (mask >> 1) + (high < 0)
        return min(max((high >> right) + up + self.zero_point, self.low), self.high)

    @property
    def real(self) -> Fraction:
        return Fraction(self.multiplier) * Fraction(2) ** (self.shift - 31)

    @property
    def slack(self) -> Fraction:
        """How far from a boundary between two outputs the exact function may decide otherwise than
        real arithmetic: the high multiply is off by up to 1/2 before the shift right."""
        return Fraction(1, 2 << -self.shift) if self.shift < 0 else Fraction(0)


@dataclass(frozen=True)
class Channel:
    """A record of the kernel's, of which `start` is taken off `first`."""

    first: int
    multiplier: int
    offset: int
    range: int
    guard: int
    low_value: int
    high_value: int
    base: int

    @property
    def proved(self) -> bool:
        return self.guard != ALWAYS_EXACT


def wrap(value: int) -> int:
    """As a 32-bit register holds it."""
    return (value + _INT32) % (2 * _INT32) - _INT32


def guard_channel(lowest: int, highest: int, constant: int, scale: Scale) -> Channel:
    """lowest, highest: of raw. constant: raw + constant is the accumulator, modulo 2^32."""
    left = max(scale.shift, 0)
    reach = max(abs(lowest + constant), abs(highest + constant)) << left
    if reach >= _INT32 or highest - lowest >= _INT32 - 1:
        return _always_exact(lowest, highest, constant)  # may wrap: not monotone

    def output(raw: int) -> int:
        return scale.exact(raw + constant)

    below, above = output(lowest), output(highest)
    if below == above:  # one output for whatever comes: raw is always below `first`
        return Channel(highest + 1, 0, 0, 0, ALWAYS_EXACT - 1, below, above, wrap(constant))
    first = _first(lowest, highest, lambda raw: output(raw) != below)
    last = _first(lowest, highest, lambda raw: output(raw) == above) - 1
    if last < first:  # a step from one to the other, nothing between
        return Channel(first, 0, 0, 0, ALWAYS_EXACT - 1, below, above, wrap(first + constant))
    return _linear(first, last, constant, scale, below, above) or _always_exact(
        lowest, highest, constant
    )


def _always_exact(lowest: int, highest: int, constant: int) -> Channel:
    """x is never outside of the range, and every fraction is below the guard."""
    reach = highest - lowest + 1
    return Channel(lowest, 0, 0, reach, ALWAYS_EXACT, 0, 0, wrap(lowest + constant))


def _first(lowest: int, highest: int, holds: Callable[[int], bool]) -> int:
    """The least raw of which it holds, by bisection: it does of the highest."""
    while lowest < highest:
        middle = (lowest + highest) // 2
        if holds(middle):
            highest = middle
        else:
            lowest = middle + 1
    return lowest


def _linear(
    first: int, last: int, constant: int, scale: Scale, below: int, above: int
) -> Channel | None:
    """None where the guard would cover a whole output step."""
    exact = scale.real * _ONE
    multiplier = round(exact)
    if abs(multiplier) >= _INT32:
        return None
    # real number whose floor is the output, at x = 0, in 2^-24
    at_first = (scale.real * (first + constant) + scale.zero_point + Fraction(1, 2)) * _ONE
    drift = (multiplier - exact) * (last - first)  # of p over the range, to one side
    error = abs(drift) / 2 + scale.slack * _ONE + 1  # 1: offset is rounded, and ties
    guard = math.ceil(2 * error) + 1
    if guard >= _ONE:
        return None
    offset = round(at_first - drift / 2 + error)
    return Channel(
        first, multiplier, wrap(offset), last - first + 1, guard << 8, below, above,
        wrap(first + constant),
    )  # fmt: skip


def records(channels: list[Channel]) -> bytes:
    """As the kernel reads them."""
    made = np.zeros(len(channels), RECORD)
    for number, c in enumerate(channels):
        made[number] = (
            wrap(-c.first), c.base, c.multiplier, c.offset, c.range, c.guard,
            c.low_value, c.high_value, 0,
        )  # fmt: skip
    return made.tobytes()


def reach(weights: NDArray[np.int8]) -> tuple[Int64s, Int64s]:
    """weights [channels, taps] -> lowest and highest sum of a * w over any int8 a, of each channel."""
    wide = weights.astype(np.int64)
    positive, negative = np.maximum(wide, 0).sum(axis=1), np.minimum(wide, 0).sum(axis=1)
    return -128 * positive + 127 * negative, 127 * positive - 128 * negative
