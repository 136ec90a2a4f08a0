# SPDX-License-Identifier: Apache-2.0
"""The witness of an emulated board: what its core really did to SRAM, told window by window.

It sees what firmware cannot: who wrote a byte and when, a store of the value that was there already, a
load of a byte that nobody wrote, and the first store onto a byte that a later load still needed. It
costs no emulated cycle; while it watches, the core takes more of the host (`benchmarks/witness.py`).

A window opens where the function `begin` returns and closes where the function `end` is entered. What
its exception handlers do outside the areas is not counted; debugger and ROM functions are not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.emulator import witness_records as c
from harness.emulator.machine import Machine
from harness.errors import ConfigError

ELSEWHERE = "elsewhere"
Range = tuple[int, int]  # address, bytes


@dataclass(frozen=True)
class Access:
    """A load or store. cycle: of clk_sys since power-on, the instruction's own included. progress: how
    many bytes had been stored to the output before."""

    address: int
    pc: int
    cycle: int
    progress: int


@dataclass(frozen=True)
class Extent:
    """A set of bytes: how many, the lowest and one past the highest address (0, 0 for none)."""

    count: int
    first: int
    end: int


@dataclass(frozen=True)
class Zone:
    """What happened in one area.

    written: by a store, whatever the value. changed: holding another value when the window closed than
    when it opened; `unexplained` bytes of them without a store. unwritten: loaded, but neither input nor
    stored to before. first_store, first_unwritten: the first in time, None where there was none.
    """

    written: Extent
    changed: Extent
    unwritten: Extent
    first_store: Access | None
    first_unwritten: Access | None
    unexplained: int


@dataclass(frozen=True)
class Window:
    """What happened between two points.

    opened, closed: cycles. zones: by name of the area; `elsewhere` is all other SRAM. collisions: input
    bytes that were stored to and loaded again later. Of these the one stored to first: overwritten is
    that store, last_read the latest load of it. lowest_sp: of core 0, at a store.
    """

    opened: int
    closed: int
    zones: Mapping[str, Zone]
    collisions: int
    overwritten: Access | None
    last_read: Access | None
    lowest_sp: int


class Witness:
    """Watches one machine. Nothing is watched until `watch`, and nothing after `stop`."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._names = [ELSEWHERE]

    def watch(
        self,
        *,
        begin: int,
        end: int,
        areas: Mapping[str, Iterable[Range]],
        inputs: Iterable[Range] = (),
        outputs: Iterable[Range] = (),
    ) -> None:
        """Forgets earlier windows and takes note of those to come.

        areas: ranges of SRAM by name, apart from each other. inputs: what holds values that the code
        is to read when a window opens. outputs: stores to them are progress. Errors: ConfigError for
        more areas than there are zones.
        """
        if len(areas) >= c.ZONES:
            raise ConfigError(f"a witness tells at most {c.ZONES - 1} areas apart")
        self._machine.witness_start(begin, end)
        self._names = [ELSEWHERE, *areas]
        for zone, ranges in enumerate(areas.values(), 1):
            for address, length in ranges:
                self._machine.witness_zone(zone, address, length)
        for role, ranges in ((c.INPUT, inputs), (c.OUTPUT, outputs)):
            for address, length in ranges:
                self._machine.witness_role(address, length, role)

    def windows(self) -> tuple[Window, ...]:
        """Those that closed since `watch`, oldest first."""
        return tuple(self._window(record) for record in self._machine.witness_windows())

    def last_writer(self, address: int) -> tuple[int, int] | None:
        """pc and cycle of the latest store to a byte in the latest window, None if there was none."""
        return self._machine.witness_writer(address)

    def stop(self) -> None:
        self._machine.witness_stop()

    def _window(self, record: c.WindowRecord) -> Window:
        collided = record.collisions > 0
        return Window(
            opened=record.opened,
            closed=record.closed,
            zones={name: _zone(record.zones[n]) for n, name in enumerate(self._names)},
            collisions=record.collisions,
            overwritten=_access(record.overwritten) if collided else None,
            last_read=_access(record.last_read) if collided else None,
            lowest_sp=record.lowest_sp,
        )


def _zone(record: c.ZoneRecord) -> Zone:
    return Zone(
        written=_extent(record.written),
        changed=_extent(record.changed),
        unwritten=_extent(record.unwritten),
        first_store=_access(record.first_store) if record.written.count else None,
        first_unwritten=_access(record.first_unwritten) if record.unwritten.count else None,
        unexplained=record.unexplained,
    )


def _extent(record: c.ExtentRecord) -> Extent:
    return Extent(record.count, record.first, record.end)


def _access(record: c.AccessRecord) -> Access:
    return Access(record.address, record.pc, record.cycle, record.progress)
