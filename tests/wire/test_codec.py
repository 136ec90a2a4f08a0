# SPDX-License-Identifier: Apache-2.0
"""Frames survive any slicing; anything else is an error, never a shorter list."""

from __future__ import annotations

import zlib

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ProtocolError
from harness.schema.constants import FRAME_MAX, FrameType
from harness.wire import Decoder, Frame, Link, encode

frames = st.builds(
    Frame,
    type=st.integers(0, 255),
    sequence=st.integers(0, 0xFFFF),
    nonce=st.integers(0, 2**32 - 1),
    payload=st.binary(max_size=300),
)


def test_literal_bytes() -> None:
    """HELLO request, sequence 1, nonce 0xA1B2C3D4, no payload, byte by byte."""
    body = bytes([0x41, 0, 1, 0, 0xD4, 0xC3, 0xB2, 0xA1])
    expected = b"\0" + cobs.encode(body + zlib.crc32(body).to_bytes(4, "little")) + b"\0"
    assert encode(Frame(0x41, 1, 0xA1B2C3D4, b"")) == expected
    assert expected[:4] == bytes([0, 2, 0x41, 2])


@given(st.lists(frames, max_size=5), st.integers(1, 64))
def test_round_trip_in_pieces(sent: list[Frame], step: int) -> None:
    wire = b"".join(encode(frame) for frame in sent)
    decoder = Decoder()
    got = [f for n in range(0, len(wire), step) for f in decoder.feed(wire[n : n + step])]
    assert got == sent


@given(frames, st.data())
def test_any_flipped_bit_is_an_error_or_silence(frame: Frame, data: st.DataObject) -> None:
    wire = bytearray(encode(frame))
    at = data.draw(st.integers(1, len(wire) - 2))
    wire[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        got = list(Decoder().feed(bytes(wire)))
    except ProtocolError as error:
        assert "torn" in error.message
    else:
        assert got == []  # a zero made at the very end leaves an unfinished frame


def test_an_endless_frame_is_bounded() -> None:
    decoder = Decoder()
    with pytest.raises(ProtocolError, match="without an end"):
        list(decoder.feed(b"\x01" * (FRAME_MAX + 100)))


def _wire(sequence: int, kind: int = FrameType.LOG, nonce: int = 7) -> bytes:
    return encode(Frame(kind, sequence, nonce, b""))


def test_link_passes_over_what_came_before_hello() -> None:
    link = Link(nonce=7)
    noise = b"\x05garbage\0" + _wire(9, FrameType.OP, nonce=1)
    got = list(link.feed(noise + _wire(0, FrameType.HELLO) + _wire(1)))
    assert [frame.type for frame in got] == [FrameType.HELLO, FrameType.LOG]


def test_link_refuses_a_lost_frame() -> None:
    link = Link(nonce=7)
    list(link.feed(_wire(0, FrameType.HELLO)))
    with pytest.raises(ProtocolError, match="2 frames are missing"):
        list(link.feed(_wire(3)))


def test_link_refuses_a_torn_frame_after_hello() -> None:
    link = Link(nonce=7)
    list(link.feed(_wire(0, FrameType.HELLO)))
    torn = bytearray(_wire(1))
    torn[5] ^= 0x10
    with pytest.raises(ProtocolError, match="torn"):
        list(link.feed(bytes(torn)))


def test_link_refuses_another_nonce() -> None:
    with pytest.raises(ProtocolError, match="another nonce") as caught:
        list(Link(nonce=7).feed(_wire(0, FrameType.HELLO, nonce=8)))
    assert caught.value.evidence == {"sent": "00000007", "answered": "00000008"}


def test_requests_count_up() -> None:
    link = Link(nonce=3)
    sent = [link.request(FrameType.ASK_HELLO), link.request(FrameType.RUN, b"x")]
    got = [frame for wire in sent for frame in Decoder().feed(wire)]
    assert [(f.type, f.sequence, f.nonce) for f in got] == [(0x41, 0, 3), (0x42, 1, 3)]
