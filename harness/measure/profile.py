# SPDX-License-Identifier: Apache-2.0
"""Where the cycles of a run go, by source line and by function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.boards import Profiler, ProfileWindow
from harness.build import RunnerImage
from harness.build.lines import Lines
from harness.errors import ConfigError, ProtocolError
from harness.measure.once import Once, OnceSession

# The runner's window is what lies between these two calls: the kernel and the call of it.
BEGIN, END = "port_window_begin", "port_window_end"


@dataclass(frozen=True)
class Spent:
    """What a line or a function took. misses: lines of the flash cache; stalls: cycles of `cycles` that
    were waited for them."""

    cycles: int = 0
    instructions: int = 0
    misses: int = 0
    stalls: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.cycles + other.cycles,
            self.instructions + other.instructions,
            self.misses + other.misses,
            self.stalls + other.stalls,
        )


@dataclass(frozen=True)
class Profile:
    """Of all windows of a run, an op each, together. by_pc: by address. bracket: cycles of each window
    that the firmware takes off, those of one with nothing in it. reported: what the firmware counted,
    interrupts included."""

    by_pc: dict[int, Spent]
    windows: int
    bracket: int
    reported: int

    @property
    def total(self) -> Spent:
        return _sum(self.by_pc.values())


def profile(
    session: OnceSession, profiler: Profiler, op: int | None = None
) -> tuple[Once, Profile]:
    """Runs the case with the profiler at work. op: of this op record alone.

    The board starts once more for it: its start-up measures a window with nothing in it, which tells
    what the firmware takes off. Errors: ConfigError for an op that is not there; ProtocolError where
    the profiler did not see what the firmware counted; else as of the session.
    """
    symbols = session.image.symbols
    profiler.start(begin=symbols[BEGIN], end=symbols[END])
    try:
        session.start()
        once = session.run()
        windows = profiler.windows()
    finally:
        profiler.stop()
    empty, *others = windows
    _check(once, empty, others)
    if op is not None and not 0 <= op < len(others):
        raise ConfigError(f"there is no op {op}", hint=f"they are 0 to {len(others) - 1}")
    chosen = others if op is None else [others[op]]
    ran = once.ops if op is None else (once.ops[op],)
    by_pc: dict[int, Spent] = {}
    for window in chosen:
        for c in window.counts:
            spent = Spent(c.cycles, c.instructions, c.misses, c.stalls)
            by_pc[c.pc] = by_pc.get(c.pc, Spent()) + spent
    reported = sum(o.cycles + o.interrupt_cycles for o in ran)
    return once, Profile(by_pc, len(chosen), empty.cycles, reported)


def _check(once: Once, empty: ProfileWindow, windows: Sequence[ProfileWindow]) -> None:
    """Every window is as long as the firmware says, and its counts come to it."""
    if len(windows) != len(once.ops):
        raise ProtocolError(
            f"the profiler saw {len(windows)} kernels run, the firmware reports {len(once.ops)}"
        )
    for number, (window, op) in enumerate(zip(windows, once.ops, strict=True)):
        counted = sum(count.cycles for count in window.counts)
        due = op.cycles + op.interrupt_cycles + empty.cycles
        if not window.cycles == counted == due:
            raise ProtocolError(
                f"the profile of op {number} is not what the firmware counted",
                evidence={
                    "cycles by instruction": counted,
                    "of the window": window.cycles,
                    "reported, with interrupts and bracket": due,
                },
            )


@dataclass(frozen=True)
class Entry:
    """A line or a function. text: of the line, where its file is at hand."""

    where: str
    function: str
    text: str
    spent: Spent


def by_function(found: Profile, image: RunnerImage) -> list[Entry]:
    """The most cycles first."""
    return _grouped(found, lambda pc: (_function(image, pc), _function(image, pc), ""))


def by_line(
    found: Profile, image: RunnerImage, lines: Lines, text: Callable[[str, int], str]
) -> list[Entry]:
    """The most cycles first. text: of a line of a file. What has no line, as the linker's veneers, is
    named by its function."""

    def key(pc: int) -> tuple[str, str, str]:
        line, function = lines.at(pc), _function(image, pc)
        if line is None:
            return function, function, ""
        return str(line), function, text(line.file, line.number)

    return _grouped(found, key)


def _grouped(found: Profile, key: Callable[[int], tuple[str, str, str]]) -> list[Entry]:
    groups: dict[tuple[str, str, str], Spent] = {}
    for pc, spent in sorted(found.by_pc.items()):
        at = key(pc)
        groups[at] = groups.get(at, Spent()) + spent
    entries = [Entry(*at, spent) for at, spent in groups.items()]
    return sorted(entries, key=lambda entry: -entry.spent.cycles)


def _function(image: RunnerImage, pc: int) -> str:
    return image.function_at(pc).partition("+")[0]


def _sum(parts: Iterable[Spent]) -> Spent:
    total = Spent()
    for part in parts:
        total += part
    return total
