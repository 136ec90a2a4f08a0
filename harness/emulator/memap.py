# SPDX-License-Identifier: Apache-2.0
"""A MEM-AP on a bus: chapters C2 and E of ADIv5.2 (Arm IHI 0031E), the same in ADIv6 (IHI 0074).

Registers have the offsets of ADIv5. Sizes are 8, 16 and 32 bits; TAR increments within 1 KB.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Protocol

from harness.emulator.chips import MemApFacts


class Fault(Exception):
    """FAULT acknowledge: a bus error, or the sticky error of an earlier one."""


class Bus(Protocol):
    """What a MEM-AP sees; None and False are bus faults."""

    def read(self, address: int, size: int) -> int | None: ...
    def write(self, address: int, size: int, value: int) -> bool: ...
    def read_block(self, address: int, length: int) -> bytes | None: ...
    def write_block(self, address: int, data: bytes) -> bool: ...


CSW, TAR, DRW, BD0, BD3, CFG, BASE, IDR = 0x00, 0x04, 0x0C, 0x10, 0x1C, 0xF4, 0xF8, 0xFC
CSW_SIZE, CSW_SIZE_WORD, CSW_ADDRINC, CSW_ADDRINC_SINGLE = 0x7, 2, 0x30, 0x10
TAR_WRAP = 0x400


class MemAp:
    """Errors: Fault when the bus gives one."""

    def __init__(self, facts: MemApFacts, bus: Bus) -> None:
        self._facts = facts
        self._bus = bus
        self._csw = facts.csw_reset
        self._tar = 0

    def address_of(self, register: int) -> int | None:
        """The bus address that an access to this register goes to, None if it goes to none."""
        if register == DRW:
            return self._tar & -self._size()
        if BD0 <= register <= BD3:
            return self._tar & ~0xF | register & 0xC
        return None

    def read(self, register: int) -> int:
        address = self.address_of(register)
        if address is not None:
            return self._read_bus(register, address)
        return {
            CSW: self._csw | self._facts.csw_ones,
            TAR: self._tar,
            CFG: self._facts.cfg,
            BASE: self._facts.base,
            IDR: self._facts.idr,
        }.get(register, 0)

    def write(self, register: int, value: int) -> None:
        address = self.address_of(register)
        if address is not None:
            self._write_bus(register, address, value)
        elif register == CSW:
            self._csw = value & self._facts.csw_writable
            if self._csw & CSW_SIZE > CSW_SIZE_WORD:
                self._csw = self._csw & ~CSW_SIZE | CSW_SIZE_WORD
        elif register == TAR:
            self._tar = value & 0xFFFFFFFF

    def read_many(self, register: int, count: int) -> Sequence[int]:
        if not self._is_block(register, count):
            return [self.read(register) for _ in range(count)]
        data = self._bus.read_block(self._tar, 4 * count)
        if data is None:
            raise Fault(f"bus fault reading {4 * count} bytes at {self._tar:#010x}")
        self._increment(4 * count)
        return struct.unpack(f"<{count}I", data)

    def write_many(self, register: int, values: Sequence[int]) -> None:
        count = len(values)
        if not self._is_block(register, count):
            for value in values:
                self.write(register, value)
            return
        if not self._bus.write_block(self._tar, struct.pack(f"<{count}I", *values)):
            raise Fault(f"bus fault writing {4 * count} bytes at {self._tar:#010x}")
        self._increment(4 * count)

    def _size(self) -> int:
        return 1 << (self._csw & CSW_SIZE)

    def _is_block(self, register: int, count: int) -> bool:
        """Consecutive words without a wrap of TAR: one copy does it."""
        return (
            register == DRW
            and count > 1
            and self._csw & (CSW_SIZE | CSW_ADDRINC) == CSW_SIZE_WORD | CSW_ADDRINC_SINGLE
            and self._tar % 4 == 0
            and self._tar % TAR_WRAP + 4 * count <= TAR_WRAP
        )

    def _increment(self, step: int) -> None:
        self._tar = self._tar & ~(TAR_WRAP - 1) | (self._tar + step) % TAR_WRAP

    def _read_bus(self, register: int, address: int) -> int:
        size = self._size() if register == DRW else 4
        value = self._bus.read(address, size)
        if value is None:
            raise Fault(f"bus fault reading {size} bytes at {address:#010x}")
        if register == DRW and self._csw & CSW_ADDRINC == CSW_ADDRINC_SINGLE:
            self._increment(size)
        return value << 8 * (address & 3)

    def _write_bus(self, register: int, address: int, value: int) -> None:
        size = self._size() if register == DRW else 4
        lane = value >> 8 * (address & 3) & (1 << 8 * size) - 1
        if not self._bus.write(address, size, lane):
            raise Fault(f"bus fault writing {size} bytes at {address:#010x}")
        if register == DRW and self._csw & CSW_ADDRINC == CSW_ADDRINC_SINGLE:
            self._increment(size)
