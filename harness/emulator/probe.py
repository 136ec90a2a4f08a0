# SPDX-License-Identifier: Apache-2.0
"""Emulated boards as a pyOCD debug probe; entry point `emu` of group `pyocd.probe`.

`pyocd list` shows every known board, `-u emu:NAME` opens one. The probe speaks registers of ADIv5
(RP2040) and ADIv6 (RP2350): everything above it (DAP, discovery, cores, flash algorithm) is pyOCD's
own and unchanged.

Importing pyOCD loads this module through its entry point, so pyOCD comes first: who imports this
module before it would find it half loaded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from pyocd.board.board import Board
from pyocd.board.board_ids import BoardInfo
from pyocd.core import exceptions
from pyocd.core.plugin import Plugin
from pyocd.probe.debug_probe import DebugProbe

from harness.emulator import registry
from harness.emulator.board import NS_PER_SECOND, EmulatedBoard
from harness.emulator.debugbus import DebugBus
from harness.emulator.debugport import DebugPort
from harness.emulator.heldcore import HeldCore
from harness.emulator.memap import Fault
from harness.emulator.swd import SerialWire, WireState
from harness.errors import ProbeError

T = TypeVar("T")


class BoardInUse(ProbeError, exceptions.ProbeError):  # type: ignore[misc]  # pyocd: untyped
    """A second debugger wants a board: an error for the bench and for pyOCD's command line alike."""


