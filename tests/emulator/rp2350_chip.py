# SPDX-License-Identifier: Apache-2.0
"""An RP2350 without a program: register accesses over its bus, and time that can be let pass.

As rp2040_chip.py; addresses and values are those of the RP2350 data sheet.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from harness.emulator.machine import Machine
from tests.emulator.rp2040_chip import Chip as Rp2040Chip

FLASH_BYTES = 4 * 1024 * 1024
ROSC_HZ, XOSC_HZ = 11_000_000, 12_000_000
XIP, SRAM, SRAM_END = 0x10000000, 0x20000000, 0x20082000
UNCACHED, MAINTENANCE, UNTRANSLATED = 0x14000000, 0x18000000, 0x1C000000

XOR, SET, CLR = 0x1000, 0x2000, 0x3000
SYSINFO, CLOCKS, PSM, RESETS = 0x40000000, 0x40010000, 0x40018000, 0x40020000
IO_BANK0, IO_QSPI, PADS_BANK0, PADS_QSPI = 0x40028000, 0x40030000, 0x40038000, 0x40040000
XOSC, PLL_SYS, PLL_USB, ACCESSCTRL = 0x40048000, 0x40050000, 0x40058000, 0x40060000
TIMER0, TIMER1, XIP_CTRL, QMI = 0x400B0000, 0x400B8000, 0x400C8000, 0x400D0000
WATCHDOG, BOOTRAM, ROSC, POWMAN = 0x400D8000, 0x400E0000, 0x400E8000, 0x40100000
TICKS, DPRAM, USB, SIO = 0x40108000, 0x50100000, 0x50110000, 0xD0000000

RESET_DONE = RESETS + 8
CLK_REF, CLK_SYS, CLK_PERI, CLK_HSTX, CLK_USB, CLK_ADC = (CLOCKS + 12 * n for n in range(4, 10))
DIV, SELECTED = 4, 8
CS, PWR, FBDIV_INT, PRIM = 0, 4, 8, 12
TIMERAWH, TIMERAWL, ALARM0 = 0x24, 0x28, 0x10
LOCKED, SOURCE, INTR, INTE, INTF, INTS = 0x34, 0x38, 0x3C, 0x40, 0x44, 0x48
TICK_PROC0, TICK_PROC1, TICK_TIMER0, TICK_TIMER1, TICK_WATCHDOG, TICK_RISCV = (
    TICKS + 12 * n for n in range(6)
)
CYCLES, COUNT = 4, 8
DIRECT_CSR, DIRECT_TX, DIRECT_RX, M0_TIMING, M0_RFMT, M0_RCMD = (QMI + 4 * n for n in range(6))
MAIN_CTRL, SIE_CTRL, USB_MUXING, USB_PWR = (USB + at for at in (0x40, 0x4C, 0x74, 0x78))
ALL_RESETS = 0x1FFFFFFF
IO_QSPI_BIT, PADS_QSPI_BIT, PADS_BANK0_BIT = 1 << 7, 1 << 10, 1 << 9
PLL_SYS_BIT, PLL_USB_BIT, USB_BIT = 1 << 14, 1 << 15, 1 << 28

# An image definition: start, executable for Arm, secure, RP2350; last item; link to itself; end
IMAGE_DEF = (0xFFFFDED3, 0x10210142, 0x000001FF, 0, 0xAB123579)
IMAGE_DEF_AT = 0x110


class Chip(Rp2040Chip):
    """A powered RP2350 whose core sleeps; `power_on()` alone leaves it at the boot ROM's entry."""

    def __init__(self) -> None:
        self.machine = Machine("rp2350", FLASH_BYTES)
        self.machine.power_on()

    def rom(self, code: str, mask: int = 4) -> int:
        """Address of a ROM function, through the ROM's own look-up."""
        return self.call(self.read(0x16, 2), ord(code[0]) | ord(code[1]) << 8, mask)


def image(
    code: bytes = bytes.fromhex("fee7"),
    *,
    definition: Sequence[int] = IMAGE_DEF,
    at: int = IMAGE_DEF_AT,
    stack: int = SRAM + 0x40000,
) -> bytes:
    """A flash image: vector table, the image definition, and code at 0x200."""
    body = bytearray(b"\xff" * 0x200)
    struct.pack_into("<II", body, 0, stack, XIP + 0x201)
    block = struct.pack(f"<{len(definition)}I", *definition)
    if at + len(block) > len(body):
        body += b"\xff" * (at + len(block) - len(body))
    body[at : at + len(block)] = block
    return bytes(body[:0x200]) + code.ljust(0x40, b"\xff") + bytes(body[0x240:])


