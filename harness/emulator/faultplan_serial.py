# SPDX-License-Identifier: Apache-2.0
"""Faults between the device's endpoint and whoever reads the port: a hub, a driver, a second reader, or
another firmware at the other end.

Frames are cut at their zero bytes. Those faults that a firmware could commit (LOG lines, a HELLO of
another version) need whole frames that check out: COBS around type, reserved byte, 16-bit sequence,
32-bit nonce, payload and CRC-32 (docs/wire.md).
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Sequence

from cobs import cobs

from harness.emulator.faultplan import Fault, Trigger

_HEADER = struct.Struct("<BBHI")  # type, reserved, sequence, nonce
_CRC = struct.Struct("<I")
_HELLO, _LOG = 0x01, 0x07
_BYTES = ("serial-drop", "serial-double", "serial-flip", "serial-stall")
_FRAMES = ("serial-garbage", "serial-text", "frame-cut", "frame-repeat", "frame-lost", "frame-log")
_HELLOS = ("hello-nonce", "hello-protocol")
_TEXT = "adc: %d mV, temperature %d\r\n"


class SerialFaults:
    """Implements `usbhost.Cable`. frames: how many have come from the device, for faults at a frame."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.frames = 0
        self.injected = 0
        self._bytes = [Trigger(f) for f in faults if f.kind in _BYTES]
        self._frames = [Trigger(f) for f in faults if f.kind in _FRAMES]
        self._hellos = [f for f in faults if f.kind in _HELLOS]
        self._echoes = any(f.kind == "serial-echo" for f in faults)
        self._late_ns = max((f.number("ms") for f in faults if f.kind == "host-late"), default=0)
        self._late_ns *= 1_000_000
        self._echoed = b""
        self._piece = bytearray()
        self._shift = 0
        self._until_ns = 0
        self._random = random.Random(len(faults))

    # ---- usbhost.Cable ----

    def received(self, packet: bytes, now_ns: int) -> bytes:
        """What the host gets of a packet of the device."""
        if self._late_ns:
            self.injected += 1
            self._until_ns = now_ns + self._late_ns
        if self._echoes:
            self.injected += 1
            return b""
        return self._spoil_bytes(self._take_frames(packet), now_ns)

    def sent(self, packet: bytes) -> bytes:
        """What the host gets at once for a packet that it sent."""
        return packet if self._echoes else b""

    def resumes_ns(self, now_ns: int) -> int | None:
        """Until when the host does not ask the device for anything, None if it does."""
        return self._until_ns if self._until_ns > now_ns else None

    # ---- bytes ----

    def _spoil_bytes(self, data: bytes, now_ns: int) -> bytes:
        if not self._bytes:
            return data
        kept = bytearray()
        for byte in data:
            pieces = bytes([byte])
            for trigger in self._bytes:
                if trigger.fires():
                    pieces = self._spoiled(trigger.fault, pieces, now_ns)
            kept += pieces
        return bytes(kept)

    def _spoiled(self, fault: Fault, data: bytes, now_ns: int) -> bytes:
        self.injected += 1
        if fault.kind == "serial-drop":
            return b""
        if fault.kind == "serial-double":
            return data + data
        if fault.kind == "serial-flip":
            return bytes(byte ^ fault.number("bits") & 0xFF for byte in data)
        self._until_ns = now_ns + fault.number("ms") * 1_000_000
        return data

    # ---- frames ----

    def _take_frames(self, packet: bytes) -> bytes:
        """Whole frames, where a fault wants them; counts them in any case."""
        if not (self._frames or self._hellos):
            for byte in packet:
                if byte == 0 and self._piece:
                    self.frames += 1
                    self._piece.clear()
                elif byte:
                    self._piece[:] = b"x"
            return packet
        out = bytearray()
        for byte in packet:
            if byte:
                self._piece.append(byte)
                continue
            if self._piece:
                out += self._spoil_frame(bytes(self._piece))
                self.frames += 1
                self._piece.clear()
            out.append(0)
        return bytes(out)

    def _spoil_frame(self, piece: bytes) -> bytes:
        """piece: a frame without its delimiters; the closing one follows what is returned."""
        before = bytearray()
        piece = self._rewritten(piece)
        for trigger in self._frames:
            if not trigger.fires():
                continue
            self.injected += 1
            fault = trigger.fault
            if fault.kind == "frame-lost":
                return bytes(before)
            if fault.kind == "frame-cut":
                piece = piece[: fault.number("keep")]
            elif fault.kind == "frame-repeat":
                before += piece + b"\0"
            elif fault.kind == "serial-garbage":
                before += self._random.randbytes(fault.number("bytes"))
            elif fault.kind == "serial-text":
                lines = (
                    _TEXT % (line * 37 % 3300, line % 40) for line in range(fault.number("lines"))
                )
                before += "".join(lines).encode()
            else:
                before += self._log_frames(piece, fault.number("lines"))
                piece = self._rewritten_by(piece, fault.number("lines"))
        if before and _is_hello(piece):
            before.append(0)  # of the break that the firmware sends before HELLO
        return bytes(before) + piece

    def _rewritten(self, piece: bytes) -> bytes:
        """HELLO as the plan wants it; any other frame with the sequence that inserted frames leave."""
        body = _body(piece)
        if body is None:
            return piece
        kind = body[0]
        if kind == _HELLO:
            self._shift = 0
            for fault in self._hellos:
                self.injected += 1
                at, form = (4, "<I") if fault.kind == "hello-nonce" else (_HEADER.size, "<H")
                struct.pack_into(form, body, at, fault.number("value"))
            return _piece(body) if self._hellos else piece
        return self._moved(body, self._shift) if self._shift else piece

    def _rewritten_by(self, piece: bytes, count: int) -> bytes:
        body = _body(piece)
        self._shift += count
        return piece if body is None else self._moved(body, count)

    @staticmethod
    def _moved(body: bytearray, count: int) -> bytes:
        kind, reserved, sequence, nonce = _HEADER.unpack_from(body)
        _HEADER.pack_into(body, 0, kind, reserved, (sequence + count) & 0xFFFF, nonce)
        return _piece(body)

    @staticmethod
    def _log_frames(piece: bytes, count: int) -> bytes:
        """With the sequence and nonce that the frame after them has."""
        body = _body(piece)
        if body is None:
            return b""
        _, _, sequence, nonce = _HEADER.unpack_from(body)
        out = bytearray()
        for line in range(count):
            header = _HEADER.pack(_LOG, 0, (sequence + line) & 0xFFFF, nonce)
            text = f"debug line {line} of {count}: nothing to see here".encode()
            out += _piece(bytearray(header + text)) + b"\0"
        return bytes(out)


def _is_hello(piece: bytes) -> bool:
    body = _body(piece)
    return body is not None and body[0] == _HELLO


def _body(piece: bytes) -> bytearray | None:
    """Header and payload of a frame that checks out."""
    try:
        whole = cobs.decode(piece)
    except cobs.DecodeError:
        return None
    body = whole[: -_CRC.size]
    if len(body) < _HEADER.size or _CRC.pack(zlib.crc32(body)) != whole[-_CRC.size :]:
        return None
    return bytearray(body)


def _piece(body: bytearray) -> bytes:
    return bytes(cobs.encode(bytes(body) + _CRC.pack(zlib.crc32(body))))
