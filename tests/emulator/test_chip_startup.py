# SPDX-License-Identifier: Apache-2.0
"""A start-up with any one step left out is noticed: by a stop, by a wait that never ends, or by a
device that the host does not see and that says why."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.emulator.rp2040_chip import (
    CLK_REF,
    CLK_SYS,
    CLOCK_STEPS,
    CLR,
    CS,
    DIV,
    FBDIV_INT,
    PLL_SYS,
    PLL_SYS_BIT,
    PLL_USB,
    PRIM,
    PWR,
    RESETS,
    SELECTED,
    SET,
    USB_STEPS,
    XOSC,
    XOSC_STATUS,
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


def without(left_out: Step, steps: Iterable[Step] = ALL_STEPS) -> Chip:
    return started(*(step for step in steps if step is not left_out))


def test_the_whole_start_up_attaches_without_a_word() -> None:
    chip = started(*ALL_STEPS)
    assert chip.message == ""
    assert chip.machine.usb_why_not() == ""
    assert chip.machine.usb_attached()
    assert chip.clk_sys_hz == 125_000_000
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
        (connect_usb_phy, "USB_MUXING does not connect the controller to the PHY"),
        (force_vbus, "VBUS is not detected: USB_PWR needs VBUS_DETECT and VBUS_DETECT_OVERRIDE_EN"),
        (enable_usb, "MAIN_CTRL.CONTROLLER_EN is 0"),
        (pull_up, "SIE_CTRL.PULLUP_EN is 0"),
    ],
)
def test_a_step_without_which_no_host_sees_the_device(left_out: Step, why_not: str) -> None:
    chip = without(left_out)
    assert chip.machine.usb_why_not() == why_not
    assert not chip.machine.usb_attached()
    assert chip.message == ""


def test_without_ticks_the_timer_stands_still() -> None:
    chip = without(start_ticks)
    chip.run_for(125_000)
    assert chip.read(0x40054028) == 0


def test_without_clk_ref_from_xosc_the_timer_is_slow() -> None:
    chip = without(select_clk_ref)
    before = chip.read(0x40054028)
    chip.run_for(125_000 * 12)
    assert chip.read(0x40054028) - before == 6500  # 12 ms of ROSC at 12 cycles a tick


@pytest.mark.parametrize(
    ("post_dividers", "hz"), [(0x65000, 40_000_000), (0x74000, 42_857_142), (0x51000, 240_000_000)]
)
def test_usb_needs_48_mhz(post_dividers: int, hz: int) -> None:
    chip = started(*ALL_STEPS)
    chip.write(PLL_USB + PRIM, post_dividers)
    assert chip.machine.usb_why_not() == f"clk_usb is {hz} Hz, not 48 MHz"


@pytest.mark.parametrize(
    ("fbdiv", "refdiv", "post_dividers", "hz"),
    [
        (112, 1, 0x74000, 48_000_000),
        (239, 2, 0x65000, 47_800_000),  # 0.42 % off, the next that the PLL can make
        (241, 2, 0x65000, 48_200_000),
    ],
)
def test_usb_wants_48_mhz_within_a_quarter_of_a_percent(
    fbdiv: int, refdiv: int, post_dividers: int, hz: int
) -> None:
    def divide(chip: Chip) -> None:
        chip.write(PLL_SYS + FBDIV_INT, 125)
        chip.write(PLL_USB + CS, refdiv)
        chip.write(PLL_USB + FBDIV_INT, fbdiv)

    def post_divide(chip: Chip) -> None:
        post_divide_plls(chip)
        chip.write(PLL_USB + PRIM, post_dividers)

    instead: dict[Step, Step] = {divide_plls: divide, post_divide_plls: post_divide}
    chip = started(*(instead.get(step, step) for step in ALL_STEPS))
    expected = "" if hz == 48_000_000 else f"clk_usb is {hz} Hz, not 48 MHz"
    assert chip.machine.usb_why_not() == expected
    assert chip.machine.usb_attached() == (hz == 48_000_000)
    assert chip.message == ""


def test_xosc_is_stable_after_its_startup_delay() -> None:
    chip = started()
    chip.write(XOSC + 12, 47)
    chip.write(XOSC, 0xFABAA0)
    # 47 * 256 cycles of 12 MHz are 1,002,667 ns (rounded up), 6,518 cycles of 6.5 MHz
    chip.run_to(6517)
    assert chip.read(XOSC_STATUS) == 1 << 12
    chip.run_to(6518)
    assert chip.read(XOSC_STATUS) == 1 << 31 | 1 << 12


def test_clk_ref_from_xosc_before_stable() -> None:
    chip = started(start_xosc)
    chip.write(CLK_REF, 2)
    assert chip.message.startswith("clk_ref uses XOSC before it is stable")


def test_taking_a_pll_away_under_clk_sys() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(RESETS + SET, PLL_SYS_BIT)
    assert chip.message.startswith("clk_sys has no clock: its source PLL_SYS stands still")


def test_stopping_xosc_under_the_plls() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(XOSC, 0xD1EAA0)
    assert "XOSC" in chip.message


def test_moving_the_auxiliary_source_under_clk_sys() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(CLK_SYS, 1 << 5 | 1)
    assert chip.message.startswith("clk_sys: AUXSRC changes while SRC selects it")


@pytest.mark.parametrize("fbdiv", [62, 134])
def test_a_vco_out_of_range(fbdiv: int) -> None:
    chip = started(start_xosc, wait_xosc, release_plls)
    chip.write(PLL_SYS + FBDIV_INT, fbdiv)
    chip.write(PLL_SYS + PWR + CLR, 0x21)
    assert chip.message.startswith(f"PLL_SYS: its VCO would run at {fbdiv * 12_000_000} Hz")
    assert chip.read(PLL_SYS + CS) >> 31 == 0


def test_a_pll_locks_some_time_after_power() -> None:
    chip = started(start_xosc, wait_xosc, release_plls, divide_plls)
    at = chip.cycles
    chip.write(PLL_SYS + PWR + CLR, 0x21)
    assert chip.read(PLL_SYS + CS) == 1
    chip.wait(lambda: chip.read(PLL_SYS + CS) >> 31)
    assert at < chip.cycles <= at + 270  # 40 us at 6.5 MHz are 260 cycles


def test_a_fractional_divider_of_clk_sys() -> None:
    chip = started(*CLOCK_STEPS)
    chip.write(CLK_SYS + DIV, 0x280)  # 2.5
    assert chip.clk_sys_hz == 50_000_000
