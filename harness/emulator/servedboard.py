# SPDX-License-Identifier: Apache-2.0
"""The board inside a server: its power, its time, whose turn it is and who has which end of it.

Emulated time still passes only inside a call that waits. A call that waits long goes by pieces of
PIECE_NS: between two of them others get their turn and a client that died is noticed. Cutting a wait
changes no byte and no cycle: the core stops at the first branch at or after a point, from wherever it
started. One client at a time is as deterministic as a board of the process.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from serial import SerialException

from harness.emulator.board import NS_PER_SECOND, EmulatedBoard
from harness.emulator.cdc import CdcPort
from harness.emulator.debuglink import InUse, LocalLink
from harness.emulator.flashfile import FlashFile
from harness.emulator.registry import BoardEntry
from harness.emulator.timings import Timings
from harness.emulator.urlhandler import protocol_emu
from harness.errors import ProbeError

PIECE_NS = 50_000_000
SEAT_SECONDS = 1.5  # how long a seat of somebody who died may take to become free
SWD, SERIAL = "debugger", "serial port"


class Holder(Protocol):
    """Who may take a seat. description: for the one who is refused."""

    description: str

    def is_there(self) -> bool:
        """False once it is gone, though its seat may not be free yet."""


class Turns:
    """A lock that is given in the order in which it was asked for."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def turn(self) -> Iterator[None]:
        self._take()
        try:
            yield
        finally:
            self._give()

    def pause(self) -> None:
        """Let whoever waits go first. The caller has the turn, and has it again afterwards."""
        if len(self._waiting) > 1:
            self._give()
            self._take()

    def _take(self) -> None:
        ticket = object()
        with self._condition:
            self._waiting.append(ticket)
            self._condition.wait_for(lambda: self._waiting[0] is ticket)

    def _give(self) -> None:
        with self._condition:
            self._waiting.popleft()
            self._condition.notify_all()


class ServedBoard:
    """turns: every use of the board is inside one. boot: tells this server from others. Errors of the
    constructor: as `EmulatedBoard`. A plan of faults begins anew with each power-on."""

    def __init__(self, entry: BoardEntry, flash: FlashFile) -> None:
        self.entry = entry
        self.flash = flash
        self.turns = Turns()
        self.boot = secrets.token_hex(8)
        self.power_cycles = 0
        self.board = self._power_on()
        self._earlier_ns = 0
        self._model: str | None = None
        self._link: LocalLink | None = None
        self._seats: dict[str, Holder] = {}
        self._seats_lock = threading.Lock()

    # ---- power and time ----

    def _power_on(self) -> EmulatedBoard:
        return EmulatedBoard(
            self.entry.name,
            self.entry.chip.name,
            self.flash.label.unique_id,
            self.entry.options,
            self.flash.memory,
        )

    def power_cycle(self) -> None:
        """SRAM and every register are lost, the flash is not. The port vanishes from under who has it
        open, the debug port falls dormant. Time goes on from where it was."""
        gone = self.board
        gone.host.device_gone("the board lost power", gone.now_ns)
        self._earlier_ns += gone.now_ns
        self.power_cycles += 1
        self.board = self._power_on()
        if self._model is not None:
            self.select(self._model)
        if self._link is not None:
            self._link.join(self.board)

    @property
    def now_ns(self) -> int:
        """Emulated time since the server started: a power cycle does not set it back."""
        return self._earlier_ns + self.board.now_ns

    def sleep(self, ns: int, check: Callable[[], None]) -> None:
        """Raises as `EmulatedBoard.advance`, and what `check` raises between two pieces."""
        until = self.now_ns + ns
        while True:
            self.board.advance(ns=min(PIECE_NS, max(0, until - self.now_ns)))
            if self.now_ns >= until:
                return
            self.turns.pause()
            check()

    def select(self, model: str | None) -> None:
        """The timing model, None for the one in force at power-on. Errors: ValueError."""
        if not self.board.chip.modelled_timing:
            if model is not None:
                raise ValueError(f"the timing of {self.board.chip.name} is no model")
            return
        timings = Timings(self.board.machine)
        if model is not None and model not in timings.models:
            raise ValueError(f"no timing model {model!r}: {', '.join(timings.models)}")
        timings.select(model or timings.models[-1])
        self._model = model

    def board_at_port(self) -> str:
        """The name of the board that the cable of this port goes to. Errors: SerialException when the
        host gave the port another name."""
        try:
            return self.board.faults.board_at_port()
        except ProbeError as renamed:
            raise SerialException(str(renamed)) from renamed

    # ---- seats ----

    def take_seat(self, seat: str, holder: Holder) -> None:
        """Errors: InUse while somebody who is still there has it. Not to be called inside a turn: one
        who died may need one to leave."""
        deadline = time.monotonic() + SEAT_SECONDS
        while True:
            with self._seats_lock:
                other = self._seats.setdefault(seat, holder)
            if other is holder:
                return
            if other.is_there() or time.monotonic() >= deadline:
                raise InUse(
                    f"the {seat} of {self.entry.name} is in use",
                    evidence={"held by": other.description},
                    hint="one at a time; end that one first",
                )
            time.sleep(0.005)

    def leave_seat(self, seat: str, holder: Holder) -> None:
        with self._seats_lock:
            if self._seats.get(seat) is holder:
                del self._seats[seat]

    def seats(self) -> dict[str, str]:
        """Who has which seat now."""
        with self._seats_lock:
            return {seat: holder.description for seat, holder in self._seats.items()}

    # ---- the debug port ----

    def open_link(self, holder: Holder, xip_miss_cycles: int) -> LocalLink:
        """For the holder of the seat. xip_miss_cycles: what its boards.yaml expects, 0 for nothing."""
        self.board.machine.set_switch("xip_miss_cycles", xip_miss_cycles)
        self._link = LocalLink(self.board, holder.description)
        return self._link

    def close_link(self) -> None:
        """A debugger that leaves, or dies, lets go of the reset line."""
        link, self._link = self._link, None
        if link is not None:
            if link.held_in_reset():
                link.hold_in_reset(False)
            link.close()


