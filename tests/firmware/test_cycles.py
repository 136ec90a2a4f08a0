# SPDX-License-Identifier: Apache-2.0
"""Cycles of any duration from a 24-bit counter and a microsecond clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.firmware.support import HostRunner

_HOUR = 3600 * 125_000_000


@given(
    st.one_of(st.integers(0, _HOUR), st.integers(0, 26_000).map(lambda wraps: wraps << 24)),
    st.integers(-1, 1),
    st.integers(-1, 1),
)
def test_exact_up_to_an_hour(host: HostRunner, cycles: int, tick: int, error_khz: int) -> None:
    """With the time off by a microsecond, and clk_sys by a kilohertz."""
    microseconds = max(0, cycles // 125 + tick)
    remainder = cycles & 0xFF_FFFF
    assert host.c.host_extend_cycles(remainder, microseconds, 125_000 + error_khz) == cycles


@pytest.mark.parametrize(
    ("remainder", "microseconds", "cycles"),
    [
        (0, 0, 0),
        (0xFF_FFFF, 134_217, 0xFF_FFFF),
        (0, 134_217, 0x100_0000),
        (5, 134_217, 0x100_0005),
        (0xFF_FFFF, 134_218, 0xFF_FFFF),
        (0, 268_435, 0x200_0000),
        (100, 0, 100),
    ],
)
def test_at_the_wrap(host: HostRunner, remainder: int, microseconds: int, cycles: int) -> None:
    assert host.c.host_extend_cycles(remainder, microseconds, 125_000) == cycles
