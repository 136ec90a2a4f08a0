# SPDX-License-Identifier: Apache-2.0
"""A device that says anything at all: the right error, in bounded time, and never a wrong number.

Frames here are whole: their CRC is right, and what is in them is not. Damaged bytes come last.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import fields, replace

import pytest

from harness.boards.plausible import check_numbers
from harness.errors import (
    ConfigError,
    DeadlineError,
    FirmwareFault,
    FlashError,
    HarnessError,
    ProtocolError,
)
from harness.schema.constants import FrameType, Refusal
from harness.schema.record import Scalar
from harness.schema.records import CaseVerified, Hello, OpResult, Refused, RunResult
from harness.wire import Frame, encode
from tests.wire.transcript import (
    EXPECTED,
    HELLO,
    NONCE,
    SECONDS,
    Heard,
    OtherCase,
    listen,
    numbered,
    transcript,
    wire,
)

FRAMES = transcript()
NAMES = [f"{n}-{FrameType(frame.type).name}" for n, frame in enumerate(FRAMES)]
HOSTILE_TEXTS = (
    b"\x1b[2J\x1b]0;owned\x07", b"\x00\x08\x0c\r\n", b"\xff\xfe\x80", b"]]><script>&quot;",
    "\u202egnp.exe\u200b\u2028".encode(), b"%s%n{0}", b"\x9b31m\x85", b"A" * 1188,
)  # fmt: skip


def _error(pieces: Iterator[bytes], heard: Heard) -> HarnessError:
    """The error that comes of it: of the tree, and made of printable lines."""
    with pytest.raises(HarnessError) as caught:
        listen(pieces, heard)
    assert all(c.isprintable() or c == "\n" for c in str(caught.value)), repr(str(caught.value))
    return caught.value


def _heard(heard: Heard) -> None:
    """Whatever was understood before the error is what the device said."""
    assert heard.hello in (None, EXPECTED.hello)
    assert heard.run in (None, EXPECTED.run)
    assert heard.read in (b"", EXPECTED.read)


def _with(at: int, frame: Frame) -> list[Frame]:
    return [*FRAMES[:at], frame, *FRAMES[at + 1 :]]


def _inserted(at: int, kind: int, payload: bytes) -> list[Frame]:
    return numbered([*FRAMES[:at], Frame(kind, 0, NONCE, payload), *FRAMES[at:]])


def test_an_honest_device() -> None:
    heard = Heard()
    listen(wire(FRAMES), heard, lambda run, hello: check_numbers(run, hello, SECONDS))
    assert heard == EXPECTED


@pytest.mark.parametrize("at", range(len(FRAMES)), ids=NAMES)
def test_payloads_of_every_other_size(at: int) -> None:
    right = FRAMES[at].payload
    sizes = {0, 1, 7, 8, 9, 40, len(right) - 1, len(right) + 1, len(right) + 8, 1188}
    for size in sizes - {len(right)}:
        heard = Heard()
        frame = replace(FRAMES[at], payload=right[:size].ljust(size, b"\xff"))
        assert type(_error(wire(_with(at, frame)), heard)) is ProtocolError
        _heard(heard)


@pytest.mark.parametrize("at", range(len(FRAMES)), ids=NAMES)
def test_every_other_type(at: int) -> None:
    for kind in {*range(12), *range(0x3E, 0x46), 0x7F, 0x80, 0xFF} - {FRAMES[at].type}:
        heard = Heard()
        error = _error(wire(_with(at, replace(FRAMES[at], type=kind))), heard)
        _heard(heard)
        if kind == FrameType.FAULT:
            assert type(error) is FirmwareFault
        elif at == 0 and kind != FrameType.HELLO:
            assert type(error) is DeadlineError  # before HELLO all else is of somebody else
        elif at == len(FRAMES) - 1 and kind == FrameType.LOG:
            assert type(error) is DeadlineError  # nothing follows
        else:
            assert type(error) is ProtocolError


@pytest.mark.parametrize("at", range(1, len(FRAMES)), ids=NAMES[1:])
def test_every_other_sequence_and_nonce(at: int) -> None:
    for change in (1, 2, 0x7FFF, 0x8000, 0xFFFF):
        heard = Heard()
        other = replace(FRAMES[at], sequence=FRAMES[at].sequence + change & 0xFFFF)
        assert type(_error(wire(_with(at, other)), heard)) is ProtocolError
        other = replace(FRAMES[at], nonce=FRAMES[at].nonce ^ change)
        assert type(_error(wire(_with(at, other)), heard)) is ProtocolError
        _heard(heard)


@pytest.mark.parametrize("at", range(len(FRAMES)), ids=NAMES)
def test_a_frame_that_is_not_sent(at: int) -> None:
    """Lost on the way: the sequence says so. Never sent: the next one is not due."""
    silent = DeadlineError if at in (0, len(FRAMES) - 1) else ProtocolError
    for frames in (FRAMES[:at] + FRAMES[at + 1 :], numbered(FRAMES[:at] + FRAMES[at + 1 :])):
        heard = Heard()
        assert type(_error(wire(frames), heard)) is silent
        _heard(heard)
    heard = Heard()
    assert type(_error(wire(FRAMES[:at]), heard)) is DeadlineError
    _heard(heard)


@pytest.mark.parametrize("at", range(len(FRAMES)), ids=NAMES)
def test_a_frame_twice(at: int) -> None:
    heard = Heard()
    frames = numbered([*FRAMES[: at + 1], *FRAMES[at:]])
    if at == len(FRAMES) - 1:
        listen(wire(frames), heard)  # the conversation is over before it
        assert heard == EXPECTED
    else:
        assert type(_error(wire(frames), heard)) is ProtocolError
        _heard(heard)


@pytest.mark.parametrize("at", range(1, len(FRAMES) + 1))
def test_log_lines_are_kept_out_of_the_way(at: int) -> None:
    for text in HOSTILE_TEXTS:
        heard = Heard()
        listen(wire(_inserted(at, FrameType.LOG, text)), heard)
        assert replace(heard, log=[]) == EXPECTED
        if at < len(FRAMES):
            (line,) = heard.log
            assert line.isprintable()
            assert len(line) <= len(text)


def test_a_flood_of_log_lines_is_bounded() -> None:
    """In time, and in memory: the board's own deadline ends it."""
    for payload, per_read in ((b"\x1b[H", 1), (b"", 50), (b"x" * 1188, 4)):
        log = (Frame(FrameType.LOG, n & 0xFFFF, NONCE, payload) for n in itertools.count(1))
        flood = (b"".join(itertools.islice(wire(log), per_read)) for _ in itertools.count())
        heard = Heard()
        error = _error(itertools.chain(wire(FRAMES[:1]), flood), heard)
        assert type(error) is DeadlineError
        assert len(heard.log) == 50
        assert len(str(error)) < 5000


