# SPDX-License-Identifier: Apache-2.0
"""The wire's two ends in C against the cobs package and zlib."""

from __future__ import annotations

import ctypes
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.schema.constants import FrameType
from tests.firmware.support import Frame, HostRunner, frame, parse

_NO_ZERO_254 = bytes(range(1, 255))
# zeros, long runs without one, and block boundaries are what COBS can get wrong
_BYTES = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.just(b"\0" * 3),
        st.integers(250, 260).map(lambda n: b"\x11" * n),
    ),
    max_size=6,
).map(b"".join)


def _encode(host: HostRunner, kind: int, sequence: int, nonce: int, payload: bytes) -> bytes:
    to = ctypes.create_string_buffer(2 * len(payload) + 64)
    count = host.c.host_encode(kind, sequence, nonce, payload, len(payload), to)
    return to.raw[:count]


def _decode(host: HostRunner, stream: bytes) -> tuple[list[bytes], int]:
    """Whole frames without their CRC, and how many were dropped."""
    room = stream.count(b"\0") + 1
    frames = ctypes.create_string_buffer(64 * room)
    lengths = (ctypes.c_uint32 * room)()
    dropped = ctypes.c_uint32()
    args = (stream, len(stream), frames, lengths, ctypes.byref(dropped))
    count = host.c.host_decode(*args)
    return [frames.raw[64 * n : 64 * n + lengths[n]] for n in range(count)], dropped.value


@given(st.integers(0, 2**16 - 1), st.integers(0, 2**32 - 1), _BYTES)
@example(0x1111, 0x11111111, _NO_ZERO_254)
def test_sender_is_what_cobs_decodes(
    host: HostRunner, sequence: int, nonce: int, payload: bytes
) -> None:
    stream = _encode(host, FrameType.DATA, sequence, nonce, payload)
    assert stream.count(b"\0") == 1
    assert parse(stream) == [Frame(FrameType.DATA, sequence, nonce, payload)]
    assert stream == frame(FrameType.DATA, sequence, nonce, payload)


@given(st.lists(st.tuples(st.sampled_from(FrameType), st.binary(max_size=52)), max_size=5))
def test_receiver_takes_what_cobs_encodes(
    host: HostRunner, sent: list[tuple[FrameType, bytes]]
) -> None:
    stream = b"".join(frame(kind, n, 0x1234, payload) for n, (kind, payload) in enumerate(sent))
    frames, dropped = _decode(host, stream)
    assert dropped == 0
    assert [(f[0], f[8:]) for f in frames] == [(int(kind), payload) for kind, payload in sent]


def test_a_frame_of_64_bytes_is_taken_and_one_of_65_dropped(host: HostRunner) -> None:
    assert _decode(host, frame(FrameType.RUN, 0, 0, b"\x01" * 52)) == (
        [b"\x42\0\0\0\0\0\0\0" + b"\x01" * 52],
        0,
    )
    assert _decode(host, frame(FrameType.RUN, 0, 0, b"\x01" * 53)) == ([], 1)


@given(st.data())
def test_one_flipped_bit_is_always_noticed(host: HostRunner, data: st.DataObject) -> None:
    stream = bytearray(frame(FrameType.RUN, 3, 99, data.draw(st.binary(max_size=40))))
    at = data.draw(st.integers(0, len(stream) - 2))
    stream[at] ^= 1 << data.draw(st.integers(0, 7))
    whole, dropped = _decode(host, bytes(stream))
    assert whole == []
    assert dropped >= 1
    good = frame(FrameType.READ, 4, 99, b"abc")
    assert len(_decode(host, bytes(stream) + good)[0]) == 1  # and the next one is taken


@given(st.binary(max_size=300))
def test_noise_is_dropped(host: HostRunner, noise: bytes) -> None:
    whole, _ = _decode(host, noise + b"\0")
    assert whole == []


def test_delimiters_alone_are_no_broken_frames(host: HostRunner) -> None:
    assert _decode(host, b"\0\0\0") == ([], 0)


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_crc_is_zlibs_and_continues(host: HostRunner, first: bytes, second: bytes) -> None:
    assert host.c.crc32(0, first, len(first)) == zlib.crc32(first)
    crc = host.c.crc32(host.c.crc32(0, first, len(first)), second, len(second))
    assert crc == zlib.crc32(first + second)


def test_crc_check_value(host: HostRunner) -> None:
    assert host.c.crc32(0, b"123456789", 9) == 0xCBF43926


@pytest.mark.parametrize("length", [1015, 1016, 1017, 1024])
def test_the_longest_data_frame(host: HostRunner, length: int) -> None:
    payload = bytes(n % 255 + 1 for n in range(8 + length))
    stream = _encode(host, FrameType.DATA, 1, 0x01010101, payload)
    assert parse(stream)[0].payload == payload
