# SPDX-License-Identifier: Apache-2.0
"""What is filled in after linking, against known values."""

from __future__ import annotations

import struct
import zlib

from harness.build import RunnerImage
from harness.build.finish import boot_rom_crc


def test_boot_rom_crc_is_crc32_mpeg2() -> None:
    """The catalogue's check value of this polynomial without reflection and final xor."""
    assert boot_rom_crc(b"123456789") == 0x0376E6E7


def test_the_image_carries_what_the_boot_rom_checks(runner_image: RunnerImage) -> None:
    (stated,) = struct.unpack_from("<I", runner_image.flash, 252)
    assert stated == boot_rom_crc(runner_image.flash[:252])


def test_image_info(runner_image: RunnerImage) -> None:
    assert runner_image.info.image_bytes == len(runner_image.flash)
    assert runner_image.info.chip == 2040
    assert runner_image.info.build_id != bytes(8)
    assert runner_image.crc == zlib.crc32(runner_image.flash)


def test_functions_have_names(runner_image: RunnerImage) -> None:
    address = runner_image.symbols["run_gather"]
    assert runner_image.function_at(address) == "run_gather+0x0"
    assert runner_image.function_at((address & ~1) + 6) == "run_gather+0x6"
    assert runner_image.function_at(0x0800_0000) == "0x08000000"
