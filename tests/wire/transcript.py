# SPDX-License-Identifier: Apache-2.0
"""The device's side of a conversation, frame by frame, over a port and a clock of the tests' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harness.boards.budgets import RunBudget
from harness.boards.conversation import Conversation
from harness.boards.deadline import Deadline
from harness.boards.port import Port
from harness.boards.run import Run
from harness.schema.constants import PROTOCOL_VERSION, FrameType
from harness.schema.records import (
    CaseVerified,
    DataHeader,
    Hello,
    OpResult,
    RunRequest,
    RunResult,
)
from harness.wire import Frame, encode

NONCE = 0x5EED1E55
SECONDS = 2.0
OPS = 2
REQUEST = RunRequest(case_index=0, seed=7, repeats=2, paint=0, keep_interrupts=0, ops=0, reserved=0)
ARENA = bytes(range(256)) * 6
HELLO = Hello(
    protocol=PROTOCOL_VERSION, chip=2040, clk_sys_hz=125_000_000, unique_id=b"12345678",
    board="desk", build_id=b"abcdefgh", image_bytes=4096, image_crc=1, ram_code_crc=2,
    pack_address=0x1001_0000, pack_bytes=8192, pack_header_crc=3, pool_address=0x2000_3000,
    pool_bytes=200_000, stack_bytes=4096, reset_reason=0,
)  # fmt: skip
VERIFIED = CaseVerified(0, 7, 1, 2, 3, 4, 5, 6, 7, 8)


class Clock:
    """The board's seconds; each read of the port takes ten of its milliseconds."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class Device:
    """What pyserial would give: bytes of `pieces`, then silence."""

    def __init__(self, clock: Clock, pieces: Iterator[bytes]) -> None:
        self.timeout: float | None = None
        self.reads = 0
        self._clock = clock
        self._pieces = pieces
        self._pending = b""

    @property
    def in_waiting(self) -> int:
        return len(self._pending)

    def read(self, count: int) -> bytes:
        self.reads += 1
        if not self._pending:
            self._clock.sleep(0.01)
            self._pending = next(self._pieces, b"")
            if not self._pending:
                self._clock.sleep(self.timeout or 0.0)
        data, self._pending = self._pending[:count], self._pending[count:]
        return data

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass
class Heard:
    """What the harness made of it. read: of the arena."""

    hello: Hello | None = None
    run: Run | None = None
    read: bytes = b""
    log: list[str] = field(default_factory=list)


def op_result(repeat: int, index: int) -> OpResult:
    return OpResult(1000 + index, 0, 40, 30, repeat, index, 0, 0)


def run_result(repeat: int) -> RunResult:
    return RunResult(
        cycles=2001, microseconds=16, interrupt_cycles=0, input_crc=9, output_crc=10, low_water=0,
        high_water=1500, outside_count=0, outside_first=0, scratch_used=27, stack_peak=300,
        interrupts=0, repeat=repeat, interrupts_on=0,
    )  # fmt: skip


def transcript() -> list[Frame]:
    """HELLO, a RUN of two ops twice, a READ of 1,500 bytes."""
    frames = [(FrameType.HELLO, HELLO.pack()), (FrameType.CASE, VERIFIED.pack())]
    for repeat in range(REQUEST.repeats):
        frames += [(FrameType.OP, op_result(repeat, n).pack()) for n in range(OPS)]
        frames.append((FrameType.RESULT, run_result(repeat).pack()))
    for offset, length in ((0, 1024), (1024, 476)):
        data = DataHeader(offset, length).pack() + ARENA[offset : offset + length]
        frames.append((FrameType.DATA, data))
    return [Frame(kind, n, NONCE, payload) for n, (kind, payload) in enumerate(frames)]


EXPECTED = Heard(
    HELLO,
    Run(
        REQUEST,
        VERIFIED,
        tuple(tuple(op_result(r, n) for n in range(OPS)) for r in range(REQUEST.repeats)),
        tuple(run_result(r) for r in range(REQUEST.repeats)),
    ),
    ARENA[:1500],
)


def numbered(frames: list[Frame]) -> list[Frame]:
    """The same with sequence numbers in turn."""
    return [replace(frame, sequence=n & 0xFFFF) for n, frame in enumerate(frames)]


def wire(frames: list[Frame]) -> Iterator[bytes]:
    return map(encode, frames)


def listen(
    pieces: Iterator[bytes],
    heard: Heard,
    check: Callable[[Run, Hello], Any] = lambda *_: None,
) -> tuple[Device, Clock]:
    """The whole conversation against what the device says; `heard` has what was understood before an
    error. check: of the run's numbers, as the board's own. Errors: those of the conversation."""
    clock = Clock()
    device = Device(clock, pieces)
    conversation = Conversation(Port(device), NONCE)
    heard.log = conversation.log
    try:
        hello = conversation.hello(Deadline(clock, SECONDS, "hello"))
        heard.hello = hello
        run = _run(conversation, Deadline(clock, SECONDS, "run"))
        check(run, hello)
        heard.run = run
        heard.read = conversation.read(0, 1500, Deadline(clock, SECONDS, "read"))
    finally:
        assert clock.now() < 4 * SECONDS
        assert device.reads < 10_000
    return device, clock


BUDGET = RunBudget(case=60.0, op=60.0, total=60.0)  # the whole deadline is the one that counts


def _run(conversation: Conversation, deadline: Deadline) -> Run:
    return conversation.run(REQUEST, OPS, deadline, _verify, BUDGET)


def _verify(verified: CaseVerified) -> None:
    """As check_case does of a real pack; its errors are tested in tests/boards/test_identity.py."""
    if verified != VERIFIED:
        raise OtherCase


class OtherCase(Exception):
    """The firmware verified something else."""
