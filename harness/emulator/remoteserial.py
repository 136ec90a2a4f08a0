# SPDX-License-Identifier: Apache-2.0
"""The CDC-ACM port of a served board: `urlhandler.protocol_emu.Serial` from another process.

Every call is one request, done there as it would be here, with the same time-outs in emulated time. A
server that is gone is a SerialException, as a cable that was pulled.
"""

from __future__ import annotations

from typing import Any

from serial import serialutil

from harness.emulator import channel, registry
from harness.emulator.board import NS_PER_SECOND
from harness.emulator.channel import Malformed, Message
from harness.emulator.debuglink import InUse
from harness.emulator.remote import RemoteBoard
from harness.errors import ConfigError, ProbeError

CHUNK = 65536  # bytes of one write or read request
COUNT_MAX = 1 << 20
CONTROL_NS = 10 * NS_PER_SECOND  # a control request lasts at most half of it


class RemoteSerial(serialutil.SerialBase):
    """pyserial port of one served board. One opener at a time, of all processes."""

    def __init__(self, board: RemoteBoard, *args: Any, **kwargs: Any) -> None:
        self._named = self._remote = board
        self._generation = 0
        self._line: dict[str, object] = {}
        super().__init__(*args, **kwargs)

    # ---- opening and closing ----

    def open(self) -> None:
        if self.is_open:
            raise serialutil.SerialException("Port is already open.")
        self._refuse_inter_byte_timeout()
        line = self._settings()
        self._remote = self._named
        fields = {**line, "dtr": self.dtr, "rts": self.rts}
        try:
            answer = self._ask("open", {**fields, "plugged": False}, ns=CONTROL_NS)
            if "board" in answer.fields:
                self._remote = self._at_the_end(channel.text(answer.fields, "board"))
                self._ask("open", {**fields, "plugged": True}, ns=CONTROL_NS)
        except InUse as held:
            raise serialutil.SerialException(
                f"could not open port {self.port}: {held.evidence.get('held by')} has it open"
            ) from held
        except Malformed as torn:
            raise serialutil.SerialException(f"could not open port {self.port}: {torn}") from torn
        self._generation, self._line = self._remote.generation, line
        self.is_open = True

    def _at_the_end(self, name: str) -> RemoteBoard:
        """The board that the cable of this port goes to."""
        try:
            board = registry.served(name)
        except (ConfigError, ProbeError) as problem:
            raise serialutil.SerialException(
                f"could not open port {self.port}: {problem}"
            ) from problem
        if board is None:
            raise serialutil.SerialException(
                f"could not open port {self.port}: its cable goes to {name}, which is not served"
            )
        return board

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            if self._remote.is_connected(self._generation):
                self._ask("close", ns=CONTROL_NS)

    # ---- data ----

    @property
    def in_waiting(self) -> int:
        return self._count("waiting")

    @property
    def out_waiting(self) -> int:
        return self._count("unsent")

    def read(self, size: int = 1) -> bytes:
        patience = _ns(self.timeout)
        size = min(size, CHUNK)  # the port's buffer holds no more
        return self._ask_open("read", {"size": size, "patience": patience}, ns=patience).data

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        rest, patience = bytes(data), _ns(self.write_timeout)
        for start in range(0, max(1, len(rest)), CHUNK):
            piece = rest[start : start + CHUNK]
            self._ask_open("write", {"patience": patience}, piece, ns=patience)
        return len(rest)

    def flush(self) -> None:
        patience = _ns(self.write_timeout)
        self._ask_open("flush", {"patience": patience}, ns=patience)

    def reset_input_buffer(self) -> None:
        self._ask_open("drop_input")

    def reset_output_buffer(self) -> None:
        self._ask_open("drop_output")

    # ---- line settings and states ----

    def _reconfigure_port(self) -> None:
        self._refuse_inter_byte_timeout()
        line = self._settings()
        if line != self._line:
            self._ask_open("configure", line, ns=CONTROL_NS)
            self._line = line

    def _settings(self) -> dict[str, object]:
        return {
            "baudrate": self.baudrate,
            "bytesize": self.bytesize,
            "stopbits": self.stopbits,
            "parity": self.parity,
        }

    def _refuse_inter_byte_timeout(self) -> None:
        if self.inter_byte_timeout is not None:
            raise ValueError("inter_byte_timeout is not supported by emu://")

    def _update_dtr_state(self) -> None:
        self._ask_open("set", {"dtr": bool(self.dtr), "rts": bool(self.rts)}, ns=CONTROL_NS)

    def _update_rts_state(self) -> None:
        self._update_dtr_state()

    def _update_break_state(self) -> None:
        self._ask_open("break", {"on": bool(self.break_condition)}, ns=CONTROL_NS)

    @property
    def cts(self) -> bool:
        return self._state("cts")

    @property
    def dsr(self) -> bool:
        return self._state("dsr")

    @property
    def ri(self) -> bool:
        return self._state("ri")

    @property
    def cd(self) -> bool:
        return self._state("cd")

    # ---- asking ----

    def _state(self, name: str) -> bool:
        return self._ask_open("lines").fields.get(name) is True

    def _count(self, what: str) -> int:
        return channel.integer(self._ask_open(what).fields, "count", 0, COUNT_MAX)

    def _ask_open(
        self,
        what: str,
        fields: dict[str, object] | None = None,
        data: bytes = b"",
        *,
        ns: int | None = 0,
    ) -> Message:
        if not self.is_open:
            raise serialutil.PortNotOpenError()
        return self._ask(what, fields, data, ns=ns, generation=self._generation)

    def _ask(
        self,
        what: str,
        fields: dict[str, object] | None = None,
        data: bytes = b"",
        *,
        ns: int | None = 0,
        generation: int | None = None,
    ) -> Message:
        try:
            return self._remote.ask(
                f"serial.{what}", fields, data, ns=-1 if ns is None else ns, generation=generation
            )
        except InUse:
            raise
        except ProbeError as gone:
            raise serialutil.SerialException(f"device disconnected: {gone}") from gone


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * NS_PER_SECOND)