def booted(flash: bytes) -> Chip:
    chip = Chip()
    chip.machine.load_flash(0, flash)
    chip.machine.run(chip.cycles + 100_000)
    return chip


# ---- the steps of a start-up, in their order; each is what a program does with registers ----


def release_resets(chip: Chip) -> None:
    chip.write(RESETS + CLR, ALL_RESETS & ~(USB_BIT | PLL_SYS_BIT | PLL_USB_BIT))


def start_xosc(chip: Chip) -> None:
    chip.write(XOSC, 0xAA0)
    chip.write(XOSC + 12, 47)
    chip.write(XOSC + SET, 0xFAB000)


def wait_xosc(chip: Chip) -> None:
    chip.wait(lambda: chip.read(XOSC + 4) >> 31)


def release_plls(chip: Chip) -> None:
    chip.write(RESETS + CLR, PLL_SYS_BIT | PLL_USB_BIT)
    chip.wait(lambda: chip.read(RESET_DONE) & PLL_SYS_BIT)


def divide_plls(chip: Chip) -> None:
    chip.write(PLL_SYS + FBDIV_INT, 125)
    chip.write(PLL_USB + FBDIV_INT, 100)


def power_plls(chip: Chip) -> None:
    chip.write(PLL_SYS + PWR + CLR, 0x21)
    chip.write(PLL_USB + PWR + CLR, 0x21)


def wait_plls(chip: Chip) -> None:
    chip.wait(lambda: chip.read(PLL_SYS + CS) >> 31 and chip.read(PLL_USB + CS) >> 31)


def post_divide_plls(chip: Chip) -> None:
    chip.write(PLL_SYS + PRIM, 0x52000)
    chip.write(PLL_USB + PRIM, 0x55000)
    chip.write(PLL_SYS + PWR + CLR, 8)
    chip.write(PLL_USB + PWR + CLR, 8)


def select_clk_ref(chip: Chip) -> None:
    chip.write(CLK_REF, 2)
    chip.wait(lambda: chip.read(CLK_REF + SELECTED) == 4)


def select_clk_sys(chip: Chip) -> None:
    chip.write(CLK_SYS, 0)
    chip.write(CLK_SYS, 1)
    chip.wait(lambda: chip.read(CLK_SYS + SELECTED) == 2)


def enable_clk_usb(chip: Chip) -> None:
    chip.write(CLK_USB + SET, 1 << 11)


def enable_clk_peri(chip: Chip) -> None:
    chip.write(CLK_PERI, 1 << 11)


def start_ticks(chip: Chip) -> None:
    for generator in range(TICKS, TICKS + 72, 12):
        chip.write(generator + CYCLES, 12)
        chip.write(generator, 1)


def release_usb(chip: Chip) -> None:
    chip.write(RESETS + CLR, USB_BIT)


def connect_usb_phy(chip: Chip) -> None:
    chip.write(USB_MUXING, 9)


def force_vbus(chip: Chip) -> None:
    chip.write(USB_PWR, 12)


def enable_usb(chip: Chip) -> None:
    chip.write(MAIN_CTRL, 1)
    chip.write(SIE_CTRL, 1 << 29)


def pull_up(chip: Chip) -> None:
    chip.write(SIE_CTRL + SET, 1 << 16)


Step = Callable[[Chip], None]
CLOCK_STEPS: tuple[Step, ...] = (
    release_resets,
    start_xosc,
    wait_xosc,
    release_plls,
    divide_plls,
    power_plls,
    wait_plls,
    post_divide_plls,
    select_clk_ref,
    select_clk_sys,
    enable_clk_usb,
    enable_clk_peri,
    start_ticks,
)
USB_STEPS: tuple[Step, ...] = (release_usb, connect_usb_phy, force_vbus, enable_usb, pull_up)


def started(*steps: Step) -> Chip:
    """A chip after these steps."""
    chip = Chip()
    chip.sleep_in_sram()
    for step in steps:
        step(chip)
    return chip


def connect_flash(chip: Chip) -> None:
    """Its pins to the QMI: out of reset, function XIP, not isolated."""
    chip.write(RESETS + CLR, IO_QSPI_BIT | PADS_QSPI_BIT)
    for pin in range(6):
        chip.write(IO_QSPI + 0x14 + 8 * pin, 0)
        chip.write(PADS_QSPI + CLR + 4 + 4 * pin, 1 << 8)


def connected() -> Chip:
    return started(connect_flash)
