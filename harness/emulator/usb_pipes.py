# SPDX-License-Identifier: Apache-2.0
"""Transactions and control transfers of the emulated USB host: USB 2.0 chapters 8 and 9.

Transfers are generators. Each `yield` hands back a `Pause`: when the host wants to act again. The
data toggle of every packet is checked here; a wrong one is recorded in `Evidence` and its packet
is thrown away, as a host does that takes it for a repetition.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

TRANSCRIPT_ENTRIES = 1000
COMPLAINTS = 100


class Handshake(Enum):
    """What a device answers instead of data or an acknowledge."""

    NAK = -1
    STALL = -2


class DeviceBus(Protocol):
    """The device from the host's end of the cable; one transaction a call, no time passes."""

    def attached(self) -> bool: ...
    def why_not_attached(self) -> str: ...
    def device_address(self) -> int: ...
    def wants_sof(self) -> bool: ...
    def bus_reset(self, asserted: bool) -> None: ...
    def setup(self, packet: bytes) -> None: ...
    def read(self, endpoint: int) -> tuple[bytes, int] | Handshake: ...
    def write(self, endpoint: int, data: bytes, data_pid: int) -> int | Handshake: ...
    def sof(self, frame: int) -> None: ...


@dataclass(frozen=True)
class Pause:
    """When the host acts again, in ns of emulated time.

    not_before: at the first tick from then on. for_device: the last attempts were all refused, so
    nothing can happen until the device does something (or the host has something new to send);
    `not_before` is then the deadline at which the host gives up, None for never.
    """

    not_before: int | None
    for_device: bool = False


NEXT_TICK = Pause(0)
UNTIL_DEVICE_ACTS = Pause(None, for_device=True)

Steps = Generator[Pause, None, None]


class TransferError(Exception):
    """A control transfer that was stalled or not answered in time."""


@dataclass
class Evidence:
    """What the host saw, bounded: the latest transactions and every breach of the protocol."""

    transcript: deque[tuple[int, str]] = field(
        default_factory=lambda: deque(maxlen=TRANSCRIPT_ENTRIES)
    )
    complaints: list[tuple[int, str]] = field(default_factory=list)

    def note(self, ns: int, text: str) -> None:
        self.transcript.append((ns, text))

    def complain(self, ns: int, text: str) -> None:
        self.note(ns, text)
        if len(self.complaints) < COMPLAINTS:
            self.complaints.append((ns, text))


@dataclass(frozen=True)
class SetupPacket:
    """The eight bytes of a SETUP stage, USB 2.0 section 9.3."""

    request_type: int
    request: int
    value: int
    index: int
    length: int

    def pack(self) -> bytes:
        return struct.pack(
            "<BBHHH", self.request_type, self.request, self.value, self.index, self.length
        )

    @property
    def device_to_host(self) -> bool:
        return bool(self.request_type & 0x80)

    def __str__(self) -> str:
        return (
            f"{self.request_type:02x} {self.request:02x} {self.value:04x} {self.index:04x} "
            f"{self.length:04x}"
        )