def test_noise_without_an_end_before_hello_is_bounded() -> None:
    """No zero in it: one frame that never ends."""
    heard = Heard()
    error = _error((b"\x01" * 4000 for _ in itertools.count()), heard)
    assert type(error) is DeadlineError
    assert heard.hello is None


@pytest.mark.parametrize("at", range(1, len(FRAMES)), ids=NAMES[1:])
@pytest.mark.parametrize("size", [0, 1, 87, 88, 89, 1188])
def test_faults_of_any_size(at: int, size: int) -> None:
    """What it says is not read from here, but from the mailbox."""
    heard = Heard()
    assert (
        type(_error(wire(_inserted(at, FrameType.FAULT, b"\xff" * size)), heard)) is FirmwareFault
    )
    _heard(heard)


FLASH = {"PACK_MAGIC", "PACK_HEADER_CRC", "ENTRY_CRC", "SLICE_CRC", "IMAGE_CRC", "RAM_CODE"}
CONFIG = {"ARENA_TOO_SMALL", "NO_KERNEL", "CASE_INDEX"}


def test_every_refusal() -> None:
    known = {int(reason): reason.name for reason in Refusal}
    for reason in [*range(20), 255, 256, 0x7FFF, 0x8000, 0xFFFF]:
        name = known.get(reason, "")
        wanted = FlashError if name in FLASH else ConfigError if name in CONFIG else ProtocolError
        for number in (0, 2**32 - 1):
            heard = Heard()
            refused = Refused(reason, 255, 255, number, number, number).pack()
            error = _error(wire(_inserted(1, FrameType.REFUSED, refused)), heard)
            assert type(error) is wanted, reason
            _heard(heard)


@pytest.mark.parametrize("size", [0, 1, 15, 17, 1188])
def test_refusals_of_other_sizes(size: int) -> None:
    heard = Heard()
    error = _error(wire(_inserted(2, FrameType.REFUSED, b"\1" * size)), heard)
    assert type(error) is ProtocolError


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_name_in_hello_is_only_data(text: bytes) -> None:
    """Whoever compares it gets text; it is shown by repr."""
    offset = next(m.offset for m in Hello.members() if m.name == "board")
    payload = bytearray(HELLO.pack())
    payload[offset : offset + 32] = text[:32].ljust(32, b"\0")
    heard = Heard()
    listen(wire(_with(0, replace(FRAMES[0], payload=bytes(payload)))), heard)
    assert heard.hello is not None
    assert heard.hello.board != HELLO.board
    assert repr(heard.hello.board).isprintable()


# ---- numbers ----


