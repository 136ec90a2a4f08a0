# SPDX-License-Identifier: Apache-2.0
"""The start-up of a stock pico-sdk program, step by step, on an RP2350: nothing stops it, and each
register answers what the SDK waits for. (For the RP2040: test_chip_*.py.)"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness.emulator.board import EmulatedBoard
from harness.emulator.machine import Counter
from tests.emulator.echo_firmware import PROGRAM, elf_bytes, rp2350_image

SOURCE = Path(__file__).parent / "firmware" / "sdk_start_rp2350.c"
SRAM = 0x20000400
NAMES = (
    *("done", "cpu", "reset_done", "xosc", "clk_ref", "clk_sys", "pll_sys", "pll_usb"),
    *("bootlock", "vtor", "cpacr", "actlr", "priorities", "spin_lock", "spin_lock_again"),
    *("secure", "id_low", "id_high", "alarms", "waited_us", "armed", "product", "cycles"),
)
EXPECTED = {
    "done": 1,
    "cpu": 0,
    "reset_done": 0x1FFFFFFF,
    "xosc": 0x80001000,
    "clk_ref": 4,
    "clk_sys": 2,
    "pll_sys": 0x80000001,
    "pll_usb": 0x80000001,
    "vtor": 1,
    "actlr": 0x20000000,
    "priorities": 0x80808080,
    "spin_lock": 0,
    "spin_lock_again": 1,
    "secure": 1,
    "id_low": 0x03020100 ^ 0x11111111,
    "id_high": 0x07060504 ^ 0x11111111,
    "alarms": 1,
    "armed": 1 << 3,
    "product": 0x40580000,  # 3.375
}


@functools.cache
def program() -> tuple[bytes, dict[str, int]]:
    """The flash image and the symbols."""
    flags = "-std=c11 -mthumb -O2 -ffreestanding -nostdlib -Wall -Wextra -Werror"
    cpu = ["-mcpu=cortex-m33", "-mfloat-abi=softfp", "-mfpu=fpv5-sp-d16"]
    script = (
        f"SECTIONS {{ . = {PROGRAM:#x}; .text : {{ *(.start) *(.text*) *(.rodata*) }} "
        f". = {SRAM:#x}; .bss (NOLOAD) : {{ *(.bss*) }} }} ROM_TABLE_LOOKUP = 0x16;"
    )
    with tempfile.TemporaryDirectory() as folder:
        elf, link = Path(folder, "start.elf"), Path(folder, "start.ld")
        link.write_text(script)
        command = ["arm-none-eabi-gcc", *cpu, *flags.split(), "-T", str(link), "-Wl,-e,start"]
        subprocess.run([*command, str(SOURCE), "-o", str(elf)], check=True)
        return elf_bytes(elf.read_bytes(), ".text")


@pytest.fixture(scope="module")
def finished() -> dict[str, int]:
    """What the program found, after 100 ms."""
    code, symbols = program()
    board = EmulatedBoard("start", "rp2350", bytes(n ^ 0x11 for n in range(7, -1, -1)))
    board.machine.load_flash(0, rp2350_image(code))
    board.advance(ns=100_000_000)
    at = symbols["results"]
    words = [board.machine.bus_read(at + 4 * n, 4) for n in range(len(NAMES))]
    found = {name: -1 if word is None else word for name, word in zip(NAMES, words, strict=True)}
    return {**found, "hz": board.machine.counter(Counter.CLK_SYS_HZ)}


@pytest.mark.parametrize("name", EXPECTED)
def test_it_reads_what_the_sdk_waits_for(finished: dict[str, int], name: str) -> None:
    assert finished[name] == EXPECTED[name]


def test_boot_lock_7_can_be_claimed(finished: dict[str, int]) -> None:
    assert finished["bootlock"] != 0


def test_coprocessors_stay_enabled(finished: dict[str, int]) -> None:
    assert finished["cpacr"] & 0x00300303 == 0x00300303


def test_clk_sys_is_150_mhz(finished: dict[str, int]) -> None:
    assert finished["hz"] == 150_000_000


def test_the_alarm_comes_when_it_is_due(finished: dict[str, int]) -> None:
    assert finished["waited_us"] in range(1000, 1010)  # the handler runs from flash


def test_the_cycle_counter_runs(finished: dict[str, int]) -> None:
    assert 0 < finished["cycles"] < 1000