class Pipes:
    """All pipes to one device: toggles, address, packet size of endpoint 0."""

    def __init__(self, bus: DeviceBus, evidence: Evidence, control_timeout_ns: int) -> None:
        self.now_ns = 0
        self.address = 0
        self.max_packet0 = 8
        self._bus = bus
        self._evidence = evidence
        self._control_timeout_ns = control_timeout_ns
        self._toggle: dict[int, int] = {}

    def reset_toggles(self) -> None:
        """Every data endpoint starts at DATA0 after SET_CONFIGURATION."""
        self._toggle.clear()

    def reset_toggle(self, endpoint_address: int) -> None:
        self._toggle[endpoint_address] = 0

    def read_packet(self, endpoint: int) -> bytes | Handshake:
        """One IN transaction."""
        answer = self._bus.read(endpoint)
        if isinstance(answer, Handshake):
            return answer
        data, data_pid = answer
        key = endpoint | 0x80
        expected = self._toggle.get(key, 0)
        if data_pid != expected:
            self._evidence.complain(
                self.now_ns, f"IN {endpoint}: DATA{data_pid} where DATA{expected} was due; dropped"
            )
            return Handshake.NAK
        self._toggle[key] = 1 - expected
        self._evidence.note(self.now_ns, f"IN {endpoint} DATA{data_pid} {len(data)} bytes")
        return data

    def write_packet(self, endpoint: int, data: bytes) -> Handshake | None:
        """One OUT transaction; None when the device took the packet."""
        data_pid = self._toggle.get(endpoint, 0)
        answer = self._bus.write(endpoint, data, data_pid)
        if isinstance(answer, Handshake):
            return answer
        if answer != len(data):
            self._evidence.complain(
                self.now_ns, f"OUT {endpoint}: {len(data)} bytes for a buffer of {answer}"
            )
        self._toggle[endpoint] = 1 - data_pid
        self._evidence.note(self.now_ns, f"OUT {endpoint} DATA{data_pid} {len(data)} bytes")
        return None

    def control(self, setup: SetupPacket, data: bytes = b"") -> Generator[Pause, None, bytes]:
        """One control transfer; returns the bytes of an IN data stage. Raises TransferError."""
        deadline = self.now_ns + self._control_timeout_ns
        yield from self._wait_for_address(setup, deadline)
        self._evidence.note(self.now_ns, f"SETUP {setup}")
        self._bus.setup(setup.pack())
        self._toggle[0x80] = self._toggle[0x00] = 1
        yield NEXT_TICK
        if setup.device_to_host and setup.length:
            answer = yield from self._data_in(setup, deadline)
            self._toggle[0x00] = 1
            yield from self._write_stage(setup, b"", deadline, "status")
            return answer
        for start in range(0, len(data), self.max_packet0):
            packet = data[start : start + self.max_packet0]
            yield from self._write_stage(setup, packet, deadline, "data")
        self._toggle[0x80] = 1
        yield from self._read_stage(setup, deadline, "status")
        return b""

    def _wait_for_address(self, setup: SetupPacket, deadline: int) -> Steps:
        """A device that listens to another address does not see the packet at all."""
        while self._bus.device_address() != self.address:
            if self.now_ns >= deadline:
                raise TransferError(
                    f"control request [{setup}] to address {self.address} was not answered: "
                    f"the device listens to address {self._bus.device_address()}"
                )
            yield NEXT_TICK

    def _data_in(self, setup: SetupPacket, deadline: int) -> Generator[Pause, None, bytes]:
        answer = b""
        while len(answer) < setup.length:
            packet = yield from self._read_stage(setup, deadline, "data")
            answer += packet
            if len(packet) < self.max_packet0:
                break
        if len(answer) > setup.length:
            self._evidence.complain(
                self.now_ns, f"{len(answer)} bytes came for control request [{setup}]"
            )
        return answer[: setup.length]

    def _read_stage(
        self, setup: SetupPacket, deadline: int, stage: str
    ) -> Generator[Pause, None, bytes]:
        while True:
            packet = self.read_packet(0)
            if isinstance(packet, bytes):
                return packet
            yield self._refused(packet, setup, deadline, stage)

    def _write_stage(self, setup: SetupPacket, data: bytes, deadline: int, stage: str) -> Steps:
        while (refusal := self.write_packet(0, data)) is not None:
            yield self._refused(refusal, setup, deadline, stage)

    def _refused(self, refusal: Handshake, setup: SetupPacket, deadline: int, stage: str) -> Pause:
        if refusal is Handshake.STALL:
            raise TransferError(f"control request [{setup}] was stalled in its {stage} stage")
        if self.now_ns >= deadline:
            raise TransferError(
                f"control request [{setup}] was not answered in "
                f"{self._control_timeout_ns / 1e9:g} s ({stage} stage)"
            )
        return Pause(deadline, for_device=True)