class EmulatedProbe(DebugProbe):  # type: ignore[misc]
    """The probe of one board. The board is powered when a session opens the probe, not before."""

    @classmethod
    def get_all_connected_probes(
        cls,
        unique_id: str | None = None,  # noqa: ARG003
        is_explicit: bool = False,  # noqa: ARG003
    ) -> Sequence[EmulatedProbe]:
        return [cls(entry) for entry in registry.known()]

    @classmethod
    def get_probe_with_id(
        cls,
        unique_id: str,
        is_explicit: bool = False,  # noqa: ARG003
    ) -> EmulatedProbe | None:
        return next((cls(entry) for entry in registry.known() if entry.name == unique_id), None)

    def __init__(self, entry: registry.BoardEntry) -> None:
        super().__init__()
        self._entry = entry
        self._board: EmulatedBoard | None = None
        self._wire = SerialWire()
        self._ports: dict[int, DebugPort] = {}
        self._protocol: DebugProbe.Protocol | None = None

    # ---- who it is ----

    @property
    def unique_id(self) -> str:
        return self._entry.name

    @property
    def vendor_name(self) -> str:
        return "ripbench"

    @property
    def product_name(self) -> str:
        return "emulated debug probe"

    @property
    def supported_wire_protocols(self) -> Sequence[DebugProbe.Protocol]:
        return [DebugProbe.Protocol.DEFAULT, DebugProbe.Protocol.SWD]

    @property
    def wire_protocol(self) -> DebugProbe.Protocol | None:
        return self._protocol

    @property
    def capabilities(self) -> set[DebugProbe.Capability]:
        return {
            DebugProbe.Capability.SWJ_SEQUENCE,
            DebugProbe.Capability.SWD_SEQUENCE,
            DebugProbe.Capability.BANKED_DP_REGISTERS,
            DebugProbe.Capability.APv2_ADDRESSES,
        }

    @property
    def associated_board_info(self) -> BoardInfo:
        chip = self._entry.chip
        return BoardInfo(name=chip.board_name, target=chip.pyocd_target)

    def create_associated_board(self) -> Board:
        return Board(self.session, board_info=self.associated_board_info)

    # ---- connection ----

    @property
    def is_open(self) -> bool:
        return self._board is not None

    def open(self) -> None:
        """Raises BoardInUse while another probe of this process has the board."""
        board = registry.board(self._entry.name)
        if board.debugger:
            raise BoardInUse(
                f"{board.name} already has a debugger",
                evidence={"held by": board.debugger},
                hint="close that session first; a board has one debug port",
            )
        board.debugger = (
            f"the pyOCD session that thread {threading.current_thread().name!r} opened at "
            f"{board.now_ns / NS_PER_SECOND:.6f} s of emulated time"
        )
        self._ports = _debug_ports(board)
        self._wire = SerialWire()
        self._board = board

    def close(self) -> None:
        if self._board is not None:
            self._board.debugger = ""
        self._board = None
        self._ports = {}

    def connect(self, protocol: DebugProbe.Protocol | None = None) -> None:  # noqa: ARG002
        self._protocol = DebugProbe.Protocol.SWD

    def disconnect(self) -> None:
        self._protocol = None

    def set_clock(self, frequency: float) -> None:
        """The wire has no speed: what an access costs is fixed in debugbus."""

    def swj_sequence(self, length: int, bits: int) -> None:
        self._wire.drive(length, bits)

    def swd_sequence(
        self, sequences: Sequence[tuple[int] | tuple[int, int]]
    ) -> tuple[int, Sequence[bytes]]:
        """Nobody drives the cycles that are read back: during TARGETSEL every port is silent."""
        answers = []
        for sequence in sequences:
            if len(sequence) == 2:
                self._wire.drive(*sequence)
            else:
                answers.append(bytes((sequence[0] + 7) // 8))
        return 0, answers

    def reset(self) -> None:
        self.assert_reset(True)
        self.assert_reset(False)

    def assert_reset(self, asserted: bool) -> None:
        self._opened().hold_in_reset(asserted)

    def is_reset_asserted(self) -> bool:
        return self._opened().held_in_reset

    def flush(self) -> None:
        """Nothing is queued."""

    # ---- registers: transfers happen at once, a deferred read only hands its value over later ----

    def read_dp(self, addr: int, now: bool = True) -> int | Callable[[], int]:
        value = self._transfer(lambda port: port.read_dp(addr & 0xC))
        return value if now else lambda: value

    def write_dp(self, addr: int, data: int) -> None:
        self._transfer(lambda port: port.write_dp(addr & 0xC, data))

    def read_ap(self, addr: int, now: bool = True) -> int | Callable[[], int]:
        value = self._transfer(lambda port: port.read_ap(addr))
        return value if now else lambda: value

    def write_ap(self, addr: int, data: int) -> None:
        self._transfer(lambda port: port.write_ap(addr, data))

    def read_ap_multiple(
        self, addr: int, count: int = 1, now: bool = True
    ) -> Sequence[int] | Callable[[], Sequence[int]]:
        values = self._transfer(lambda port: port.read_ap_block(addr, count))
        return values if now else lambda: values

    def write_ap_multiple(self, addr: int, values: Sequence[int]) -> None:
        self._transfer(lambda port: port.write_ap_block(addr, values))

    def _transfer(self, access: Callable[[DebugPort], T]) -> T:
        self._opened()
        port = self._listening_port()
        if port is None:
            raise exceptions.TransferError(f"no acknowledge on SWD: {self._why_silent()}")
        try:
            return access(port)
        except Fault as fault:
            raise exceptions.TransferFaultError(str(fault)) from fault

    def _listening_port(self) -> DebugPort | None:
        """The port that answers: the selected one, or the only one there is. Answers of several
        at once are none."""
        wire = self._wire
        if not wire.everybody:
            return None if wire.selected is None else self._ports.get(wire.selected)
        if self._entry.chip.rescue_targetsel is not None or len(self._ports) > 1:
            return None
        return next(iter(self._ports.values()))

    def _why_silent(self) -> str:
        if self._wire.state is not WireState.SWD:
            return "the debug ports are dormant"
        if self._wire.selected is None:
            return "no debug port was selected since the last line reset"
        if self._wire.selected == self._entry.chip.rescue_targetsel:
            return "the rescue debug port is not emulated"
        return f"no debug port has TARGETSEL {self._wire.selected:#010x}"

    def _opened(self) -> EmulatedBoard:
        if self._board is None:
            raise exceptions.ProbeError(f"probe {self.unique_id} is not open")
        return self._board


def _debug_ports(board: EmulatedBoard) -> dict[int, DebugPort]:
    """The ports of a board by their TARGETSEL: core 0's, and core 1's where it has one of its own."""
    bus = DebugBus(board)
    chip = board.chip
    return {
        targetsel: DebugPort(chip, targetsel, HeldCore(bus) if core else bus)
        for core, targetsel in enumerate(chip.targetsel)
    }


class EmulatedProbePlugin(Plugin):  # type: ignore[misc]
    """What pyOCD's entry point loads."""

    def load(self) -> type[EmulatedProbe]:
        return EmulatedProbe

    @property
    def name(self) -> str:
        return "emu"

    @property
    def description(self) -> str:
        return "Emulated Raspberry Pi Pico boards of ripbench"
