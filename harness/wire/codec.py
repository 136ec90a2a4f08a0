# SPDX-License-Identifier: Apache-2.0
"""The frame format: COBS between zero bytes, around header, payload and CRC-32."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from cobs import cobs

from harness.errors import ProtocolError
from harness.schema.constants import FRAME_MAX
from harness.schema.records import FrameHeader

_CRC = struct.Struct("<I")
_LEAST = FrameHeader.size() + _CRC.size
_ENCODED_MAX = FRAME_MAX + FRAME_MAX // 254 + 1


@dataclass(frozen=True)
class Frame:
    """One frame: type (a FrameType, or a number nobody knows), sequence, nonce, payload."""

    type: int
    sequence: int
    nonce: int
    payload: bytes


def encode(frame: Frame) -> bytes:
    """The bytes on the wire, with a zero before (ends whatever noise there was) and after."""
    header = FrameHeader(frame.type, 0, frame.sequence & 0xFFFF, frame.nonce)
    body = header.pack() + frame.payload
    if len(body) + _CRC.size > FRAME_MAX:
        raise ValueError(f"a frame is at most {FRAME_MAX} bytes, this one {len(body) + _CRC.size}")
    return b"".join((b"\0", cobs.encode(body + _CRC.pack(zlib.crc32(body))), b"\0"))


class Decoder:
    """Bytes in any pieces to frames. A frame that is torn is an error, never a missing item."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._endless = False  # up to the next zero is the rest of a frame that was refused

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Frames that `data` completes, in order. Errors: ProtocolError with the bytes that came;
        what follows the torn frame is kept for the next call."""
        self._pending += data
        while (end := self._pending.find(0)) >= 0:
            piece = bytes(self._pending[:end])
            del self._pending[: end + 1]
            known, self._endless = self._endless, False
            if piece and not known:
                yield _decode(piece)
        if self._endless:
            self._pending.clear()
        elif len(self._pending) > _ENCODED_MAX:
            self._endless = True
            raise _torn(f"{len(self._pending)} bytes without an end of frame", self._pending)


def _decode(piece: bytes) -> Frame:
    try:
        body = cobs.decode(piece)
    except cobs.DecodeError as error:
        raise _torn(f"not COBS ({error})", piece) from error
    if not _LEAST <= len(body) <= FRAME_MAX:
        raise _torn(f"{len(body)} bytes long, {_LEAST} to {FRAME_MAX} are possible", piece)
    content, stated = body[: -_CRC.size], _CRC.unpack(body[-_CRC.size :])[0]
    seen = zlib.crc32(content)
    if seen != stated:
        raise _torn(f"its CRC is {seen:08x} and it states {stated:08x}", piece)
    header = FrameHeader.unpack(content[: FrameHeader.size()])
    return Frame(header.type, header.sequence, header.nonce, content[FrameHeader.size() :])


def _torn(what: str, data: bytes | bytearray) -> ProtocolError:
    return ProtocolError(
        f"a frame arrived torn: {what}",
        evidence={"first bytes": data[:32].hex(" "), "bytes": len(data)},
        hint="a loose cable, a hub, or a second program on the port; run `ripbench doctor`",
    )
