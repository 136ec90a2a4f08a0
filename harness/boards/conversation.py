# SPDX-License-Identifier: Apache-2.0
"""Requests and answers over an open port: every frame checked, every wait bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from harness.boards import budgets
from harness.boards.budgets import RunBudget
from harness.boards.deadline import Deadline
from harness.boards.port import Port
from harness.boards.run import Run
from harness.errors import (
    ConfigError,
    DeadlineError,
    FirmwareFault,
    FlashError,
    HarnessError,
    ProtocolError,
)
from harness.schema.constants import DATA_MAX, PROTOCOL_VERSION, FrameType, Refusal
from harness.schema.record import Record
from harness.schema.records import (
    CaseVerified,
    DataHeader,
    Hello,
    OpResult,
    ReadRequest,
    Refused,
    RunRequest,
    RunResult,
)
from harness.wire import Frame, Link

_R = TypeVar("_R", bound=Record)
_LOG_LINES = 50
_FIRST_BYTES = 32  # of a frame without an end that are shown; no more of it are kept
_OTHER = "another firmware than this harness's; run again with --reflash"
_FLASH_REFUSALS = {
    Refusal.PACK_MAGIC,
    Refusal.PACK_HEADER_CRC,
    Refusal.ENTRY_CRC,
    Refusal.SLICE_CRC,
    Refusal.IMAGE_CRC,
    Refusal.RAM_CODE,
}
_CONFIG_REFUSALS = {Refusal.ARENA_TOO_SMALL, Refusal.NO_KERNEL, Refusal.CASE_INDEX}


class Conversation:
    """What is said to and by one board between two resets. log: its LOG lines, the newest last.
    on_frame: given every frame that comes and is whole."""

    def __init__(
        self, port: Port, nonce: int, on_frame: Callable[[Frame], None] = lambda _: None
    ) -> None:
        self._port = port
        self._on_frame = on_frame
        self._link = Link(nonce)
        self._frames: list[Frame] = []
        self._unfinished, self._first_bytes = 0, b""
        self.log: list[str] = []

    def close(self) -> None:
        self._port.close()

    def hello(
        self, deadline: Deadline, check_board: Callable[[Hello], None] = lambda _: None
    ) -> Hello:
        """check_board: raises where the HELLO of another nonce is another board's; an error that says
        more than that of the nonce. Errors: of `check_board`, and as `run`."""
        self._port.write(self._link.request(FrameType.ASK_HELLO))
        try:
            return self._expect(FrameType.HELLO, Hello, deadline)
        except ProtocolError:
            stranger = _hello_of(self._link.stranger)
            if stranger is not None:
                check_board(stranger)
            raise

    def ask(self, request: RunRequest) -> None:
        """Hands the request over, and waits for nothing."""
        self._port.write(self._link.request(FrameType.RUN, request.pack()))

    def run(
        self,
        request: RunRequest,
        op_count: int,
        deadline: Deadline,
        verify: Callable[[CaseVerified], None],
        budget: RunBudget,
    ) -> Run:
        """`verify` sees what the firmware found in memory before any number is read. deadline: of the
        whole; budget: of each frame."""
        self.ask(request)
        verified = self._expect(FrameType.CASE, CaseVerified, deadline.part(budget.case, "case"))
        verify(verified)
        ops: list[tuple[OpResult, ...]] = []
        results: list[RunResult] = []
        for repeat in range(request.repeats):
            ops.append(
                tuple(self._op(repeat, index, deadline, budget) for index in range(op_count))
            )
            # without ops it is the first frame, which comes when the work is done
            seconds = budgets.FRAME if op_count else budget.op
            limit = deadline.part(seconds, f"result of repeat {repeat}")
            result = self._expect(FrameType.RESULT, RunResult, limit)
            if result.repeat != repeat:
                raise ProtocolError(
                    f"the result of repeat {result.repeat} came for repeat {repeat}", hint=_OTHER
                )
            results.append(result)
        return Run(request, verified, tuple(ops), tuple(results))

    def _op(self, repeat: int, index: int, deadline: Deadline, budget: RunBudget) -> OpResult:
        seconds = budgets.FRAME if index else budget.op
        limit = deadline.part(seconds, f"op {index} of repeat {repeat}")
        op = self._expect(FrameType.OP, OpResult, limit)
        if (op.repeat, op.op_index) != (repeat, index):
            raise ProtocolError(
                f"op {op.op_index} of repeat {op.repeat} came out of turn", hint=_OTHER
            )
        return op

    def read(self, offset: int, length: int, deadline: Deadline) -> bytes:
        self._port.write(self._link.request(FrameType.READ, ReadRequest(offset, length).pack()))
        data = b""
        while True:  # no bytes are asked for: one frame with none comes
            payload = self._next(FrameType.DATA, deadline).payload
            at, due = offset + len(data), min(DATA_MAX, length - len(data))
            header = DataHeader(at, due).pack()
            if not payload.startswith(header) or len(payload) != len(header) + due:
                raise ProtocolError(
                    "memory came in pieces that do not fit",
                    evidence={
                        "due": f"{due} bytes at {at}",
                        "came": f"{len(payload)} bytes, {payload[: len(header)].hex(' ')} first",
                    },
                    hint=_OTHER,
                )
            data += payload[len(header) :]
            if len(data) == length:
                return data

    def _expect(self, kind: FrameType, record: type[_R], deadline: Deadline) -> _R:
        frame = self._next(kind, deadline)
        try:
            return record.unpack(frame.payload)
        except ValueError as error:
            raise ProtocolError(
                f"a {kind.name} frame of another size", cause=str(error), hint=_OTHER
            ) from error

    def _next(self, kind: FrameType, deadline: Deadline) -> Frame:
        """The next frame, which must be of this kind; LOG frames in between are kept."""
        while True:
            while self._frames:
                frame = self._frames.pop(0)
                if frame.type == kind:
                    return frame
                self._not_due(frame, kind)
            if deadline.over:
                raise self._silence(kind, deadline.passed)
            data = self._port.read(deadline)
            self._count_unfinished(data)
            for frame in self._link.feed(data):
                self._on_frame(frame)
                self._frames.append(frame)

    def _count_unfinished(self, data: bytes) -> None:
        """How much came since the last zero, and how it began."""
        rest = data[data.rfind(0) + 1 :]
        if len(rest) < len(data):
            self._unfinished, self._first_bytes = 0, b""
        self._unfinished += len(rest)
        self._first_bytes += rest[: _FIRST_BYTES - len(self._first_bytes)]

    def _silence(self, due: FrameType, passed: Deadline) -> DeadlineError:
        """What came instead of the frame is the cause, as far as it can be known from here."""
        evidence: dict[str, object] = {"stage": passed.stage, "log": self.log[-3:] or "empty"}
        cause = "nothing came from the board"
        hint = budgets.HINTS.get(passed.stage, budgets.OP_HINT)
        if self._unfinished:
            cause = f"a frame began and did not end: {self._unfinished} bytes of it came"
            evidence["first bytes"] = self._first_bytes.hex(" ")
        elif due is FrameType.HELLO and self._link.passed_over:
            came = ", ".join(f"{count} {what}" for what, count in self._link.passed_over.items())
            cause = f"other things came than HELLO: {came}"
            hint = "a loose cable, or another program at the other end of this port"
        return DeadlineError(
            f"no {due.name} frame within {passed.seconds:.3g} s of the board's time",
            cause=cause,
            evidence=evidence,
            hint=hint,
        )

    def _not_due(self, frame: Frame, due: FrameType) -> None:
        if frame.type == FrameType.LOG:
            text = frame.payload.decode("ascii", "replace")
            self.log.append("".join(c if c.isprintable() else "?" for c in text))
            del self.log[:-_LOG_LINES]
        elif frame.type == FrameType.FAULT:
            raise FirmwareFault(
                "the firmware reports a fault", hint="the probe could not say more; run it again"
            )
        elif frame.type == FrameType.REFUSED:
            _refuse(frame)
        else:
            raise ProtocolError(
                f"frame type {frame.type:#04x} came where {due.name} was due", hint=_OTHER
            )


def _hello_of(frame: Frame | None) -> Hello | None:
    """Of our own protocol, else its fields may mean anything."""
    try:
        hello = Hello.unpack(frame.payload) if frame is not None else None
    except ValueError:
        return None
    return hello if hello is not None and hello.protocol == PROTOCOL_VERSION else None


def _refuse(frame: Frame) -> NoReturn:
    try:
        refused = Refused.unpack(frame.payload)
        reason = Refusal(refused.reason)
    except ValueError as error:
        raise ProtocolError("a refusal that nobody knows", cause=str(error), hint=_OTHER) from error
    kind: type[HarnessError] = ProtocolError
    if reason in _FLASH_REFUSALS:
        kind = FlashError
    elif reason in _CONFIG_REFUSALS:
        kind = ConfigError
    raise kind(
        f"the firmware refuses to run: {reason.name.lower().replace('_', ' ')}",
        evidence={
            "expected": f"{refused.expected:#010x}",
            "seen": f"{refused.seen:#010x}",
            "detail": refused.detail,
        },
        hint="flash changed behind the firmware's back; run again with --reflash"
        if kind is FlashError
        else _OTHER,
    )
