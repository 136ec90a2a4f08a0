# SPDX-License-Identifier: Apache-2.0
"""RP2350's boot ROM: which images it enters, how, and what its functions do."""

from __future__ import annotations

import struct

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.rp2040_chip import PC
from tests.emulator.rp2350_chip import (
    BOOTRAM,
    CLOCK_STEPS,
    FLASH_BYTES,
    IMAGE_DEF,
    IMAGE_DEF_AT,
    IO_QSPI,
    M0_RFMT,
    M0_TIMING,
    PADS_QSPI,
    RESETS,
    SRAM,
    SRAM_END,
    USB_STEPS,
    WATCHDOG,
    XIP,
    Chip,
    booted,
    image,
    started,
)

VTOR, MSP_REGISTER = 0xE000ED08, 17
START, TYPE, LAST, LINK, END = IMAGE_DEF
LAST_OF = {n: n << 8 | 0xFF for n in range(1, 8)}
ITEM_VERSION = (0x00000248, 0x00010000)
# ldr r1, [pc, #8]; mov r0, sp; str r0, [r1]; mov r0, lr; str r0, [r1, #4]; b .; nop; word
CODE = bytes.fromhex("0249 6846 0860 7046 4860 fee7") + struct.pack("<I", SRAM + 0x400)


def entered(chip: Chip) -> bool:
    return chip.machine.boot_state() == "image entered at 0x10000201"


def test_a_good_image_is_entered() -> None:
    chip = booted(image(CODE))
    assert entered(chip)
    assert chip.read(SRAM + 0x400) == SRAM + 0x40000
    assert chip.read(SRAM + 0x404) & 1
    assert chip.read(SRAM + 0x404) < 0x8000  # back in the ROM, where it would sleep
    assert chip.read(VTOR) == XIP
    assert chip.clk_sys_hz == 11_000_000
    assert chip.message == ""


def test_what_the_boot_rom_leaves_behind() -> None:
    chip = booted(image())
    assert chip.read(RESETS) == 0x1FFFFFFF & ~(1 << 7 | 1 << 10)
    assert chip.read(IO_QSPI + 0x1C) == 0
    assert chip.read(PADS_QSPI + 4) & 1 << 8 == 0
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 84
    assert chip.machine.register(MSP_REGISTER) == SRAM + 0x40000
    assert chip.message == ""


def test_the_mailbox_at_the_start_of_sram_is_left_alone() -> None:
    chip = Chip()
    chip.machine.load_flash(0, image())
    chip.machine.bus_write_block(SRAM, bytes(range(256)))
    chip.machine.reset()
    chip.machine.run(chip.cycles + 100_000)
    assert entered(chip)
    assert chip.machine.bus_read_block(SRAM, 256) == bytes(range(256))


# ---- image definitions ----


@pytest.mark.parametrize(
    ("at", "bit", "why"),
    [
        *((at, 5, "no block loop starts in the first 4 KB of flash") for at in (0, 1, 3)),
        (4, 0, "the block loop has no image definition"),  # another item than an image type
        (5, 1, "no block loop starts in the first 4 KB of flash"),  # an item of three words
        (6, 0, "the image definition is not of an executable image"),
        (7, 0, "the image definition is not for Arm"),
        (7, 5, "the image definition is not for the RP2350"),
        (7, 7, "the image definition says try before you buy, which only boots after an update"),
        (8, 2, "no block loop starts in the first 4 KB of flash"),  # not the last item
        (9, 1, "no block loop starts in the first 4 KB of flash"),  # of another length
        (12, 4, "a block of the block loop is not well formed"),  # a link to nowhere
        *((at, 3, "no block loop starts in the first 4 KB of flash") for at in (16, 18, 19)),
    ],
)
def test_one_flipped_bit_and_it_falls_into_bootsel(at: int, bit: int, why: str) -> None:
    flash = bytearray(image(CODE))
    flash[IMAGE_DEF_AT + at] ^= 1 << bit
    chip = booted(bytes(flash))
    expected = f"{why}: a real RP2350 falls into BOOTSEL"
    assert chip.machine.boot_state() == expected
    assert chip.machine.usb_why_not() == expected
    assert not chip.machine.usb_attached()
    assert chip.read(SRAM + 0x400) == 0
    assert chip.message == ""
    assert chip.machine.run(chip.cycles + 100_000) == Stop.RAN
    assert chip.machine.register(PC) < 0x8000


