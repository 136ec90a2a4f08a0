# SPDX-License-Identifier: Apache-2.0
"""The profiler of an emulated board: whose cycles they were, by the address of the instruction.

It costs no emulated cycle; while it counts, the core takes more of the host. Windows are a witness's
(`witness.py`): they open where the function `begin` returns and close where `end` is entered. A board
has a witness or a profiler at work, not both.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.emulator.machine import Machine


@dataclass(frozen=True)
class Count:
    """What one instruction took in one window, all times that it ran. misses: of the XIP cache, by its
    fetch and by its loads; stalls: the cycles of `cycles` that it waited for them."""

    pc: int
    cycles: int
    instructions: int
    misses: int
    stalls: int


@dataclass(frozen=True)
class ProfileWindow:
    """cycles: from its beginning to its end; the counts come to it."""

    cycles: int
    counts: tuple[Count, ...]


class Profiler:
    """Counts on one machine. Nothing is counted until `start`, and nothing after `stop`."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def start(self, *, begin: int, end: int) -> None:
        """Forgets earlier windows. Errors: ConfigError while a witness looks on."""
        self._machine.profile_start(begin, end)

    def windows(self) -> tuple[ProfileWindow, ...]:
        """Those that closed since `start`, oldest first. Errors: ConfigError where there was no memory
        for all of them."""
        return tuple(
            ProfileWindow(
                closed - opened,
                tuple(
                    Count(pc, cycles, times, misses, misses * wait)
                    for pc, cycles, times, misses in counts
                    if cycles or times  # else where the window ended
                ),
            )
            for opened, closed, wait, counts in self._machine.profile_windows()
        )

    def stop(self) -> None:
        self._machine.profile_stop()
