# SPDX-License-Identifier: Apache-2.0
"""RP2350: address map, unknown registers, blocks in reset, reset values, passwords and locks."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter
from tests.emulator.rp2350_chip import (
    ACCESSCTRL,
    ALL_RESETS,
    BOOTRAM,
    CLK_SYS,
    CLR,
    DPRAM,
    IO_BANK0,
    PADS_BANK0,
    PADS_BANK0_BIT,
    PADS_QSPI,
    PLL_SYS,
    POWMAN,
    RESET_DONE,
    RESETS,
    ROSC,
    SELECTED,
    SET,
    SIO,
    SRAM,
    SRAM_END,
    SYSINFO,
    TIMER0,
    USB,
    USB_MUXING,
    WATCHDOG,
    XIP_CTRL,
    XOR,
    Chip,
    release_resets,
    release_usb,
    started,
)

SCRATCH0, UART0 = WATCHDOG + 0x0C, 0x40070000
LOCK, CFGRESET, UART0_PERMISSION = ACCESSCTRL, ACCESSCTRL + 8, ACCESSCTRL + 0xA0
PASSWORD = 0xACCE0000
BOOTLOCK_STAT, BOOTLOCK0, BOOTLOCK7 = BOOTRAM + 0x808, BOOTRAM + 0x80C, BOOTRAM + 0x828
GPIO_OUT, GPIO_OE, GPIO_IN, GPIO_HI_IN, GPIO_HI_OUT = (
    SIO + offset for offset in (0x10, 0x30, 0x04, 0x08, 0x14)
)


@pytest.fixture
def chip() -> Chip:
    return started()


# ---- the map ----


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (WATCHDOG + 0x2C, "WATCHDOG+0x02c"),  # TICK on the RP2040
        (XIP_CTRL + 0x04, "XIP_CTRL+0x004"),  # FLUSH on the RP2040
        (SIO + 0x60, "SIO+0x060"),  # the divider of the RP2040
        (SYSINFO + 0x4000, "SYSINFO+0x000"),  # above the aliases
        (0x40130000, "OTP_DATA+0x000"),
        (0x40158000, "GLITCH_DETECTOR+0x000"),
        (0x50000000, "DMA+0x000"),
        (0xD0020000, "SIO_NONSEC+0x000"),
    ],
)
def test_a_register_nobody_modelled_stops_with_its_name(
    chip: Chip, address: int, name: str
) -> None:
    chip.read(address)
    assert chip.message.startswith(f"read of {address:#010x}: {name} is not modelled")


@pytest.mark.parametrize(
    "address", [0x40110000, 0x40128000, 0x40168000, 0x20082000, 0x60000000, 0x50800000]
)
def test_nothing_there_is_a_bus_fault(chip: Chip, address: int) -> None:
    assert chip.machine.bus_read(address, 4) is None
    assert not chip.machine.bus_write(address, 4, 0)
    assert chip.message == ""


def test_520_kb_of_sram(chip: Chip) -> None:
    for address in (SRAM, SRAM + 0x42000, SRAM_END - 4):
        chip.write(address, address ^ 0xFFFFFFFF)
    for address in (SRAM, SRAM + 0x42000, SRAM_END - 4):
        assert chip.read(address) == address ^ 0xFFFFFFFF


def test_aliases_and_narrow_accesses(chip: Chip) -> None:
    chip.write(SCRATCH0, 0x0F0F0F0F)
    chip.write(SCRATCH0 + SET, 0x000000F0)
    chip.write(SCRATCH0 + CLR, 0x0000000F)
    assert chip.read(SCRATCH0) == 0x0F0F0FF0
    chip.write(SCRATCH0 + XOR, 0xFFFFFFFF)
    assert chip.read(SCRATCH0) == 0xF0F0F00F
    chip.write(SCRATCH0, 0x5A, size=1)
    assert chip.read(SCRATCH0) == 0x5A5A5A5A


def test_reset_values(chip: Chip) -> None:
    release_resets(chip)
    assert chip.read(SYSINFO) == 0x20004927  # CHIP_ID
    assert chip.read(SYSINFO + 8) == 2  # ASIC
    assert chip.read(IO_BANK0 + 8 * 47 + 4) == 0x1F  # GPIO47_CTRL
    assert chip.read(PADS_BANK0 + 4) == 0x116  # isolated, pulled down
    assert chip.read(PADS_QSPI + 0x14) == 0x15A  # SD3
    assert chip.read(PLL_SYS + 4) == 0x2D
    assert chip.read(ROSC) == 0xAA0
    assert chip.read(CLK_SYS + 4) == 0x10000
    assert chip.read(CLK_SYS + SELECTED) == 1
    assert chip.read(WATCHDOG) == 0x07000000
    assert chip.read(XIP_CTRL) == 0x83
    assert chip.read(XIP_CTRL + 8) == 2
    assert chip.read(TIMER0 + 0x2C) == 7
    assert chip.read(SIO + 0x50) == 2
    assert chip.clk_sys_hz == 11_000_000
    assert chip.message == ""


# ---- RESETS ----


def test_a_write_to_a_block_in_reset_is_lost_and_counted(chip: Chip) -> None:
    chip.write(USB_MUXING, 9)
    chip.write(DPRAM + 0x100, 0x55)
    assert chip.machine.counter(Counter.DROPPED_WRITES) == 2
    release_usb(chip)
    assert chip.read(USB_MUXING) == 1
    assert chip.read(DPRAM + 0x100) == 0
    assert chip.message == ""


def test_29_bits_and_reset_done(chip: Chip) -> None:
    assert chip.read(RESETS) == ALL_RESETS
    assert chip.read(RESET_DONE) == 0
    chip.write(RESETS, 0xE0000000)
    assert chip.read(RESETS) == 0
    on_peripheral_clocks = 1 << 0 | 1 << 3 | 3 << 18 | 3 << 26 | 1 << 28
    assert chip.read(RESET_DONE) == ALL_RESETS & ~on_peripheral_clocks
    chip.write(CLK_SYS + 12, 1 << 11)  # clk_peri
    assert chip.read(RESET_DONE) == ALL_RESETS & ~(1 << 0 | 1 << 3 | 1 << 28)


def test_putting_a_block_into_reset_restores_its_registers(chip: Chip) -> None:
    release_resets(chip)
    chip.write(PADS_BANK0 + 4, 0x21)
    chip.write(RESETS + SET, PADS_BANK0_BIT)
    assert chip.read(PADS_BANK0 + 4) == 0x116


# ---- BOOTRAM ----


def test_bootram_takes_bytes_and_outlives_a_reset(chip: Chip) -> None:
    chip.write(BOOTRAM + 0x3FC, 0x44332211)
    chip.write(BOOTRAM + 0x3FE, 0xAA, size=1)
    assert chip.read(BOOTRAM + 0x3FC) == 0x44AA2211
    chip.machine.reset()
    assert chip.read(BOOTRAM + 0x3FC) == 0x44AA2211
    chip.machine.power_on()
    assert chip.read(BOOTRAM + 0x3FC) == 0


def test_boot_locks(chip: Chip) -> None:
    assert chip.read(BOOTLOCK_STAT) == 0xFF
    assert chip.read(BOOTLOCK7) == 0x80
    assert chip.read(BOOTLOCK7) == 0
    assert chip.read(BOOTLOCK_STAT) == 0x7F
    chip.write(BOOTLOCK7, 0)
    assert chip.read(BOOTLOCK7) == 0x80
    assert chip.read(BOOTLOCK0) == 1
    chip.machine.reset()
    assert chip.read(BOOTLOCK_STAT) == 0xFF


def test_write_once_words_only_gain_bits(chip: Chip) -> None:
    chip.write(BOOTRAM + 0x800, 0x0F)
    chip.write(BOOTRAM + 0x800, 0xF0)
    assert chip.read(BOOTRAM + 0x800) == 0xFF


# ---- ACCESSCTRL ----


def test_permissions_want_the_password(chip: Chip) -> None:
    assert chip.read(UART0_PERMISSION) == 0xFC
    assert not chip.machine.bus_write(UART0_PERMISSION, 4, 0xFF)
    assert not chip.machine.bus_write(UART0_PERMISSION, 1, 0xFF)
    assert chip.read(UART0_PERMISSION) == 0xFC
    chip.write(UART0_PERMISSION, PASSWORD | 0xFF)
    assert chip.read(UART0_PERMISSION) == 0xFF
    chip.write(UART0_PERMISSION + CLR, PASSWORD | 0x0F)
    assert chip.read(UART0_PERMISSION) == 0xF0
    assert chip.message == ""


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        *((0x00, 4), (0x14, 0xFF), (0x40, 0xFF), (0x48, 0xFC), (0x58, 0xB8), (0x60, 0xFF)),
        *((0x64, 0xFC), (0xB0, 0xB8), (0xB8, 0xF8), (0xD4, 0xB8), (0xE8, 0xF8), (0x0C, 0)),
    ],
)
def test_who_may_access_what_after_reset(chip: Chip, offset: int, value: int) -> None:
    assert chip.read(ACCESSCTRL + offset) == value


def test_configuration_reset(chip: Chip) -> None:
    chip.write(UART0_PERMISSION, PASSWORD | 0xFF)
    assert not chip.machine.bus_write(CFGRESET, 4, 1)
    assert chip.read(UART0_PERMISSION) == 0xFF
    chip.write(CFGRESET, PASSWORD | 1)
    assert chip.read(UART0_PERMISSION) == 0xFC
    assert chip.read(CFGRESET) == 0


def test_a_lock_keeps_its_master_out_until_a_reset(chip: Chip) -> None:
    chip.write(LOCK, PASSWORD | 1)
    assert chip.read(LOCK) == 5
    chip.write(UART0_PERMISSION, PASSWORD | 0xFF)
    chip.write(LOCK, PASSWORD | 0)
    chip.write(CFGRESET, PASSWORD | 1)
    assert chip.read(LOCK) == 5
    assert chip.read(UART0_PERMISSION) == 0xFC
    chip.machine.reset()
    assert chip.read(LOCK) == 4


def test_gpio_masks_take_no_password(chip: Chip) -> None:
    chip.write(ACCESSCTRL + 0x0C, 0xFFFFFFFF)
    assert chip.read(ACCESSCTRL + 0x0C) == 0xFFFFFFFF


def test_accessctrl_beyond_its_end_is_not_modelled(chip: Chip) -> None:
    chip.read(ACCESSCTRL + 0xEC)
    assert chip.message.startswith("read of 0x400600ec: ACCESSCTRL+0x0ec is not modelled")


# ---- POWMAN ----


def test_core_voltage_wants_the_password(chip: Chip) -> None:
    chip.write(POWMAN + 0x0C, 0xC0)
    assert chip.read(POWMAN + 0x0C) == 0xB0
    assert chip.read(POWMAN) == 1
    chip.write(POWMAN, 1)
    assert chip.read(POWMAN) == 0
    chip.write(POWMAN + 0x0C, 0x5AFE0000 | 0xC0)
    assert chip.read(POWMAN + 0x0C) == 0xC0
    chip.write(POWMAN + 0xB0, 0x12345678)
    assert chip.read(POWMAN + 0xB0) == 0x12345678
    assert chip.read(POWMAN) == 0
    chip.read(POWMAN + 0x88)
    assert "POWMAN+0x088 is not modelled" in chip.message


# ---- SIO ----


def test_processor_id_and_spin_locks(chip: Chip) -> None:
    assert chip.read(SIO) == 0
    assert chip.read(SIO + 0x100 + 4 * 31) == 1 << 31
    assert chip.read(SIO + 0x100 + 4 * 31) == 0
    assert chip.read(SIO + 0x5C) == 1 << 31
    chip.write(SIO + 0x100 + 4 * 31, 0)
    assert chip.read(SIO + 0x5C) == 0


def test_a_store_above_the_spin_locks_names_the_erratum(chip: Chip) -> None:
    chip.write(SIO + 0x184, 1)
    assert chip.message.startswith(
        "write to SIO+0x184, which is not modelled; silicon would also release SPINLOCK1 "
        "(RP2350-E2)"
    )


def test_gpio_outputs_and_isolated_pads(chip: Chip) -> None:
    release_resets(chip)
    chip.write(GPIO_OUT, 0b0110)
    chip.write(GPIO_OUT + 8, 0b1000)  # set
    chip.write(GPIO_OUT + 16, 0b0010)  # clear
    chip.write(GPIO_OUT + 24, 0b0001)  # xor
    assert chip.read(GPIO_OUT) == 0b1101
    chip.write(GPIO_OE, 0b1111)
    assert chip.read(GPIO_OE) == 0b1111
    assert chip.read(GPIO_IN) == 0  # ISO is 1 after reset
    chip.write(PADS_BANK0 + CLR + 4 + 4 * 3, 1 << 8)
    assert chip.read(GPIO_IN) == 0b1000
    chip.write(GPIO_HI_OUT, 0xFFFFFFFF)
    assert chip.read(GPIO_HI_OUT) == 0xFF00FFFF
    assert chip.read(GPIO_HI_IN) == 0xFC000000  # the QSPI lines are high
    assert chip.message == ""


# What a pico-sdk 2.2.0 program with USB stdio touches between the reset vector and its first echo:
# block, and the offsets in it.
SDK_REGISTERS: dict[int, tuple[int, ...]] = {
    0x40010000: (
        *(0x30, 0x34, 0x38, 0x3C, 0x40, 0x44, 0x48, 0x4C, 0x54, 0x58, 0x60, 0x64, 0x6C, 0x70),
        0x84,
    ),  # CLOCKS
    RESETS: (0x00, 0x08),
    0x40048000: (0x00, 0x04, 0x0C),  # XOSC
    0x40050000: (0x00, 0x04, 0x08, 0x0C),  # PLL_SYS
    0x40058000: (0x00, 0x04, 0x08, 0x0C),  # PLL_USB
    0x40108000: tuple(12 * n + field for n in range(6) for field in (0, 4)),  # TICKS
    0x400E0000: (0, *range(0x80C, 0x82C, 4)),  # BOOTRAM
    0x400B0000: (0x1C, 0x20, 0x24, 0x28, 0x3C, 0x40),  # TIMER0
    USB: (0x00, 0x40, 0x48, 0x4C, 0x50, 0x58, 0x74, 0x78, 0x90, 0x98),
    0xD0000000: (0x00, *range(0x100, 0x180, 4)),  # SIO
}


@pytest.mark.parametrize("block", SDK_REGISTERS)
def test_every_register_of_a_pico_sdk_start_up_answers(chip: Chip, block: int) -> None:
    chip.write(RESETS, 0)
    for offset in SDK_REGISTERS[block]:
        chip.read(block + offset)
        assert chip.message == "", f"{block + offset:#x}"
