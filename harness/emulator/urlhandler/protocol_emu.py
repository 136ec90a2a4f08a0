# SPDX-License-Identifier: Apache-2.0
"""`serial.serial_for_url("emu://pico1-emu")`: the CDC-ACM port of an emulated board.

There is no thread: a call that waits lets the board run, and every time-out counts emulated time,
so the same calls give the same bytes on any machine. A call that would not wait on a real port
still costs a little emulated time when it has nothing to give, so that polling loops end:
`in_waiting` and a read with timeout 0 one tick of the USB host, a refused open OPEN_RETRY_NS.

As on a real port, the device's absence is a SerialException: at open while it is not enumerated,
at any call after it went away. FirmwareFault and ConfigError of the board pass through.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from serial import serialutil

from harness.emulator import registry
from harness.emulator.board import NS_PER_SECOND, EmulatedBoard
from harness.emulator.cdc import CdcPort, LineRequest
from harness.emulator.remoteserial import RemoteSerial
from harness.errors import ProbeError

OPEN_RETRY_NS = 10_000_000

STOP_BITS = {
    serialutil.STOPBITS_ONE: 0,
    serialutil.STOPBITS_ONE_POINT_FIVE: 1,
    serialutil.STOPBITS_TWO: 2,
}
PARITIES = [
    serialutil.PARITY_NONE,
    serialutil.PARITY_ODD,
    serialutil.PARITY_EVEN,
    serialutil.PARITY_MARK,
    serialutil.PARITY_SPACE,
]
CARRIER, DATA_SET_READY, RING = 1 << 0, 1 << 1, 1 << 3  # SERIAL_STATE, CDC PSTN 1.2 table 31


class Serial(serialutil.SerialBase):
    """pyserial port of one board. One opener at a time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._board: EmulatedBoard | None = None
        self._cdc: CdcPort | None = None
        self._coding: tuple[int, int, int, int] | None = None
        super().__init__(*args, **kwargs)

    # ---- opening and closing ----

    def open(self) -> None:
        if self.is_open:
            raise serialutil.SerialException("Port is already open.")
        board = self._find_board()
        port = board.host.port
        if port is None:
            why = board.host.why_no_port()
            board.advance(ns=OPEN_RETRY_NS)
            raise serialutil.SerialException(f"could not open port {self.port}: {why}")
        if port.is_open:
            raise serialutil.SerialException(
                f"could not open port {self.port}: it is already open in this process"
            )
        self._board, self._cdc, self._coding = board, port, None
        port.is_open = self.is_open = True
        port.rx.clear()
        try:
            self._reconfigure_port()
            self._send_line_state(self.dtr, self.rts)
        except Exception:
            port.is_open = self.is_open = False
            raise

    def close(self) -> None:
        """Drops DTR and RTS as an operating system does on the last close; unsent bytes still go
        out as time passes."""
        if not self.is_open:
            return
        board, port = self._opened()
        self.is_open = port.is_open = False
        if not port.gone and board.fault is None:
            request = port.request_line_state(False, False)
            board.host.wake(board.now_ns)
            self._advance(board, port, lambda: request.done, None)
        port.rx.clear()

    def _find_board(self) -> EmulatedBoard:
        try:
            name = _board_name(str(self.port))
            return registry.board(registry.board(name).faults.board_at_port())
        except ProbeError as unknown:
            raise serialutil.SerialException(str(unknown)) from unknown

    # ---- data ----

    @property
    def in_waiting(self) -> int:
        board, port = self._present()
        if not port.rx:
            self._wait(lambda: bool(port.rx), board.options.host.tick)
        return len(port.rx)

    @property
    def out_waiting(self) -> int:
        return len(self._present()[1].tx)

    def read(self, size: int = 1) -> bytes:
        board, port = self._present()
        if len(port.rx) < size:
            patience = _ns(self.timeout)
            self._wait(
                lambda: len(port.rx) >= size, board.options.host.tick if patience == 0 else patience
            )
        data = bytes(port.rx[:size])
        was_full = port.rx_room() < port.function.bulk_in.max_packet
        del port.rx[:size]
        if was_full:
            board.host.wake(board.now_ns)
        return data

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        """Blocks while the 4096-byte output buffer is full, at most write_timeout."""
        board, port = self._present()
        rest = memoryview(data)
        size = len(rest)
        patience = _ns(self.write_timeout)
        deadline = None if patience is None else board.now_ns + patience
        while rest:
            taken = min(port.tx_room(), len(rest))
            port.tx += rest[:taken]
            rest = rest[taken:]
            board.host.wake(board.now_ns)
            if not rest:
                break
            left = None if deadline is None else max(0, deadline - board.now_ns)
            if not self._wait(lambda: port.tx_room() > 0, left):
                raise serialutil.SerialTimeoutException("Write timeout")
        return size

    def flush(self) -> None:
        """Waits until the device has taken every byte, at most write_timeout."""
        port = self._present()[1]
        if not self._wait(lambda: not port.tx, _ns(self.write_timeout)):
            raise serialutil.SerialTimeoutException("Write timeout")

    def reset_input_buffer(self) -> None:
        board, port = self._present()
        port.rx.clear()
        board.host.wake(board.now_ns)

    def reset_output_buffer(self) -> None:
        self._present()[1].tx.clear()

    # ---- line settings and states ----

    def _reconfigure_port(self) -> None:
        if self.inter_byte_timeout is not None:
            raise ValueError("inter_byte_timeout is not supported by emu://")
        _, port = self._present()
        coding = (
            self.baudrate,
            STOP_BITS[self.stopbits],
            PARITIES.index(self.parity),
            self.bytesize,
        )
        if coding != self._coding:
            self._coding = coding
            self._finish(port.request_line_coding(*coding))

    def _update_dtr_state(self) -> None:
        self._send_line_state(self.dtr, self.rts)

    def _update_rts_state(self) -> None:
        self._send_line_state(self.dtr, self.rts)

    def _update_break_state(self) -> None:
        self._finish(self._present()[1].request_break(self.break_condition))

    def _send_line_state(self, dtr: bool, rts: bool) -> None:
        self._finish(self._present()[1].request_line_state(dtr, rts))

    @property
    def cts(self) -> bool:
        """CDC-ACM has no such line; drivers report it as set."""
        self._present()
        return True

    @property
    def dsr(self) -> bool:
        return bool(self._present()[1].serial_state & DATA_SET_READY)

    @property
    def ri(self) -> bool:
        return bool(self._present()[1].serial_state & RING)

    @property
    def cd(self) -> bool:
        return bool(self._present()[1].serial_state & CARRIER)

    # ---- waiting ----

    def _opened(self) -> tuple[EmulatedBoard, CdcPort]:
        if not self.is_open or self._board is None or self._cdc is None:
            raise serialutil.PortNotOpenError()
        return self._board, self._cdc

    def _present(self) -> tuple[EmulatedBoard, CdcPort]:
        board, port = self._opened()
        if board.fault is not None:
            raise board.fault
        if port.gone:
            raise serialutil.SerialException(f"device disconnected: {port.gone}")
        return board, port

    def _finish(self, request: LineRequest) -> None:
        """A control request, until the device took it. One that it stalls is ignored, as by
        operating systems; the host's evidence has it."""
        board = self._present()[0]
        board.host.wake(board.now_ns)
        self._wait(lambda: request.done, None)

    def _wait(self, condition: Callable[[], bool], patience_ns: int | None) -> bool:
        """Let the board run until the condition holds; False after `patience_ns` (None: never)."""
        board, port = self._present()
        deadline = None if patience_ns is None else board.now_ns + patience_ns
        held = self._advance(board, port, condition, deadline)
        self._present()
        if not held and deadline is None:
            raise serialutil.SerialException(
                f"nothing will ever come: the core of {board.name} is {board.standing}"
            )
        return held

    def _advance(
        self,
        board: EmulatedBoard,
        port: CdcPort,
        condition: Callable[[], bool],
        deadline_ns: int | None,
    ) -> bool:
        """As `EmulatedBoard.advance_until`, also to the port's end."""
        return board.advance_until(lambda: condition() or bool(port.gone), deadline_ns)


def serial_class_for_url(url: str) -> tuple[str, Callable[..., serialutil.SerialBase]]:
    """Asked by pyserial: what opens this port. A board that is served has its port there."""
    with suppress(serialutil.SerialException):  # a URL that is none is told of at its opening
        remote = registry.served(_board_name(url))
        if remote is not None:
            return url, partial(RemoteSerial, remote)
    return url, Serial


def _board_name(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "emu" or not parts.netloc or parts.path or parts.query:
        raise serialutil.SerialException(f"expected emu://BOARD, not {url!r}")
    return parts.netloc


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * NS_PER_SECOND)
