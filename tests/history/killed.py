# SPDX-License-Identifier: Apache-2.0
"""Runs with killer.c loaded: writes a history again and again, killed at the first call that changes a
file, the next time at the second, until a time sees no kill. Prints a line of each time: number,
signal, and what was committed by then."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from pathlib import Path

from harness.history import Recorder, Taken
from harness.history.commit import commit_of
from tests.history.support import VERDICT, measured

VERDICTS = 3


def write(path: Path, elf: Path, say: int) -> None:
    """A run of three verdicts with files; says what is done of it, as soon as it is."""

    def lost(text: str) -> None:
        os.write(2, text.encode())
        os._exit(9)

    recorder = Recorder(path, folder=path.parent, on_lost=lost)
    for number in range(VERDICTS):
        taken = Taken(elf, 4096, f"frames {number}".encode() * 1000)
        recorder.verdict(VERDICT, measured([9] * 20), taken)
        os.write(say, b"v")
    recorder.end("passed")
    os.write(say, b"e")


def main(folder: Path, middle: int, step: int) -> None:
    library = ctypes.CDLL(None)
    elf = folder / "runner.elf"
    elf.write_bytes(b"elf" * 5000)
    commit_of(folder)
    tempfile.gettempdir()  # which writes a file to see where it can
    at, signal = 1, 9
    while signal:
        path = folder / str(at) / "history.sqlite"
        path.parent.mkdir()
        come, say = os.pipe()
        child = os.fork()
        if not child:
            library.killer_arm(at, middle)
            write(path, elf, say)
            os._exit(0)
        os.close(say)
        done = b""
        while piece := os.read(come, 100):
            done += piece
        os.close(come)
        status = os.waitpid(child, 0)[1]
        signal = status & 0x7F
        print(at, signal or status, done.decode() or "-", flush=True)
        at += step


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
