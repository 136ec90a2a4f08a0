# SPDX-License-Identifier: Apache-2.0
"""The boot ROM: what it accepts as a second stage, how it enters it, what its functions do."""

from __future__ import annotations

import struct

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.rp2040_chip import (
    CLOCK_STEPS,
    CLR,
    FLASH_BYTES,
    IO_QSPI,
    LOOP,
    LR,
    PC,
    RESETS,
    SET,
    SP,
    SRAM,
    SSI,
    USB_STEPS,
    WATCHDOG,
    XIP,
    Chip,
    started,
)

BOOT2 = 0x20041F00
# movs r0, #4; lsls r0, #27 (0x20000000); mov r1, sp; mov r2, lr; adr r3, .; stmia r0!, {r1-r3}; b .
BOOT2_CODE = bytes.fromhex("0420 c006 6946 7246 00a3 0ec0 fee7")


def crc32_mpeg2(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc >> 31 else crc << 1) & 0xFFFFFFFF
    return crc


def boot2_image(code: bytes = BOOT2_CODE) -> bytes:
    body = code.ljust(252, b"\0")
    return body + struct.pack("<I", crc32_mpeg2(body))


def booted(image: bytes) -> Chip:
    chip = Chip()
    chip.machine.load_flash(0, image)
    chip.machine.run(chip.cycles + 100_000)
    return chip


def test_the_crc_of_the_test_itself() -> None:
    assert crc32_mpeg2(b"123456789") == 0x0376E6E7  # CRC-32/MPEG-2 of the usual check string


def test_a_good_second_stage_is_entered_in_sram() -> None:
    chip = booted(boot2_image())
    assert chip.machine.boot_state() == "boot2 entered"
    stack, link, here = (chip.read(SRAM + 4 * n) for n in range(3))
    assert (stack, link, here) == (BOOT2, 0, BOOT2 + 12)
    assert chip.machine.bus_read_block(BOOT2, 256) == boot2_image()
    assert chip.clk_sys_hz == 6_500_000
    assert chip.message == ""


def test_what_the_boot_rom_leaves_behind() -> None:
    chip = booted(boot2_image())
    assert chip.read(RESETS) == 0x1FFFFFF & ~(1 << 6 | 1 << 8 | 1 << 9 | 1 << 21)
    assert chip.read(SSI) == 0x00070000
    assert (chip.read(SSI + 0x14), chip.read(SSI + 8)) == (6, 1)
    assert chip.read(IO_QSPI + 0x0C) == 0
    assert chip.read(0x4001C06C) == 0x16  # GPIO26: input enable off


@pytest.mark.parametrize("at", [0, 100, 251])
def test_one_flipped_bit_and_it_falls_into_bootsel(at: int) -> None:
    image = bytearray(boot2_image())
    image[at] ^= 0x10
    chip = booted(bytes(image))
    expected = (
        f"boot2 CRC is {crc32_mpeg2(bytes(image[:252])):08x}, word 63 says "
        f"{crc32_mpeg2(boot2_image()[:252]):08x}: a real RP2040 falls into BOOTSEL"
    )
    assert chip.machine.boot_state() == expected
    assert chip.machine.usb_why_not() == expected
    assert not chip.machine.usb_attached()
    assert chip.message == ""
    assert chip.machine.run(chip.cycles + 100_000) == Stop.RAN
    assert chip.machine.register(PC) < 0x4000


def test_a_wrong_crc_word() -> None:
    chip = booted(boot2_image()[:252] + b"\0\0\0\0")
    assert "word 63 says 00000000" in chip.machine.boot_state()


def test_blank_flash() -> None:
    chip = booted(b"")
    assert chip.machine.boot_state() == (
        "boot2 CRC is 7a6b6bfe, word 63 says ffffffff: a real RP2040 falls into BOOTSEL"
    ).replace("7a6b6bfe", f"{crc32_mpeg2(bytes([0xFF]) * 252):08x}")


def test_a_new_second_stage_after_reset_is_the_one_that_runs() -> None:
    chip = booted(boot2_image())
    chip.machine.load_flash(0, boot2_image(bytes.fromhex("0420 c006 ff21 0160 fee7")))
    chip.machine.reset()
    chip.machine.run(chip.cycles + 100_000)
    assert chip.read(SRAM) == 0xFF


