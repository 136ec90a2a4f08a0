# SPDX-License-Identifier: Apache-2.0
"""The emulated boards of this process, by name: one board per name, powered on at first use."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.emulator.board import BoardOptions, EmulatedBoard, unique_id_of
from harness.emulator.chips import CHIPS, DEFAULT_BOARDS, ChipFacts
from harness.errors import ConfigError, ProbeError


@dataclass(frozen=True)
class BoardEntry:
    """What is known of a board before it is powered."""

    name: str
    chip: ChipFacts
    options: BoardOptions = field(default_factory=BoardOptions)

    @property
    def unique_id(self) -> bytes:
        return unique_id_of(self.name)


_entries: dict[str, BoardEntry] = {
    name: BoardEntry(name, CHIPS[chip]) for name, chip in DEFAULT_BOARDS.items()
}
_boards: dict[str, EmulatedBoard] = {}


def configure(entry: BoardEntry) -> None:
    """Make a board known. Saying the same again is fine; a board that already runs does not change
    under its user: ConfigError."""
    if entry.name in _boards and _entries[entry.name] != entry:
        raise ConfigError(
            f"board {entry.name} is already powered with other settings",
            evidence={"running": _entries[entry.name], "wanted": entry},
        )
    _entries[entry.name] = entry


def known() -> tuple[BoardEntry, ...]:
    return tuple(_entries.values())


def board(name: str) -> EmulatedBoard:
    """The board of that name, powered on at its first use. Raises ProbeError for an unknown name."""
    if name not in _entries:
        raise ProbeError(
            f"there is no emulated board {name!r}",
            evidence={"emulated boards": ", ".join(_entries)},
            hint="add it to boards.yaml or use one of these names",
        )
    if name not in _boards:
        entry = _entries[name]
        _boards[name] = EmulatedBoard(name, entry.chip.name, entry.unique_id, entry.options)
    return _boards[name]


def remove(name: str) -> None:
    """Unplug a board: its flash and its time are gone, the next use starts with a blank one."""
    _boards.pop(name, None)
    _entries.pop(name, None)
    if name in DEFAULT_BOARDS:
        _entries[name] = BoardEntry(name, CHIPS[DEFAULT_BOARDS[name]])
