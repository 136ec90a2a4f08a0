# SPDX-License-Identifier: Apache-2.0
"""Address map, unknown registers, blocks in reset, atomic aliases, narrow accesses."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter
from tests.emulator.rp2040_chip import (
    CLR,
    DPRAM,
    IO_QSPI,
    PLL_SYS,
    RESET_DONE,
    RESETS,
    SET,
    SIO,
    SSI,
    TIMER,
    USB,
    WATCHDOG,
    XOR,
    Chip,
    release_resets,
    release_usb,
    started,
)

SCRATCH0 = WATCHDOG + 0x0C
PADS_BANK0, UART0, DMA = 0x4001C000, 0x40034000, 0x50000000


@pytest.fixture
def chip() -> Chip:
    return started()


def test_a_register_nobody_modelled_stops_with_its_name(chip: Chip) -> None:
    chip.read(WATCHDOG + 0x30)
    assert chip.message.startswith("read of 0x40058030: WATCHDOG+0x030 is not modelled")
    assert "pc 0x20030000" in chip.message


def test_a_write_to_a_block_nobody_modelled_stops(chip: Chip) -> None:
    chip.write(RESETS + CLR, 1 << 22)
    chip.write(UART0, 1)
    assert chip.message.startswith("write to 0x40034000: UART0+0x000 is not modelled")


@pytest.mark.parametrize("address", [0x40068000, 0x40070000, 0x20042000, 0x60000000, 0x19000000])
def test_nothing_there_is_a_bus_fault(chip: Chip, address: int) -> None:
    assert chip.machine.bus_read(address, 4) is None
    assert not chip.machine.bus_write(address, 4, 0)
    assert chip.message == ""


def test_aliases_set_clear_and_xor(chip: Chip) -> None:
    chip.write(SCRATCH0, 0x0F0F0F0F)
    chip.write(SCRATCH0 + SET, 0x000000F0)
    assert chip.read(SCRATCH0) == 0x0F0F0FFF
    chip.write(SCRATCH0 + CLR, 0x0000000F)
    assert chip.read(SCRATCH0) == 0x0F0F0FF0
    chip.write(SCRATCH0 + XOR, 0xFFFFFFFF)
    assert chip.read(SCRATCH0) == 0xF0F0F00F
    assert chip.read(SCRATCH0 + CLR) == 0xF0F0F00F


def test_narrow_writes_are_replicated_and_narrow_reads_are_lanes(chip: Chip) -> None:
    chip.write(SCRATCH0, 0x5A, size=1)
    assert chip.read(SCRATCH0) == 0x5A5A5A5A
    chip.write(SCRATCH0 + 2, 0xBEEF, size=2)
    assert chip.read(SCRATCH0) == 0xBEEFBEEF
    chip.write(SCRATCH0, 0x44332211)
    assert [chip.read(SCRATCH0 + lane, 1) for lane in range(4)] == [0x11, 0x22, 0x33, 0x44]
    assert chip.read(SCRATCH0 + 2, 2) == 0x4433


def test_dpram_takes_bytes_as_they_are() -> None:
    chip = started(release_usb)
    chip.write(DPRAM + 0x180, 0x04030201)
    chip.write(DPRAM + 0x182, 0xFF, size=1)
    assert chip.read(DPRAM + 0x180) == 0x04FF0201


def test_bits_that_are_not_there_stay_zero(chip: Chip) -> None:
    chip.write(RESETS + CLR, 1 << 12)
    chip.write(PLL_SYS + 4, 0xFFFFFFFF)
    assert chip.read(PLL_SYS + 4) == 0x2D


def test_a_write_to_a_block_in_reset_is_lost_and_counted(chip: Chip) -> None:
    chip.write(USB + 0x74, 9)
    chip.write(DPRAM + 0x100, 0x55)
    chip.write(TIMER + 0x38, 1)
    assert chip.machine.counter(Counter.DROPPED_WRITES) == 3
    release_resets(chip)
    release_usb(chip)
    assert chip.read(USB + 0x74) == 0
    assert chip.read(DPRAM + 0x100) == 0
    assert chip.read(TIMER + 0x38) == 0
    chip.write(USB + 0x74, 9)
    assert chip.read(USB + 0x74) == 9
    assert chip.machine.counter(Counter.DROPPED_WRITES) == 3
    assert chip.message == ""


def test_putting_a_block_into_reset_restores_its_registers(chip: Chip) -> None:
    release_resets(chip)
    chip.write(PADS_BANK0 + 4, 0x21)
    chip.write(RESETS + SET, 1 << 8)
    assert chip.read(PADS_BANK0 + 4) == 0x56


def test_reset_done_follows_reset_but_not_without_the_blocks_clock(chip: Chip) -> None:
    assert chip.read(RESET_DONE) == 0
    chip.write(RESETS, 0)
    on_peripheral_clocks = 1 << 0 | 1 << 15 | 3 << 16 | 3 << 22 | 1 << 24
    assert chip.read(RESET_DONE) == 0x1FFFFFF & ~on_peripheral_clocks


def test_reset_values(chip: Chip) -> None:
    release_resets(chip)
    assert chip.read(0x40000000) == 0x20002927  # CHIP_ID
    assert chip.read(0x40014004) == 0x1F  # GPIO0_CTRL
    assert chip.read(PADS_BANK0 + 0x7C) == 0xDA  # SWCLK
    assert chip.read(0x40020004) == 0x56  # GPIO_QSPI_SCLK pad
    assert chip.read(0x40064000) == 0x10B1  # VREG with ROK
    assert chip.read(WATCHDOG) == 0x07000000
    assert chip.read(SSI + 0xF4) == 0x03000000
    assert chip.read(SIO + 0x50) == 2
    assert chip.read(0x14000000) == 3
    assert chip.message == ""


# What a pico-sdk 2.2.0 program with USB stdio touches between the reset vector and its first echo:
# block, and the offsets in it.
SDK_REGISTERS: dict[int, tuple[int, ...]] = {
    0x40000000: (0x00,),  # SYSINFO
    0x40008000: (
        *(0x30, 0x34, 0x38, 0x3C, 0x40, 0x44, 0x48, 0x4C, 0x54, 0x58, 0x60, 0x64, 0x6C, 0x70),
        0x78,
    ),  # CLOCKS
    0x4000C000: (0x00, 0x08),  # RESETS
    0x40018000: (0x0C,),  # IO_QSPI
    0x4001C000: (0x6C, 0x70, 0x74, 0x78),  # PADS_BANK0
    0x40020000: (0x04, 0x08, 0x0C, 0x10, 0x14, 0x18),  # PADS_QSPI
    0x40024000: (0x00, 0x04, 0x0C),  # XOSC
    0x40028000: (0x00, 0x04, 0x08, 0x0C),  # PLL_SYS
    0x4002C000: (0x00, 0x04, 0x08, 0x0C),  # PLL_USB
    0x40054000: (0x1C, 0x20, 0x24, 0x28, 0x34, 0x38),  # TIMER
    0x40058000: (0x2C,),  # WATCHDOG
    0x40064000: (0x00,),  # VREG_AND_CHIP_RESET, in the 200 MHz build
    0x18000000: (0x00, 0x04, 0x08, 0x14, 0x28, 0x60, 0xF0, 0xF4),  # SSI
    0x50110000: (0x00, 0x40, 0x48, 0x4C, 0x50, 0x58, 0x74, 0x78, 0x90, 0x98),  # USB
    0xD0000000: (0x00, 0x60, 0x64, 0x70, 0x74, 0x78, *range(0x100, 0x180, 4)),  # SIO
}


@pytest.mark.parametrize("block", SDK_REGISTERS)
def test_every_register_of_a_pico_sdk_start_up_answers(chip: Chip, block: int) -> None:
    chip.write(RESETS, 0)
    for offset in SDK_REGISTERS[block]:
        chip.read(block + offset)
        assert chip.message == "", f"{block + offset:#x}"


def test_the_ssi_has_no_aliases(chip: Chip) -> None:
    chip.write(SSI + SET + 0x14, 2)
    assert "XIP_SSI+0x014 is not modelled" in chip.message


def test_system_reset_restores_registers_and_keeps_sram_and_scratch(chip: Chip) -> None:
    chip.write(SCRATCH0, 0x12345678)
    chip.write(0x20000000, 0xCAFEF00D)
    chip.write(RESETS + CLR, 1 << 6)
    chip.write(IO_QSPI + 0x0C, 0x200)
    chip.machine.reset()
    assert chip.read(SCRATCH0) == 0x12345678
    assert chip.read(0x20000000) == 0xCAFEF00D
    assert chip.read(IO_QSPI + 0x0C) == 0x1F
    assert chip.read(RESETS) == 0x1FFFFFF
    chip.machine.power_on()
    assert chip.read(SCRATCH0) == 0
    assert chip.read(0x20000000) == 0