def test_blank_flash() -> None:
    assert booted(b"").machine.boot_state() == (
        "no block loop starts in the first 4 KB of flash: a real RP2350 falls into BOOTSEL"
    )


@pytest.mark.parametrize("flags", [0x1001, 0x1021])
def test_security_may_be_secure_or_not_said(flags: int) -> None:
    definition = (START, flags << 16 | 0x142, LAST, LINK, END)
    assert entered(booted(image(definition=definition)))


def test_a_non_secure_image() -> None:
    chip = booted(image(definition=(START, 0x1011 << 16 | 0x142, LAST, LINK, END)))
    assert chip.machine.boot_state().startswith("the image definition is of a Non-secure image")


@pytest.mark.parametrize(
    ("at", "boots"), [(8, True), (0xFEC, True), (0xFFC, True), (0x1000, False)]
)
def test_the_first_block_starts_in_the_first_4_kb(at: int, boots: bool) -> None:
    assert entered(booted(image(at=at) + b"\xff" * 64)) == boots


def test_a_block_that_only_looks_like_one_is_passed_over() -> None:
    flash = bytearray(image())
    struct.pack_into("<I", flash, 0x80, START)
    assert entered(booted(bytes(flash)))


def loop(*links: int) -> bytes:
    """The image definition at 0x110, then an empty block at 0x180, with these links."""
    flash = bytearray(image())
    struct.pack_into("<i", flash, IMAGE_DEF_AT + 12, links[0])
    struct.pack_into("<IIIiI", flash, 0x180, START, 0x000001FE, 0x000001FF, links[1], END)
    return bytes(flash)


def test_a_loop_of_two_blocks() -> None:
    assert entered(booted(loop(0x70, -0x70)))


@pytest.mark.parametrize(
    ("links", "why"),
    [
        ((0x70, 0), "the block loop does not come back to its first block"),
        ((0x70, -0x74), "the block loop does not come back to its first block"),
        ((0x74, -0x70), "a block of the block loop is not well formed"),
        ((0x70, 0x7FFFFFF0), "the block loop does not come back to its first block"),
        ((0x72, -0x70), "the block loop does not come back to its first block"),
    ],
)
def test_a_loop_that_is_none(links: tuple[int, int], why: str) -> None:
    assert booted(loop(*links)).machine.boot_state().startswith(why)


def test_items_say_otherwise_where_to_enter() -> None:
    definition = (START, TYPE, *ITEM_VERSION, 0x00000203, XIP + 0x80, LAST_OF[5], LINK, END)
    flash = bytearray(image(definition=definition))
    struct.pack_into("<II", flash, 0x80, SRAM + 0x1000, XIP + 0x221)
    flash[0x220:0x222] = bytes.fromhex("fee7")
    chip = booted(bytes(flash))
    assert chip.machine.boot_state() == "image entered at 0x10000221"
    assert chip.read(VTOR) == XIP + 0x80
    assert chip.machine.register(MSP_REGISTER) == SRAM + 0x1000


def test_an_entry_point_with_a_stack_and_its_limit() -> None:
    entry = (0x00000444, XIP + 0x221, SRAM + 0x2000, SRAM + 0x1000)
    flash = bytearray(image(definition=(START, TYPE, *entry, LAST_OF[5], LINK, END)))
    flash[0x220:0x228] = bytes.fromhex("eff30a80 fee7 00bf")  # mrs r0, msplim; b .
    chip = booted(bytes(flash))
    assert chip.machine.boot_state() == "image entered at 0x10000221"
    assert chip.machine.register(MSP_REGISTER) == SRAM + 0x2000
    assert chip.machine.register(0) == SRAM + 0x1000
    assert chip.read(VTOR) == XIP


@pytest.mark.parametrize("item", [(0x00000205, 0x1000), (0x00000247, 3), (0x0000024B, 0)])
def test_items_that_are_not_modelled_stop(item: tuple[int, int]) -> None:
    chip = booted(image(definition=(START, TYPE, *item, LAST_OF[3], LINK, END)))
    assert chip.message.startswith(
        f"the image definition has an item {item[0] & 0x7F:02X}h, which is not modelled"
    )


