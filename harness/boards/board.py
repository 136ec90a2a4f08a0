# SPDX-License-Identifier: Apache-2.0
"""One board from attach to result: flash, reset, identity, run, and what to say when it fails."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import Self

from harness.boards.backend import Timings, backend_for, timings_of
from harness.boards.config import BoardEntry
from harness.boards.conversation import Conversation
from harness.boards.deadline import Deadline
from harness.boards.faults import check_stack
from harness.boards.identity import check_case, check_hello
from harness.boards.image import Flasher
from harness.boards.port import open_port
from harness.boards.postmortem import examine
from harness.boards.probe import Probe
from harness.boards.run import Run
from harness.boards.witness import Witness, witness_of
from harness.build import RunnerImage
from harness.case import Pack
from harness.errors import (
    DeadlineError,
    EnumerationError,
    FirmwareFault,
    FlashError,
    HarnessError,
    ProtocolError,
)
from harness.schema.constants import (
    MAILBOX_ADDRESS,
    MAILBOX_MAGIC,
    PROTOCOL_VERSION,
    BootStage,
)
from harness.schema.records import Hello, MailboxReport, MailboxRequest, RunRequest

_REPORT_ADDRESS = MAILBOX_ADDRESS + MailboxRequest.size()
_BOOT_SECONDS = 2.0
_ENUMERATE_SECONDS = 6.0  # hosts wait up to 5 s on a device that does not answer
_HELLO_SECONDS = 3.0
_RUN_SECONDS = 2.0
_CYCLES_PER_MAC = 100  # four times what the plain kernel needs: beyond it the board hangs
_CYCLES_PER_OUTPUT = 2000  # whatever the kernel
_CYCLES_PER_BYTE = 60  # paint, scan and CRC of the pool and of the flash slices
_POLL_SECONDS = 0.005


class Board:
    """A board that is ours until the context ends.

    on_stage: called with the name of each stage as it begins, for progress. nonce: for replays; by
    default a new random one each start.
    """

    def __init__(
        self,
        entry: BoardEntry,
        *,
        nonce: int | None = None,
        on_stage: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.entry = entry
        self._fixed_nonce = nonce
        self._on_stage = on_stage
        self._backend = backend_for(entry)
        self._clock = self._backend.clock(entry.name)
        self._probe = Probe(entry)
        self._conversation: Conversation | None = None
        self._image: RunnerImage | None = None
        self._pack: Pack | None = None
        self.nonce = 0
        self.hello: Hello | None = None

    @property
    def kind(self) -> str:
        """The backend's label of every number that comes from here: `board`, `emulated`, ..."""
        return self._backend.kind

    @property
    def timings(self) -> Timings | None:
        """The timing models behind this board's cycles; None where they are no model."""
        return timings_of(self._backend, self.entry.name)

    @cached_property
    def witness(self) -> Witness | None:
        """What sees every access of the core, on a backend that has such a thing."""
        return witness_of(self._backend, self.entry.name)

    def __enter__(self) -> Self:
        self._on_stage("attach")
        self._probe.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hang_up()
        self._probe.__exit__(kind, error, trace)

    def start(self, image: RunnerImage, pack: Pack, *, reflash: bool = False) -> Hello:
        """Flashes what is not there yet, resets, and checks who answers.

        An image that was taken for unchanged by its header but is not gets flashed once more.
        Errors: ConfigError, ProbeError, FlashError, EnumerationError, ProtocolError, FirmwareFault,
        DeadlineError.
        """
        flasher = Flasher(self._probe, self.entry)
        self._hang_up()
        self._on_stage("flash")
        skipped = not flasher.write(image, pack, force=reflash)
        try:
            return self._boot(image, pack, flasher.pack_address)
        except FlashError:
            if not skipped:
                raise
        self._on_stage("flash again: the header was right, the bytes are not")
        flasher.write(image, pack, force=True)
        return self._boot(image, pack, flasher.pack_address)

    def run(
        self,
        index: int,
        seed: int,
        *,
        repeats: int = 1,
        paint: int = 0,
        keep_interrupts: bool = False,
    ) -> Run:
        """Runs case `index` of the pack. Errors: FlashError when flash changed since it was written,
        ProtocolError, FirmwareFault with function and op, DeadlineError."""
        image, pack, conversation = self._running()
        request = RunRequest(index, seed, repeats, paint, int(keep_interrupts))
        self._on_stage("run")
        deadline = Deadline(self._clock, self._run_seconds(index, repeats), "run")
        with self._explained("run"):
            run = conversation.run(
                request,
                pack.op_count(index),
                deadline,
                lambda verified: check_case(verified, image, pack, index, seed),
            )
        assert self.hello is not None, "set by the same start as the conversation"
        check_stack(run, self.hello, pack.cases[index].id)
        return run

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the arena after a run. Errors: as `run`."""
        _, _, conversation = self._running()
        with self._explained("read"):
            deadline = Deadline(self._clock, _RUN_SECONDS + length / 20_000, "read")
            return conversation.read(offset, length, deadline)

    def _boot(self, image: RunnerImage, pack: Pack, pack_address: int) -> Hello:
        self._image, self._pack = image, pack
        self._hang_up()
        self._on_stage("reset")
        fresh = secrets.randbits(32)
        self.nonce = fresh if self._fixed_nonce is None else self._fixed_nonce
        self._probe.reset_and_halt()
        request = MailboxRequest(
            MAILBOX_MAGIC, PROTOCOL_VERSION, self.nonce, pack_address, self.entry.name
        )
        self._probe.write(MAILBOX_ADDRESS, request.pack() + bytes(MailboxReport.size()))
        self._probe.resume()
        with self._explained("boot"):
            unique_id = self._wait_for_boot()
            self._on_stage("enumerate")
            deadline = Deadline(self._clock, _ENUMERATE_SECONDS, "enumerate")
            port = open_port(self.entry, unique_id.hex().upper(), self._clock, deadline)
            self._conversation = Conversation(port, self.nonce)
            self._on_stage("hello")
            deadline = Deadline(self._clock, _HELLO_SECONDS, "hello")
            hello = self._conversation.hello(deadline)
        check_hello(hello, self.entry, image, pack, unique_id)
        self.hello = hello
        return hello

    def _wait_for_boot(self) -> bytes:
        """Until the firmware has left the board's unique id in the mailbox."""
        deadline = Deadline(self._clock, _BOOT_SECONDS, "boot")
        while True:
            report = self._report()
            if report.stage == BootStage.FAULTED:
                raise EnumerationError("the firmware faulted while it started")
            if report.stage >= BootStage.USB:
                return report.unique_id
            if deadline.over:
                stage = BootStage(report.stage).name if report.stage < 7 else str(report.stage)
                raise EnumerationError(
                    f"the firmware did not start within {deadline.seconds:g} s",
                    evidence={"last stage": stage},
                    hint="the boot ROM starts only an image with a valid boot2 (RP2040) or "
                    "IMAGE_DEF (RP2350); flash again with --reflash",
                )
            self._clock.sleep(_POLL_SECONDS)

    def _report(self) -> MailboxReport:
        return MailboxReport.unpack(self._probe.read(_REPORT_ADDRESS, MailboxReport.size()))

    def _running(self) -> tuple[RunnerImage, Pack, Conversation]:
        if self._image is None or self._pack is None or self._conversation is None:
            raise ProtocolError(f"{self.entry.name} has not been started")
        return self._image, self._pack, self._conversation

    def _run_seconds(self, index: int, repeats: int) -> float:
        """The board's seconds that a run may take, from its MACs and the bytes it handles."""
        image, pack, _ = self._running()
        layer = pack.cases[index].plan.layer
        work = layer.macs * _CYCLES_PER_MAC + layer.n_out * _CYCLES_PER_OUTPUT
        handled = image.pool_bytes + (len(image.flash) + len(pack.data)) / max(1, repeats)
        cycles = repeats * (work + handled * _CYCLES_PER_BYTE)
        return _RUN_SECONDS + cycles / self.entry.clock_hz

    def _explained(self, stage: str) -> Explained:
        return Explained(self, stage)

    def _hang_up(self) -> None:
        if self._conversation is not None:
            self._conversation.close()
            self._conversation = None

    def explain(self, error: HarnessError, stage: str) -> HarnessError:
        """The same error with what the probe sees now; a FirmwareFault if that is what it was."""
        try:
            found = examine(self._probe, self._report(), self._image, self._pack)
        except HarnessError as second:
            evidence = {**error.evidence, "probe": second.message}
            return _again(error, evidence)
        if found.fault is not None:
            return FirmwareFault(
                f"the firmware faulted in {found.where} ({stage})",
                cause=found.fault,
                evidence=found.evidence,
                hint="`arm-none-eabi-addr2line -fe ELF PC` gives the line",
            )
        return _again(error, {**error.evidence, **found.evidence})


class Explained:
    """Adds a post-mortem to errors of silence and broken talk; others pass through."""

    def __init__(self, board: Board, stage: str) -> None:
        self._board = board
        self._stage = stage

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, (DeadlineError, EnumerationError, ProtocolError, FirmwareFault)):
            raise self._board.explain(error, self._stage) from error


def _again(error: HarnessError, evidence: dict[str, object]) -> HarnessError:
    return type(error)(error.message, cause=error.cause, evidence=evidence, hint=error.hint)
