# SPDX-License-Identifier: Apache-2.0
"""What a backend may have that counts by instruction, and that halts at one store of many.

Both look on between two points of the program, as a witness does (`witness.py`): a window opens where
the function `begin` returns and closes where `end` is entered. Addresses are the chip's, times are
cycles of clk_sys. Neither changes what the board does, nor its cycles; a board has one of them, or its
witness, at work at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.boards.backend import Backend


class Count(Protocol):
    """What the instruction at `pc` took in one window. misses: of the flash cache; stalls: cycles of
    `cycles` that it waited for them."""

    @property
    def pc(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def instructions(self) -> int: ...
    @property
    def misses(self) -> int: ...
    @property
    def stalls(self) -> int: ...


class ProfileWindow(Protocol):
    """cycles: of the window, to which its counts come."""

    @property
    def cycles(self) -> int: ...
    @property
    def counts(self) -> Sequence[Count]: ...


class Profiler(Protocol):
    """Whose cycles they are."""

    def start(self, *, begin: int, end: int) -> None:
        """Forget earlier windows; from now on count."""

    def windows(self) -> Sequence[ProfileWindow]:
        """Those that closed since `start`, oldest first."""

    def stop(self) -> None:
        """Count no more."""


class Watchpoint(Protocol):
    """Halts the core ahead of a store that is named by its number."""

    def watch(self, *, begin: int, end: int, address: int, window: int = 0, store: int = 0) -> None:
        """Count the stores to the byte at `address`. store: of window number `window` (from 0) the one
        to halt at, from 1, with pc at its instruction and nothing stored yet; 0: none."""

    def stores(self) -> int:
        """To the byte, in the latest window."""

    def last_store(self) -> int | None:
        """pc of the last of them, None where there was none."""

    def stop(self) -> None:
        """Watch no more."""


def profiler_of(backend: Backend, name: str) -> Profiler | None:
    """The backend's profiler of a board; None where it has none, as silicon."""
    make = getattr(backend, "profiler", None)
    profiler: Profiler | None = None if make is None else make(name)
    return profiler


def watchpoint_of(backend: Backend, name: str) -> Watchpoint | None:
    """The backend's watchpoint of a board; None where it has none, as silicon."""
    make = getattr(backend, "watchpoint", None)
    watchpoint: Watchpoint | None = None if make is None else make(name)
    return watchpoint
