# SPDX-License-Identifier: Apache-2.0
"""A linked runner: its flash bytes, and what the ELF says about them."""

from __future__ import annotations

import bisect
import hashlib
import io
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from harness.errors import BuildError
from harness.schema.constants import IMAGE_INFO_OFFSET, IMAGE_MAGIC
from harness.schema.records import ImageInfo

FLASH_BASE = 0x1000_0000
_FLASH_END = 0x1100_0000


@dataclass(frozen=True)
class RunnerImage:
    """elf: the file. flash: its bytes from the start of flash on, holes as zeros of the linker.
    functions: address and name, in order; function_ends: the address behind each of them."""

    elf: Path
    flash: bytes
    symbols: dict[str, int]
    functions: tuple[tuple[int, str], ...]
    function_ends: tuple[int, ...]

    @property
    def info(self) -> ImageInfo:
        end = IMAGE_INFO_OFFSET + ImageInfo.size()
        return ImageInfo.unpack(self.flash[IMAGE_INFO_OFFSET:end])

    @cached_property
    def crc(self) -> int:
        """CRC-32 of all flash bytes, as the firmware states it."""
        return zlib.crc32(self.flash)

    @cached_property
    def ram_code_crc(self) -> int:
        """CRC-32 of the code that start-up copies into SRAM."""
        start = self.symbols["__ram_code_load"] - FLASH_BASE
        length = self.symbols["__ram_code_end"] - self.symbols["__ram_code_start"]
        return zlib.crc32(self.flash[start : start + length])

    @cached_property
    def elf_hash(self) -> str:
        """SHA-256 of the ELF file."""
        return hashlib.sha256(self.elf.read_bytes()).hexdigest()

    @property
    def pool_bytes(self) -> int:
        """SRAM for arena, scratch and guards."""
        return self.symbols["__pool_end"] - self.symbols["__pool_start"]

    def function_at(self, address: int) -> str:
        """`name+offset` of the function at an address, or the address alone."""
        address &= ~1
        at = bisect.bisect_right(self.functions, (address, "\U0010ffff")) - 1
        if at < 0 or address >= self.function_ends[at]:
            return f"{address:#010x}"
        start, name = self.functions[at]
        return f"{name}+{address - start:#x}"

    def code_at(self, address: int, length: int) -> bytes:
        """Up to `length` bytes of the program, in flash or where start-up copies it; b"" elsewhere."""
        start, end = self.symbols["__ram_code_start"], self.symbols["__ram_code_end"]
        if start <= address < end:
            address += self.symbols["__ram_code_load"] - start
        offset = address - FLASH_BASE
        return self.flash[offset : offset + length] if offset >= 0 else b""


def load_image(elf: Path) -> RunnerImage:
    """Errors: BuildError for a file that is not a runner's ELF."""
    try:
        data = elf.read_bytes()
        file = ELFFile(io.BytesIO(data))
        flash = bytearray()
        for segment in file.iter_segments():
            offset = segment["p_paddr"] - FLASH_BASE
            if segment["p_type"] != "PT_LOAD" or not segment["p_filesz"]:
                continue
            if not 0 <= offset < _FLASH_END - FLASH_BASE:
                raise BuildError(f"{elf.name} loads bytes outside flash")
            content = segment.data()
            flash.extend(bytes(max(0, offset + len(content) - len(flash))))
            flash[offset : offset + len(content)] = content
        table = file.get_section_by_name(".symtab")
        entries = list(table.iter_symbols()) if isinstance(table, SymbolTableSection) else []
        symbols = {entry.name: entry["st_value"] for entry in entries if entry.name}
        functions = sorted(
            (entry["st_value"] & ~1, entry.name, entry["st_size"])
            for entry in entries
            if entry["st_info"]["type"] == "STT_FUNC"
        )
    except (ELFError, OSError) as error:
        raise BuildError(f"{elf} cannot be read as an ELF file", cause=str(error)) from error
    image = RunnerImage(
        elf,
        bytes(flash),
        symbols,
        tuple((address, name) for address, name, _ in functions),
        tuple(
            address + size if size else following  # assembly may leave out the size
            for (address, _, size), (following, _, _) in zip(
                functions, [*functions[1:], (_FLASH_END, "", 0)], strict=True
            )
        ),
    )
    if len(flash) < IMAGE_INFO_OFFSET + ImageInfo.size() or image.info.magic != IMAGE_MAGIC:
        raise BuildError(f"{elf} is not a ripbench runner: no image info at {IMAGE_INFO_OFFSET:#x}")
    return image
