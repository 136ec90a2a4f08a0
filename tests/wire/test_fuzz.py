# SPDX-License-Identifier: Apache-2.0
"""The host's decoder and link under damaged frames. What must come out is worked out by definition:
COBS and CRC-32 are written here once more."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from harness.errors import ProtocolError
from harness.schema.constants import FRAME_MAX, FrameType
from harness.wire import Decoder, Frame, Link, encode

NONCE = 0x5EED1E55
_SHORTEST, _LONGEST_WIRE = 12, FRAME_MAX + FRAME_MAX // 254 + 1


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ 0xEDB88320 if value & 1 else value >> 1
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32(data: bytes) -> int:
    """CRC-32 from its polynomial."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def uncobs(piece: bytes) -> bytes | None:
    """COBS from its definition; None when the distances do not come out at the end."""
    out, at = bytearray(), 0
    while at < len(piece):
        code = piece[at]
        if code == 0 or at + code > len(piece):
            return None
        out += piece[at + 1 : at + code]
        at += code
        if code != 255 and at < len(piece):
            out.append(0)
    return bytes(out)


def by_definition(stream: bytes) -> Iterator[bytes | None]:
    """Each piece between zeros: what it decodes to, without its CRC, or None where it is torn."""
    for piece in filter(None, stream.split(b"\0")[:-1]):
        body = uncobs(piece)
        whole = body is not None and _SHORTEST <= len(body) <= FRAME_MAX
        if body is None or not whole or crc32(body[:-4]) != int.from_bytes(body[-4:], "little"):
            yield None
        else:
            yield body[:-4]


def _content(frame: Frame) -> tuple[int, int, int, bytes]:
    return frame.type, frame.sequence, frame.nonce, frame.payload


def _parsed(body: bytes) -> tuple[int, int, int, bytes]:
    word = int.from_bytes
    return body[0], word(body[2:4], "little"), word(body[4:8], "little"), body[8:]


# ---- damage ----

Damage = Callable[[random.Random, bytearray], None]


def _flip(rng: random.Random, wire: bytearray) -> None:
    for _ in range(rng.randint(1, 8)):
        wire[rng.randrange(len(wire))] ^= 1 << rng.randrange(8)


def _burst(rng: random.Random, wire: bytearray) -> None:
    at = rng.randrange(len(wire))
    for next_ in range(at, min(at + 4, len(wire))):
        wire[next_] ^= rng.randrange(256)


def _replace(rng: random.Random, wire: bytearray) -> None:
    at = rng.randrange(len(wire))
    wire[at : at + rng.randint(0, 16)] = rng.randbytes(rng.randint(0, 16))


def _swap(rng: random.Random, wire: bytearray) -> None:
    one, other = rng.randrange(len(wire)), rng.randrange(len(wire))
    wire[one], wire[other] = wire[other], wire[one]


def _cut(rng: random.Random, wire: bytearray) -> None:
    del wire[rng.randrange(len(wire)) :]


def _noise(rng: random.Random, wire: bytearray) -> None:
    wire[:] = rng.randbytes(rng.randint(0, 300))


def _endless(rng: random.Random, wire: bytearray) -> None:
    wire[1:1] = bytes(rng.randint(1, 255) for _ in range(3)) * rng.randint(350, 600)


def _none(rng: random.Random, wire: bytearray) -> None:
    pass


_DAMAGES: tuple[tuple[Damage, int], ...] = (
    (_flip, 20), (_burst, 15), (_replace, 20), (_swap, 10), (_cut, 5), (_noise, 10), (_endless, 1),
    (_none, 25),
)  # fmt: skip
_HOW, _WEIGHTS = zip(*_DAMAGES, strict=True)


def _draw_frame(rng: random.Random) -> Frame:
    length = rng.choice((0, 1, 4, 16, 40, 64)) if rng.random() < 0.98 else rng.randint(200, 1100)
    payload = rng.randbytes(length) if rng.random() < 0.5 else bytes(rng.choices((0, 1), k=length))
    return Frame(rng.randrange(256), rng.getrandbits(16), rng.getrandbits(32), payload)


def _decode_all(decoder: Decoder, stream: bytes, step: int) -> Iterator[Frame | None]:
    """Frames and, as None, torn ones, in their order."""
    for at in range(0, len(stream), step):
        data = stream[at : at + step]
        while True:
            try:
                yield from decoder.feed(data)
                break
            except ProtocolError as error:
                assert "torn" in error.message
                yield None
                data = b""


