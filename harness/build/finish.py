# SPDX-License-Identifier: Apache-2.0
"""What a linker cannot know: the RP2040 boot ROM's CRC of boot2, the image's length and its id."""

from __future__ import annotations

import hashlib
import io
import struct
from dataclasses import replace

from elftools.elf.elffile import ELFFile

from harness.build.image import FLASH_BASE
from harness.errors import BuildError
from harness.schema.constants import IMAGE_INFO_OFFSET, IMAGE_MAGIC, Chip
from harness.schema.records import ImageInfo

_BOOT2_BYTES = 256
_POLYNOMIAL = 0x04C1_1DB7


def boot_rom_crc(data: bytes) -> int:
    """The RP2040 boot ROM's CRC-32: polynomial 04c11db7, start ffffffff, most significant bit first,
    nothing reflected, no final xor (RP2040 data sheet, 2.8.1.3.1)."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (_POLYNOMIAL if crc >> 31 else 0)) & 0xFFFF_FFFF
    return crc


def finish(elf: bytes) -> bytes:
    """The ELF with boot2's CRC (RP2040), image_bytes and build_id filled in. Errors: BuildError."""
    patched = bytearray(elf)
    segments = _flash_segments(elf)
    image_bytes = max(offset + length for offset, _, length in segments)

    def place(flash_offset: int, length: int) -> int:
        for offset, at, size in segments:
            if offset <= flash_offset and flash_offset + length <= offset + size:
                return at + flash_offset - offset
        raise BuildError(f"nothing is linked at flash offset {flash_offset:#x}")

    at = place(IMAGE_INFO_OFFSET, ImageInfo.size())
    info = ImageInfo.unpack(bytes(patched[at : at + ImageInfo.size()]))
    if info.magic != IMAGE_MAGIC:
        raise BuildError(f"no image info at flash offset {IMAGE_INFO_OFFSET:#x}")
    if info.chip == Chip.RP2040:  # the RP2350's ROM looks for IMAGE_DEF, which needs no patch
        boot2 = place(0, _BOOT2_BYTES)
        body = bytes(patched[boot2 : boot2 + _BOOT2_BYTES - 4])
        crc = struct.pack("<I", boot_rom_crc(body))
        patched[boot2 + _BOOT2_BYTES - 4 : boot2 + _BOOT2_BYTES] = crc
    info = replace(info, image_bytes=image_bytes, build_id=bytes(8))
    patched[at : at + ImageInfo.size()] = info.pack()
    digest = hashlib.sha256()
    for _, start, length in segments:
        digest.update(patched[start : start + length])
    patched[at : at + ImageInfo.size()] = replace(info, build_id=digest.digest()[:8]).pack()
    return bytes(patched)


def _flash_segments(elf: bytes) -> list[tuple[int, int, int]]:
    """(flash offset, file offset, length) of what is loaded into flash, in flash order."""
    return sorted(
        (segment["p_paddr"] - FLASH_BASE, segment["p_offset"], segment["p_filesz"])
        for segment in ELFFile(io.BytesIO(elf)).iter_segments()
        if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
    )
