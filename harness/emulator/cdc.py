# SPDX-License-Identifier: Apache-2.0
"""The serial port that an enumerated CDC-ACM device gives its host, as an operating system keeps it.

Buffers are bounded like a kernel's: what does not fit waits in the device (IN) or in the caller
(OUT). Data is polled from the device only while somebody has the port open. CDC PSTN 1.2, 6.3.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from harness.emulator.usb_descriptors import CdcFunction
from harness.emulator.usb_pipes import SetupPacket

RX_BYTES = 65536
TX_BYTES = 4096

CLASS_INTERFACE_OUT = 0x21
SET_LINE_CODING, SET_CONTROL_LINE_STATE, SEND_BREAK = 0x20, 0x22, 0x23
NOTIFICATION_SERIAL_STATE = 0x20


@dataclass
class LineRequest:
    """A control request on its way; `error` is the host's reason when it failed."""

    setup: SetupPacket
    data: bytes = b""
    done: bool = False
    error: str = ""


@dataclass
class CdcPort:
    """One enumeration of the port. `gone` says why it no longer exists, once it does not."""

    function: CdcFunction
    is_open: bool = False
    gone: str = ""
    rx: bytearray = field(default_factory=bytearray)
    tx: bytearray = field(default_factory=bytearray)
    requests: deque[LineRequest] = field(default_factory=deque)
    serial_state: int = 0

    def rx_room(self) -> int:
        return RX_BYTES - len(self.rx)

    def tx_room(self) -> int:
        return TX_BYTES - len(self.tx)

    def request_line_coding(
        self, baud: int, stop_bits: int, parity: int, data_bits: int
    ) -> LineRequest:
        """stop_bits 0, 1, 2 for 1, 1.5, 2; parity 0 to 4 for none, odd, even, mark, space."""
        data = baud.to_bytes(4, "little") + bytes([stop_bits, parity, data_bits])
        return self._queue(SET_LINE_CODING, 0, data)

    def request_line_state(self, dtr: bool, rts: bool) -> LineRequest:
        return self._queue(SET_CONTROL_LINE_STATE, int(dtr) | int(rts) << 1)

    def request_break(self, on: bool) -> LineRequest:
        return self._queue(SEND_BREAK, 0xFFFF if on else 0)

    def take_notification(self, packet: bytes) -> None:
        """A packet of the interrupt endpoint; only SERIAL_STATE means something to a port."""
        if len(packet) >= 10 and packet[1] == NOTIFICATION_SERIAL_STATE:
            self.serial_state = int.from_bytes(packet[8:10], "little")

    def vanish(self, why: str) -> None:
        """The device is gone, and with it every byte under way."""
        self.gone = why
        self.rx.clear()
        self.tx.clear()
        for request in self.requests:
            request.done, request.error = True, why
        self.requests.clear()

    def _queue(self, code: int, value: int, data: bytes = b"") -> LineRequest:
        setup = SetupPacket(
            CLASS_INTERFACE_OUT, code, value, self.function.control_interface, len(data)
        )
        request = LineRequest(setup, data)
        self.requests.append(request)
        return request
