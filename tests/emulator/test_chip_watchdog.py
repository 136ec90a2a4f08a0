# SPDX-License-Identifier: Apache-2.0
"""WATCHDOG: two counts a tick (RP2040-E1), expiry at the exact cycle, reason and scratch."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Stop
from tests.emulator.rp2040_chip import CLK_SYS, CLOCK_STEPS, DIV, PSM, SET, TICK, WATCHDOG, Chip
from tests.emulator.rp2040_chip import started as chip_after

CTRL, LOAD, REASON, SCRATCH7 = WATCHDOG, WATCHDOG + 4, WATCHDOG + 8, WATCHDOG + 0x28
ENABLE, TRIGGER, TIME = 1 << 30, 1 << 31, 0xFFFFFF
WDSEL, WDSEL_ALL_BUT_OSCILLATORS = PSM + 8, 0x1FFFC


@pytest.fixture
def chip() -> Chip:
    chip = chip_after(*CLOCK_STEPS)
    chip.write(WDSEL, WDSEL_ALL_BUT_OSCILLATORS)
    chip.write(TICK, 1 << 9 | 12)
    return chip


def test_counts_two_a_tick(chip: Chip) -> None:
    chip.write(LOAD, 1000)
    chip.write(CTRL + SET, ENABLE)
    chip.run_for(125 * 7)
    assert chip.read(CTRL) & TIME == 986
    assert chip.read(CTRL) & ENABLE


@pytest.mark.parametrize(("load", "ticks"), [(1000, 500), (999, 500), (2, 1), (1, 1)])
def test_expires_at_the_exact_cycle(chip: Chip, load: int, ticks: int) -> None:
    at = chip.cycles
    chip.write(LOAD, load)
    chip.write(CTRL + SET, ENABLE)
    chip.run_to(at + 125 * ticks - 1)
    assert chip.read(REASON) == 0
    assert chip.machine.run(at + 125 * ticks + 1000) == Stop.RESET
    assert chip.cycles == at + 125 * ticks
    chip.machine.reset()
    assert chip.read(REASON) == 1
    assert chip.read(CTRL) == 0x07000000


def test_feeding_starts_again(chip: Chip) -> None:
    chip.write(LOAD, 20)
    chip.write(CTRL + SET, ENABLE)
    for _ in range(10):
        assert chip.run_for(125 * 9) == Stop.RAN
        chip.write(LOAD, 20)
    at = chip.cycles
    assert chip.machine.run(at + 125 * 20) == Stop.RESET
    assert chip.cycles == at + 125 * 10


def test_a_clock_change_moves_the_expiry(chip: Chip) -> None:
    at = chip.cycles
    chip.write(LOAD, 20)
    chip.write(CTRL + SET, ENABLE)
    chip.run_to(at + 125 * 4)
    chip.write(CLK_SYS + DIV, 0x280)
    assert chip.machine.run(at + 125 * 20) == Stop.RESET
    assert chip.cycles == at + 125 * 4 + 50 * 6


def test_trigger(chip: Chip) -> None:
    chip.write(SCRATCH7, 0xABCD1234)
    chip.write(CTRL + SET, TRIGGER)
    assert chip.machine.run(chip.cycles + 1000) == Stop.RESET
    chip.machine.reset()
    assert chip.read(REASON) == 2
    assert chip.read(SCRATCH7) == 0xABCD1234
    assert chip.read(CTRL) & TRIGGER == 0


def test_disabled_it_stands(chip: Chip) -> None:
    chip.write(LOAD, 100)
    chip.write(CTRL, ENABLE)
    chip.run_for(125 * 10)
    chip.write(CTRL, 0)
    assert chip.run_for(125 * 1000) == Stop.RAN
    assert chip.read(CTRL) & TIME == 80


def test_a_watchdog_that_would_reset_nothing(chip: Chip) -> None:
    chip.write(WDSEL, 0)
    chip.write(CTRL + SET, TRIGGER)
    assert chip.message.startswith("the watchdog fires, but PSM WDSEL does not select")
    assert chip.machine.run(chip.cycles + 1000) == Stop.STRICT


def test_power_on_forgets(chip: Chip) -> None:
    chip.write(CTRL + SET, TRIGGER)
    chip.machine.power_on()
    assert chip.read(REASON) == 0
