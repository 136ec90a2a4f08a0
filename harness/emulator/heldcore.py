# SPDX-License-Identifier: Apache-2.0
"""Core 1 as a debugger finds it when no program started it: asleep in the boot ROM.

RP2040 data sheet 2.8.2: after reset core 1 waits (WFE) in the ROM for a start message from core 0.
The machine executes core 0 only, so core 1 is its debug registers over the same memories: it can be
halted, looked at and let go, and it never executes an instruction. ARMv6-M ARM, C1.6. A fault plan may
say that an old program runs on it until the next system reset.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.emulator.memap import Bus

PPB, PPB_END = 0xE0000000, 0xE0100000
DFSR, DHCSR, DCRSR, DCRDR, DEMCR = 0xE000ED30, 0xE000EDF0, 0xE000EDF4, 0xE000EDF8, 0xE000EDFC
IDENTIFICATION = (0xE000ED00, 0xE00FF000)  # CPUID; the ROM table
DBGKEY = 0xA05F
C_DEBUGEN, C_HALT, CONTROL_BITS = 1 << 0, 1 << 1, 0xF
S_REGRDY, S_HALT, S_SLEEP = 1 << 16, 1 << 17, 1 << 18
DFSR_HALTED = 1 << 0
REG_WNR, REG_PC, REG_XPSR, REGISTERS = 1 << 16, 15, 16, 21
ROM_WAIT_PC, XPSR_T = 0x00000138, 1 << 24  # somewhere in the ROM; where differs by its version
COMPONENT_ID = 0xFD0  # offset of the identification registers in every 4 KB block


@dataclass
class Core1:
    """runs: it is not in the ROM's sleep. halted: a debugger holds it."""

    runs: bool = False
    halted: bool = False


class HeldCore:
    """Implements `memap.Bus`: the private peripheral bus of core 1, all else from core 0's bus."""

    def __init__(self, shared: Bus, core1: Core1 | None = None) -> None:
        self._shared = shared
        self._core1 = core1 or Core1()
        self._control = self._demcr = self._dfsr = self._dcrdr = 0
        self._registers = [0] * REGISTERS
        self._registers[REG_PC], self._registers[REG_XPSR] = ROM_WAIT_PC, XPSR_T

    def read(self, address: int, size: int) -> int | None:
        word = address & ~3
        if not PPB <= address < PPB_END or self._identifies(word):
            return self._shared.read(address, size)
        registers = {DHCSR: self._dhcsr(), DCRDR: self._dcrdr, DEMCR: self._demcr, DFSR: self._dfsr}
        return registers.get(word, 0) >> 8 * (address & 3) & (1 << 8 * size) - 1

    def write(self, address: int, size: int, value: int) -> bool:
        if not PPB <= address < PPB_END:
            return self._shared.write(address, size, value)
        if address == DHCSR and value >> 16 == DBGKEY:
            self._write_dhcsr(value)
        elif address == DCRSR:
            self._transfer(value)
        elif address == DCRDR:
            self._dcrdr = value
        elif address == DEMCR:
            self._demcr = value
        elif address == DFSR:
            self._dfsr &= ~value
        return True

    def read_block(self, address: int, length: int) -> bytes | None:
        if not PPB <= address < PPB_END:
            return self._shared.read_block(address, length)
        words = (self.read(address + at, 4) or 0 for at in range(0, length, 4))
        return b"".join(word.to_bytes(4, "little") for word in words)

    def write_block(self, address: int, data: bytes) -> bool:
        if not PPB <= address < PPB_END:
            return self._shared.write_block(address, data)
        for at in range(0, len(data), 4):
            self.write(address + at, 4, int.from_bytes(data[at : at + 4], "little"))
        return True

    @staticmethod
    def _identifies(word: int) -> bool:
        return word & 0xFFF >= COMPONENT_ID or word in IDENTIFICATION or word >> 12 == 0xE00FF

    def _dhcsr(self) -> int:
        halted = self._control & (C_DEBUGEN | C_HALT) == C_DEBUGEN | C_HALT
        idle = 0 if self._core1.runs else S_SLEEP
        return self._control | S_REGRDY | (S_HALT if halted else idle)

    def _write_dhcsr(self, value: int) -> None:
        if value & ~self._control & C_HALT and value & C_DEBUGEN:
            self._dfsr |= DFSR_HALTED
        self._control = value & CONTROL_BITS
        self._core1.halted = bool(self._dhcsr() & S_HALT)

    def _transfer(self, value: int) -> None:
        number = value & 0x1F
        if number >= REGISTERS:
            return
        if value & REG_WNR:
            self._registers[number] = self._dcrdr
        else:
            self._dcrdr = self._registers[number]
