# SPDX-License-Identifier: Apache-2.0
"""Faults of the chip, its flash and its supply, done to the machine of one board.

Nothing here knows a program's symbols: a fault in the middle of a run is told by a frame that has come
from the device, and by the microseconds after it.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Sequence

from harness.emulator.faultplan import Fault
from harness.emulator.machine import XIP_BASE, Machine

SRAM_BASE = 0x2000_0000
_TIMER = {"rp2040": 0x4005_4000, "rp2350": 0x400B_0000}
_TIMER_PAUSE = 0x30
_PSM_WDSEL = {"rp2040": 0x4001_0008, "rp2350": 0x4001_8008}
_WATCHDOG_CTRL = {"rp2040": 0x4005_8000, "rp2350": 0x400D_8000}
_EVERYTHING, _TRIGGER = 0x01FF_FFFF, 0x8000_0000
_BRANCH_TO_SELF = 0xE7FE
_PC, _MASKS, _PRIMASK = 15, 20, 1
_BOOT2_BYTES = 256
_RP2350_CODE = 0x200
_IMAGE_DEF, _IMAGE_DEF_AT = (0xFFFFDED3, 0x10210142, 0x000001FF, 0, 0xAB123579), 0x110
_STACK = 0x2004_0000
_ALL = 0xFFFF_FFFF


def set_defects(machine: Machine, faults: Sequence[Fault]) -> None:
    """What is broken from the start, as switches of the machine."""
    for fault in faults:
        if fault.kind == "flash-protected":
            machine.set_switch("flash_protected", 1)
        elif fault.kind in ("flash-skip-page", "flash-skip-erase"):
            what = fault.kind.removeprefix("flash-skip-")
            machine.set_switch(f"flash_skip_{what}", fault.number("at"))
            machine.set_switch(f"flash_skip_{what}s", fault.number("count") or _ALL)
        elif fault.kind == "flash-stuck":
            for name in ("offset", "bits", "value"):
                machine.set_switch(f"flash_stuck_{name}", fault.number(name))
        elif fault.kind == "crystal":
            machine.set_switch("xosc_ppm", fault.number("ppm"))
        elif fault.kind == "pll":
            machine.set_switch("pll_sys_ppm", fault.number("ppm"))


def hang(machine: Machine) -> None:
    """The core goes on where it is, but in a loop and with interrupts off: in SRAM the loop takes the
    place of the instruction, elsewhere it is one of the boot ROM's."""
    pc = machine.register(_PC)
    at = pc - SRAM_BASE
    if 0 <= at < len(machine.sram()):
        struct.pack_into("<H", machine.sram(), at, _BRANCH_TO_SELF)
        machine.memory_changed(pc, 2)
    else:
        loop = struct.pack("<H", _BRANCH_TO_SELF)
        machine.set_register(_PC, bytes(machine.rom()).index(loop) & ~1)
    machine.set_register(_MASKS, machine.register(_MASKS) | _PRIMASK)


def flip_bit(machine: Machine, address: int, bit: int) -> None:
    at = address - SRAM_BASE
    if 0 <= at < len(machine.sram()):
        machine.sram()[at] ^= 1 << bit % 8
        machine.memory_changed(address, 1)


def lose_sram(machine: Machine) -> None:
    """As after a supply that dropped out: whatever, but never what was there."""
    sram = machine.sram()
    sram[:] = bytes(byte ^ 0xA5 for byte in sram)
    machine.memory_changed(SRAM_BASE, len(sram))


def stop_timer(machine: Machine, chip: str) -> None:
    machine.bus_write(_TIMER[chip] + _TIMER_PAUSE, 4, 1)


def overwrite_flash(machine: Machine, fault: Fault, number: int) -> None:
    """Random bytes, other ones each time."""
    offset, count = fault.number("offset"), fault.number("bytes")
    noise = random.Random(zlib.crc32(f"{fault.number('seed')} {number}".encode())).randbytes(count)
    machine.load_flash(offset, noise[: max(0, len(machine.flash()) - offset)])


def load_old_image(machine: Machine, chip: str) -> None:
    """A program that makes the watchdog reset the chip, in the form that the boot ROM starts."""
    code = struct.pack(
        "<8H4I",
        *(0x4803, 0x4904, 0x6001),  # ldr r0, WDSEL; ldr r1, everything; str r1, [r0]
        *(0x4804, 0x4904, 0x6001),  # ldr r0, CTRL; ldr r1, TRIGGER; str r1, [r0]
        *(_BRANCH_TO_SELF, 0x46C0),
        *(_PSM_WDSEL[chip], _EVERYTHING, _WATCHDOG_CTRL[chip], _TRIGGER),
    )
    if chip == "rp2040":
        boot2 = code.ljust(_BOOT2_BYTES - 4, b"\0")
        machine.load_flash(0, boot2 + struct.pack("<I", _rom_crc(boot2)))
        return
    machine.load_flash(0, struct.pack("<II", _STACK, XIP_BASE + _RP2350_CODE | 1))
    machine.load_flash(_IMAGE_DEF_AT, struct.pack("<5I", *_IMAGE_DEF))
    machine.load_flash(_RP2350_CODE, code)


def _rom_crc(data: bytes) -> int:
    """RP2040 data sheet 2.8.1.3.1: polynomial 04c11db7, most significant bit first, no final xor."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C1_1DB7 if crc >> 31 else 0)) & 0xFFFF_FFFF
    return crc
