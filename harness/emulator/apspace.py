# SPDX-License-Identifier: Apache-2.0
"""What lies behind a debug port: access ports by number (ADIv5), or components by address (ADIv6).

An AP access goes to the address in SELECT with A[3:2] of the request. ADIv5 (Arm IHI 0031E, B2.2.9)
reads that as APSEL in bits 31:24 and a register in bits 7:0; ADIv6 (IHI 0074, B2.2.11) as an address
of the debug APB, where a ROM table names the access ports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.emulator.memap import MemAp


class ApSpace(Protocol):
    """Errors: memap.Fault."""

    def read(self, address: int) -> int: ...
    def write(self, address: int, value: int) -> None: ...
    def read_many(self, address: int, count: int) -> Sequence[int]: ...
    def write_many(self, address: int, values: Sequence[int]) -> None: ...


# ---- ADIv5 ----


class NumberedAps:
    """One MEM-AP at APSEL 0; every other APSEL reads as zero."""

    def __init__(self, ap: MemAp) -> None:
        self._ap = ap

    def read(self, address: int) -> int:
        return 0 if address >> 24 else self._ap.read(address & 0xFC)

    def write(self, address: int, value: int) -> None:
        if not address >> 24:
            self._ap.write(address & 0xFC, value)

    def read_many(self, address: int, count: int) -> Sequence[int]:
        return [0] * count if address >> 24 else self._ap.read_many(address & 0xFC, count)

    def write_many(self, address: int, values: Sequence[int]) -> None:
        if not address >> 24:
            self._ap.write_many(address & 0xFC, values)


# ---- ADIv6 ----

FRAME = 0x1000  # a component's registers: 4 KB
MEM_AP_REGISTERS, MEM_AP_REGISTERS_END = 0xD00, 0xE00  # IHI 0074 C1.2: those of ADIv5 in an APv2
DEVARCH, PIDR4, PIDR0, CIDR0 = 0xFBC, 0xFD0, 0xFE0, 0xFF0
CIDR_PREAMBLE, CLASS_CORESIGHT = 0xB105000D, 0x9
DESIGNER_ARM = 0x4_000B_B000  # JEP106 of Arm in PIDR: 4 continuation codes, 3Bh
DEVARCH_ARM = 0x47700000  # Arm is the architect, the register is present
ENTRY_PRESENT = 0x3


@dataclass(frozen=True)
class ComponentId:
    """Identification registers of a CoreSight component by Arm (IHI 0029, B2)."""

    part: int
    archid: int

    def read(self, offset: int) -> int:
        if offset >= CIDR0:
            return _byte(CIDR_PREAMBLE | CLASS_CORESIGHT << 12, offset - CIDR0)
        pidr = DESIGNER_ARM | self.part
        if offset >= PIDR0:
            return _byte(pidr, offset - PIDR0)
        if offset >= PIDR4:
            return _byte(pidr >> 32, offset - PIDR4)
        return DEVARCH_ARM | self.archid if offset == DEVARCH else 0


ROM_TABLE = ComponentId(part=0x4C0, archid=0x0AF7)  # class 9 ROM table, 32-bit entries
MEM_AP = ComponentId(part=0x9E3, archid=0x0A17)  # CoreSight SoC-600 AHB-AP


class AddressedAps:
    """The ROM table at 0 and the MEM-APs that it names, by address; nothing else answers."""

    def __init__(self, aps: Mapping[int, MemAp]) -> None:
        self._aps = dict(aps)
        self._entries = [base | ENTRY_PRESENT for base in self._aps]

    def read(self, address: int) -> int:
        found = self._mem_ap(address)
        if found is not None:
            ap, register = found
            return ap.read(register)
        frame, offset = address & -FRAME, address % FRAME
        if frame == 0:
            entry = offset // 4
            return self._entries[entry] if entry < len(self._entries) else ROM_TABLE.read(offset)
        return MEM_AP.read(offset) if frame in self._aps else 0

    def write(self, address: int, value: int) -> None:
        found = self._mem_ap(address)
        if found is not None:
            ap, register = found
            ap.write(register, value)

    def read_many(self, address: int, count: int) -> Sequence[int]:
        found = self._mem_ap(address)
        if found is None:
            return [self.read(address)] * count
        ap, register = found
        return ap.read_many(register, count)

    def write_many(self, address: int, values: Sequence[int]) -> None:
        found = self._mem_ap(address)
        if found is not None:
            ap, register = found
            ap.write_many(register, values)

    def _mem_ap(self, address: int) -> tuple[MemAp, int] | None:
        """The MEM-AP at an address and its register there."""
        frame, offset = address & -FRAME, address % FRAME
        if frame in self._aps and MEM_AP_REGISTERS <= offset < MEM_AP_REGISTERS_END:
            return self._aps[frame], offset - MEM_AP_REGISTERS
        return None


def _byte(value: int, offset: int) -> int:
    """Identification registers hold a byte each, every 4 bytes."""
    return value >> 8 * (offset // 4) & 0xFF
