# SPDX-License-Identifier: Apache-2.0
"""RP2350: TICKS, both timers and the watchdog are exact."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.rp2350_chip import (
    ALARM0,
    CLK_SYS,
    CLOCK_STEPS,
    COUNT,
    CYCLES,
    DIV,
    INTE,
    INTF,
    INTR,
    INTS,
    LOCKED,
    PSM,
    RESETS,
    SET,
    SOURCE,
    TICK_PROC0,
    TICK_RISCV,
    TICK_TIMER0,
    TICK_TIMER1,
    TICK_WATCHDOG,
    TICKS,
    TIMER0,
    TIMER1,
    TIMERAWH,
    TIMERAWL,
    WATCHDOG,
    Chip,
    start_ticks,
    started,
)

ARMED, PAUSE, TIMEHW, TIMELW = 0x20, 0x30, 0x00, 0x04
NVIC_ISPR = 0xE000E200
CTRL, LOAD, REASON, SCRATCH7 = WATCHDOG, WATCHDOG + 4, WATCHDOG + 8, WATCHDOG + 0x28
ENABLE, TRIGGER, TIME = 1 << 30, 1 << 31, 0xFFFFFF
PSM_PROC0 = 1 << 23


@pytest.fixture
def chip() -> Chip:
    """At 150 MHz, ticking."""
    return started(*CLOCK_STEPS)


# ---- TICKS ----


@pytest.mark.parametrize("generator", range(6))
def test_a_tick_generator_runs_once_cycles_and_enable_are_set(generator: int) -> None:
    chip = started(*(step for step in CLOCK_STEPS if step is not start_ticks))
    at = TICKS + 12 * generator
    assert (chip.read(at), chip.read(at + CYCLES)) == (0, 0)
    chip.write(at + CYCLES, 12)
    assert chip.read(at) == 0
    chip.write(at, 1)
    assert (chip.read(at), chip.read(at + CYCLES)) == (3, 12)
    before = chip.read(at + COUNT)
    assert before == 12
    chip.run_for(25)  # two cycles of 12 MHz
    assert chip.read(at + COUNT) == 10
    chip.write(at, 0)
    assert (chip.read(at), chip.read(at + COUNT)) == (0, 0)
    assert chip.message == ""


def test_enable_before_cycles() -> None:
    chip = started(*(step for step in CLOCK_STEPS if step is not start_ticks))
    chip.write(TICK_TIMER1, 1)
    assert chip.message.startswith(
        "TICKS: TIMER1 is enabled while its CYCLES is 0, so it never ticks"
    )


def test_cycles_while_enabled(chip: Chip) -> None:
    chip.write(TICK_RISCV + CYCLES, 6)
    assert chip.message.startswith("TICKS: CYCLES of RISCV is written while it is enabled")


def test_beyond_the_sixth_generator(chip: Chip) -> None:
    chip.read(TICKS + 72)
    assert "TICKS+0x048 is not modelled" in chip.message


# ---- timers ----


@pytest.mark.parametrize("timer", [TIMER0, TIMER1])
def test_a_timer_counts_microseconds_whatever_clk_sys_is(chip: Chip, timer: int) -> None:
    start = chip.read(timer + TIMERAWL)
    chip.run_for(150 * 1000 - 1)
    assert chip.read(timer + TIMERAWL) == start + 999
    chip.run_for(1)
    assert chip.read(timer + TIMERAWL) == start + 1000
    chip.write(CLK_SYS + DIV, 0x30000)
    chip.run_for(49)
    assert chip.read(timer + TIMERAWL) == start + 1000
    chip.run_for(1)
    assert chip.read(timer + TIMERAWL) == start + 1001


def test_each_timer_has_its_own_generator(chip: Chip) -> None:
    chip.write(TICK_TIMER1, 0)
    chip.write(TICK_TIMER1 + CYCLES, 24)
    chip.write(TICK_TIMER1, 1)
    first, second = chip.read(TIMER0 + TIMERAWL), chip.read(TIMER1 + TIMERAWL)
    chip.run_for(150 * 100)
    assert chip.read(TIMER0 + TIMERAWL) - first == 100
    assert chip.read(TIMER1 + TIMERAWL) - second == 50
    chip.write(TICK_TIMER0, 0)
    chip.write(TICK_PROC0, 0)
    chip.run_for(150 * 100)
    assert chip.read(TIMER0 + TIMERAWL) - first == 100
    assert chip.read(TIMER1 + TIMERAWL) - second == 100


def test_source_clk_sys(chip: Chip) -> None:
    chip.write(TIMER1 + SOURCE, 1)
    assert chip.read(TIMER1 + SOURCE) == 1
    start = chip.read(TIMER1 + TIMERAWL)
    chip.run_for(1234)
    assert chip.read(TIMER1 + TIMERAWL) - start == 1234
    at, now = chip.cycles, chip.read(TIMER1 + TIMERAWL)
    chip.write(TIMER1 + INTE, 1)
    chip.write(TIMER1 + ALARM0, now + 77)
    chip.run_to(at + 76)
    assert chip.read(TIMER1 + INTS) == 0
    chip.run_to(at + 77)
    assert chip.read(TIMER1 + INTS) == 1
    chip.write(TIMER1 + SOURCE, 0)
    chip.run_for(150)
    assert chip.read(TIMER1 + TIMERAWL) - now in (77, 78)


@pytest.mark.parametrize(("timer", "first_line"), [(TIMER0, 0), (TIMER1, 4)])
@pytest.mark.parametrize("alarm", [0, 3])
def test_an_alarm_interrupts_at_the_exact_cycle(
    chip: Chip, timer: int, first_line: int, alarm: int
) -> None:
    at, now = chip.cycles, chip.read(timer + TIMERAWL)
    chip.write(timer + INTE, 1 << alarm)
    chip.write(timer + ALARM0 + 4 * alarm, now + 100)
    assert chip.read(timer + ARMED) == 1 << alarm
    chip.run_to(at + 100 * 150 - 1)
    assert (chip.read(timer + INTS), chip.read(NVIC_ISPR)) == (0, 0)
    chip.run_to(at + 100 * 150)
    assert chip.read(timer + INTS) == 1 << alarm
    assert chip.read(timer + ARMED) == 0
    chip.run_for(1)
    assert chip.read(NVIC_ISPR) == 1 << (first_line + alarm)
    chip.write(timer + INTR, 1 << alarm)
    assert chip.read(timer + INTS) == 0


def test_the_registers_of_the_rp2040_are_two_words_further(chip: Chip) -> None:
    chip.write(TIMER0 + INTF, 4)
    assert chip.read(TIMER0 + INTF) == 4
    assert chip.read(TIMER0 + INTS) == 4
    assert chip.read(TIMER0 + LOCKED) == 0
    assert chip.read(TIMER0 + SOURCE) == 0
    chip.read(TIMER0 + 0x4C)
    assert "TIMER0+0x04c is not modelled" in chip.message


def test_locked_takes_no_writes_until_a_reset(chip: Chip) -> None:
    chip.write(TIMER0 + LOCKED, 1)
    chip.write(TIMER0 + LOCKED, 0)
    chip.write(TIMER0 + ALARM0, 5)
    chip.write(TIMER0 + PAUSE, 1)
    assert chip.read(TIMER0 + LOCKED) == 1
    assert chip.read(TIMER0 + ARMED) == 0
    assert chip.read(TIMER0 + PAUSE) == 0
    assert chip.machine.counter(Counter.DROPPED_WRITES) == 3
    chip.write(RESETS + SET, 1 << 23)
    assert chip.read(TIMER0 + LOCKED) == 0


def test_pausing_and_setting_the_time(chip: Chip) -> None:
    chip.write(TIMER1 + PAUSE, 1)
    chip.write(TIMER1 + TIMELW, 0xFFFFFFFF)
    chip.write(TIMER1 + TIMEHW, 1)
    chip.run_for(1500)
    assert (chip.read(TIMER1 + TIMERAWH), chip.read(TIMER1 + TIMERAWL)) == (1, 0xFFFFFFFF)
    chip.write(TIMER1 + PAUSE, 0)
    chip.run_for(150)
    assert (chip.read(TIMER1 + TIMERAWH), chip.read(TIMER1 + TIMERAWL)) == (2, 0)


# ---- watchdog ----


def test_the_watchdog_counts_one_a_tick(chip: Chip) -> None:
    chip.write(PSM + 8, PSM_PROC0)
    chip.write(LOAD, 1000)
    chip.write(CTRL + SET, ENABLE)
    chip.run_for(150 * 7)
    assert chip.read(CTRL) & TIME == 993


@pytest.mark.parametrize("load", [1000, 999, 1])
def test_the_watchdog_expires_at_the_exact_cycle(chip: Chip, load: int) -> None:
    chip.write(PSM + 8, PSM_PROC0)
    chip.write(SCRATCH7, 0xABCD1234)
    at = chip.cycles
    chip.write(LOAD, load)
    chip.write(CTRL + SET, ENABLE)
    chip.run_to(at + 150 * load - 1)
    assert chip.read(REASON) == 0
    assert chip.machine.run(at + 150 * load + 1000) == Stop.RESET
    assert chip.cycles == at + 150 * load
    chip.machine.reset()
    assert chip.read(REASON) == 1
    assert chip.read(CTRL) == 0x07000000
    assert chip.read(SCRATCH7) == 0xABCD1234


def test_the_watchdog_stands_without_its_tick_generator(chip: Chip) -> None:
    chip.write(TICK_WATCHDOG, 0)
    chip.write(LOAD, 10)
    chip.write(CTRL + SET, ENABLE)
    assert chip.run_for(150 * 1000) == Stop.RAN
    assert chip.read(CTRL) & TIME == 10


def test_a_watchdog_that_would_reset_nothing(chip: Chip) -> None:
    chip.write(PSM + 8, PSM_PROC0 ^ 0x1FFFFFF)
    chip.write(CTRL + SET, TRIGGER)
    assert chip.message.startswith("the watchdog fires, but PSM WDSEL does not select")
