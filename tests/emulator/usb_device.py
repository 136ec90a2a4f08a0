# SPDX-License-Identifier: Apache-2.0
"""A CDC-ACM device in a few lines of Python, to test the host alone: it answers at once, knows no
time, and keeps what it was sent. Faults are planted by changing its attributes."""

from __future__ import annotations

from collections import deque

from harness.emulator.usb_pipes import Handshake

DEVICE = bytes.fromhex("12 01 00 02 ef 02 01 40 8a 2e 0a 00 00 01 01 02 03 01")
# Bulk endpoints 3 OUT and 5 IN, interfaces 2 and 4: nothing where a lazy host would guess it.
CONFIGURATION = bytes.fromhex(
    "09 02 43 00 02 01 00 80 7d"
    "09 04 02 00 01 02 02 00 00"
    "05 24 00 20 01 05 24 01 00 04 04 24 02 02 05 24 06 02 04"
    "07 05 86 03 08 00 10"
    "09 04 04 00 02 0a 00 00 00"
    "07 05 03 02 40 00 00"
    "07 05 85 02 40 00 00"
)
STRINGS = {1: "RiP", 2: "runner", 3: "0011223344556677"}
BULK_OUT, BULK_IN, NOTIFICATION = 3, 5, 6


class FakeDevice:
    """Implements `usb_pipes.DeviceBus`. `requests` are the SETUP packets it saw."""

    def __init__(self) -> None:
        self.pulled_up = False
        self.address = 0
        self.sof_enabled = False
        self.frames: list[int] = []
        self.requests: list[str] = []
        self.resets = 0
        self.configuration = CONFIGURATION
        self.strings = dict(STRINGS)
        self.silent_requests: set[int] = set()
        self.stalled_requests: set[int] = set()
        self.takes_address = True
        self.to_host: dict[int, deque[bytes]] = {0: deque()}
        self.from_host: dict[int, list[bytes]] = {}
        self.accepting: set[int] = {0, BULK_OUT}
        self.pid_in: dict[int, int] = {}
        self.pids_out: dict[int, list[int]] = {}
        self._new_address = 0
        self._stalled = self._silent = False

    def send(self, endpoint: int, data: bytes) -> None:
        self.to_host.setdefault(endpoint, deque()).append(data)

    # ---- DeviceBus ----

    def attached(self) -> bool:
        return self.pulled_up

    def why_not_attached(self) -> str:
        return "" if self.pulled_up else "the pull-up is off"

    def device_address(self) -> int:
        return self.address

    def wants_sof(self) -> bool:
        return self.sof_enabled

    def bus_reset(self, asserted: bool) -> None:
        self.resets += asserted
        self.address = 0
        self.pid_in.clear()

    def setup(self, packet: bytes) -> None:
        self.requests.append(packet.hex())
        code, length = packet[1], int.from_bytes(packet[6:8], "little")
        value = int.from_bytes(packet[2:4], "little")
        self._stalled, self._silent = code in self.stalled_requests, code in self.silent_requests
        self.pid_in[0] = 1
        self.to_host[0].clear()
        if packet[0] & 0x80:
            answer = self._descriptor(value >> 8, value & 0xFF)[:length]
            for start in range(0, len(answer), 64):
                self.to_host[0].append(answer[start : start + 64])
            if len(answer) % 64 == 0 and len(answer) < length:
                self.to_host[0].append(b"")
        else:
            self.to_host[0].append(b"")
            if code == 5:
                self._new_address = value
            if code == 9:
                self.pid_in = {0: 1}

    def read(self, endpoint: int) -> tuple[bytes, int] | Handshake:
        if endpoint == 0 and self._stalled:
            return Handshake.STALL
        queue = self.to_host.get(endpoint)
        if not queue or (endpoint == 0 and self._silent):
            return Handshake.NAK
        data, pid = queue.popleft(), self.pid_in.get(endpoint, 0)
        self.pid_in[endpoint] = 1 - pid
        if endpoint == 0 and self._new_address and self.takes_address:
            self.address, self._new_address = self._new_address, 0
        return data, pid

    def write(self, endpoint: int, data: bytes, data_pid: int) -> int | Handshake:
        if endpoint not in self.accepting:
            return Handshake.NAK
        self.from_host.setdefault(endpoint, []).append(data)
        self.pids_out.setdefault(endpoint, []).append(data_pid)
        return len(data)

    def sof(self, frame: int) -> None:
        self.frames.append(frame)

    def _descriptor(self, kind: int, index: int) -> bytes:
        if kind == 1:
            return DEVICE
        if kind == 2:
            return self.configuration
        if index not in self.strings:
            self._stalled = True
            return b""
        text = self.strings[index].encode("utf-16-le")
        return bytes([len(text) + 2, 3]) + text
