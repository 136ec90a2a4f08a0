# SPDX-License-Identifier: Apache-2.0
"""The address that an ARMv6-M load or store meant, from the registers at its fault (ARMv6-M A5.2)."""

from __future__ import annotations

from dataclasses import dataclass

from harness.schema.records import FaultRecord

_SP, _PC = 13, 15
_XPSR_ALIGNED = 1 << 9  # the core put a word below the frame to align it
_FRAME_BYTES = 32
# op field of the register-offset group: width, and whether it loads
_REGISTER_OFFSET = ((4, 0), (2, 0), (1, 0), (1, 1), (4, 1), (2, 1), (1, 1), (2, 1))
# bits 15 to 11 of the immediate-offset groups
_IMMEDIATE_OFFSET = {12: (4, 0), 13: (4, 1), 14: (1, 0), 15: (1, 1), 16: (2, 0), 17: (2, 1)}


@dataclass(frozen=True)
class Access:
    """Of `width` bytes each."""

    address: int
    width: int
    is_load: bool

    def __str__(self) -> str:
        what = f"{self.width}-byte load from" if self.is_load else f"{self.width}-byte store to"
        if self.address % self.width:
            return f"unaligned {what} {self.address:#010x}"
        return f"{what} {self.address:#010x}, which nothing answers"


def access(fault: FaultRecord, halfword: int) -> Access | None:
    """What the instruction `halfword` at fault.pc accessed; None if it is no load or store."""
    registers = _registers(fault)
    top = halfword >> 11
    n = halfword >> 3 & 7
    if top == 9:  # LDR (literal)
        return Access((registers[_PC] & ~3) + (halfword & 0xFF) * 4, 4, True)
    if halfword >> 12 == 5:
        width, load = _REGISTER_OFFSET[halfword >> 9 & 7]
        return _at(registers[n] + registers[halfword >> 6 & 7], width, load)
    if top in _IMMEDIATE_OFFSET:
        width, load = _IMMEDIATE_OFFSET[top]
        return _at(registers[n] + (halfword >> 6 & 31) * width, width, load)
    if halfword >> 12 == 9:  # LDR, STR (SP)
        return _at(registers[_SP] + (halfword & 0xFF) * 4, 4, halfword >> 11 & 1)
    if halfword >> 12 == 12:  # LDM, STM
        return _at(registers[halfword >> 8 & 7], 4, halfword >> 11 & 1)
    if halfword >> 9 == 0x5A:  # PUSH
        return _at(registers[_SP] - 4 * (halfword & 0x1FF).bit_count(), 4, 0)
    if halfword >> 9 == 0x5E:  # POP
        return _at(registers[_SP], 4, 1)
    return None


def _at(address: int, width: int, load: int) -> Access:
    return Access(address & 0xFFFF_FFFF, width, bool(load))


def _registers(fault: FaultRecord) -> list[int]:
    """r0 to r15 when the instruction began; the pc as it reads, 4 bytes ahead."""
    sp = fault.sp + _FRAME_BYTES + (4 if fault.xpsr & _XPSR_ALIGNED else 0)
    low = [fault.r0, fault.r1, fault.r2, fault.r3, *fault.r4_r11, fault.r12]
    return [*low, sp, fault.lr, fault.pc + 4]