def test_a_new_image_after_reset_is_the_one_that_runs() -> None:
    chip = booted(image(CODE))
    chip.machine.load_flash(0, image(bytes.fromhex("4ff0ff30 0149 0860 fee7 00bf") + CODE[-4:]))
    chip.machine.reset()
    chip.machine.run(chip.cycles + 100_000)
    assert chip.read(SRAM + 0x400) == 0xFFFFFFFF


def test_entry_through_the_watchdog_scratch_registers() -> None:
    chip = Chip()
    chip.machine.load_flash(0, image())
    # mov r0, sp; movs r1, #4; lsls r1, #27; str r0, [r1, #16]; bx lr
    chip.machine.bus_write_block(SRAM + 0x100, bytes.fromhex("6846 0421 c906 0861 7047"))
    magic, pc = 0xB007C0D3, SRAM + 0x101
    for word, value in enumerate((magic, pc ^ (-magic & 0xFFFFFFFF), SRAM + 0x8000, pc)):
        chip.write(WATCHDOG + 0x1C + 4 * word, value)
    chip.machine.run(100)
    chip.machine.run(chip.cycles + 100_000)
    assert chip.read(SRAM + 16) == SRAM + 0x8000
    assert chip.read(WATCHDOG + 0x1C) == 0
    assert entered(chip)  # it came back, so flash it is


# ---- functions ----


@pytest.fixture
def chip() -> Chip:
    return started()


def test_the_header() -> None:
    chip = Chip()
    assert chip.machine.bus_read_block(0x10, 4) == b"Mu\x02\x02"
    assert chip.read(0) == SRAM_END
    assert chip.read(4) & 1
    assert len(chip.machine.rom()) == 32 * 1024


FUNCTIONS = (
    *("SR", "GS", "FO", "XM", "RB", "IF", "EX", "FC", "CX", "RE", "RP"),
    *("OA", "GP", "LP", "AB", "EB", "SS"),
)


def test_every_function_can_be_looked_up(chip: Chip) -> None:
    addresses = {chip.rom(code) for code in FUNCTIONS}
    assert len(addresses) == 17
    assert all(address & 1 and address < 0x8000 for address in addresses)
    assert chip.message == ""


@pytest.mark.parametrize(("code", "mask"), [("XX", 4), ("SR", 0x10), ("FD", 4), ("PT", 0x40)])
def test_an_unknown_function_stops(chip: Chip, code: str, mask: int) -> None:
    assert chip.rom(code, mask) == 0
    assert chip.message.startswith(f"boot ROM lookup of '{code}' with mask {mask:#x}")


@pytest.mark.parametrize("code", ["OA", "GP", "LP", "AB", "EB", "SS"])
def test_functions_that_are_not_modelled_stop_when_called(chip: Chip, code: str) -> None:
    chip.call(chip.rom(code))
    assert chip.message.startswith("this function of the boot ROM is not modelled")


def test_flash_devinfo_is_found_as_data() -> None:
    chip = booted(image())
    pointer = chip.rom("FD", 0x40)
    assert pointer < 0x8000
    assert chip.read(chip.read(pointer), 2) == 0x0C00  # CS0: 16 MB, CS1: none
    assert chip.message == ""


def test_state_reset(chip: Chip) -> None:
    assert chip.call(chip.rom("SR"), 4) == 0
    assert chip.call(chip.rom("SR"), 8) == 0xFFFFFFFB


def test_chip_info_is_the_unique_id(chip: Chip) -> None:
    assert chip.call(chip.rom("GS"), SRAM + 0x400, 9, 1) == 4
    words = [chip.read(SRAM + 0x400 + 4 * n) for n in range(4)]
    assert words == [1, 1, 0x83123456, 0xE6605838]
    chip.machine.set_unique_id(bytes(range(1, 9)))
    assert chip.call(chip.rom("GS"), SRAM + 0x400, 4, 1) == 4
    assert [chip.read(SRAM + 0x408 + 4 * n) for n in range(2)] == [0x05060708, 0x01020304]
    assert chip.call(chip.rom("GS"), SRAM + 0x400, 6, 5) == 5
    assert chip.call(chip.rom("GS"), SRAM + 0x400, 3, 1) == 0xFFFFFFF3  # buffer too small
    assert chip.message == ""
    chip.call(chip.rom("GS"), SRAM + 0x400, 9, 2)
    assert chip.message.startswith("boot ROM get_sys_info with flags 0x2 is not modelled")


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
    before = chip.ns
    chip.call(chip.rom("RP"), 4096, SRAM, 512)
    assert 800_000 <= chip.ns - before < 900_000
    chip.call(chip.rom("RP"), 4096 + 256, SRAM, 256)
    assert chip.machine.bus_read_block(XIP + 4096, 513) == b"\x0f" * 256 + b"\x03" * 256 + b"\xff"
    assert chip.message == ""


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("RE", (100, 4096, 65536, 0xD8)),
        ("RE", (FLASH_BYTES - 4096, 8192, 65536, 0xD8)),
        ("RP", (1, SRAM, 256)),
        ("RP", (0, SRAM, 255)),
    ],
)
def test_ranges_are_checked(chip: Chip, code: str, arguments: tuple[int, ...]) -> None:
    connect(chip)
    chip.call(chip.rom(code), *arguments)
    assert "not whole units of" in chip.message


