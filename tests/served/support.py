# SPDX-License-Identifier: Apache-2.0
"""Served boards for these tests: real processes, ended however a test wants."""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from harness.boards import BoardEntry
from harness.cli import main
from harness.emulator.chips import CHIPS
from harness.emulator.flashfile import FlashFile
from tests.device.support import CLOCK_HZ, MISS_CYCLES

RIPBENCH = "import sys; from harness.cli import main; sys.exit(main())"
READY_SECONDS = 60.0
ROOT = Path(__file__).parents[2]
NAMES = {"rp2040": "pico1-emu", "rp2350": "pico2-emu"}


def entry_of(chip: str) -> BoardEntry:
    """The line of boards.yaml."""
    name = NAMES[chip]
    return BoardEntry(
        name, chip, f"emu:{name}", f"emu://{name}", CLOCK_HZ[chip], MISS_CYCLES[chip], "boards.yaml"
    )


@dataclass(frozen=True)
class Answer:
    """What a command of ripbench said."""

    returncode: int
    stdout: str
    stderr: str


def ripbench(*words: str) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(words))
    return Answer(status, out.getvalue(), err.getvalue())


class Server:
    """`ripbench emu serve` as a process: a fork of this one, which has loaded everything already, or
    (`fresh`) a command of its own. line: what it said when it was ready. complaints: all that it said on
    stderr, once it has ended."""

    def __init__(self, words: Sequence[str], *, fresh: bool = False) -> None:
        self.words = words
        self.complaints = ""
        self._status: int | None = None
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.dup2(out_end, 1)
            os.dup2(err_end, 2)
            self._serve(["emu", "serve", *words], fresh)
        os.close(out_end)
        os.close(err_end)
        self._stderr = os.fdopen(err)
        with os.fdopen(out) as stdout:
            ready, _, _ = select.select([stdout], [], [], READY_SECONDS)
            self.line = stdout.readline().strip() if ready else ""
        if not self.line.startswith("READY "):
            self.kill()
            raise AssertionError(f"no READY but {self.line!r}: {self.complaints}")

    @staticmethod
    def _serve(words: Sequence[str], fresh: bool) -> NoReturn:
        status = 1
        try:
            if fresh:
                os.chdir(ROOT)
                os.execv(sys.executable, [sys.executable, "-c", RIPBENCH, *words])
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            status = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)

    @property
    def pty(self) -> str:
        return self.line.rpartition(" pty ")[2]

    def is_running(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._ended(status)
        return self._status is None

    def wait(self, seconds: float) -> int:
        """Its exit status, negative for the signal that ended it."""
        deadline = time.monotonic() + seconds
        while self.is_running():
            assert time.monotonic() < deadline, "it does not end"
            time.sleep(0.002)
        assert self._status is not None
        return self._status

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Its exit status."""
        if self.is_running():
            os.kill(self.pid, how)
        return self.wait(20)

    def _ended(self, status: int) -> None:
        self._status = os.waitstatus_to_exitcode(status)
        self.complaints = self._stderr.read()
        self._stderr.close()


def forked(work: Callable[[], None]) -> int:
    """The process id of a child that does the work and ends; with 1 where it raised."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException as error:
        print(f"child: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def fill_flash(path: Path, chip: str, pieces: Sequence[tuple[int, bytes]]) -> None:
    """A flash file that holds these bytes at these offsets, made if need be."""
    file = FlashFile(path, NAMES[chip], CHIPS[chip])
    for offset, data in pieces:
        file.memory[offset : offset + len(data)] = data
    file.close()
