# SPDX-License-Identifier: Apache-2.0
"""Time is exact: across clock changes, at each alarm, whatever the frequencies."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from harness.emulator.machine import Stop
from tests.emulator.rp2040_chip import (
    CLK_REF,
    CLK_SYS,
    CLOCK_STEPS,
    DIV,
    LOOP,
    PC,
    TICK,
    TIMER,
    TIMERAWH,
    TIMERAWL,
    Chip,
    release_resets,
    start_ticks,
    started,
)

ALARM0, ALARM3, ARMED, PAUSE = TIMER + 0x10, TIMER + 0x1C, TIMER + 0x20, TIMER + 0x30
INTR, INTE, INTF, INTS = (TIMER + offset for offset in (0x34, 0x38, 0x3C, 0x40))
NVIC_ISER, NVIC_ISPR = 0xE000E100, 0xE000E200
# clk_sys dividers in 24.8 and what they make of 125 MHz, rounded down
DIVIDERS = {0x100: 125_000_000, 0x300: 41_666_666, 0x733: 17_362_995, 0x280: 50_000_000}


@pytest.fixture
def chip() -> Chip:
    return started(*CLOCK_STEPS)


def elapsed(segments: list[tuple[int, int]]) -> Fraction:
    return sum((Fraction(cycles, hz) for cycles, hz in segments), Fraction(0))


def test_ns_are_exact_across_clock_changes(chip: Chip) -> None:
    random_source = random.Random(1)
    start, start_cycle = chip.ns, chip.cycles
    segments: list[tuple[int, int]] = []
    for _ in range(200):
        divider, hz = random_source.choice(list(DIVIDERS.items()))
        chip.write(CLK_SYS + DIV, divider)
        assert chip.clk_sys_hz == hz
        cycles = random_source.randrange(1, 100_000)
        chip.run_for(cycles)
        segments.append((cycles, hz))
        exact = elapsed(segments) * 10**9
        assert chip.ns - start in (int(exact), int(exact) + 1)  # `start` was rounded down itself
    assert chip.cycles - start_cycle == sum(cycles for cycles, _ in segments)


def test_no_time_is_lost_in_a_thousand_changes() -> None:
    chip = started(release_resets)
    for _ in range(1000):  # 13 cycles of ROSC at a time, 2 us, then one cycle at a third of it
        chip.run_for(13)
        chip.write(CLK_SYS + DIV, 0x300)
        chip.run_for(1)
        chip.write(CLK_SYS + DIV, 0x100)
    assert chip.ns == int(1000 * (Fraction(13, 6_500_000) + Fraction(1, 2_166_666)) * 10**9)


def test_time_never_runs_back_with_many_odd_frequencies(chip: Chip) -> None:
    random_source = random.Random(2)
    before = chip.ns
    for _ in range(500):
        chip.write(CLK_SYS + DIV, random_source.randrange(0x100, 0x4000))
        chip.run_for(random_source.randrange(1, 50))
        assert chip.ns >= before
        before = chip.ns
    assert chip.message == ""


def test_the_timer_counts_microseconds_whatever_clk_sys_is(chip: Chip) -> None:
    chip.write(TICK, 1 << 9 | 12)
    start = chip.read(TIMERAWL)
    chip.run_for(125 * 1000 - 1)
    assert chip.read(TIMERAWL) == start + 999
    chip.run_for(1)
    assert chip.read(TIMERAWL) == start + 1000
    chip.write(CLK_SYS + DIV, 0x280)
    chip.run_for(49)
    assert chip.read(TIMERAWL) == start + 1000
    chip.run_for(1)
    assert chip.read(TIMERAWL) == start + 1001


def test_timer_ticks_are_exact_across_clk_sys_changes(chip: Chip) -> None:
    chip.write(TICK, 1 << 9 | 12)
    start = chip.read(TIMERAWL)
    segments: list[tuple[int, int]] = []
    random_source = random.Random(3)
    for _ in range(200):
        divider, hz = random_source.choice(list(DIVIDERS.items()))
        chip.write(CLK_SYS + DIV, divider)
        cycles = random_source.randrange(1, 2_000)
        chip.run_for(cycles)
        segments.append((cycles, hz))
        assert chip.read(TIMERAWL) - start == int(elapsed(segments) * 10**6)


def test_a_change_of_clk_ref_begins_with_a_whole_cycle(chip: Chip) -> None:
    chip.write(CLK_REF + DIV, 0x200)  # 6 MHz: 20.8 cycles of clk_sys each
    chip.write(TICK, 1 << 9 | 2)
    start = chip.read(TIMERAWL)
    chip.run_for(30)
    chip.write(CLK_REF + DIV, 0x300)  # 4 MHz: 31.25
    chip.run_for(31)
    assert chip.read(TIMERAWL) == start
    chip.run_for(1)
    assert chip.read(TIMERAWL) == start + 1


def test_an_alarm_interrupts_at_the_exact_cycle(chip: Chip) -> None:
    chip.write(TICK, 1 << 9 | 12)
    at, now = chip.cycles, chip.read(TIMERAWL)
    chip.write(INTE, 8)
    chip.write(ALARM3, now + 100)
    assert chip.read(ARMED) == 8
    chip.run_to(at + 100 * 125 - 1)
    assert chip.read(INTS) == 0
    assert chip.read(NVIC_ISPR) == 0
    chip.run_to(at + 100 * 125)
    assert chip.read(INTS) == 8
    assert chip.read(ARMED) == 0
    chip.run_for(1)
    assert chip.read(NVIC_ISPR) == 8
    chip.write(INTR, 8)
    assert chip.read(INTS) == 0


def test_an_alarm_wakes_the_core_at_the_exact_cycle(chip: Chip) -> None:
    """PRIMASK is set: WFI ends, the loop goes round, and nothing is entered."""
    chip.machine.set_register(20, 1)
    chip.write(NVIC_ISER, 1)
    chip.write(TICK, 1 << 9 | 12)
    at, now = chip.cycles, chip.read(TIMERAWL)
    chip.write(INTE, 1)
    chip.write(ALARM0, now + 7)
    chip.run_to(at + 7 * 125)
    assert chip.machine.register(PC) == LOOP + 2
    assert chip.machine.run(at + 7 * 125 + 1) == Stop.RAN
    assert chip.read(NVIC_ISPR) == 1


def test_an_alarm_survives_a_clock_change(chip: Chip) -> None:
    chip.write(TICK, 1 << 9 | 12)
    at, now = chip.cycles, chip.read(TIMERAWL)
    chip.write(INTE, 1)
    chip.write(ALARM0, now + 10)
    chip.run_to(at + 3 * 125)
    chip.write(CLK_SYS + DIV, 0x280)
    chip.run_to(at + 3 * 125 + 7 * 50 - 1)
    assert chip.read(INTS) == 0
    chip.run_for(1)
    assert chip.read(INTS) == 1


def test_a_missed_alarm_comes_back_when_the_lower_word_wraps(chip: Chip) -> None:
    chip.run_for(125 * 1000)
    chip.write(TICK, 1 << 9 | 12)
    at = chip.cycles
    chip.write(ALARM0, chip.read(TIMERAWL) - 1)
    chip.run_to(at + 125 * ((1 << 32) - 1) - 1)
    assert chip.read(ARMED) == 1
    chip.run_for(1)
    assert chip.read(ARMED) == 0
    assert chip.read(TIMERAWH) == 1


def test_an_alarm_for_now_fires_now_and_can_be_disarmed(chip: Chip) -> None:
    chip.write(ALARM0, chip.read(TIMERAWL))
    assert chip.read(INTR) == 1
    chip.write(ALARM0, chip.read(TIMERAWL) + 5)
    chip.write(ARMED, 1)
    chip.write(INTR, 1)
    chip.run_for(125 * 10)
    assert chip.read(INTR) == 0


def test_inte_intf_ints(chip: Chip) -> None:
    chip.write(INTF, 4)
    assert chip.read(INTS) == 4
    assert chip.read(INTR) == 0
    chip.write(INTF, 0)
    chip.write(ALARM0, chip.read(TIMERAWL))
    assert (chip.read(INTR), chip.read(INTS)) == (1, 0)
    chip.write(INTE, 1)
    assert chip.read(INTS) == 1


def test_reading_timelr_latches_timehr(chip: Chip) -> None:
    chip.write(TIMER + 4, 0xFFFFFFFF)
    chip.write(TIMER + 0, 6)
    assert chip.read(TIMERAWL) == 0xFFFFFFFF
    assert chip.read(TIMER + 0x0C) == 0xFFFFFFFF
    chip.run_for(125)
    assert chip.read(TIMERAWH) == 7
    assert chip.read(TIMER + 0x08) == 6
    assert chip.read(TIMER + 0x0C) == 0
    assert chip.read(TIMER + 0x08) == 7


def test_pause(chip: Chip) -> None:
    chip.write(TICK, 1 << 9 | 12)
    chip.write(INTE, 1)
    chip.write(ALARM0, chip.read(TIMERAWL) + 10)
    chip.run_for(125 * 4)
    chip.write(PAUSE, 1)
    stands_at = chip.read(TIMERAWL)
    chip.run_for(125 * 100)
    assert chip.read(TIMERAWL) == stands_at
    chip.write(PAUSE, 0)
    chip.run_for(125 * 6 - 1)
    assert chip.read(INTS) == 0
    chip.run_for(1)
    assert chip.read(INTS) == 1


def test_without_cycles_a_tick_nothing_counts() -> None:
    chip = started(release_resets)
    assert chip.read(TICK) == 0x200
    chip.run_for(1_000_000)
    assert chip.read(TIMERAWL) == 0
    start_ticks(chip)
    chip.run_for(12)
    assert chip.read(TIMERAWL) == 1
    chip.run_for(5)
    assert chip.read(TICK) == 0x600 | 12 | 7 << 11


def test_the_timer_starts_from_zero_when_released_from_reset(chip: Chip) -> None:
    chip.run_for(125 * 50)
    chip.write(0x4000E000, 1 << 21)
    chip.run_for(125 * 50)
    assert chip.read(TIMERAWL) == 0
    chip.write(0x4000F000, 1 << 21)
    assert chip.read(TIMERAWL) == 0
    chip.run_for(125 * 50)
    assert chip.read(TIMERAWL) == 50
