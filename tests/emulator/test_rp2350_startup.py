# SPDX-License-Identifier: Apache-2.0
"""RP2350: a start-up with any one step left out is noticed, and the host says what it misses."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.emulator.machine import UsbEvent
from tests.emulator.rp2350_chip import (
    CLK_HSTX,
    CLK_PERI,
    CLK_REF,
    CLK_SYS,
    CLK_USB,
    CLOCK_STEPS,
    CLOCKS,
    CLR,
    DIV,
    DPRAM,
    MAIN_CTRL,
    PLL_SYS,
    PLL_SYS_BIT,
    PLL_USB,
    PRIM,
    RESETS,
    ROSC,
    SELECTED,
    SET,
    TIMER0,
    TIMERAWL,
    USB,
    USB_MUXING,
    USB_STEPS,
    XOSC,
    Chip,
    Step,
    connect_usb_phy,
    divide_plls,
    enable_clk_usb,
    enable_usb,
    force_vbus,
    post_divide_plls,
    power_plls,
    pull_up,
    release_plls,
    release_usb,
    select_clk_ref,
    select_clk_sys,
    start_ticks,
    start_xosc,
    started,
    wait_plls,
    wait_xosc,
)

ALL_STEPS = CLOCK_STEPS + USB_STEPS
NVIC_ISPR = 0xE000E200


def without(left_out: Step, steps: Iterable[Step] = ALL_STEPS) -> Chip:
    return started(*(step for step in steps if step is not left_out))


def test_the_whole_start_up_attaches_without_a_word() -> None:
    chip = started(*ALL_STEPS)
    assert chip.message == ""
    assert chip.machine.usb_why_not() == ""
    assert chip.machine.usb_attached()
    assert chip.usb_events() == UsbEvent.ATTACH
    assert chip.clk_sys_hz == 150_000_000
    assert chip.read(CLK_REF + SELECTED) == 4
    assert chip.read(CLK_SYS + SELECTED) == 2


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        (wait_xosc, "PLL_SYS is powered up before XOSC is stable"),
        (divide_plls, "PLL_SYS is powered up with FBDIV_INT 0: 16 to 320 are allowed"),
        (wait_plls, "clk_sys uses PLL_SYS before LOCK"),
        (post_divide_plls, "clk_sys has no clock: its source PLL_SYS stands still"),
    ],
)
def test_a_step_that_silicon_would_not_miss_aloud(left_out: Step, message: str) -> None:
    assert without(left_out).message.startswith(message)


@pytest.mark.parametrize("left_out", [start_xosc, release_plls, power_plls])
def test_a_step_whose_wait_never_ends(left_out: Step) -> None:
    with pytest.raises(AssertionError, match="never became true"):
        without(left_out)


@pytest.mark.parametrize(
    ("left_out", "why_not"),
    [
        (select_clk_sys, "clk_sys is 12000000 Hz, USB needs at least 48 MHz"),
        (enable_clk_usb, "clk_usb is 0 Hz, not 48 MHz"),
        (release_usb, "USBCTRL is held in reset"),
        (force_vbus, "VBUS is not detected: USB_PWR needs VBUS_DETECT and VBUS_DETECT_OVERRIDE_EN"),
        (enable_usb, "MAIN_CTRL.PHY_ISO is 1: the PHY is isolated"),
        (pull_up, "SIE_CTRL.PULLUP_EN is 0"),
    ],
)
def test_a_step_without_which_no_host_sees_the_device(left_out: Step, why_not: str) -> None:
    chip = without(left_out)
    assert chip.machine.usb_why_not() == why_not
    assert not chip.machine.usb_attached()
    assert chip.message == ""


def test_the_controller_is_on_the_phy_after_reset() -> None:
    chip = without(connect_usb_phy)
    assert chip.machine.usb_attached()
    chip.write(USB_MUXING, 8)
    assert chip.machine.usb_why_not() == "USB_MUXING does not connect the controller to the PHY"


def test_the_phy_is_isolated_after_reset_and_a_set_alias_leaves_it_so() -> None:
    chip = without(enable_usb)
    assert chip.read(MAIN_CTRL) == 4
    chip.write(MAIN_CTRL + SET, 1)
    assert chip.read(MAIN_CTRL) == 5
    assert chip.machine.usb_why_not() == "MAIN_CTRL.PHY_ISO is 1: the PHY is isolated"
    chip.write(MAIN_CTRL + CLR, 4)
    assert chip.machine.usb_why_not() == ""
    assert chip.machine.usb_attached()
    chip.write(MAIN_CTRL, 0)
    assert chip.machine.usb_why_not() == "MAIN_CTRL.CONTROLLER_EN is 0"


def test_usb_interrupts_on_line_14() -> None:
    chip = started(*ALL_STEPS)
    chip.write(USB + 0x90, 1 << 12)  # INTE: BUS_RESET
    assert chip.read(NVIC_ISPR) == 0
    chip.machine.usb_bus_reset(True)
    assert chip.read(USB + 0x98) == 1 << 12
    chip.run_for(1)
    assert chip.read(NVIC_ISPR) == 1 << 14


def test_a_descriptor_goes_out() -> None:
    chip = started(*ALL_STEPS)
    chip.machine.usb_bus_reset(True)
    chip.machine.usb_bus_reset(False)
    chip.machine.bus_write_block(DPRAM + 0x100, b"descriptor")
    chip.write(DPRAM + 0x80, 1 << 15 | 1 << 13 | 1 << 10 | 10)
    assert chip.machine.usb_in(0) == (b"descriptor", 1)
    assert chip.read(USB + 0x58) == 1


def test_usb_reset_values() -> None:
    chip = without(enable_usb, (*CLOCK_STEPS, release_usb))
    assert chip.read(USB + 0x4C) == 0x8000
    assert chip.read(USB_MUXING) == 1
    assert chip.read(USB + 0x88) == 0xF8  # LINESTATE_TUNING
    chip.write(USB + 0x90, 0xFFFFFFFF)
    assert chip.read(USB + 0x90) == 0xFFFFFF


# ---- clocks ----


def test_without_ticks_the_timer_stands_still() -> None:
    chip = without(start_ticks)
    chip.run_for(150_000)
    assert chip.read(TIMER0 + TIMERAWL) == 0


def test_without_clk_ref_from_xosc_the_timer_is_slow() -> None:
    chip = without(select_clk_ref)
    before = chip.read(TIMER0 + TIMERAWL)
    chip.run_for(150_000 * 12)
    assert chip.read(TIMER0 + TIMERAWL) - before == 11_000  # 12 ms of ROSC at 12 cycles a tick


def test_xosc_is_stable_after_its_startup_delay() -> None:
    chip = started()
    assert chip.read(XOSC + 12) == 0
    chip.write(XOSC + 12, 47)
    chip.write(XOSC, 0xFABAA0)
    # 47 * 256 cycles of 12 MHz are 1,002,667 ns (rounded up), 11,030 cycles of 11 MHz
    chip.run_to(11_029)
    assert chip.read(XOSC + 4) == 1 << 12
    chip.run_to(11_030)
    assert chip.read(XOSC + 4) == 1 << 31 | 1 << 12


def test_taking_a_pll_away_under_clk_sys() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(RESETS + SET, PLL_SYS_BIT)
    assert chip.message.startswith("clk_sys has no clock: its source PLL_SYS stands still")


def test_switching_the_ring_oscillator_off_under_clk_ref() -> None:
    chip = started()
    chip.write(ROSC, 0xD1EAA0)
    assert chip.message.startswith("clk_ref has no clock: its source ROSC stands still")


def test_dividers_are_16_16() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(CLK_SYS + DIV, 0x28000)  # 2.5
    assert chip.clk_sys_hz == 60_000_000
    chip.write(CLK_SYS + DIV, 0x10001)  # 1 + 1 / 65536
    assert chip.clk_sys_hz == 149_997_711
    chip.write(CLK_SYS + DIV, 0)  # 65536
    assert chip.clk_sys_hz == 2288


@pytest.mark.parametrize(("divider", "hz"), [(2, 24_000_000), (5, 9_600_000), (0, 3_000_000)])
def test_an_integer_part_of_0_divides_by_one_more_than_it_can_hold(divider: int, hz: int) -> None:
    chip = started(*ALL_STEPS)
    chip.write(CLK_USB + DIV, divider << 16)
    assert chip.machine.usb_why_not() == f"clk_usb is {hz} Hz, not 48 MHz"


@pytest.mark.parametrize(
    ("post_dividers", "hz"), [(0x65000, 40_000_000), (0x74000, 42_857_142), (0x51000, 240_000_000)]
)
def test_usb_needs_48_mhz(post_dividers: int, hz: int) -> None:
    chip = started(*ALL_STEPS)
    chip.write(PLL_USB + PRIM, post_dividers)
    assert chip.machine.usb_why_not() == f"clk_usb is {hz} Hz, not 48 MHz"


def test_clocks_that_run_say_so() -> None:
    chip = started(*CLOCK_STEPS)
    assert chip.read(CLK_USB) == 1 << 28 | 1 << 11
    assert chip.read(CLK_PERI) == 1 << 28 | 1 << 11
    assert chip.read(CLK_HSTX) == 0
    assert chip.read(CLK_PERI + DIV) == 0x10000
    assert chip.read(CLOCKS + 0x84) == 0xFF  # CLK_SYS_RESUS_CTRL
    assert chip.read(CLOCKS + 0xB0) == 0x7FFFFFFF  # WAKE_EN1
    chip.write(CLOCKS + 0xB4 + CLR, 1)
    assert chip.read(CLOCKS + 0xB4) == 0xFFFFFFFE  # SLEEP_EN0
    assert chip.read(CLOCKS + 0xC0) == 0x7FFFFFFF  # ENABLED1
    assert chip.message == ""
    chip.read(CLOCKS + 0xC4)
    assert "CLOCKS+0x0c4 is not modelled" in chip.message


def test_moving_the_auxiliary_source_under_clk_sys() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(CLK_SYS, 1 << 5 | 1)
    assert chip.message.startswith("clk_sys: AUXSRC changes while SRC selects it")


def test_a_vco_out_of_range() -> None:
    chip = started(start_xosc, wait_xosc, release_plls)
    chip.write(PLL_SYS + 8, 134)
    chip.write(PLL_SYS + 4 + CLR, 0x21)
    assert chip.message.startswith("PLL_SYS: its VCO would run at 1608000000 Hz")
