# SPDX-License-Identifier: Apache-2.0
"""What is filled in after linking, against known values."""

from __future__ import annotations

import struct
import zlib

import pytest

from harness.build import RunnerImage, build_runner
from harness.build.finish import boot_rom_crc
from harness.errors import ConfigError


def test_boot_rom_crc_is_crc32_mpeg2() -> None:
    """The catalogue's check value of this polynomial without reflection and final xor."""
    assert boot_rom_crc(b"123456789") == 0x0376E6E7


def test_the_image_carries_what_the_boot_rom_checks(runner_image: RunnerImage) -> None:
    (stated,) = struct.unpack_from("<I", runner_image.flash, 252)
    assert stated == boot_rom_crc(runner_image.flash[:252])


@pytest.mark.parametrize(("chip", "number"), [("rp2040", 2040), ("rp2350", 2350)])
def test_image_info(chip: str, number: int) -> None:
    image = build_runner(chip)
    assert image.info.image_bytes == len(image.flash)
    assert image.info.chip == number
    assert image.info.build_id != bytes(8)
    assert image.crc == zlib.crc32(image.flash)


def test_nothing_is_patched_into_the_vectors_of_the_rp2350() -> None:
    """Where the RP2040 has boot2's CRC there is the vector of interrupt 47."""
    image = build_runner("rp2350")
    (vector,) = struct.unpack_from("<I", image.flash, 252)
    assert vector & ~1 == image.symbols["fault_entry"] & ~1


def test_a_chip_without_firmware() -> None:
    with pytest.raises(ConfigError, match="no firmware for the chip 'rp2354'") as caught:
        build_runner("rp2354")
    assert caught.value.hint == "known: rp2040, rp2350"


def test_functions_have_names(runner_image: RunnerImage) -> None:
    address = runner_image.symbols["plain_conv_gather_double"]
    assert runner_image.function_at(address) == "plain_conv_gather_double+0x0"
    assert runner_image.function_at((address & ~1) + 6) == "plain_conv_gather_double+0x6"
    assert runner_image.function_at(0x0800_0000) == "0x08000000"
    assert runner_image.function_at(0x4005_4000) == "0x40054000"  # behind the last of them
    boot2 = runner_image.symbols["boot2"]  # assembly, without a size
    assert runner_image.function_at(boot2 + 8) == "boot2+0x8"


def test_the_code_at_an_address(runner_image: RunnerImage) -> None:
    """In SRAM it is what start-up copies there."""
    vectors = runner_image.code_at(0x1000_0100, 8)
    assert vectors == runner_image.flash[0x100:0x108]
    in_sram = runner_image.symbols["plain_conv_gather_double"] & ~1
    assert in_sram >> 28 == 2
    load = runner_image.symbols["__ram_code_load"] - runner_image.symbols["__ram_code_start"]
    at = in_sram + load - 0x1000_0000
    assert runner_image.code_at(in_sram, 16) == runner_image.flash[at : at + 16]
    for elsewhere in (0, 0x0FFF_FFFE, 0x2004_0000, 0x4005_4000, 0x1000_0000 + 2 * 65536):
        assert runner_image.code_at(elsewhere, 4) == b""