def _extremes(size: int, now: int) -> set[int]:
    top = 1 << 8 * size
    return {0, 1, top // 2 - 1, top // 2, top - 2, top - 1} - {now}


def _scalars(record: type[OpResult] | type[RunResult] | type[CaseVerified]) -> list[str]:
    return [m.name for m in record.members() if isinstance(m.kind, Scalar)]


def _frames_with(record: CaseVerified | OpResult | RunResult, name: str) -> Iterator[list[Frame]]:
    """The transcript with one field of one frame at its extremes."""
    member = next(m for m in type(record).members() if m.name == name)
    at = next(n for n, frame in enumerate(FRAMES) if frame.payload == record.pack())
    now = int.from_bytes(record.pack()[member.offset :][: member.size], "little")
    for value in _extremes(member.size, now):
        payload = bytearray(record.pack())
        payload[member.offset : member.offset + member.size] = value.to_bytes(member.size, "little")
        yield _with(at, replace(FRAMES[at], payload=bytes(payload)))


@pytest.mark.parametrize("name", _scalars(CaseVerified))
def test_every_field_of_case(name: str) -> None:
    """Nothing of the run is read when the firmware verified something else."""
    assert EXPECTED.run is not None
    for frames in _frames_with(EXPECTED.run.verified, name):
        heard = Heard()
        with pytest.raises(OtherCase):
            listen(wire(frames), heard)
        assert heard.run is None


# Fields that nothing on the host is compared with here: CRCs and kernels are the judge's, a stack's peak
# is check_stack's, and as many accesses as there were hits or more may be right.
JUDGED = {"input_crc", "output_crc", "stack_peak", "kernel"}
INSIDE = {  # extremes that are possible numbers
    "xip_accesses": {0x7FFF_FFFF, 0x8000_0000, 2**32 - 2, 2**32 - 1},
    "xip_hits": {0, 1},
    "high_water": {0, 1},
    "low_water": {1},
    "outside_count": {1},
    "scratch_used": {0, 1},
    "breaches": {1},  # of r4: the verdict fails by it
}


@pytest.mark.parametrize(
    ("which", "name"),
    [(kind, n) for kind in (OpResult, RunResult) for n in _scalars(kind) if n not in JUDGED],
)
def test_no_number_that_cannot_be(which: type[OpResult] | type[RunResult], name: str) -> None:
    assert EXPECTED.run is not None
    record = EXPECTED.run.ops[1][0] if which is OpResult else EXPECTED.run.results[1]
    refused = 0
    for frames in _frames_with(record, name):
        heard = Heard()
        try:
            listen(wire(frames), heard, lambda run, hello: check_numbers(run, hello, SECONDS))
        except ProtocolError:
            refused += 1
            assert heard.run is None
        else:
            assert heard.run is not None
            seen = heard.run.ops[1][0] if which is OpResult else heard.run.results[1]
            assert getattr(seen, name) in INSIDE.get(name, set())
    assert refused >= 2


def test_numbers_that_agree_and_still_cannot_be() -> None:
    """2^63 cycles in ops, sum and timer alike: no run of two seconds has them."""
    op = replace(EXPECTED.run.ops[0][0], cycles=2**62)  # type: ignore[union-attr]
    result = replace(
        EXPECTED.run.results[0],  # type: ignore[union-attr]
        cycles=2**63,
        microseconds=2**63 // 125,
    )
    payloads = {2: op.pack(), 3: replace(op, op_index=1).pack(), 4: result.pack()}
    frames = [replace(f, payload=payloads.get(n, f.payload)) for n, f in enumerate(FRAMES)]
    heard = Heard()
    with pytest.raises(ProtocolError, match="microseconds that cannot be"):
        listen(wire(frames), heard, lambda run, hello: check_numbers(run, hello, SECONDS))


def test_every_field_was_looked_at() -> None:
    assert {f.name for f in fields(RunResult)} >= set(INSIDE) - {
        "xip_hits",
        "xip_accesses",
        "breaches",
    }


# ---- bytes ----


def _damaged(seed: int) -> bytes:
    rng = random.Random(seed)
    stream = bytearray(b"".join(map(encode, FRAMES)))
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        at = rng.randrange(len(stream))
        how = rng.randrange(5)
        if how == 0:
            stream[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del stream[at : at + rng.randint(1, 200)]
        elif how == 2:  # a zero more between frames: nothing is lost
            zero = stream.find(0, at)
            stream[zero:zero] = b"\0"
        elif how == 3:
            stream[at:at] = rng.randbytes(rng.randint(1, 40))
        else:
            stream[at : at + 4] = rng.randbytes(4)
    return bytes(stream)


def _converse(seed: int) -> type[HarnessError] | None:
    stream = _damaged(seed)
    step = random.Random(seed).choice((1, 13, 64, 5000))
    heard = Heard()
    try:
        listen((stream[n : n + step] for n in range(0, len(stream), step)), heard)
    except HarnessError as error:
        _heard(heard)
        return type(error)
    assert heard == EXPECTED  # the damage was where nobody looks, as in a zero between frames
    return None


def _check_conversations(seeds: range) -> None:
    outcomes = {_converse(seed) for seed in seeds}
    assert outcomes == {None, ProtocolError, DeadlineError}


def test_damaged_conversations() -> None:
    _check_conversations(range(600))


@pytest.mark.extra
def test_many_damaged_conversations() -> None:
    _check_conversations(range(10_000, 40_000))
