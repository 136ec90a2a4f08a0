# SPDX-License-Identifier: Apache-2.0
"""A board that another process serves, as its clients see it: the same calls, the same answers.

A process has one connection to a board, and everything it asks goes over that in order: transfers of
the debug port may be collected, but whatever else is asked waits for them. Errors come back as the
board raised them; one that is gone is a ProbeError with what is known of its process.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping

from harness.emulator import channel, runtime
from harness.emulator.board import NS_PER_SECOND
from harness.emulator.channel import Closed, Malformed, Message, integer, text
from harness.emulator.timings import M33_MODELS
from harness.emulator.windows import Range, Window, window_of
from harness.emulator.wireerrors import from_fields
from harness.errors import ConfigError, ProbeError

ANSWER_SECONDS = 30.0  # for an answer that nothing of the board's time is waited for
WATCHDOG = 60.0  # and for each second of the board's time that is
U32, U64 = (1 << 32) - 1, (1 << 64) - 1


class RemoteBoard:
    """One served board. faults: its plan, as the option `--faults` has one. probes: how many of its id
    are on the host's list. Errors of every call: ProbeError when its process does not answer, and what
    the board raised."""

    def __init__(self, name: str, connection: socket.socket) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._queue: Callable[[], None] | None = None
        self._flushing = False
        self._passed_ns = self._seen_ns = 0
        self._boot = ""
        self.generation = 0
        self.pid: int | None = None
        self._adopt(connection)

    @classmethod
    def find(cls, name: str) -> RemoteBoard | None:
        """The board that is served under this name now, None if there is none."""
        connection = runtime.connect(name)
        return None if connection is None else cls(name, connection)

    def _adopt(self, connection: socket.socket) -> None:
        """A fresh connection: who is there? With another server time goes on from where it was."""
        self._process = os.getpid()
        self._connection: socket.socket | None = connection
        self.generation += 1
        try:
            hello = self._exchange({"op": "hello", "version": channel.VERSION}, b"", ANSWER_SECONDS)
            self.pid = integer(hello.fields, "pid", 0, U64)
            self.chip = text(hello.fields, "chip")
            self.sram_bytes = integer(hello.fields, "sram_bytes", 0, U32)
            self.flash = text(hello.fields, "flash", 5000)
            boot = text(hello.fields, "boot")
            self.faults = text(hello.fields, "faults", channel.OBJECT_MAX)
            self.probes = integer(hello.fields, "probes", 0, 2)
        except Malformed as problem:
            self.close()
            raise ProbeError(
                f"what listens for {self.name} is no served board", cause=str(problem)
            ) from problem
        if boot != self._boot:
            self._passed_ns += self._seen_ns
            self._seen_ns = 0
        self._boot = boot

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def is_connected(self, generation: int) -> bool:
        """Whether this connection is still there. That of a parent process is none of ours."""
        connection = self._connection
        if connection is None or self._process != os.getpid() or generation != self.generation:
            return False
        return channel.is_open(connection)

    def is_reachable(self) -> bool:
        """Whether a server listens; asks nothing of it."""
        connection = runtime.connect(self.name)
        if connection is None:
            return False
        connection.close()
        return True

    # ---- asking ----

    def queue(self, flush: Callable[[], None] | None) -> None:
        """Called before anything else is asked."""
        self._queue = flush

    def ask(
        self,
        op: str,
        fields: Mapping[str, object] | None = None,
        data: bytes = b"",
        *,
        ns: int = 0,
        generation: int | None = None,
    ) -> Message:
        """ns: of the board's time that the answer may take, -1 for any. generation: of the connection
        that must still be there, since what it took is bound to it; by default any will do."""
        with self._lock:
            if self._queue is not None and not self._flushing:
                self._flushing = True
                try:
                    self._queue()
                finally:
                    self._flushing = False
            if generation is not None and not self.is_connected(generation):
                raise self._gone("its server, or the connection to it, ended")
            if not self.is_connected(self.generation):
                self._reconnect()
            patience = None if ns < 0 else ANSWER_SECONDS + WATCHDOG * ns / NS_PER_SECOND
            try:
                answer = self._exchange({"op": op, **(fields or {})}, data, patience)
            except Malformed as problem:
                self.close()
                raise ProbeError(
                    f"the served board {self.name} and this client do not understand each other",
                    cause=str(problem),
                    evidence={"operation": op},
                    hint="run the same version of ripbench on both sides",
                ) from problem
            if "error" in answer.fields:
                raise from_fields(answer.fields["error"])
            return answer

    def _exchange(
        self, fields: Mapping[str, object], data: bytes, patience: float | None
    ) -> Message:
        connection = self._connection
        assert connection is not None, "adopted or reconnected by the caller"
        try:
            connection.settimeout(patience)
            channel.send(connection, Message(fields, data))
            answer = channel.receive(connection)
        except (Closed, TimeoutError) as error:
            self.close()
            raise self._gone(str(error) or "it did not answer in time") from error
        except BaseException:
            self.close()  # an answer that nobody read must not be taken for the next one
            raise
        if "malformed" in answer.fields:
            raise Malformed(str(answer.fields["malformed"])[:500])
        return answer

    def _reconnect(self) -> None:
        connection = runtime.connect(self.name)
        if connection is None:
            raise self._gone("nobody listens any more")
        self._adopt(connection)

    def _gone(self, cause: str) -> ProbeError:
        return ProbeError(
            f"the served board {self.name} is gone",
            cause=cause,
            evidence={"it was process": self.pid or "unknown"},
            hint="start it again: `ripbench emu serve`; its flash is in its file",
        )

    # ---- what the backend offers ----

    def now_ns(self) -> int:
        seen = integer(self.ask("now").fields, "ns", 0, U64)
        self._seen_ns = max(seen, self._seen_ns)
        return self._passed_ns + seen

    def sleep_ns(self, ns: int) -> None:
        self.ask("sleep", {"ns": ns}, ns=ns)

    def power(self) -> None:
        self.ask("power")

    def seats(self) -> dict[str, str]:
        """Who has the debug port and the serial port now."""
        seats = self.ask("info").fields.get("seats")
        if not isinstance(seats, dict):
            raise ProbeError(f"the served board {self.name} does not say who uses it")
        return {str(seat): str(holder) for seat, holder in seats.items()}


class RemoteClock:
    """As `clock.Clock`."""

    def __init__(self, board: RemoteBoard) -> None:
        self._board = board

    def now(self) -> float:
        return self._board.now_ns() / NS_PER_SECOND

    def sleep(self, seconds: float) -> None:
        self._board.sleep_ns(round(seconds * NS_PER_SECOND))


class RemoteTimings:
    """As `timings.Timings`."""

    models = M33_MODELS

    def __init__(self, board: RemoteBoard) -> None:
        self._board = board

    def select(self, model: str) -> None:
        self._board.ask("timing", {"model": model})


class RemoteWitness:
    """As `witness.Witness`."""

    def __init__(self, board: RemoteBoard) -> None:
        self._board = board

    def watch(
        self,
        *,
        begin: int,
        end: int,
        areas: Mapping[str, Iterable[Range]],
        inputs: Iterable[Range] = (),
        outputs: Iterable[Range] = (),
    ) -> None:
        self._board.ask(
            "witness.watch",
            {
                "begin": begin,
                "end": end,
                "areas": {name: _pairs(ranges) for name, ranges in areas.items()},
                "inputs": _pairs(inputs),
                "outputs": _pairs(outputs),
            },
        )

    def windows(self) -> tuple[Window, ...]:
        found: list[Window] = []
        while True:
            answer = self._board.ask("witness.windows", {"first": len(found)}).fields
            try:
                some = channel.items(answer, "windows", 1000)
                found += [window_of(fields) for fields in some]
                count = integer(answer, "count", 0, U64)
            except Malformed as problem:
                raise ProbeError("the witness's windows are torn", cause=str(problem)) from problem
            if not some or len(found) >= count:
                return tuple(found)

    def last_writer(self, address: int) -> tuple[int, int] | None:
        writer = self._board.ask("witness.writer", {"address": address}).fields.get("writer")
        if not isinstance(writer, list):
            return None
        pc, cycle = (int(value) for value in writer)
        return pc, cycle

    def stop(self) -> None:
        self._board.ask("witness.stop")


def _pairs(ranges: Iterable[Range]) -> list[list[int]]:
    return [[int(address), int(length)] for address, length in ranges]


def require_chip(board: RemoteBoard, chip: str, sram_bytes: int) -> None:
    """sram_bytes: 0 for the chip's own. Errors: ConfigError when another chip is served under this
    name, or one with another SRAM."""
    here, there = _chip(chip, sram_bytes), _chip(board.chip, board.sram_bytes)
    if here != there:
        raise ConfigError(
            f"board {board.name} is {here} here, but {there} is served under this name",
            evidence={"served by process": board.pid, "flash": board.flash},
            hint="correct boards.yaml, or serve this board under another name",
        )


def _chip(name: str, sram_bytes: int) -> str:
    return f"an {name}" + (f" with {sram_bytes} bytes of SRAM" if sram_bytes else "")
