# SPDX-License-Identifier: Apache-2.0
"""Requantisation in C against TFLite's functions written out and NumPy's, at the extremes too; and
truncate against NumPy's float32."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.reference import requantize as numpy_requantize
from harness.schema.constants import Rounding
from tests.firmware.support import HostRunner, requantize

_INT32 = st.integers(-(2**31), 2**31 - 1)
_ROUNDINGS = st.sampled_from([Rounding.DOUBLE, Rounding.SINGLE])
_EXTREMES = [-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30 - 1, 2**30, 2**31 - 2, 2**31 - 1]


@given(_ROUNDINGS, _INT32, st.integers(-(2**31) + 1, 2**31 - 1), st.integers(-31, 30))
@example(Rounding.DOUBLE, 2**31 - 1, 2**31 - 1, 0)
@example(Rounding.DOUBLE, -(2**31), 2**31 - 1, 0)
@example(Rounding.DOUBLE, -(2**31), 2**30, -31)
@example(Rounding.DOUBLE, 2**30, 2**30, 1)
@example(Rounding.SINGLE, 2**31 - 1, 2**31 - 1, 30)
@example(Rounding.SINGLE, -(2**31), -(2**31) + 1, -31)
def test_any_multiplier_and_shift(
    host: HostRunner, rounding: Rounding, x: int, multiplier: int, shift: int
) -> None:
    expected = requantize(x, multiplier, shift, rounding)
    assert host.c.host_requantize(rounding, x, multiplier, shift) == expected


@pytest.mark.parametrize("rounding", [Rounding.DOUBLE, Rounding.SINGLE])
@pytest.mark.parametrize("shift", range(-31, 31))
def test_extremes_and_ties_of_every_shift(host: HostRunner, shift: int, rounding: Rounding) -> None:
    half = 1 << max(-shift, 1)  # x that lies on and around the rounding's ties for m = 2^30
    ties = [sign * (half + d) for sign in (-1, 1) for d in (-1, 0, 1) if abs(half + d) < 2**31 - 1]
    values = (ctypes.c_int32 * (len(_EXTREMES) + len(ties)))(*_EXTREMES, *ties)
    out = (ctypes.c_int32 * len(values))()
    for multiplier in (2**30, 2**30 + 1, 2**31 - 1, 1, 0, -(2**30), -(2**31) + 1):
        host.c.host_requantize_many(rounding, values, len(values), multiplier, shift, out)
        assert list(out) == [requantize(x, multiplier, shift, rounding) for x in values]
        in_numpy = numpy_requantize(
            np.array(values, np.int64), np.array(multiplier), np.array(shift), rounding
        )
        assert list(out) == in_numpy.tolist()


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "double", "single"),
    [
        (10, 2**30, 0, 5, 5),  # 10 / 2
        (-10, 2**30, 0, -5, -5),
        (3, 2**30, 0, 2, 2),  # 1.5: the high multiplication rounds ties up
        (-3, 2**30, 0, -1, -1),
        (1, 2**30, -1, 1, 0),  # 1 / 4: to 1 by way of 0.5, twice
        (6, 2**30, -1, 2, 2),  # 3 / 2 = 1.5: the division rounds ties away from zero
        (-6, 2**30, -1, -2, -1),  # and the single rounding up
        (5, 2**30, 1, 5, 5),
        (2**31 - 1, 2**31 - 1, -31, 1, 1),
        (2**30, 2**30, 1, -(2**30), 2**30),  # x << 1 does not fit and wraps; 64 bits hold it
        (2**30, 2**30, 2, 0, -(2**31)),  # the result is 2^31, which wraps in either
    ],
)
def test_known_values(
    host: HostRunner, x: int, multiplier: int, shift: int, double: int, single: int
) -> None:
    assert host.c.host_requantize(Rounding.DOUBLE, x, multiplier, shift) == double
    assert host.c.host_requantize(Rounding.SINGLE, x, multiplier, shift) == single


@given(_INT32, st.integers(-128, 127), st.integers(-128, 127), st.integers(-128, 127))
@example(2**31 - 1, 127, -128, 127)
@example(-(2**31), -128, -128, 127)
def test_output_stage_never_wraps(
    host: HostRunner, x: int, zero_point: int, one: int, other: int
) -> None:
    low, high = sorted((one, other))
    assert host.c.host_output_stage(x, zero_point, low, high) == min(max(x + zero_point, low), high)


# ---- truncate ----


def _truncate(x: NDArray[np.int32], multiplier: int, shift: int) -> NDArray[np.int32]:
    """(int32)((float)x * scale) by the float32 of this machine's processor, and saturating."""
    scale = np.ldexp(np.float32(multiplier), shift - 31)
    assert scale.dtype == np.float32
    product = x.astype(np.float32) * scale
    return np.clip(product.astype(np.float64), -(2**31), 2**31 - 1).astype(np.int32)


def _in_c(host: HostRunner, x: NDArray[np.int32], multiplier: int, shift: int) -> list[int]:
    values = (ctypes.c_int32 * len(x))(*x.tolist())
    out = (ctypes.c_int32 * len(x))()
    host.c.host_requantize_many(Rounding.TRUNCATE, values, len(x), multiplier, shift, out)
    return list(out)


