# SPDX-License-Identifier: Apache-2.0
"""Cycles of any duration from a counter that wraps and a microsecond clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.firmware.support import HostRunner

_HOUR = 3600 * 150_000_000
_MHZ = {24: 125, 32: 150}  # SysTick at Pico 1's clock, CYCCNT at Pico 2's


@given(
    st.sampled_from([24, 32]),
    st.one_of(st.integers(0, _HOUR), st.integers(0, 26_000).map(lambda wraps: wraps << 24)),
    st.integers(-1, 1),
    st.integers(-1, 1),
)
def test_exact_up_to_an_hour(
    host: HostRunner, bits: int, cycles: int, tick: int, error_khz: int
) -> None:
    """With the time off by a microsecond, and clk_sys by a kilohertz; by 256 where a wrap is longer."""
    microseconds = max(0, cycles // _MHZ[bits] + tick)
    remainder = cycles % 2**bits
    clk_khz = _MHZ[bits] * 1000 + error_khz * 2 ** (bits - 24)
    assert host.c.host_extend_cycles(remainder, bits, microseconds, clk_khz) == cycles


@pytest.mark.parametrize(
    ("remainder", "bits", "microseconds", "cycles"),
    [
        (0, 24, 0, 0),
        (0xFF_FFFF, 24, 134_217, 0xFF_FFFF),
        (0, 24, 134_217, 0x100_0000),
        (5, 24, 134_217, 0x100_0005),
        (0xFF_FFFF, 24, 134_218, 0xFF_FFFF),
        (0, 24, 268_435, 0x200_0000),
        (100, 24, 0, 100),
        (0xFFFF_FFFF, 32, 28_633_115, 0xFFFF_FFFF),
        (0, 32, 28_633_115, 0x1_0000_0000),
        (0, 32, 0, 0),
    ],
)
def test_at_the_wrap(
    host: HostRunner, remainder: int, bits: int, microseconds: int, cycles: int
) -> None:
    clk_khz = _MHZ[bits] * 1000
    assert host.c.host_extend_cycles(remainder, bits, microseconds, clk_khz) == cycles
