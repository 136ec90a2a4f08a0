# SPDX-License-Identifier: Apache-2.0
"""The linked runner: what must lie where. Needs the Arm cross compiler."""

from __future__ import annotations

import shutil
import struct

import pytest

from harness.build import build_runner
from harness.build.image import RunnerImage
from harness.schema.constants import IMAGE_MAGIC

pytestmark = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)

_FLASH = 0x1000_0000
_VECTORS = 0x100
# Timed code, code that runs while flash cannot be read, and the USB interrupt's usual path.
_IN_SRAM = {
    "run_gather", "run_direct", "dot", "run_in_window", "port_window_begin", "port_window_end",
    "usbctrl_irq_handler", "usb_service", "cdc_received", "cdc_transmit", "pipe_give",
    "flash_read_unique_id", "clocks_measure_clk_sys", "memcpy", "memset", "crc32",
}  # fmt: skip
# What code in SRAM may call in flash: control transfers, and the 64-bit division after a window.
_CALLED_IN_FLASH = {
    "control_setup", "control_in_done", "control_out_done", "control_bus_reset", "cdc_stop",
    "__aeabi_uldivmod", "__aeabi_lmul", "__aeabi_uidiv",
}  # fmt: skip


@pytest.fixture(scope="module")
def image() -> RunnerImage:
    return build_runner("rp2040")


def _is_ram_code(image: RunnerImage, address: int) -> bool:
    return image.symbols["__ram_code_start"] <= address < image.symbols["__ram_code_end"]


def _names(image: RunnerImage) -> dict[str, int]:
    """Functions without the suffixes of gcc's clones."""
    return {name.split(".")[0]: address for address, name in image.functions}


def test_hot_code_is_in_sram(image: RunnerImage) -> None:
    names = _names(image)
    assert {name for name in _IN_SRAM if not _is_ram_code(image, names[name])} == set()


def test_code_in_sram_calls_little_in_flash(image: RunnerImage) -> None:
    """The linker makes a veneer in SRAM for each function in flash that is called from there."""
    veneers = {
        name.removesuffix("_veneer")[2:].split(".")[0]
        for name, address in image.symbols.items()
        if name.endswith("_veneer") and _is_ram_code(image, address & ~1)
    }
    assert veneers <= _CALLED_IN_FLASH


def test_vectors(image: RunnerImage) -> None:
    vectors = struct.unpack_from("<48I", image.flash, _VECTORS)
    assert vectors[0] == 0x2004_2000
    assert all(vector & 1 for vector in vectors[1:])
    names = _names(image)
    assert vectors[1] & ~1 == names["reset_handler"]
    assert vectors[16 + 5] & ~1 == names["usbctrl_irq_handler"]
    others = [*vectors[2:21], *vectors[22:]]
    assert {vector & ~1 for vector in others} == {names["fault_entry"]}


def test_image_info_states_the_image(image: RunnerImage) -> None:
    info = image.info
    assert (info.magic, info.chip) == (IMAGE_MAGIC, 2040)
    assert info.image_bytes == image.symbols["__image_end"] - _FLASH == len(image.flash)


def test_memory_map(image: RunnerImage) -> None:
    symbols = image.symbols
    assert symbols["__ram_code_start"] == 0x2000_0100  # right behind the mailbox
    assert symbols["__pool_start"] % 8 == 0
    assert symbols["__pool_end"] == symbols["__stack_bottom"] == 0x2004_1000
    assert symbols["__stack_top"] == 0x2004_2000
    assert image.pool_bytes > 240 * 1024
    assert len(image.flash) < 0x1_0000  # below the first pack slot
