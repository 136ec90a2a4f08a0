# SPDX-License-Identifier: Apache-2.0
"""Requantisation in C against gemmlowp's functions written out, at the extremes too."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.firmware.support import HostRunner, requantize

_INT32 = st.integers(-(2**31), 2**31 - 1)
_EXTREMES = [-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30 - 1, 2**30, 2**31 - 2, 2**31 - 1]


@given(_INT32, st.integers(-(2**31) + 1, 2**31 - 1), st.integers(-31, 30))
@example(2**31 - 1, 2**31 - 1, 0)
@example(-(2**31), 2**31 - 1, 0)
@example(-(2**31), 2**30, -31)
@example(2**30, 2**30, 1)
def test_any_multiplier_and_shift(host: HostRunner, x: int, multiplier: int, shift: int) -> None:
    assert host.c.host_requantize(x, multiplier, shift) == requantize(x, multiplier, shift)


@pytest.mark.parametrize("shift", range(-31, 31))
def test_extremes_and_ties_of_every_shift(host: HostRunner, shift: int) -> None:
    half = 1 << max(-shift, 1)  # x that lies on and around the rounding's ties for m = 2^30
    ties = [sign * (half + d) for sign in (-1, 1) for d in (-1, 0, 1) if abs(half + d) < 2**31 - 1]
    values = (ctypes.c_int32 * (len(_EXTREMES) + len(ties)))(*_EXTREMES, *ties)
    out = (ctypes.c_int32 * len(values))()
    for multiplier in (2**30, 2**30 + 1, 2**31 - 1, 1, 0, -(2**30), -(2**31) + 1):
        host.c.host_requantize_many(values, len(values), multiplier, shift, out)
        assert list(out) == [requantize(x, multiplier, shift) for x in values]


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "expected"),
    [
        (10, 2**30, 0, 5),  # 10 / 2
        (-10, 2**30, 0, -5),
        (3, 2**30, 0, 2),  # 1.5: the high multiplication rounds ties up
        (-3, 2**30, 0, -1),
        (6, 2**30, -1, 2),  # 3 / 2 = 1.5: the division rounds ties away from zero
        (-6, 2**30, -1, -2),
        (5, 2**30, 1, 5),
        (2**31 - 1, 2**31 - 1, -31, 1),
        (2**30, 2**30, 1, -(2**30)),  # x << 1 does not fit and wraps
    ],
)
def test_known_values(host: HostRunner, x: int, multiplier: int, shift: int, expected: int) -> None:
    assert host.c.host_requantize(x, multiplier, shift) == expected


@given(_INT32, st.integers(-128, 127), st.integers(-128, 127), st.integers(-128, 127))
@example(2**31 - 1, 127, -128, 127)
@example(-(2**31), -128, -128, 127)
def test_output_stage_never_wraps(
    host: HostRunner, x: int, zero_point: int, one: int, other: int
) -> None:
    low, high = sorted((one, other))
    assert host.c.host_output_stage(x, zero_point, low, high) == min(max(x + zero_point, low), high)
