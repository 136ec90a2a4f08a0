# SPDX-License-Identifier: Apache-2.0
"""The linked runner of each chip: what must lie where. Needs the Arm cross compiler."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import dataclass

import pytest

from harness.build import build_runner
from harness.build.image import RunnerImage
from harness.geometry import GATHER
from harness.kernels import find_kernels, kernel_set
from harness.schema.constants import IMAGE_MAGIC, OpKind, Rounding

_FLASH = 0x1000_0000


@dataclass(frozen=True)
class _Chip:
    """Where things lie by the chip's data sheet."""

    name: str
    number: int
    vectors: int
    irqs: int
    usb_irq: int
    sram_end: int
    pool_bytes: int


_CHIPS = [
    _Chip("rp2040", 2040, 0x100, 32, 5, 0x2004_2000, 240 * 1024),
    _Chip("rp2350", 2350, 0x000, 52, 14, 0x2008_2000, 500 * 1024),
]

# Timed code, code that runs while flash cannot be read, and the USB interrupt's usual path.
_IN_SRAM = {
    "plain_conv_gather_double", "plain_conv_gather_single", "plain_conv_direct_double",
    "plain_conv_direct_single", "dot",
    "call_in_window", "port_window_begin", "port_window_end",
    "usbctrl_irq_handler", "usb_service", "cdc_received", "cdc_transmit", "pipe_give",
    "clocks_measure_clk_sys", "memcpy", "memset", "crc32", "port_flush_flash_cache",
}  # fmt: skip
_IN_SRAM_OF = {"rp2040": {"read_unique_id"}, "rp2350": set()}
# What code in SRAM may call in flash: control transfers, and what comes after a window.
_CALLED_IN_FLASH = {
    "control_setup", "control_in_done", "control_out_done", "control_bus_reset", "cdc_stop",
    "conclude_window",
    "__aeabi_uldivmod", "__aeabi_lmul", "__aeabi_uidiv",
}  # fmt: skip


@pytest.fixture(scope="module", params=_CHIPS, ids=lambda chip: chip.name)
def chip(request: pytest.FixtureRequest) -> _Chip:
    found: _Chip = request.param
    return found


@pytest.fixture(scope="module")
def image(chip: _Chip) -> RunnerImage:
    return build_runner(chip.name)


def _is_ram_code(image: RunnerImage, address: int) -> bool:
    return image.symbols["__ram_code_start"] <= address < image.symbols["__ram_code_end"]


def _names(image: RunnerImage) -> dict[str, int]:
    """Functions without the suffixes of gcc's clones."""
    return {name.split(".")[0]: address for address, name in image.functions}


def test_hot_code_is_in_sram(chip: _Chip, image: RunnerImage) -> None:
    names = _names(image)
    wanted = _IN_SRAM | _IN_SRAM_OF[chip.name]
    assert {name for name in wanted if not _is_ram_code(image, names[name])} == set()


def test_code_in_sram_calls_little_in_flash(image: RunnerImage) -> None:
    """The linker makes a veneer in SRAM for each function in flash that is called from there."""
    veneers = {
        name.removesuffix("_veneer")[2:].split(".")[0]
        for name, address in image.symbols.items()
        if name.endswith("_veneer") and _is_ram_code(image, address & ~1)
    }
    assert veneers <= _CALLED_IN_FLASH


def test_vectors(chip: _Chip, image: RunnerImage) -> None:
    vectors = struct.unpack_from(f"<{16 + chip.irqs}I", image.flash, chip.vectors)
    assert vectors[0] == chip.sram_end
    assert all(vector & 1 for vector in vectors[1:])
    names = _names(image)
    assert vectors[1] & ~1 == names["reset_handler"]
    usb = 16 + chip.usb_irq
    assert vectors[usb] & ~1 == names["usbctrl_irq_handler"]
    others = [*vectors[2:usb], *vectors[usb + 1 :]]
    assert {vector & ~1 for vector in others} == {names["fault_entry"]}


def test_image_info_states_the_image(chip: _Chip, image: RunnerImage) -> None:
    info = image.info
    assert (info.magic, info.chip) == (IMAGE_MAGIC, chip.number)
    assert info.image_bytes == image.symbols["__image_end"] - _FLASH == len(image.flash)


def test_memory_map(chip: _Chip, image: RunnerImage) -> None:
    symbols = image.symbols
    assert symbols["__ram_code_start"] == 0x2000_0100  # right behind the mailbox
    assert symbols["__pool_start"] % 8 == 0
    assert symbols["__pool_end"] == symbols["__stack_bottom"] == chip.sram_end - 4096
    assert symbols["__stack_top"] == chip.sram_end
    assert image.pool_bytes > chip.pool_bytes - 10 * 1024
    assert len(image.flash) < 0x1_0000  # below the first pack slot


def test_a_kernel_set_leaves_the_rest_to_the_arena(chip: _Chip, image: RunnerImage) -> None:
    """The largest layers of the paper's Table 6 need 512,000 bytes."""
    rows = kernel_set(OpKind.CONV, GATHER, Rounding.DOUBLE)
    small = build_runner(chip.name, kernels=rows)
    assert small.pool_bytes > max(chip.pool_bytes, image.pool_bytes + 8 * 1024)
    names = _names(small)
    assert {"plain_conv_gather_double", "plain_conv_direct_single", "plain_move"} <= set(names)
    assert not {"plain_softmax", "plain_add_double", "plain_conv_walk"} & set(names)


def test_every_kernel_runs_from_sram(image: RunnerImage) -> None:
    kernels = {kernel.run for kernel in find_kernels("plain").kernels}
    assert len(kernels) > 25
    found = {name: at for at, name in image.functions if name in kernels}
    assert set(found) == kernels
    assert all(_is_ram_code(image, at) for at in found.values())


def test_functions_in_sram_are_told_apart(image: RunnerImage) -> None:
    """Reports name the functions that stored and read. dot is in each file that includes its header
    (kernels/plain/dot.h)."""
    names = [name.split(".")[0] for at, name in image.functions if _is_ram_code(image, at)]
    assert {name for name in names if names.count(name) > 1} == {"dot"}
    assert {
        "plain_depthwise_gather_double", "plain_depthwise_direct_single",
        "plain_depthwise_channel_double", "plain_average_pool", "plain_max_pool",
        "plain_mean_double", "plain_fully_connected_single", "plain_conv_walk",
    } <= set(names)  # fmt: skip


def test_image_def() -> None:
    """RP2350 data sheet 5.9: one block, a secure Arm executable for the RP2350, linked to itself."""
    words = struct.unpack_from("<5I", build_runner("rp2350").flash, 0x110)
    assert words == (0xFFFFDED3, 0x10210142, 0x000001FF, 0, 0xAB123579)


def test_no_fpu_instruction_on_the_rp2350() -> None:
    """It is off: one would fault. And the core would save its registers at every exception."""
    elf = build_runner("rp2350").elf
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", str(elf)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "umull" in listing
    assert re.findall(r"\tv[a-z]+\.?[fi0-9]*\t", listing) == []
