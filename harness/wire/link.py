# SPDX-License-Identifier: Apache-2.0
"""The order of frames: sequence numbers and nonce of one conversation. Still no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.errors import ProtocolError
from harness.schema.constants import FrameType
from harness.wire.codec import Decoder, Frame, encode

_HALF = 0x8000  # of the sequence numbers: what is not ahead is behind


class Link:
    """One conversation with one board. `nonce`: what the harness put into the board's mailbox.
    passed_over: what came before HELLO, by kind, how often. stranger: a HELLO of another nonce, which
    was an error; it may say whose port this is."""

    def __init__(self, nonce: int) -> None:
        self.nonce = nonce
        self._decoder = Decoder()
        self._sent = 0
        self._expected = 0
        self._greeted = False
        self.passed_over: Counter[str] = Counter()
        self.stranger: Frame | None = None

    def request(self, kind: FrameType, payload: bytes = b"") -> bytes:
        """The bytes of the next request."""
        frame = Frame(kind, self._sent, self.nonce, payload)
        self._sent += 1
        return encode(frame)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Checked frames. What was on the wire before HELLO is not of this conversation and is
        passed over, but for a FAULT, and a HELLO of another nonce, which is an error.

        Errors: ProtocolError for a torn frame after HELLO, a gap in the sequence, another nonce.
        """
        frames = self._decoder.feed(data)
        while True:
            try:
                frame = next(frames)
            except StopIteration:
                return
            except ProtocolError:
                if self._greeted:
                    raise
                self.passed_over["torn frames or other bytes"] += 1
                frames = self._decoder.feed(b"")
                continue
            if self._accept(frame):
                yield frame

    def _accept(self, frame: Frame) -> bool:
        if not self._greeted:
            if frame.type == FrameType.FAULT:
                return True
            if frame.type != FrameType.HELLO:
                self.passed_over[_name(frame.type)] += 1
                return False
            self._greeted = True
            self._expected = frame.sequence
        if frame.nonce != self.nonce:
            if frame.type == FrameType.HELLO:
                self.stranger = frame
            raise ProtocolError(
                "the board answers with another nonce",
                cause="this port belongs to another board, or the board was not reset for this run",
                evidence={"sent": f"{self.nonce:08x}", "answered": f"{frame.nonce:08x}"},
                hint="check which cable goes where; `ripbench boards` lists probes and ports",
            )
        behind = (self._expected - frame.sequence) & 0xFFFF
        if 0 < behind < _HALF:
            raise ProtocolError(
                "a frame came twice or late",
                evidence={"expected": self._expected, "arrived": frame.sequence},
                hint="a hub or a driver that repeats, or a board that was reset; try another port",
            )
        if behind:
            raise ProtocolError(
                f"{(frame.sequence - self._expected) & 0xFFFF} frames are missing",
                evidence={"expected": self._expected, "arrived": frame.sequence},
                hint="a loose cable, a hub, or a second program that reads the port",
            )
        self._expected = (self._expected + 1) & 0xFFFF
        return True


def _name(kind: int) -> str:
    """FrameType by name where it is one: `ASK_HELLO frames`."""
    known = {int(member): member.name for member in FrameType}
    return f"{known.get(kind, hex(kind))} frames"
