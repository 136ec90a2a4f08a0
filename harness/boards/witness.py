# SPDX-License-Identifier: Apache-2.0
"""What a backend may have that sees more than firmware can: every access of the core to SRAM.

Firmware finds out afterwards which bytes changed. A witness is told which ranges matter and looks on
between two points of the program: a window opens where the function `begin` returns and closes where
`end` is entered. Addresses are the chip's, times are cycles of clk_sys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from harness.boards.backend import Backend

ELSEWHERE = "elsewhere"
Range = tuple[int, int]  # address, bytes


class Access(Protocol):
    """A load or store. progress: bytes that had been stored to the outputs before."""

    @property
    def address(self) -> int: ...
    @property
    def pc(self) -> int: ...
    @property
    def cycle(self) -> int: ...
    @property
    def progress(self) -> int: ...


class Extent(Protocol):
    """A set of bytes: how many, the lowest address, one past the highest."""

    @property
    def count(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def end(self) -> int: ...


class Zone(Protocol):
    """One area in one window. written: stored to, whatever the value. changed: of another value at the
    end than at the beginning, `unexplained` bytes of them without a store. unwritten: loaded, but
    neither input nor stored to before. The firsts are in time."""

    @property
    def written(self) -> Extent: ...
    @property
    def changed(self) -> Extent: ...
    @property
    def unwritten(self) -> Extent: ...
    @property
    def first_store(self) -> Access | None: ...
    @property
    def first_unwritten(self) -> Access | None: ...
    @property
    def unexplained(self) -> int: ...


class Window(Protocol):
    """zones: by area, and ELSEWHERE for the rest of SRAM. collisions: input bytes stored to and loaded
    again later; of the one stored to first, that store and the latest load. lowest_sp: of the core
    that runs the window."""

    @property
    def zones(self) -> Mapping[str, Zone]: ...
    @property
    def collisions(self) -> int: ...
    @property
    def overwritten(self) -> Access | None: ...
    @property
    def last_read(self) -> Access | None: ...
    @property
    def lowest_sp(self) -> int: ...


class Witness(Protocol):
    """Of one board; it must not change what the board does, nor its cycles."""

    def watch(
        self,
        *,
        begin: int,
        end: int,
        areas: Mapping[str, Iterable[Range]],
        inputs: Iterable[Range] = (),
        outputs: Iterable[Range] = (),
    ) -> None:
        """Forget earlier windows; from now on look on. inputs hold values when a window opens."""

    def windows(self) -> Sequence[Window]:
        """Those that closed since `watch`, oldest first."""

    def stop(self) -> None:
        """Look away."""


def witness_of(backend: Backend, name: str) -> Witness | None:
    """The backend's witness of a board; None where it has none, as silicon."""
    make = getattr(backend, "witness", None)
    witness: Witness | None = None if make is None else make(name)
    return witness
