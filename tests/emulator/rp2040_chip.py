# SPDX-License-Identifier: Apache-2.0
"""An RP2040 without a program: register accesses over its bus, and time that can be let pass.

The core sleeps in a WFI loop in SRAM, so that time lands on any cycle that is asked for. Addresses
and values are those of the RP2040 data sheet.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.emulator.machine import Counter, Machine, Stop, UsbEvent

FLASH_BYTES = 2 * 1024 * 1024
XIP, SRAM, LOOP = 0x10000000, 0x20000000, 0x20030000
R0, R1, R2, R3, SP, LR, PC, XPSR = 0, 1, 2, 3, 13, 14, 15, 16
XPSR_T = 1 << 24
DHCSR, DBGKEY, C_DEBUGEN, C_HALT = 0xE000EDF0, 0xA05F << 16, 1, 2
ROSC_HZ, XOSC_HZ = 6_500_000, 12_000_000

XOR, SET, CLR = 0x1000, 0x2000, 0x3000
CLOCKS, RESETS, IO_QSPI, XOSC = 0x40008000, 0x4000C000, 0x40018000, 0x40024000
PLL_SYS, PLL_USB, TIMER, WATCHDOG = 0x40028000, 0x4002C000, 0x40054000, 0x40058000
PSM, SSI, SIO = 0x40010000, 0x18000000, 0xD0000000
DPRAM, USB = 0x50100000, 0x50110000
RESET_DONE = RESETS + 8
CLK_REF, CLK_SYS, CLK_PERI, CLK_USB = (CLOCKS + 12 * n for n in (4, 5, 6, 7))
DIV, SELECTED = 4, 8
XOSC_STATUS, XOSC_STARTUP = XOSC + 4, XOSC + 12
CS, PWR, FBDIV_INT, PRIM = 0, 4, 8, 12
TICK = WATCHDOG + 0x2C
TIMERAWH, TIMERAWL = TIMER + 0x24, TIMER + 0x28
TIMER_BIT, PLL_SYS_BIT, PLL_USB_BIT, USB_BIT = 1 << 21, 1 << 12, 1 << 13, 1 << 24
WFI, BRANCH_BACK = 0xBF30, 0xE7FD


class Chip:
    """A powered RP2040 whose core sleeps; `power_on()` alone leaves it at the boot ROM's entry."""

    def __init__(self) -> None:
        self.machine = Machine("rp2040", FLASH_BYTES)
        self.machine.power_on()

    def sleep_in_sram(self) -> Chip:
        self.machine.bus_write(LOOP, 4, BRANCH_BACK << 16 | WFI)
        self.jump(LOOP)
        return self

    def jump(self, address: int) -> None:
        """Go on at an address, as a debugger makes a core do that may be asleep."""
        self.write(DHCSR, DBGKEY | C_DEBUGEN | C_HALT)
        self.machine.set_register(XPSR, XPSR_T)
        self.machine.set_register(PC, address)
        self.write(DHCSR, DBGKEY)

    def read(self, address: int, size: int = 4) -> int:
        value = self.machine.bus_read(address, size)
        assert value is not None, f"bus fault at {address:#x}"
        return value

    def write(self, address: int, value: int, size: int = 4) -> None:
        assert self.machine.bus_write(address, size, value), f"bus fault at {address:#x}"

    @property
    def cycles(self) -> int:
        return self.machine.counter(Counter.CYCLES)

    @property
    def clk_sys_hz(self) -> int:
        return self.machine.counter(Counter.CLK_SYS_HZ)

    @property
    def ns(self) -> int:
        return self.machine.counter(Counter.TIME_NS)

    @property
    def message(self) -> str:
        return self.machine.message()

    def run_to(self, cycle: int) -> Stop:
        """Asleep, to exactly this cycle."""
        stop = self.machine.run(cycle)
        assert stop != Stop.RAN or self.cycles == cycle
        return stop

    def run_for(self, cycles: int) -> Stop:
        return self.run_to(self.cycles + cycles)

    def wait(self, condition: Callable[[], int], most: int = 200_000) -> None:
        """Poll as start-up code does, every 10 cycles; a stop of the emulator ends it."""
        end = self.cycles + most
        while not condition() and not self.message:
            assert self.cycles < end, "never became true"
            self.run_for(10)

    def call(self, function: int, *arguments: int) -> int:
        """Call a function in the ROM and come back to the sleeping loop; its r0."""
        self.sleep_in_sram()
        for register, argument in enumerate(arguments):
            self.machine.set_register(register, argument & 0xFFFFFFFF)
        self.machine.set_register(SP, SRAM + 0x40000)
        self.machine.set_register(LR, LOOP | 1)
        self.jump(function & ~1)
        self.machine.run(self.cycles + 1)
        return self.machine.register(R0)

    def rom(self, code: str) -> int:
        """Address of a ROM function, through the ROM's own look-up."""
        table, lookup = self.read(0x14, 2), self.read(0x18, 2)
        return self.call(lookup, table, ord(code[0]) | ord(code[1]) << 8)

    def usb_events(self) -> UsbEvent:
        events, _ = self.machine.usb_events()
        return UsbEvent(events)


# ---- the steps of a start-up, in their order; each is what a program does with registers ----


def release_resets(chip: Chip) -> None:
    chip.write(RESETS + CLR, 0x1FFFFFF & ~(USB_BIT | PLL_SYS_BIT | PLL_USB_BIT))


def start_xosc(chip: Chip) -> None:
    chip.write(XOSC, 0xAA0)
    chip.write(XOSC_STARTUP, 47)
    chip.write(XOSC + SET, 0xFAB000)


def wait_xosc(chip: Chip) -> None:
    chip.wait(lambda: chip.read(XOSC_STATUS) >> 31)


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
    chip.write(PLL_SYS + PRIM, 0x62000)
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
    chip.write(TICK, 1 << 9 | 12)


def release_usb(chip: Chip) -> None:
    chip.write(RESETS + CLR, USB_BIT)


def connect_usb_phy(chip: Chip) -> None:
    chip.write(USB + 0x74, 9)


def force_vbus(chip: Chip) -> None:
    chip.write(USB + 0x78, 12)


def enable_usb(chip: Chip) -> None:
    chip.write(USB + 0x40, 1)
    chip.write(USB + 0x4C, 1 << 29)


def pull_up(chip: Chip) -> None:
    chip.write(USB + SET + 0x4C, 1 << 16)


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
    chip = Chip().sleep_in_sram()
    for step in steps:
        step(chip)
    return chip