def test_erase_without_connecting_the_flash_first(chip: Chip) -> None:
    chip.call(chip.rom("RE"), 0, 4096, 65536, 0xD8)
    assert chip.message.startswith("flash_range_erase without connect_internal_flash")


def test_read_modes(chip: Chip) -> None:
    connect(chip)
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 88 * 12  # 03h at a twelfth
    for mode, clocks in enumerate((88, 96, 48, 28)):
        chip.call(chip.rom("XM"), mode, 3)
        assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 3 * clocks
    chip.call(chip.rom("CX"))
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 88 * 12
    assert chip.message == ""
    chip.call(chip.rom("XM"), 4, 3)
    assert "there are four modes" in chip.message


def test_xip_as_it_was_at_boot_through_the_copy_in_bootram() -> None:
    chip = booted(image())
    code = chip.machine.bus_read_block(BOOTRAM, 256)
    assert code is not None
    connect(chip)
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 88 * 12
    chip.machine.bus_write_block(SRAM + 0x800, code)
    chip.call(SRAM + 0x801)
    chip.machine.run(chip.cycles + 100)
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 84
    assert chip.message == ""


def test_flash_op(chip: Chip) -> None:
    chip.machine.load_flash(0x1000, b"\x12" * 8192)
    connect(chip)
    chip.call(chip.rom("XM"), 3, 3)
    set_up = chip.read(M0_TIMING), chip.read(M0_RFMT)
    flash_op, erase, program, read = chip.rom("FO"), 0x100, 0x10100, 0x20100
    assert chip.call(flash_op, erase, XIP + 0x1000, 4096, 0) == 0
    assert chip.machine.bus_read_block(XIP + 0x1FFF, 2) == b"\xff\x12"
    chip.machine.bus_write_block(SRAM + 0x400, bytes(range(256)))
    assert chip.call(flash_op, program, XIP + 0x1100, 256, SRAM + 0x400) == 0
    assert chip.call(flash_op, read, XIP + 0x1103, 5, SRAM + 0x800) == 0
    assert chip.machine.bus_read_block(SRAM + 0x800, 6) == b"\x03\x04\x05\x06\x07\x00"
    assert (chip.read(M0_TIMING), chip.read(M0_RFMT)) == set_up
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == 84
    assert chip.call(flash_op, erase, XIP + 0x1001, 4096, 0) == 0xFFFFFFF5  # bad alignment
    assert chip.call(flash_op, erase, XIP + FLASH_BYTES, 4096, 0) == 0xFFFFFFF6  # invalid address
    assert chip.message == ""


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


def test_reboot() -> None:
    chip = started(*CLOCK_STEPS, *USB_STEPS)
    before = chip.ns
    chip.call(chip.rom("RB"), 2, 10, 0, 0)
    assert chip.machine.usb_why_not() == (
        "the program called reboot to BOOTSEL: a real RP2350 falls into BOOTSEL"
    )
    assert 10_000_000 <= chip.ns - before < 10_100_000
    chip = started()
    chip.machine.set_register(0, 0)
    rom = chip.rom("RB")
    chip.call(rom, 0, 0, 0, 0)
    assert chip.machine.run(chip.cycles + 1000) == Stop.RESET
    chip = started()
    chip.call(chip.rom("RB"), 0x10, 0, 0, 0)
    assert chip.message.startswith("boot ROM reboot with flags 0x10 is not modelled")
