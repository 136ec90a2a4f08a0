# SPDX-License-Identifier: Apache-2.0
"""`ripbench run --gdb`: the core halted ahead of the first wrong write, and a debugger asked in."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from harness import resources
from harness.boards import Watchpoint
from harness.build import RunnerImage
from harness.build.lines import Lines, Source
from harness.measure.once import OnceSession
from harness.measure.wrongstore import WrongStore, halt_at_wrong_store

DEBUGGERS = ("arm-none-eabi-gdb", "gdb-multiarch")


def debug_wrong_write(
    session: OnceSession,
    watchpoint: Watchpoint,
    *,
    folder: Path | None,
    port: int,
    seconds: float,
    show: Callable[[str], None],
) -> None:
    """Of a run whose output is wrong. folder: of the user's own kernels. seconds: to wait for a
    debugger. Errors: ProbeError where no server can listen; else as of the session."""
    byte = session.first_wrong_byte()
    if byte is None:
        show("the output is right when it is looked at again: no write to stop at")
        return
    try:
        store = halt_at_wrong_store(session, watchpoint, byte)
        if store is None:
            show(
                f"{byte.what}: {byte.wrong}\nnothing that this op stores reaches the byte: it holds "
                "what lay there before, so there is no write to stop at"
            )
            return
        with session.board.gdb_server(port) as server:
            show(as_text(store, session.image, folder))
            show(f"\nthe core is halted ahead of it; within {seconds:g} s type\n")
            show(f"    {command(session.image.elf, server.port, folder)}\n")
            came = server.wait(seconds)
        show("the debugger has gone" if came else f"no debugger came within {seconds:g} s")
    finally:
        watchpoint.stop()


def as_text(store: WrongStore, image: RunnerImage, folder: Path | None) -> str:
    """What the store is: its op, both values, address, symbol and source line."""
    wrong, line = store.byte.wrong, Lines(image.elf).at(store.pc)
    rows = [
        ("first wrong", f"{store.byte.what}: {wrong}"),
        ("value", f"{wrong.seen} is stored, {wrong.expected} is right"),
        ("address", f"{store.address:#010x}, byte {store.byte.offset} of the arena"),
        ("store", f"{image.function_at(store.pc)} at {store.pc:#010x}, its store number "
                  f"{store.number} there, the last"),
        ("line", "none known" if line is None else f"{line}  {Source(folder).text(line)}"),
    ]  # fmt: skip
    return "\n".join(f"{name:12} {value}" for name, value in rows)


def command(elf: Path, port: int, folder: Path | None) -> str:
    """What to type, with the debugger that is installed, so that it finds the sources."""
    name = next((name for name in DEBUGGERS if shutil.which(name)), DEBUGGERS[0])
    places = {"firmware": resources.firmware(), "/kernels": folder}
    # pyOCD's memory map leaves out where the stack lies, and gdb would not ask for it
    words = [name, str(elf), "-ex", "set mem inaccessible-by-default off"]
    for built, path in places.items():
        if path is not None:
            words += ["-ex", f"set substitute-path {built} {path.resolve()}"]
    return shlex.join([*words, "-ex", f"target remote localhost:{port}"])


def to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
