# SPDX-License-Identifier: Apache-2.0
"""From a debug probe to the debug ports of one board: what the probe's hardware would do.

`DebugLink` is what the probe needs; `LocalLink` does it on a board of this process,
`remotelink.RemoteLink` on a served one. Reads hand their values over later: a link may collect requests
until one is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from harness.emulator.board import NS_PER_SECOND, EmulatedBoard
from harness.emulator.debugbus import DebugBus
from harness.emulator.debugport import DebugPort
from harness.emulator.faultplan_wire import PlannedPort
from harness.emulator.heldcore import HeldCore
from harness.emulator.swd import SerialWire, WireState
from harness.errors import ProbeError


class Silent(Exception):
    """No acknowledge: no debug port, or more than one, was listening."""


class InUse(ProbeError):
    """Somebody else has the board's debug port."""


class DebugLink(Protocol):
    """Errors of every method, at the latest when a value or a flush is asked for: Silent,
    memap.Fault, and what the board's firmware did wrong."""

    def drive(self, length: int, bits: int) -> None: ...
    def read_dp(self, register: int) -> Callable[[], int]: ...
    def write_dp(self, register: int, value: int) -> None: ...
    def read_ap(self, address: int) -> Callable[[], int]: ...
    def write_ap(self, address: int, value: int) -> None: ...
    def read_ap_block(self, address: int, count: int) -> Callable[[], Sequence[int]]: ...
    def write_ap_block(self, address: int, values: Sequence[int]) -> None: ...
    def hold_in_reset(self, asserted: bool) -> None: ...
    def held_in_reset(self) -> bool: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class LocalLink:
    """The wire to a board of this process. holder: for the next one who asks, by default this thread.

    Errors: InUse.
    """

    def __init__(self, board: EmulatedBoard, holder: str = "") -> None:
        if board.debugger:
            raise InUse(
                f"{board.name} already has a debugger",
                evidence={"held by": board.debugger},
                hint="close that session first; a board has one debug port",
            )
        self._holder = holder or (
            f"the pyOCD session that thread {threading.current_thread().name!r} opened at "
            f"{board.now_ns / NS_PER_SECOND:.6f} s of emulated time"
        )
        self.join(board)

    def join(self, board: EmulatedBoard) -> None:
        """Onto this board, as freshly powered: every port dormant, every register at its reset value."""
        board.debugger = self._holder
        self._board = board
        self._wire = SerialWire()
        self._ports = _debug_ports(board)

    def close(self) -> None:
        self._board.debugger = ""

    # ---- the wire ----

    def drive(self, length: int, bits: int) -> None:
        self._wire.drive(length, bits)

    def hold_in_reset(self, asserted: bool) -> None:
        self._board.hold_in_reset(asserted)

    def held_in_reset(self) -> bool:
        return self._board.held_in_reset

    def flush(self) -> None:
        """Nothing is queued."""

    # ---- registers: transfers happen at once ----

    def read_dp(self, register: int) -> Callable[[], int]:
        value = self._port().read_dp(register)
        return lambda: value

    def write_dp(self, register: int, value: int) -> None:
        self._port().write_dp(register, value)

    def read_ap(self, address: int) -> Callable[[], int]:
        value = self._port().read_ap(address)
        return lambda: value

    def write_ap(self, address: int, value: int) -> None:
        self._port().write_ap(address, value)

    def read_ap_block(self, address: int, count: int) -> Callable[[], Sequence[int]]:
        values = self._port().read_ap_block(address, count)
        return lambda: values

    def write_ap_block(self, address: int, values: Sequence[int]) -> None:
        self._port().write_ap_block(address, values)

    # ---- who listens ----

    def _port(self) -> DebugPort:
        """The port that answers: the selected one, or the only one there is. Answers of several at
        once are none."""
        wire = self._wire
        port = None
        if not wire.everybody:
            port = None if wire.selected is None else self._ports.get(wire.selected)
        elif self._board.chip.rescue_targetsel is None and len(self._ports) == 1:
            port = next(iter(self._ports.values()))
        if port is None:
            raise Silent(f"no acknowledge on SWD: {self._why_silent()}")
        return port

    def _why_silent(self) -> str:
        if self._wire.state is not WireState.SWD:
            return "the debug ports are dormant"
        if self._wire.selected is None:
            return "no debug port was selected since the last line reset"
        if self._wire.selected == self._board.chip.rescue_targetsel:
            return "the rescue debug port is not emulated"
        return f"no debug port has TARGETSEL {self._wire.selected:#010x}"


def _debug_ports(board: EmulatedBoard) -> dict[int, DebugPort]:
    """The ports of a board by their TARGETSEL: core 0's, and core 1's where it has one of its own."""
    bus = DebugBus(board)
    chip = board.chip
    return {
        targetsel: PlannedPort(
            chip, targetsel, HeldCore(bus, board.faults.core1) if core else bus, board.faults.wire
        )
        for core, targetsel in enumerate(chip.targetsel)
    }