class ServedSerial(protocol_emu.Serial):
    """The port of a served board, its waits in pieces. check: raises when nobody waits any more."""

    def __init__(self, served: ServedBoard, check: Callable[[], None], **settings: Any) -> None:
        self._served = served
        self._check = check
        super().__init__(None, **settings)
        self.port = f"emu://{served.entry.name}"

    def abandon(self) -> None:
        """Close without waiting, as the operating system does for a process that was killed."""
        if not self.is_open or self._board is None or self._cdc is None:
            return
        self.is_open = self._cdc.is_open = False
        if not self._cdc.gone:
            self._cdc.request_line_state(False, False)
            self._cdc.rx.clear()
            with suppress(Exception):  # a board that stands in an error takes no notice
                self._board.host.wake(self._board.now_ns)

    @property
    def room(self) -> int:
        """How many bytes a write would take without waiting."""
        return self._present()[1].tx_room()

    def read_ns(self, size: int, patience: int | None) -> bytes:
        """As `read` with a timeout in ns, None for ever; so do the two below."""
        self._timeout = _seconds(patience)
        return self.read(size)

    def write_ns(self, data: bytes, patience: int | None) -> int:
        self._write_timeout = _seconds(patience)
        return self.write(data)

    def flush_ns(self, patience: int | None) -> None:
        self._write_timeout = _seconds(patience)
        self.flush()

    def set_lines(self, dtr: bool, rts: bool) -> None:
        """Both in one request."""
        self._dtr_state, self._rts_state = dtr, rts
        self._send_line_state(dtr, rts)

    def _find_board(self) -> EmulatedBoard:
        return self._served.board

    def _advance(
        self,
        board: EmulatedBoard,
        port: CdcPort,
        condition: Callable[[], bool],
        deadline_ns: int | None,
    ) -> bool:
        while True:
            held = board.advance_towards(
                lambda: condition() or bool(port.gone), deadline_ns, board.now_ns + PIECE_NS
            )
            if held is not None:
                return held
            self._served.turns.pause()
            self._check()


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / NS_PER_SECOND