def _halfway() -> list[int]:
    """Each power of two, where float32's spacing doubles, and around it the ties of both spacings."""
    near = [0, 1, -1, 2, 3, -3, 4, 12, 64, 192, -64, 63, 65, 127, 128, 129, -128, 256, 384, 640]
    values = {sign * ((1 << n) + d) for n in range(32) for d in near for sign in (-1, 1)}
    return sorted(v for v in values if -(2**31) <= v < 2**31)


_MULTIPLIERS = [
    *(0, 1, 3, 2**24 + 1, 2**30, 2**30 + 64, 2**30 + 192, 2**31 - 64, 2**31 - 65, 2**31 - 1),
    *(-1, -(2**30), -(2**31) + 1),
]


@pytest.mark.parametrize("shift", range(-31, 31))
def test_truncate_is_float32(host: HostRunner, shift: int) -> None:
    """Accumulators and multipliers at the ties of their roundings, and drawn in every magnitude: in
    all shifts together 62 * 20 * 1910, over 2 million."""
    rng = np.random.default_rng(shift + 31)
    drawn = rng.integers(-(2**31), 2**31, 800, dtype=np.int64) >> rng.integers(0, 32, 800)
    x = np.array([*_EXTREMES, *_halfway(), *drawn.tolist()], np.int64).astype(np.int32)
    for multiplier in [*_MULTIPLIERS, *rng.integers(2**30, 2**31, 7).tolist()]:
        expected = _truncate(x, multiplier, shift)
        assert _in_c(host, x, multiplier, shift) == expected.tolist()
        in_numpy = numpy_requantize(
            x.astype(np.int64), np.array(multiplier), np.array(shift), Rounding.TRUNCATE
        )
        assert in_numpy.tolist() == expected.tolist()


def test_truncate_where_the_rounded_product_decides(host: HostRunner) -> None:
    """Products of 24-bit factors next to an integer, ties between two float32 among them: x * y is
    48 bits, of which the upper 24 or 25 are kept and shifted to whole numbers."""
    rng = np.random.default_rng(5)
    ties = 0
    for _ in range(400):
        y = int(rng.integers(2**23, 2**24)) | 1 << int(rng.integers(0, 12))
        y &= -1 << int(rng.integers(0, 12))
        x = rng.integers(2**11, 2**24, 500).astype(np.int32) & np.int32(-1 << rng.integers(0, 12))
        shift = int(rng.integers(-20, 10))
        assert _in_c(host, x, y << 7, shift) == _truncate(x, y << 7, shift).tolist()
        ties += sum(_is_tie(int(v) * y) for v in x)
    assert ties > 1000


def _is_tie(product: int) -> bool:
    """Halfway between two numbers of 24 bits."""
    lost = product.bit_length() - 24
    return lost > 0 and product & ((1 << lost) - 1) == 1 << (lost - 1)


@given(_INT32, st.integers(-(2**31) + 1, 2**31 - 1), st.integers(-31, 30))
@example(0, 2**31 - 1, 30)  # the largest scale there is, rounded up to a power of two: still 0
@example(-(2**31), 0, 30)
@example(-(2**31), 2**31 - 1, 0)
@example(-(2**31), -(2**31) + 1, 0)
@example(2**31 - 1, 2**31 - 1, -31)
def test_truncate_in_fractions(host: HostRunner, x: int, multiplier: int, shift: int) -> None:
    """Without any float: exact fractions, rounded to 24 bits where float32 rounds."""
    scale = _nearest(Fraction(multiplier)) * Fraction(2) ** (shift - 31)
    product = _nearest(_nearest(Fraction(x)) * scale)
    expected = min(max(int(product), -(2**31)), 2**31 - 1)
    assert host.c.host_requantize(Rounding.TRUNCATE, x, multiplier, shift) == expected


def _nearest(value: Fraction) -> Fraction:
    """The nearest number with 24 binary digits, ties to even; any exponent."""
    if value == 0:
        return value
    unit = Fraction(1)
    while abs(value) / unit >= 2**24:
        unit *= 2
    while abs(value) / unit < 2**23:
        unit /= 2
    return round(value / unit) * unit  # Python rounds ties to even


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "result"),
    [
        (10, 2**30, 0, 5),
        (-10, 2**30, 0, -5),
        (3, 2**30, 0, 1),  # towards zero
        (-3, 2**30, 0, -1),
        (16777217, 2**30, 1, 16777216),  # 2^24 + 1 is no float32
        (16777219, 2**30, 1, 16777220),
        (3, 715827883, 0, 1),  # 3 * 0.33333334, rounded to 1
        (2**31 - 1, 2**30, 1, 2**31 - 1),  # (float)x is 2^31: saturates
        (-(2**31), 2**30, 1, -(2**31)),
        (-(2**31), -(2**30), 1, 2**31 - 1),
    ],
)
def test_truncate_known_values(
    host: HostRunner, x: int, multiplier: int, shift: int, result: int
) -> None:
    assert host.c.host_requantize(Rounding.TRUNCATE, x, multiplier, shift) == result
