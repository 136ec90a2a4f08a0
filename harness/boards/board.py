# SPDX-License-Identifier: Apache-2.0
"""One board from attach to result: flash, reset, identity, run, and what to say when it fails."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import Self

from harness.boards import budgets
from harness.boards.backend import Timings, backend_for, kind_of, lock_keys_of, timings_of
from harness.boards.budgets import RunBudget
from harness.boards.config import BoardEntry
from harness.boards.conversation import Conversation
from harness.boards.deadline import Deadline
from harness.boards.faults import check_stack
from harness.boards.gdb import GdbServer
from harness.boards.identity import check_board, check_case, check_hello
from harness.boards.image import Flasher
from harness.boards.lock import BoardLock
from harness.boards.plausible import check_numbers
from harness.boards.port import open_port
from harness.boards.postmortem import examine
from harness.boards.probe import Probe
from harness.boards.profiler import Profiler, Watchpoint, profiler_of, watchpoint_of
from harness.boards.recovery import Rung
from harness.boards.run import Run
from harness.boards.stages import Stages, overdue
from harness.boards.witness import Witness, witness_of
from harness.build import RunnerImage
from harness.case import Pack
from harness.errors import (
    DeadlineError,
    EnumerationError,
    FirmwareFault,
    FlashError,
    HarnessError,
    ProbeError,
    ProtocolError,
)
from harness.schema.constants import (
    MAILBOX_ADDRESS,
    MAILBOX_MAGIC,
    PROTOCOL_VERSION,
    BootStage,
)
from harness.schema.records import Hello, MailboxReport, MailboxRequest, RunRequest
from harness.wire import Frame

_REPORT_ADDRESS = MAILBOX_ADDRESS + MailboxRequest.size()
_POLL_SECONDS = 0.005
_SETTLE_SECONDS = 0.5  # a probe or a port that vanished may be on its way back


class Board:
    """A board that is ours, and nobody else's, until the context ends.

    on_stage: called with the name of each stage as it begins, for progress. nonce: for replays; by
    default a new random one each start. wait: seconds that it may take until others let the board go;
    on_wait is told whom we wait for. on_frame: given every frame that comes and is whole.
    """

    def __init__(
        self,
        entry: BoardEntry,
        *,
        nonce: int | None = None,
        on_stage: Callable[[str], None] = lambda _: None,
        wait: float = 0.0,
        on_wait: Callable[[str], None] = lambda _: None,
        on_frame: Callable[[Frame], None] = lambda _: None,
    ) -> None:
        self.entry = entry
        self._fixed_nonce = nonce
        self._on_stage = on_stage
        self._wait, self._on_wait = wait, on_wait
        self._on_frame = on_frame
        self._backend = backend_for(entry)
        self._clock = self._backend.clock(entry.name)
        self._stages = Stages(self._clock, lambda name: self._on_stage(name))
        self.keys = lock_keys_of(self._backend, entry)
        self._lock = BoardLock(entry.name, self.keys)
        self._probe = Probe(entry, self._stages)
        self._after: Rung | None = None
        self._conversation: Conversation | None = None
        self._image: RunnerImage | None = None
        self._pack: Pack | None = None
        self.nonce = 0
        self.hello: Hello | None = None

    @property
    def kind(self) -> str:
        """The backend's label of every number that comes from here: `board`, `emulated`, ..."""
        return kind_of(self._backend, self.entry.name)

    @property
    def timings(self) -> Timings | None:
        """The timing models behind this board's cycles; None where they are no model."""
        return timings_of(self._backend, self.entry.name)

    @cached_property
    def witness(self) -> Witness | None:
        """What sees every access of the core, on a backend that has such a thing."""
        return witness_of(self._backend, self.entry.name)

    @cached_property
    def profiler(self) -> Profiler | None:
        """What counts cycles by instruction, on a backend that has such a thing."""
        return profiler_of(self._backend, self.entry.name)

    @cached_property
    def watchpoint(self) -> Watchpoint | None:
        """What halts the core at one store of many, on a backend that has such a thing."""
        return watchpoint_of(self._backend, self.entry.name)

    @property
    def flash_bytes(self) -> int:
        """Of image and pack, as the board was last started with."""
        image, pack = self._image, self._pack
        return 0 if image is None or pack is None else len(image.flash) + len(pack.data)

    @property
    def stage(self) -> str:
        """What it does now, or did last."""
        return self._stages.name

    def say(self, doing: str) -> None:
        """What the board is used for now, for others who want it."""
        self._lock.say(doing)

    def __enter__(self) -> Self:
        """Errors: BusyError, ProbeError, DeadlineError."""
        self.lock()
        try:
            self.attach()
        except BaseException as error:
            self._note_stage(error)
            self._lock.release()
            raise
        return self

    def lock(self) -> None:
        """From here to the end of the context nobody else has the board. Errors: BusyError."""
        self._stages.say("lock")
        self._lock.acquire(self._wait, self._on_wait)

    def attach(self) -> None:
        """Opens the probe where it is not open. Errors: ProbeError, DeadlineError."""
        if not self._probe.is_open:
            self._probe.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._note_stage(error)
        try:
            self._hang_up()
        finally:
            try:
                self._probe.__exit__(kind, error, trace)
            finally:
                self._lock.release()

    def recover(self, rung: Rung) -> None:
        """One step of the ladder; the next `start` goes on from there. Errors: as `start`."""
        self._stages.say(f"recovery: {rung.words}")
        self._after = rung
        self._stages.end()
        self._hang_up()
        if rung is Rung.PORT:
            return
        if rung is Rung.POWER:
            self.attach()
            self._probe.power_on_reset()
        self._probe.__exit__(None, None, None)
        try:
            self.attach()
        except ProbeError:
            with contextlib.suppress(FirmwareFault):  # a core that stands in one may stay there
                self._clock.sleep(_SETTLE_SECONDS)
            self.attach()

    def start(self, image: RunnerImage, pack: Pack, *, reflash: bool = False) -> Hello:
        """Flashes what is not there yet, resets, and checks who answers.

        An image that was taken for unchanged by its header but is not gets flashed once more. After the
        first step of recovery only the port is opened again. Errors: ConfigError, ProbeError,
        FlashError, EnumerationError, ProtocolError, FirmwareFault, DeadlineError.
        """
        after, self._after = self._after, None
        if after is Rung.PORT and self._has(image, pack):
            return self._reopen(image, pack)
        flasher = Flasher(self._probe, self.entry)
        self._hang_up()
        self._stages.say("flash")
        skipped = not flasher.write(image, pack, force=reflash or after is Rung.FLASH)
        try:
            return self._boot(image, pack, flasher.pack_address)
        except FlashError:
            if not skipped:
                raise
        self._stages.say("flash again: the header was right, the bytes are not")
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
        ops: int = 0,
    ) -> Run:
        """Runs case `index` of the pack, or the first `ops` ops of it. Errors: FlashError when flash
        changed since it was written, ProtocolError, FirmwareFault with function and op,
        DeadlineError."""
        image, pack, conversation = self._running()
        request = RunRequest(index, seed, repeats, paint, int(keep_interrupts), ops, 0)
        self._stages.say("run")
        budget = self._budget(index, repeats)
        with self._explained("run"):
            run = conversation.run(
                request,
                ops or pack.op_count(index),
                Deadline(self._clock, budget.total, "total"),
                lambda verified: check_case(verified, image, pack, index, seed),
                budget,
            )
        assert self.hello is not None, "set by the same start as the conversation"
        check_stack(run, self.hello, pack.cases[index].id)
        check_numbers(run, self.hello, budget.total)
        return run

    def run_to_halt(self, index: int, seed: int, *, keep_interrupts: bool, ops: int) -> int:
        """Asks for such a run, once, and waits until the core halts in it, by a watchpoint. Where: its
        pc. Errors: DeadlineError when it does not; ProbeError."""
        _, _, conversation = self._running()
        self._stages.say("run to halt")
        deadline = Deadline(self._clock, self._budget(index, 1).total, "run to halt")
        conversation.ask(RunRequest(index, seed, 1, 0, int(keep_interrupts), ops, 0))
        while self._probe.state() != "halted":
            if deadline.over:
                raise overdue(deadline)
            self._clock.sleep(_POLL_SECONDS)
        return self._probe.halted_registers()["pc"]

    def gdb_server(self, port: int = 0) -> GdbServer:
        """For a debugger of this board as it stands. Errors: ProbeError where it cannot listen."""
        return self._probe.gdb_server(self._clock, port)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes of the arena after a run. Errors: as `run`."""
        _, _, conversation = self._running()
        self._stages.say("read")
        with self._explained("read"):
            deadline = Deadline(self._clock, budgets.read(length), "read")
            return conversation.read(offset, length, deadline)

    def _boot(self, image: RunnerImage, pack: Pack, pack_address: int) -> Hello:
        self._image, self._pack = image, pack
        self._hang_up()
        self._stages.begin("reset", budgets.RESET)
        fresh = secrets.randbits(32)
        self.nonce = fresh if self._fixed_nonce is None else self._fixed_nonce
        self._probe.reset_and_halt()
        request = MailboxRequest(
            MAILBOX_MAGIC, PROTOCOL_VERSION, self.nonce, pack_address, self.entry.name
        )
        self._probe.write(MAILBOX_ADDRESS, request.pack() + bytes(MailboxReport.size()))
        self._probe.resume()
        self._stages.end()
        return self._greet(image, pack)

    def _has(self, image: RunnerImage, pack: Pack) -> bool:
        """Whether the last start was of these, so that the board may still run them."""
        known = self._image is not None and self._image.elf_hash == image.elf_hash
        return known and self._pack is not None and self._pack.id == pack.id

    def _reopen(self, image: RunnerImage, pack: Pack) -> Hello:
        """The same firmware by the same nonce over a new port. A post-mortem left its core halted."""
        if self._probe.state() == "halted":
            self._probe.resume()
        return self._greet(image, pack)

    def _greet(self, image: RunnerImage, pack: Pack) -> Hello:
        with self._explained("boot"):
            self._stages.say("boot")
            unique_id = self._wait_for_boot()
            self._stages.say("enumerate")
            deadline = Deadline(self._clock, budgets.ENUMERATE, "enumerate")
            port = open_port(self.entry, unique_id.hex().upper(), self._clock, deadline)
            self._conversation = Conversation(port, self.nonce, self._on_frame)
            self._stages.say("hello")
            deadline = Deadline(self._clock, budgets.HELLO, "hello")
            hello = self._conversation.hello(
                deadline, lambda other: check_board(other, self.entry, unique_id)
            )
        check_hello(hello, self.entry, image, pack, unique_id)
        self.hello = hello
        return hello

    def _wait_for_boot(self) -> bytes:
        """Until the firmware has left the board's unique id in the mailbox."""
        deadline = Deadline(self._clock, budgets.BOOT, "boot")
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
                    evidence={"stage": "boot", "last stage": stage},
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

    def _budget(self, index: int, repeats: int) -> RunBudget:
        """Of a run, from its MACs and the bytes that it handles."""
        image, pack, _ = self._running()
        case = pack.cases[index]
        return budgets.run(
            macs=case.macs,
            n_out=case.n_out,
            pool_bytes=image.pool_bytes,
            flash_bytes=len(image.flash) + len(pack.data),
            repeats=repeats,
            clock_hz=self.entry.clock_hz,
        )

    def _explained(self, stage: str) -> Explained:
        return Explained(self, stage)

    def _hang_up(self) -> None:
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.close()

    def _note_stage(self, error: BaseException) -> None:
        """Says to who was interrupted where that was."""
        if isinstance(error, KeyboardInterrupt) and not getattr(error, "__notes__", None):
            error.add_note(f"stopped in stage {self.stage!r} of {self.entry.name}")

    def explain(self, error: HarnessError, stage: str) -> HarnessError:
        """The same error with what the probe sees now; a FirmwareFault if that is what it was."""
        self._stages.quietly("post-mortem", budgets.POST_MORTEM)
        try:
            found = examine(self._probe, self._report(), self._image, self._pack)
        except HarnessError as second:
            evidence = {**error.evidence, "probe": second.message}
            return _again(error, evidence)
        finally:
            self._stages.end()
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