def test_entry_through_the_watchdog_scratch_registers() -> None:
    chip = Chip()
    chip.machine.load_flash(0, boot2_image())
    # mov r0, sp; movs r1, #4; lsls r1, #27; str r0, [r1, #16]; bx lr
    chip.machine.bus_write_block(SRAM + 0x100, bytes.fromhex("6846 0421 c906 0861 7047"))
    magic, pc = 0xB007C0D3, SRAM + 0x101
    for word, value in enumerate((magic, pc ^ (-magic & 0xFFFFFFFF), SRAM + 0x8000, pc)):
        chip.write(WATCHDOG + 0x1C + 4 * word, value)
    chip.machine.run(100)
    chip.machine.run(chip.cycles + 100_000)
    assert chip.read(SRAM + 16) == SRAM + 0x8000
    assert chip.read(WATCHDOG + 0x1C) == 0
    assert chip.machine.boot_state() == "boot2 entered"  # it came back, so flash it is


def test_reset_usb_boot_detaches() -> None:
    chip = started(*CLOCK_STEPS, *USB_STEPS)
    assert chip.machine.usb_attached()
    chip.call(chip.rom("UB"), 0, 0)
    assert chip.machine.usb_why_not() == (
        "the program called reset_usb_boot: a real RP2040 falls into BOOTSEL"
    )
    assert chip.machine.run(chip.cycles + 1000) == Stop.RAN
    assert chip.machine.register(PC) < 0x4000


# ---- ROM functions ----


@pytest.fixture
def chip() -> Chip:
    return started()


def test_the_header() -> None:
    chip = Chip()
    assert chip.machine.bus_read_block(0x10, 4) == b"Mu\x01\x03"
    assert chip.read(0) == BOOT2
    assert chip.read(4) & 1


def test_an_unknown_function_stops(chip: Chip) -> None:
    chip.rom("XX")
    assert chip.message.startswith("boot ROM lookup of 'XX': no such function in this ROM")


def test_data_tables_have_32_float_functions_each(chip: Chip) -> None:
    table, lookup = chip.read(0x16, 2), chip.read(0x18, 2)
    for code in ("SF", "SD"):
        functions = chip.call(lookup, table, ord(code[0]) | ord(code[1]) << 8)
        assert chip.read(functions - 2, 1) == 32
        assert all(chip.read(functions + 4 * n) & 1 for n in range(32))
    assert chip.message == ""


@pytest.mark.parametrize(
    ("code", "argument", "result"),
    [
        ("P3", 0xF0F0F0F1, 17),
        ("R3", 0x80000001, 0x80000001),
        ("R3", 0x00000006, 0x60000000),
        ("L3", 1, 31),
        ("L3", 0, 32),
        ("T3", 0x100, 8),
        ("T3", 0, 32),
    ],
)
def test_bit_functions(chip: Chip, code: str, argument: int, result: int) -> None:
    assert chip.call(chip.rom(code), argument) == result


@pytest.mark.parametrize("code", ["MS", "S4"])
def test_memset(chip: Chip, code: str) -> None:
    assert chip.call(chip.rom(code), SRAM + 0x100, 0x1A5, 12) == SRAM + 0x100
    assert chip.machine.bus_read_block(SRAM + 0xFC, 20) == bytes(4) + b"\xa5" * 12 + bytes(4)


@pytest.mark.parametrize(("code", "shift"), [("MC", 0), ("MC", 1), ("C4", 0)])
def test_memcpy(chip: Chip, code: str, shift: int) -> None:
    data = bytes(range(1, 40))
    chip.machine.bus_write_block(SRAM + 0x200 + shift, data)
    before = chip.cycles
    assert chip.call(chip.rom(code), SRAM + 0x100, SRAM + 0x200 + shift, 39) == SRAM + 0x100
    assert chip.machine.bus_read_block(SRAM + 0x100, 40) == data + b"\0"
    assert chip.cycles > before


def connect(chip: Chip) -> None:
    chip.call(chip.rom("IF"))
    chip.call(chip.rom("EX"))


