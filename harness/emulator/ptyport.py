# SPDX-License-Identifier: Apache-2.0
"""The serial port of a served board as a pseudo-terminal, for programs that know nothing of `emu://`.

Such a program waits in the host's time, so while it has the terminal open the board's time runs along
with it: STEP_NS of it about every as many ns of the host, less when the core is too busy for that. While
nobody has it open no time passes. Two runs are then not the same to the cycle; `emu://` is for that.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty

from serial import SerialException

from harness.emulator.board import NS_PER_SECOND
from harness.emulator.debuglink import InUse
from harness.emulator.servedboard import SERIAL, ServedBoard, ServedSerial
from harness.errors import HarnessError

STEP_NS = 2_000_000
STEP_SECONDS = STEP_NS / NS_PER_SECOND
CLOSED_POLL_SECONDS = 0.02
CHUNK = 4096


class PtyPort(threading.Thread):
    """path: of the terminal that other programs open. Takes the serial port's seat while they do."""

    def __init__(self, served: ServedBoard, stopping: threading.Event) -> None:
        super().__init__(daemon=True)
        self._served = served
        self._stopping = stopping
        self._controller, terminal = os.openpty()
        tty.setraw(terminal)
        self.path = os.ttyname(terminal)
        os.close(terminal)  # from here on the controller hangs up while nobody has it open
        os.set_blocking(self._controller, False)
        self.description = f"the terminal {self.path}"
        self._port: ServedSerial | None = None
        self._unsent = b""

    def is_there(self) -> bool:
        return self._port is not None

    def run(self) -> None:
        while not self._stopping.is_set():
            if not self._is_used():
                self._close()
                time.sleep(CLOSED_POLL_SECONDS)
                continue
            started = time.monotonic()
            try:
                self._step()
            except (SerialException, HarnessError):
                self._drop()  # gone, or somebody else has it: try again, at the same pace
            time.sleep(max(0.0, STEP_SECONDS - (time.monotonic() - started)))
        self._close()

    def _is_used(self) -> bool:
        poll = select.poll()
        poll.register(self._controller, select.POLLIN)
        return not any(events & select.POLLHUP for _, events in poll.poll(0))

    def _step(self) -> None:
        """Both ways, and STEP_NS pass."""
        port = self._port or self._open()
        if port is None:
            return
        if not self._unsent:
            self._unsent = self._take()
        with self._served.turns.turn():
            if self._unsent:
                room = port.room
                port.write_ns(self._unsent[:room], 0)
                self._unsent = self._unsent[room:]
            data = port.read_ns(1, STEP_NS)
            if data:
                data += port.read_ns(port.in_waiting, 0)
        while data and not self._stopping.is_set() and self._is_used():
            select.select([], [self._controller], [], STEP_SECONDS)
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._controller, data) :]

    def _open(self) -> ServedSerial | None:
        try:
            self._served.take_seat(SERIAL, self)
        except InUse:
            return None
        with self._served.turns.turn():
            port = ServedSerial(self._served, self._check, baudrate=115200)
            try:
                port.open()
            except BaseException:
                self._served.leave_seat(SERIAL, self)
                raise
        self._port = port
        return port

    def _take(self) -> bytes:
        try:
            return os.read(self._controller, CHUNK)
        except (BlockingIOError, OSError):
            return b""

    def _check(self) -> None:
        if self._stopping.is_set():
            raise SerialException("the board's process ends")

    def _close(self) -> None:
        """As the operating system closes a port that a program held."""
        if self._port is not None:
            self._take()
            self._drop()

    def _drop(self) -> None:
        port, self._port, self._unsent = self._port, None, b""
        if port is not None:
            with self._served.turns.turn():
                port.abandon()
        self._served.leave_seat(SERIAL, self)
