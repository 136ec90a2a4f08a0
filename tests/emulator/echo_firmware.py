# SPDX-License-Identifier: Apache-2.0
"""Programs for the boards of these tests: the echo firmware, and assembly that the boot ROM starts."""

from __future__ import annotations

import functools
import io
import struct
import subprocess
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

from harness import resources
from harness.build.finish import boot_rom_crc, finish
from harness.schema.header import header
from tests.emulator.core_program import assemble

RESET, DEAF, STRICT, REPLUG, SEND, UNPLUG = (bytes([order]) for order in range(1, 7))
PATTERN = bytes(k % 251 for k in range(10000))

CPU = {"rp2040": ["-mcpu=cortex-m0plus"], "rp2350": ["-mcpu=cortex-m33", "-mfloat-abi=soft"]}
BOOT2, BOOT2_BYTES = 0x20041F00, 252
FLASH, VECTORS, STACK_TOP = 0x10000000, 68, 0x20082000
IMAGE_DEF = (0xFFFFDED3, 0x10210142, 0x000001FF, 0x00000000, 0xAB123579)
PROGRAM = FLASH + 0x200


@functools.cache
def echo_elf(chip: str) -> bytes:
    """firmware/echo.c on firmware/port, as an ELF that boots."""
    source = Path(__file__).parent / "firmware" / "echo.c"
    firmware = resources.firmware()
    port = firmware / "port"
    sources = [
        line
        for line in (port / chip / "sources.txt").read_text().split()
        if line.startswith("port/")
    ]
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder, "echo.elf")
        Path(folder, "ripbench_schema.h").write_text(header())
        flags = "-std=c11 -mthumb -O2 -ffreestanding -Wall -Wextra -Werror"
        link = "-nostdlib -Wl,--no-warn-rwx-segments -ffunction-sections -Wl,--gc-sections"
        command = ["arm-none-eabi-gcc", *CPU[chip], *flags.split(), *link.split()]
        include = [f"-I{folder}", "-I.", f"-Iport/{chip}"]
        script = ["-T", f"port/{chip}/{chip}.ld"]
        subprocess.run(
            [*command, *include, *script, *sources, str(source), "-lgcc", "-o", str(elf)],
            cwd=firmware,
            check=True,
        )
        return finish(elf.read_bytes())


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    """(flash offset, bytes) of everything that an ELF puts into flash."""
    return [
        (segment["p_paddr"] - FLASH, segment.data())
        for segment in ELFFile(io.BytesIO(elf)).iter_segments()
        if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
    ]


def symbol(elf: bytes, name: str) -> int:
    """Address of a function, without its Thumb bit."""
    table = ELFFile(io.BytesIO(elf)).get_section_by_name(".symtab")
    return int(table.get_symbol_by_name(name)[0]["st_value"]) & ~1


@functools.cache
def boot_program(chip: str, source: str) -> tuple[bytes, dict[str, int]]:
    """The flash image that makes the boot ROM start a piece of ARMv6-M assembly, and its labels.

    RP2040: in place of boot2, which the ROM copies to BOOT2 and runs there. RP2350: in flash, behind
    a vector table and an IMAGE_DEF. clk_sys is still the ring oscillator.
    """
    if chip == "rp2350":
        code, labels = assemble(source, PROGRAM)
        return rp2350_image(code), labels
    code, labels = assemble(source, BOOT2)
    assert len(code) <= BOOT2_BYTES
    boot2 = code.ljust(BOOT2_BYTES, b"\0")
    return boot2 + struct.pack("<I", boot_rom_crc(boot2)), labels


def rp2350_image(code: bytes) -> bytes:
    """The flash image whose boot ROM enters code linked at PROGRAM; every vector leads there."""
    vectors = [STACK_TOP] + [PROGRAM | 1] * (VECTORS - 1)
    start = struct.pack(f"<{VECTORS + len(IMAGE_DEF)}I", *vectors, *IMAGE_DEF)
    return start.ljust(PROGRAM - FLASH, b"\xff") + code


def elf_bytes(elf: bytes, section: str) -> tuple[bytes, dict[str, int]]:
    """A section's bytes and the symbols of an ELF."""
    file = ELFFile(io.BytesIO(elf))
    symbols = file.get_section_by_name(".symtab").iter_symbols()
    data = bytes(file.get_section_by_name(section).data())
    return data, {symbol.name: symbol["st_value"] for symbol in symbols if symbol.name}
