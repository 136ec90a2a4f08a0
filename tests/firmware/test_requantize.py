# SPDX-License-Identifier: Apache-2.0
"""Requantisation in C against TFLite's functions written out and NumPy's, at the extremes too."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
