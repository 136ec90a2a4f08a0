# SPDX-License-Identifier: Apache-2.0
"""Core 0's side of the debug access port, and what a debug access costs in emulated time.

While the core runs, a debugger's loops must end, so accesses let time pass, always by the same
amount: an access through the AP lasts ACCESS_NS before it takes place, however many words it
moves, and a read of DHCSR lasts up to POLL_CYCLES but ends at once when the core halts. While the
core is halted or held in reset no time passes.

An error of strictness stops the core where it stands. A debugger must be able to repair that, so
its accesses go on (and cost no time); only one that does nothing but poll DHCSR is told.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from harness.emulator.board import HALTED, EmulatedBoard
from harness.errors import ConfigError, FirmwareFault

ACCESS_NS = 10_000
POLL_CYCLES = 100_000
POLLS_AFTER_FAULT = 3

DHCSR = 0xE000EDF0
DBGKEY, C_DEBUGEN, C_HALT = 0xA05F, 1 << 0, 1 << 1
PPB, PPB_END = 0xE0000000, 0xE0100000


class DebugBus:
    """Implements `memap.Bus`."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board
        self._polls = 0

    def read(self, address: int, size: int) -> int | None:
        if address == DHCSR:
            self._poll()
        else:
            self._elapse()
        return self._board.machine.bus_read(address, size)

    def write(self, address: int, size: int, value: int) -> bool:
        self._elapse()
        done = self._board.machine.bus_write(address, size, value)
        if address == DHCSR and value >> 16 == DBGKEY and value & C_HALT and value & C_DEBUGEN:
            self._board.release_fault()
        self._settle(address)
        return done

    def read_block(self, address: int, length: int) -> bytes | None:
        self._elapse()
        return self._board.machine.bus_read_block(address, length)

    def write_block(self, address: int, data: bytes) -> bool:
        self._elapse()
        done = self._board.machine.bus_write_block(address, data)
        self._settle(address)
        return done

    def _elapse(self) -> None:
        self._polls = 0
        if self._core_runs():
            self._tolerant(lambda: self._board.advance(ns=ACCESS_NS))

    def _poll(self) -> None:
        if self._board.fault is not None:
            self._polls += 1
            if self._polls > POLLS_AFTER_FAULT:
                raise self._board.fault
        elif self._core_runs():
            self._polls = 0
            self._tolerant(lambda: self._board.advance(cycles=POLL_CYCLES))

    def _core_runs(self) -> bool:
        board = self._board
        return not (board.fault or board.held_in_reset or board.standing == HALTED)

    def _settle(self, address: int) -> None:
        """A write to the core's own registers may have halted, released or reset it."""
        if PPB <= address < PPB_END:
            self._tolerant(self._board.settle)

    @staticmethod
    def _tolerant(pass_time: Callable[[], None]) -> None:
        """The board keeps the error and stands still; who polls or waits is told (see above)."""
        with suppress(FirmwareFault, ConfigError):
            pass_time()