def _fuzz(seed: int, frames: int) -> Counter[str]:
    """One decoder for all; each stream ends with a zero."""
    rng, counts, decoder = random.Random(seed), Counter[str](), Decoder()
    while counts["frames"] < frames:
        stream, sent = bytearray(), []
        for how in rng.choices(_HOW, _WEIGHTS, k=rng.randint(1, 5)):
            frame = _draw_frame(rng)
            wire = bytearray(encode(frame))
            how(rng, wire)
            stream += wire
            sent.append(_content(frame))
            counts["frames"] += 1
            counts["damaged"] += how is not _none
            counts["endless"] += how is _endless
        stream.append(0)
        step = rng.choice((1, 7, 64, 10_000)) if len(stream) < 200 else rng.choice((64, 10_000))
        got = [None if f is None else _content(f) for f in _decode_all(decoder, stream, step)]
        expected = [None if b is None else _parsed(b) for b in by_definition(bytes(stream))]
        assert got == expected, bytes(stream).hex()
        whole = [content for content in got if content is not None]
        counts["delivered"] += len(whole)
        counts["torn"] += len(got) - len(whole)
        counts["collisions"] += sum(content not in sent for content in whole)
    return counts


def _check(counts: Counter[str], frames: int) -> None:
    """Nothing that was changed came out as whole, and all kinds of damage were there."""
    assert counts["collisions"] == 0
    assert counts["damaged"] > frames * 0.7
    assert counts["delivered"] > frames * 0.2
    assert counts["torn"] > frames * 0.5
    assert counts["endless"] > frames / 300


def test_damaged_frames() -> None:
    _check(_fuzz(seed=1, frames=8_000), 8_000)


@pytest.mark.extra
@pytest.mark.parametrize("part", range(2))
def test_a_million_damaged_frames(part: int) -> None:
    counts = _fuzz(seed=100 + part, frames=500_000)
    print(counts)
    _check(counts, 500_000)


def test_the_oracle_knows_the_check_value() -> None:
    assert crc32(b"123456789") == 0xCBF43926
    assert uncobs(b"\x03\x11\x22\x02\x33") == b"\x11\x22\x00\x33"
    assert uncobs(b"\x05\x11") is None


# ---- the link ----


def test_an_endless_frame_before_hello_is_passed_over() -> None:
    """Whatever was on the wire is not of this conversation, however long it is."""
    link = Link(NONCE)
    noise = b"\x01" * (3 * _LONGEST_WIRE)
    hello = encode(Frame(FrameType.HELLO, 0, NONCE, b""))
    assert list(link.feed(noise)) == []
    assert [frame.type for frame in link.feed(noise + hello)] == [FrameType.HELLO]


def test_the_end_of_an_endless_frame_is_no_frame() -> None:
    """A whole frame inside it that begins without a zero is a part of it."""
    decoder = Decoder()
    inner = encode(Frame(FrameType.HELLO, 0, NONCE, b""))[1:]
    with pytest.raises(ProtocolError, match="without an end"):
        list(decoder.feed(b"\x01" * (_LONGEST_WIRE + 1)))
    assert list(decoder.feed(inner)) == []
    assert len(list(decoder.feed(inner))) == 1


def _session(rng: random.Random) -> tuple[list[Frame], list[Frame], bool]:
    """Frames of a conversation after HELLO, how many of them may be delivered, whether all may."""
    frames = [Frame(FrameType.LOG, n, NONCE, rng.randbytes(8)) for n in range(1, 9)]
    at = rng.randrange(len(frames))
    how = rng.randrange(5)
    wrong = list(frames)
    if how == 0:  # lost; the last one's loss is only seen by silence
        del wrong[at]
        return wrong, frames[:at], at == len(frames) - 1
    if how == 1:
        wrong.insert(at, wrong[at])
        return wrong, frames[: at + 1], False
    if how == 2:
        other = (at + 1 + rng.randrange(len(frames) - 1)) % len(frames)
        wrong[at], wrong[other] = wrong[other], wrong[at]
        return wrong, frames[: min(at, other)], False
    if how == 3:
        wrong[at] = Frame(FrameType.LOG, frames[at].sequence, rng.getrandbits(32), b"")
        return wrong, frames[:at], wrong[at].nonce == NONCE
    return wrong, frames, True


@pytest.mark.parametrize("seed", range(200))
def test_whole_frames_that_are_not_due(seed: int) -> None:
    """Lost, doubled, swapped, of another nonce: an error, and nothing after it."""
    wire, may, well = _session(random.Random(seed))
    link, got = Link(NONCE), []
    list(link.feed(encode(Frame(FrameType.HELLO, 0, NONCE, b""))))
    failed = False
    try:
        for frame in wire:
            got += link.feed(encode(frame))
    except ProtocolError:
        failed = True
    assert failed is not well
    assert got == may
