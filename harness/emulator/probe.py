# SPDX-License-Identifier: Apache-2.0
"""Emulated boards as a pyOCD debug probe; entry point `emu` of group `pyocd.probe`.

`pyocd list` shows every known board, `-u emu:NAME` opens one. The probe speaks registers of ADIv5
(RP2040) and ADIv6 (RP2350): everything above it (DAP, discovery, cores, flash algorithm) is pyOCD's
own and unchanged.

Importing pyOCD loads this module through its entry point, so pyOCD comes first: who imports this
module before it would find it half loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pyocd.board.board import Board
from pyocd.board.board_ids import BoardInfo
from pyocd.core import exceptions
from pyocd.core.plugin import Plugin
from pyocd.probe.debug_probe import DebugProbe

from harness.emulator import registry
from harness.emulator.debuglink import DebugLink, InUse, Silent
from harness.emulator.faultplan_wire import Answer, NoAnswer
from harness.emulator.memap import Fault
from harness.errors import ProbeError

T = TypeVar("T")

_ERRORS = {  # as the drivers of real probes have them
    Answer.NONE: exceptions.TransferError,
    Answer.PARITY: exceptions.TransferError,
    Answer.WAIT: exceptions.TransferTimeoutError,
    Answer.GONE: exceptions.ProbeDisconnected,
}


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
        return [cls(entry) for entry in registry.known() for _ in range(registry.probes_of(entry))]

    @classmethod
    def get_probe_with_id(
        cls,
        unique_id: str,
        is_explicit: bool = False,  # noqa: ARG003
    ) -> EmulatedProbe | None:
        """The first one, as other probes' drivers do where two have this id."""
        probes = cls.get_all_connected_probes()
        return next((probe for probe in probes if probe.unique_id == unique_id), None)

    def __init__(self, entry: registry.BoardEntry) -> None:
        super().__init__()
        self._entry = entry
        self._link: DebugLink | None = None
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
        return self._link is not None

    def open(self) -> None:
        """Raises BoardInUse while somebody else has the board."""
        try:
            self._link = registry.debug_link(self._entry.name)
        except InUse as held:
            raise BoardInUse(
                held.message, cause=held.cause, evidence=held.evidence, hint=held.hint
            ) from held

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None

    def connect(self, protocol: DebugProbe.Protocol | None = None) -> None:  # noqa: ARG002
        self._protocol = DebugProbe.Protocol.SWD

    def disconnect(self) -> None:
        self._protocol = None

    def set_clock(self, frequency: float) -> None:
        """The wire has no speed: what an access costs is fixed in debugbus."""

    def swj_sequence(self, length: int, bits: int) -> None:
        self._opened().drive(length, bits)

    def swd_sequence(
        self, sequences: Sequence[tuple[int] | tuple[int, int]]
    ) -> tuple[int, Sequence[bytes]]:
        """Nobody drives the cycles that are read back: during TARGETSEL every port is silent."""
        answers = []
        for sequence in sequences:
            if len(sequence) == 2:
                self._opened().drive(*sequence)
            else:
                answers.append(bytes((sequence[0] + 7) // 8))
        return 0, answers

    def reset(self) -> None:
        self.assert_reset(True)
        self.assert_reset(False)

    def assert_reset(self, asserted: bool) -> None:
        self._opened().hold_in_reset(asserted)

    def is_reset_asserted(self) -> bool:
        return self._opened().held_in_reset()

    def flush(self) -> None:
        _acknowledged(self._opened().flush)

    # ---- registers: a deferred read hands its value over later ----

    def read_dp(self, addr: int, now: bool = True) -> int | Callable[[], int]:
        return self._read(lambda link: link.read_dp(addr & 0xC), now)

    def write_dp(self, addr: int, data: int) -> None:
        self._write(lambda link: link.write_dp(addr & 0xC, data))

    def read_ap(self, addr: int, now: bool = True) -> int | Callable[[], int]:
        return self._read(lambda link: link.read_ap(addr), now)

    def write_ap(self, addr: int, data: int) -> None:
        self._write(lambda link: link.write_ap(addr, data))

    def read_ap_multiple(
        self, addr: int, count: int = 1, now: bool = True
    ) -> Sequence[int] | Callable[[], Sequence[int]]:
        return self._read(lambda link: link.read_ap_block(addr, count), now)

    def write_ap_multiple(self, addr: int, values: Sequence[int]) -> None:
        self._write(lambda link: link.write_ap_block(addr, values))

    def _read(self, ask: Callable[[DebugLink], Callable[[], T]], now: bool) -> T | Callable[[], T]:
        link = self._opened()
        value = _acknowledged(lambda: ask(link))
        return _acknowledged(value) if now else lambda: _acknowledged(value)

    def _write(self, give: Callable[[DebugLink], None]) -> None:
        link = self._opened()
        _acknowledged(lambda: give(link))

    def _opened(self) -> DebugLink:
        if self._link is None:
            raise exceptions.ProbeError(f"probe {self.unique_id} is not open")
        return self._link


def _acknowledged(transfer: Callable[[], T]) -> T:
    """The wire's acknowledges as pyOCD's errors."""
    try:
        return transfer()
    except Silent as silent:
        raise exceptions.TransferError(str(silent)) from silent
    except NoAnswer as nothing:
        raise _ERRORS[nothing.answer](str(nothing)) from nothing
    except Fault as fault:
        raise exceptions.TransferFaultError(str(fault)) from fault


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
