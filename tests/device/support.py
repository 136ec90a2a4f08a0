# SPDX-License-Identifier: Apache-2.0
"""Boards, small packs, and runners with a patched instruction, for tests of the whole path."""

from __future__ import annotations

import itertools
from dataclasses import replace

from harness.boards import BoardEntry
from harness.build import RunnerImage
from harness.build.image import FLASH_BASE
from harness.case import Pack, build_pack, make_case
from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.geometry import ConvGeometry, Execution, Pad
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.schema.constants import IMAGE_INFO_OFFSET, TapOrder
from harness.schema.records import ImageInfo

ODD = Layer("odd-3x3", ConvGeometry(5, 7, 13, 6, 3, 3, pad=Pad.same(1, 1)))

CLOCK_HZ = {"rp2040": 125_000_000, "rp2350": 150_000_000}
MISS_CYCLES = {"rp2040": 56, "rp2350": 84}  # of a line of the XIP cache

BRANCH_TO_SELF = 0xE7FE
UNDEFINED = 0xDE00
RETURN = 0x4770  # bx lr

_names = (f"test-{number}" for number in itertools.count())


def new_entry(chip: str = "rp2040") -> BoardEntry:
    """An emulated board that no other test has used."""
    name = next(_names)
    return BoardEntry(
        name=name,
        chip=chip,
        probe=f"emu:{name}",
        serial=f"emu://{name}",
        clock_hz=CLOCK_HZ[chip],
        xip_miss_cycles=MISS_CYCLES[chip],
        where="test",
    )


def emulated(entry: BoardEntry) -> EmulatedBoard:
    return registry.board(entry.name)


def small_pack(layer: Layer = ODD) -> Pack:
    """rip, gather; then rip, direct."""
    plans = [
        plan_layer(layer, Strategy.RIP, Mode(Execution(tap_order=order))) for order in TapOrder
    ]
    return build_pack([make_case(plan) for plan in plans])


def with_instruction(image: RunnerImage, function: str, instruction: int) -> RunnerImage:
    """The image with a function's first halfword replaced, and a build id of its own, so that the
    harness takes it for what it means to run."""
    address = image.symbols[function] & ~1
    if address >= image.symbols["__ram_code_start"] >> 28 << 28:
        address += image.symbols["__ram_code_load"] - image.symbols["__ram_code_start"]
    at = address - FLASH_BASE
    flash = bytearray(image.flash)
    flash[at : at + 2] = instruction.to_bytes(2, "little")
    info = replace(image.info, build_id=instruction.to_bytes(2, "little") + image.info.build_id[2:])
    flash[IMAGE_INFO_OFFSET : IMAGE_INFO_OFFSET + ImageInfo.size()] = info.pack()
    return replace(image, flash=bytes(flash))
