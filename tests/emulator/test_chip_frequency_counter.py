# SPDX-License-Identifier: Apache-2.0
"""FC0 of both chips counts what it is pointed at, for as long as it is told to."""

from __future__ import annotations

import pytest

from tests.emulator import rp2040_chip, rp2350_chip
from tests.emulator.rp2040_chip import Chip

REF_KHZ, MIN_KHZ, MAX_KHZ, DELAY, INTERVAL, SRC, STATUS, RESULT = range(0, 32, 4)
PLL_SYS, PLL_USB, ROSC, XOSC, REF, SYS, PERI, USB, ADC, LAST = 1, 2, 3, 5, 8, 9, 10, 11, 12, 13
DONE_PASS, RUNNING, DONE_SLOW, DONE_FAST, DONE_DIED = 0x11, 0x100, 0x110010, 0x1010010, 0x10010010
FRACTION_BITS = 5


@pytest.fixture(params=["rp2040", "rp2350"])
def name(request: pytest.FixtureRequest) -> str:
    chip: str = request.param
    return chip


@pytest.fixture
def chip(name: str) -> Chip:
    """After the clocks have been set up as programs do."""
    if name == "rp2040":
        return rp2040_chip.started(*rp2040_chip.CLOCK_STEPS)
    return rp2350_chip.started(*rp2350_chip.CLOCK_STEPS)


@pytest.fixture
def counter(name: str) -> int:
    return {"rp2040": 0x40008080, "rp2350": 0x4001008C}[name]


def count(chip: Chip, counter: int, source: int) -> tuple[int, int]:
    """STATUS and RESULT of one measurement."""
    chip.write(counter + REF_KHZ, 12_000)
    chip.write(counter + SRC, source)
    chip.wait(lambda: chip.read(counter + STATUS) & 0x10)
    return chip.read(counter + STATUS), chip.read(counter + RESULT)


@pytest.mark.parametrize(
    ("source", "khz"),
    [
        (PLL_SYS, {"rp2040": 125_000, "rp2350": 150_000}),
        (PLL_USB, {"rp2040": 48_000, "rp2350": 48_000}),
        (ROSC, {"rp2040": 6_500, "rp2350": 11_000}),
        (XOSC, {"rp2040": 12_000, "rp2350": 12_000}),
        (REF, {"rp2040": 12_000, "rp2350": 12_000}),
        (SYS, {"rp2040": 125_000, "rp2350": 150_000}),
    ],
)
def test_it_counts(chip: Chip, counter: int, name: str, source: int, khz: dict[str, int]) -> None:
    assert count(chip, counter, source) == (DONE_PASS, khz[name] << FRACTION_BITS)


def test_it_sees_the_divider(chip: Chip, counter: int, name: str) -> None:
    clk_sys = {"rp2040": rp2040_chip.CLK_SYS, "rp2350": rp2350_chip.CLK_SYS}[name]
    divider = {"rp2040": 0x300, "rp2350": 0x30000}[name]
    chip.write(clk_sys + 4, divider)
    result = {"rp2040": 1_333_333, "rp2350": 50_000 << FRACTION_BITS}[name]  # 41,666.66 kHz
    assert count(chip, counter, SYS) == (DONE_PASS, result)


def test_a_clock_that_stands_still_has_died(chip: Chip, counter: int) -> None:
    assert count(chip, counter, LAST) == (DONE_DIED, 0)


def test_it_takes_its_time(chip: Chip, counter: int) -> None:
    chip.write(counter + REF_KHZ, 12_000)
    chip.write(counter + INTERVAL, 10)
    start = chip.ns
    chip.write(counter + SRC, SYS)
    assert chip.read(counter + STATUS) == RUNNING
    assert chip.read(counter + RESULT) == 0
    chip.wait(lambda: chip.read(counter + STATUS) == DONE_PASS)
    assert chip.ns - start in range(1_024_000, 1_024_200)


@pytest.mark.parametrize(
    ("least", "most", "status"),
    [(11_999, 12_001, DONE_PASS), (12_001, 13_000, DONE_SLOW), (1_000, 11_999, DONE_FAST)],
)
def test_the_limits(chip: Chip, counter: int, least: int, most: int, status: int) -> None:
    chip.write(counter + MIN_KHZ, least)
    chip.write(counter + MAX_KHZ, most)
    assert count(chip, counter, REF)[0] == status


def test_the_reset_values(chip: Chip, counter: int) -> None:
    values = [chip.read(counter + register) for register in range(0, 32, 4)]
    assert values == [0, 0, 0x1FFFFFF, 1, 8, 0, 0, 0]


def test_a_pin_is_not_modelled(chip: Chip, counter: int) -> None:
    chip.write(counter + SRC, 6)
    assert f"write to {counter + SRC:#010x}: CLOCKS" in chip.message
    assert "is not modelled" in chip.message


def test_it_takes_clk_ref_for_what_it_is_told(chip: Chip, counter: int) -> None:
    chip.write(counter + REF_KHZ, 6_000)
    chip.write(counter + SRC, PLL_USB)
    chip.wait(lambda: chip.read(counter + STATUS) & 0x10)
    assert chip.read(counter + RESULT) == 24_000 << FRACTION_BITS
