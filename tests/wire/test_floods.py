# SPDX-License-Identifier: Apache-2.0
"""Bytes without an end, in every phase of a conversation, and ports that are another board's."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.boards.conversation import Conversation
from harness.boards.deadline import Deadline
from harness.boards.port import Port
from harness.errors import DeadlineError, HarnessError, ProtocolError
from harness.schema.constants import FrameType
from harness.schema.records import Hello
from harness.wire import Frame, encode
from tests.wire.transcript import (
    EXPECTED,
    HELLO,
    NONCE,
    SECONDS,
    Clock,
    Device,
    Heard,
    listen,
    transcript,
    wire,
)

FRAMES = transcript()
NAMES = [f"{n}-{FrameType(frame.type).name}" for n, frame in enumerate(FRAMES)]
PIECE = 1 << 14  # bytes that a flood brings at once, at most, every ten milliseconds
MEMORY = 24 * PIECE  # that a flood of two hundred of them may take
FLOODS = {
    "no end": b"\x01" * PIECE,
    "only ends": b"\0" * 1024,
    "torn frames": b"\x03ab\0" * 256,
    "frames of another type": encode(Frame(0x7E, 0, NONCE, b"x" * 1188)) * (PIECE // 1300),
}


def error_of(pieces: Iterator[bytes], heard: Heard) -> HarnessError:
    with pytest.raises(HarnessError) as caught:
        listen(pieces, heard)
    return caught.value


@pytest.mark.parametrize("at", range(len(FRAMES)), ids=NAMES)
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_takes_no_memory_in_any_phase(at: int, flood: bytes) -> None:
    """Before HELLO the deadline ends it, as it ends bytes that are no frames; after it the first frame
    that does not check out."""
    heard, pieces = Heard(), 0

    def flooded() -> Iterator[bytes]:
        nonlocal pieces
        yield from wire(FRAMES[:at])
        while True:
            pieces += 1
            yield flood

    tracemalloc.start()
    try:
        error = error_of(flooded(), heard)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY
    assert heard.hello in (None, EXPECTED.hello)
    assert heard.run in (None, EXPECTED.run)
    assert heard.read == b""
    if at == 0 or not flood.strip(b"\0"):
        assert type(error) is DeadlineError
        assert 50 < pieces <= SECONDS / 0.01 + 1
    else:
        assert type(error) is ProtocolError
        assert pieces == 1


def test_what_is_said_of_a_frame_that_does_not_end() -> None:
    """Its length and its first bytes, however it was cut, and none of those of the frame before."""
    torn = encode(FRAMES[1])[:-1]  # without the zero that ends it
    for step in (1, 7, 31, 32, 33, len(torn)):
        cut = (torn[k : k + step] for k in range(0, len(torn), step))
        error = error_of(itertools.chain(wire(FRAMES[:1]), cut), Heard())
        assert type(error) is DeadlineError
        assert error.cause == f"a frame began and did not end: {len(torn) - 1} bytes of it came"
        assert error.evidence["first bytes"] == torn[1:33].hex(" ")


class Stranger(Exception):
    """The port is another board's."""


@pytest.mark.parametrize(
    ("payload", "nonce", "error"),
    [
        (HELLO.pack(), NONCE, None),
        (HELLO.pack(), NONCE ^ 1, Stranger),
        (replace(HELLO, protocol=HELLO.protocol + 1).pack(), NONCE ^ 1, ProtocolError),
        (HELLO.pack()[:-1], NONCE ^ 1, ProtocolError),
        (b"", NONCE ^ 1, ProtocolError),
        (HELLO.pack()[:-1], NONCE, ProtocolError),
    ],
    ids=["ours", "another's", "of another protocol", "short", "empty", "ours, short"],
)
def test_a_hello_of_another_nonce_may_say_whose_it_is(
    payload: bytes, nonce: int, error: type[Exception] | None
) -> None:
    """Only one that can be understood; what the check lets pass is an error all the same."""
    told: list[Hello] = []

    def check(hello: Hello) -> None:
        told.append(hello)
        raise Stranger

    for check_board in (check, told.append):
        told.clear()
        clock = Clock()
        pieces = wire([Frame(FrameType.HELLO, 0, nonce, payload)])
        conversation = Conversation(Port(Device(clock, pieces)), NONCE)
        deadline = Deadline(clock, SECONDS, "hello")
        if error is None:
            assert conversation.hello(deadline, check_board) == HELLO
        else:
            expected = error if check_board is check else ProtocolError
            with pytest.raises(expected):
                conversation.hello(deadline, check_board)
        assert told == ([HELLO] if error is Stranger else [])
