# SPDX-License-Identifier: Apache-2.0
"""Programs for the boards of these tests: the echo firmware, and assembly in place of boot2."""

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

BOOT2, BOOT2_BYTES = 0x20041F00, 252


@functools.cache
def echo_elf() -> bytes:
    """firmware/echo.c on firmware/port, as an ELF that boots."""
    source = Path(__file__).parent / "firmware" / "echo.c"
    firmware = resources.firmware()
    port = firmware / "port"
    sources = [
        line
        for line in (port / "rp2040" / "sources.txt").read_text().split()
        if line.startswith("port/")
    ]
    with tempfile.TemporaryDirectory() as folder:
        elf = Path(folder, "echo.elf")
        Path(folder, "ripbench_schema.h").write_text(header())
        flags = "-std=c11 -mcpu=cortex-m0plus -mthumb -O2 -ffreestanding -Wall -Wextra -Werror"
        link = "-nostdlib -Wl,--no-warn-rwx-segments -ffunction-sections -Wl,--gc-sections"
        command = ["arm-none-eabi-gcc", *flags.split(), *link.split(), f"-I{folder}", "-I."]
        script = ["-T", "port/rp2040/rp2040.ld"]
        subprocess.run(
            [*command, *script, *sources, str(source), "-lgcc", "-o", str(elf)],
            cwd=firmware,
            check=True,
        )
        return finish(elf.read_bytes())


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    """(flash offset, bytes) of everything that an ELF puts into flash."""
    return [
        (segment["p_paddr"] - 0x10000000, segment.data())
        for segment in ELFFile(io.BytesIO(elf)).iter_segments()
        if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
    ]


def symbol(elf: bytes, name: str) -> int:
    """Address of a function, without its Thumb bit."""
    table = ELFFile(io.BytesIO(elf)).get_section_by_name(".symtab")
    return int(table.get_symbol_by_name(name)[0]["st_value"]) & ~1


@functools.cache
def boot2_program(source: str) -> tuple[bytes, dict[str, int]]:
    """Assembly in place of boot2: the boot ROM copies it to BOOT2 and runs it there, with clk_sys
    still the ring oscillator of 6.5 MHz. The flash image and the labels."""
    code, labels = assemble(source, BOOT2)
    assert len(code) <= BOOT2_BYTES
    boot2 = code.ljust(BOOT2_BYTES, b"\0")
    return boot2 + struct.pack("<I", boot_rom_crc(boot2)), labels
