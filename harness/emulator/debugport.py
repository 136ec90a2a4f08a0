# SPDX-License-Identifier: Apache-2.0
"""The serial-wire debug port: SW-DPv2 of ADIv5.2 (Arm IHI 0031E) and SW-DPv3 of ADIv6 (IHI 0074).

`DebugPort` holds the DP registers and the sticky error; what an AP access reaches is an `ApSpace`.
Nothing here knows pyOCD; the one error is the FAULT acknowledge of the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from harness.emulator.apspace import AddressedAps, ApSpace, NumberedAps
from harness.emulator.chips import ChipFacts
from harness.emulator.memap import Bus, Fault, MemAp

T = TypeVar("T")

DP_IDR_ABORT, DP_CTRL_STAT, DP_SELECT, DP_RDBUFF = 0x0, 0x4, 0x8, 0xC
DPBANKSEL = 0xF
BANK_CTRL_STAT, BANK_TARGETID, BANK_DLPIDR = 0, 2, 3
ABORT_STKERRCLR = 1 << 2
STICKYERR = 1 << 5
CDBGPWRUPREQ, CSYSPWRUPREQ = 1 << 28, 1 << 30
POWER_REQUESTS = CDBGPWRUPREQ | CSYSPWRUPREQ
CTRL_STAT_WRITABLE = POWER_REQUESTS | 0xF00  # MASKLANE
DLPIDR_SWD_V2 = 1

# DPv3 only: registers at address 0 by DPBANKSEL (IHI 0074, B2.2). AP addresses have 32 bits, so
# BASEPTR1 and SELECT1 are zero; BASEPTR0 points to the ROM table at 0 and says that it is valid.
DPV3_BANKS: Mapping[int, int] = MappingProxyType({1: 0x00000020, 2: 0x00000001, 3: 0x00000000})
DPV3_MEM_AP = 0x2000  # core 0's in the RP2350: data sheet 3.5.3


class DebugPort:
    """One debug port with the MEM-AP of one core. targetsel: the one that selects this port."""

    def __init__(self, chip: ChipFacts, targetsel: int, bus: Bus) -> None:
        ap = MemAp(chip.ap, bus)
        self._is_v3 = chip.dp_version >= 3
        self._aps: ApSpace = AddressedAps({DPV3_MEM_AP: ap}) if self._is_v3 else NumberedAps(ap)
        self._idr = chip.dpidr
        self._target_id = chip.targetsel[0]
        self._instance = targetsel >> 28
        self._control = 0
        self._sticky_error = False
        self._select = 0
        self._read_buffer = 0

    def read_dp(self, register: int) -> int:
        bank = self._select & DPBANKSEL
        if register == DP_IDR_ABORT:
            return DPV3_BANKS.get(bank, self._idr) if self._is_v3 else self._idr
        if register == DP_CTRL_STAT:
            return self._read_bank(bank)
        return self._read_buffer

    def write_dp(self, register: int, value: int) -> None:
        if register == DP_IDR_ABORT:
            if value & ABORT_STKERRCLR:
                self._sticky_error = False
        elif register == DP_CTRL_STAT and self._select & DPBANKSEL == BANK_CTRL_STAT:
            self._control = value & CTRL_STAT_WRITABLE
        elif register == DP_SELECT:
            self._select = value

    def read_ap(self, address: int) -> int:
        """address: of the AP register in its bank, A[3:2]; the bank is in SELECT."""
        self._require_power()
        self._read_buffer = self._guard(lambda: self._aps.read(self._ap_address(address)))
        return self._read_buffer

    def write_ap(self, address: int, value: int) -> None:
        self._require_power()
        self._guard(lambda: self._aps.write(self._ap_address(address), value))

    def read_ap_block(self, address: int, count: int) -> Sequence[int]:
        self._require_power()
        values = self._guard(lambda: self._aps.read_many(self._ap_address(address), count))
        self._read_buffer = values[-1]
        return values

    def write_ap_block(self, address: int, values: Sequence[int]) -> None:
        self._require_power()
        self._guard(lambda: self._aps.write_many(self._ap_address(address), values))

    def _ap_address(self, address: int) -> int:
        return self._select & ~0xF | address & 0xC

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