def test_erase_and_program(chip: Chip) -> None:
    chip.machine.load_flash(0, bytes(range(256)) * 64)
    connect(chip)
    chip.call(chip.rom("RE"), 4096, 8192, 65536, 0xD8)
    flash = chip.machine.bus_read_block(XIP, 16384)
    assert flash == bytes(range(256)) * 16 + b"\xff" * 8192 + bytes(range(256)) * 16
    chip.machine.bus_write_block(SRAM, b"\x0f" * 256 + b"\xf3" * 256)
    chip.call(chip.rom("RP"), 4096, SRAM, 512)
    chip.call(chip.rom("RP"), 4096 + 256, SRAM, 256)
    assert chip.machine.bus_read_block(XIP + 4096, 769) == b"\x0f" * 256 + b"\x03" * 256 + (
        b"\xff" * 257
    )
    assert chip.message == ""


def test_erase_and_program_take_the_times_of_the_part(chip: Chip) -> None:
    connect(chip)
    erase, program = chip.rom("RE"), chip.rom("RP")
    before = chip.ns
    chip.call(erase, 0, 4096, 65536, 0xD8)
    assert 45_000_000 <= chip.ns - before < 45_100_000
    before = chip.ns
    chip.call(erase, 65536 - 4096, 65536 + 4096, 65536, 0xD8)
    assert 195_000_000 <= chip.ns - before < 195_100_000
    before = chip.ns
    chip.call(program, 0, SRAM, 512)
    assert 800_000 <= chip.ns - before < 900_000


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("RE", (100, 4096, 65536, 0xD8)),
        ("RE", (0, 100, 65536, 0xD8)),
        ("RE", (FLASH_BYTES, 4096, 65536, 0xD8)),
        ("RE", (FLASH_BYTES - 4096, 8192, 65536, 0xD8)),
        ("RP", (0, SRAM, 255)),
        ("RP", (1, SRAM, 256)),
        ("RP", (FLASH_BYTES, SRAM, 256)),
    ],
)
def test_ranges_are_checked(chip: Chip, code: str, arguments: tuple[int, ...]) -> None:
    connect(chip)
    chip.call(chip.rom(code), *arguments)
    assert "not whole units of" in chip.message
    assert "within the flash of 2097152" in chip.message


def test_erase_without_leaving_xip_first(chip: Chip) -> None:
    chip.call(chip.rom("RE"), 0, 4096, 65536, 0xD8)
    assert chip.message.startswith(
        "flash_range_erase without connect_internal_flash and flash_exit_xip before it"
    )


def test_flush_and_enter_command_xip(chip: Chip) -> None:
    connect(chip)
    chip.write(IO_QSPI + 0x0C, 2 << 8)
    chip.call(chip.rom("FC"))
    assert chip.read(IO_QSPI + 0x0C) == 0
    chip.call(chip.rom("CX"))
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 96 * 6
    assert chip.message == ""


def test_command_xip_of_the_rom_is_not_measured_against_boards_yaml(chip: Chip) -> None:
    chip.machine.set_switch("xip_miss_cycles", 56)
    connect(chip)
    chip.call(chip.rom("FC"))
    chip.call(chip.rom("CX"))
    assert chip.message == ""


def test_calls_take_time_and_come_back(chip: Chip) -> None:
    before = chip.cycles
    connect(chip)
    assert chip.cycles - before > 13_000
    assert chip.machine.register(PC) - LOOP in (0, 2)
    assert chip.machine.register(LR) == LOOP | 1
    assert chip.machine.register(SP) == SRAM + 0x40000


def test_a_new_program_in_flash_is_the_one_that_executes(chip: Chip) -> None:
    def program(value: int) -> None:  # movs r0, #value; bx lr
        code = bytes([value]) + bytes.fromhex("20 7047")
        chip.machine.bus_write_block(SRAM, code.ljust(256, b"\xff"))
        chip.call(chip.rom("RP"), 0x1000, SRAM, 256)

    def run() -> int:
        chip.call(chip.rom("CX"))
        result = chip.call(XIP + 0x1001)
        connect(chip)
        return result

    connect(chip)
    program(0x33)
    assert run() == 0x33
    program(0x11)  # over it: bits can be cleared without an erase
    assert run() == 0x11
    chip.call(chip.rom("RE"), 0x1000, 4096, 65536, 0xD8)
    program(0x22)
    assert run() == 0x22


def test_qspi_pins_reset_by_a_program_need_connecting(chip: Chip) -> None:
    connect(chip)
    chip.call(chip.rom("CX"))
    chip.write(RESETS + SET, 1 << 6)
    chip.write(RESETS + CLR, 1 << 6)
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 0
    chip.call(chip.rom("IF"))
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 96 * 6
