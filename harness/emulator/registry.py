# SPDX-License-Identifier: Apache-2.0
"""The emulated boards that this process uses, by name: one board per name.

A board that another process serves under the name is that board; otherwise it is one of this process,
powered on at its first use. What a name was first used as it stays: a server that ends is an error, and
one that starts later is not noticed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from harness.emulator import runtime
from harness.emulator.board import BoardOptions, EmulatedBoard, unique_id_of
from harness.emulator.chips import CHIPS, DEFAULT_BOARDS, ChipFacts
from harness.emulator.debuglink import DebugLink, LocalLink
from harness.emulator.faultplan_wire import listings
from harness.emulator.remote import RemoteBoard, require_chip
from harness.emulator.remotelink import RemoteLink
from harness.errors import ConfigError, HarnessError, ProbeError


@dataclass(frozen=True)
class BoardEntry:
    """What is known of a board before it is powered."""

    name: str
    chip: ChipFacts
    options: BoardOptions = field(default_factory=BoardOptions)

    @property
    def unique_id(self) -> bytes:
        return unique_id_of(self.name)


def _default(name: str) -> BoardEntry:
    chip, sram_bytes = DEFAULT_BOARDS[name]
    return BoardEntry(name, chip, BoardOptions(sram_bytes=sram_bytes))


_entries: dict[str, BoardEntry] = {name: _default(name) for name in DEFAULT_BOARDS}
_boards: dict[str, EmulatedBoard] = {}
_served: dict[str, RemoteBoard] = {}


def configure(wanted: BoardEntry) -> None:
    """Make a board known. Saying the same again is fine; a board that already runs does not change
    under its user: ConfigError."""
    if wanted.name in _boards and _entries[wanted.name] != wanted:
        raise ConfigError(
            f"board {wanted.name} is already powered with other settings",
            evidence={"running": _entries[wanted.name], "wanted": wanted},
        )
    _entries[wanted.name] = wanted


def known() -> tuple[BoardEntry, ...]:
    """Those that were configured and those that are served, but for one whose server is gone."""
    entries = [e for n, e in _entries.items() if n not in _served or _served[n].is_reachable()]
    for name in runtime.names():
        if name not in _entries and (remote := served(name)) is not None:
            options = BoardOptions(sram_bytes=remote.sram_bytes)
            entries.append(BoardEntry(name, CHIPS[remote.chip], options))
    return tuple(entries)


def served(name: str) -> RemoteBoard | None:
    """The board that another process serves under this name; None where this process has it, or will.

    Raises ProbeError for a server that cannot be trusted or does not answer, ConfigError for one with
    another chip.
    """
    if name in _boards:
        return None
    if name not in _served:
        found = RemoteBoard.find(name)
        if found is None:
            return None
        if name in _entries:
            known_as = _entries[name]
            require_chip(found, known_as.chip.name, known_as.options.sram_bytes)
        _served[name] = found
    return _served[name]


def probes_of(known_as: BoardEntry) -> int:
    """How many probes of this id are on the host's list: of a served board its server says so."""
    remote = None
    with suppress(HarnessError):  # told of when it is used
        remote = served(known_as.name)
    return listings(known_as.options.faults) if remote is None else remote.probes


def debug_link(name: str) -> DebugLink:
    """The wire to a board's debug ports. Raises InUse; ProbeError for an unknown name."""
    remote = served(name)
    if remote is None:
        return LocalLink(board(name))
    known_as = _entries.get(name)
    return RemoteLink(remote, known_as.options.xip_miss_cycles if known_as else 0)


def entry(name: str) -> BoardEntry:
    """Raises ProbeError for an unknown name."""
    if name not in _entries:
        raise ProbeError(
            f"there is no emulated board {name!r}",
            evidence={"emulated boards": ", ".join(_entries)},
            hint="add it to boards.yaml or use one of these names",
        )
    return _entries[name]


def board(name: str) -> EmulatedBoard:
    """The board of that name in this process, powered on at its first use. Raises ProbeError for an
    unknown name."""
    known_as = entry(name)
    if name not in _boards:
        chip, options = known_as.chip.name, known_as.options
        _boards[name] = EmulatedBoard(name, chip, known_as.unique_id, options)
    return _boards[name]


def powered(name: str) -> EmulatedBoard | None:
    """The board of that name in this process, if it was ever used."""
    return _boards.get(name)


def remove(name: str) -> None:
    """Unplug a board: its flash and its time are gone, the next use starts with a blank one. One that
    is served only loses this client."""
    _boards.pop(name, None)
    if name in _served:
        _served.pop(name).close()
    _entries.pop(name, None)
    if name in DEFAULT_BOARDS:
        _entries[name] = _default(name)
