# SPDX-License-Identifier: Apache-2.0
"""Debug port and access port of ADIv5.2 (Arm IHI 0031E) as an RP2040 has them.

`DebugPort` holds the DP registers and the sticky error, `MemAp` turns AP registers into bus
accesses. Nothing here knows pyOCD; the one error is the FAULT acknowledge of the wire.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from harness.emulator.chips import ChipFacts

T = TypeVar("T")


class Fault(Exception):
    """FAULT acknowledge: a bus error, or the sticky error of an earlier one."""


class Bus(Protocol):
    """What a MEM-AP sees; None and False are bus faults."""

    def read(self, address: int, size: int) -> int | None: ...
    def write(self, address: int, size: int, value: int) -> bool: ...
    def read_block(self, address: int, length: int) -> bytes | None: ...
    def write_block(self, address: int, data: bytes) -> bool: ...


DP_IDR_ABORT, DP_CTRL_STAT, DP_SELECT, DP_RDBUFF = 0x0, 0x4, 0x8, 0xC
BANK_CTRL_STAT, BANK_DLCR, BANK_TARGETID, BANK_DLPIDR = 0, 1, 2, 3
ABORT_STKERRCLR = 1 << 2
STICKYERR = 1 << 5
CDBGPWRUPREQ, CSYSPWRUPREQ = 1 << 28, 1 << 30
POWER_REQUESTS = CDBGPWRUPREQ | CSYSPWRUPREQ
DLPIDR_SWD_V2 = 1


class DebugPort:
    """One SW-DPv2 with one MEM-AP at APSEL 0; every other APSEL reads as zero."""

    def __init__(self, chip: ChipFacts, targetsel: int, bus: Bus) -> None:
        self.ap = MemAp(chip, bus)
        self._idr = chip.dpidr
        self._target_id = chip.targetsel[0]
        self._instance = targetsel >> 28
        self._control = 0
        self._sticky_error = False
        self._select = 0
        self._read_buffer = 0

    def read_dp(self, register: int) -> int:
        if register == DP_IDR_ABORT:
            return self._idr
        if register == DP_CTRL_STAT:
            return self._read_bank(self._select & 0xF)
        return self._read_buffer

    def write_dp(self, register: int, value: int) -> None:
        if register == DP_IDR_ABORT:
            if value & ABORT_STKERRCLR:
                self._sticky_error = False
        elif register == DP_CTRL_STAT and self._select & 0xF == BANK_CTRL_STAT:
            self._control = value & (POWER_REQUESTS | 0xF00)
        elif register == DP_SELECT:
            self._select = value

    def read_ap(self, address: int) -> int:
        """address: of the AP register in its bank, A[3:2]; the bank is in SELECT."""
        self._require_power()
        if self._select >> 24:
            return 0
        self._read_buffer = self._guard(lambda: self.ap.read(self._ap_register(address)))
        return self._read_buffer

    def write_ap(self, address: int, value: int) -> None:
        self._require_power()
        if not self._select >> 24:
            self._guard(lambda: self.ap.write(self._ap_register(address), value))

    def read_ap_block(self, address: int, count: int) -> Sequence[int]:
        self._require_power()
        if self._select >> 24:
            return [0] * count
        values = self._guard(lambda: self.ap.read_many(self._ap_register(address), count))
        self._read_buffer = values[-1]
        return values

    def write_ap_block(self, address: int, values: Sequence[int]) -> None:
        self._require_power()
        if not self._select >> 24:
            self._guard(lambda: self.ap.write_many(self._ap_register(address), values))

    def _ap_register(self, address: int) -> int:
        return self._select & 0xF0 | address & 0xC

    def _read_bank(self, bank: int) -> int:
        if bank == BANK_CTRL_STAT:
            acknowledges = (self._control & POWER_REQUESTS) << 1
            return self._control | acknowledges | (STICKYERR if self._sticky_error else 0)
        if bank == BANK_TARGETID:
            return self._target_id
        if bank == BANK_DLPIDR:
            return self._instance << 28 | DLPIDR_SWD_V2
        return 0

    def _require_power(self) -> None:
        if self._sticky_error:
            raise Fault("sticky error set: write DP ABORT first")
        if self._control & POWER_REQUESTS != POWER_REQUESTS:
            self._sticky_error = True
            raise Fault("debug power is off: write DP CTRL/STAT first")

    def _guard(self, access: Callable[[], T]) -> T:
        try:
            return access()
        except Fault:
            self._sticky_error = True
            raise


# ---- access port ----

CSW, TAR, DRW, BD0, BD3, CFG, BASE, IDR = 0x00, 0x04, 0x0C, 0x10, 0x1C, 0xF4, 0xF8, 0xFC
CSW_SIZE, CSW_SIZE_WORD, CSW_ADDRINC, CSW_ADDRINC_SINGLE = 0x7, 2, 0x30, 0x10
CSW_DEVICE_EN, CSW_PROT = 1 << 6, 0x0F000000
CSW_WRITABLE = CSW_SIZE | CSW_ADDRINC | CSW_PROT
CSW_RESET = 0x03000000 | CSW_SIZE_WORD
TAR_WRAP = 0x400


class MemAp:
    """AHB-AP: chapters C2 and E of IHI 0031E. Sizes 8, 16, 32; TAR increments within 1 KB."""

    def __init__(self, chip: ChipFacts, bus: Bus) -> None:
        self._bus = bus
        self._idr, self._base = chip.ap_idr, chip.ap_base
        self._csw = CSW_RESET
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
            CSW: self._csw | CSW_DEVICE_EN,
            TAR: self._tar,
            BASE: self._base,
            IDR: self._idr,
        }.get(register, 0)

    def write(self, register: int, value: int) -> None:
        address = self.address_of(register)
        if address is not None:
            self._write_bus(register, address, value)
        elif register == CSW:
            size = value & CSW_SIZE
            self._csw = value & CSW_WRITABLE
            if size > CSW_SIZE_WORD:
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
