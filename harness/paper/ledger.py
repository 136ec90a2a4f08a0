# SPDX-License-Identifier: Apache-2.0
"""The ledger: every number that the paper states, and what became of it here.

ledger.yaml is written by hand. A row of state `reproduced` or `corrected` names the command that shows
it and, in `shows`, words that the command prints; tests run them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.strictyaml import Node, load

_FILE = Path(__file__).with_name("ledger.yaml")
_KEYS = ("id", "place", "says", "value", "state", "why", "command", "shows")
_NEEDED = ("id", "place", "says", "value", "state")


class State(StrEnum):
    """reproduced: our code gives the stated value. corrected: it gives another one, or the statement has
    an exception. not-reproducible: nothing here can give it; `why` says so. not-yet-measured: something
    could, and no command does so far."""

    REPRODUCED = "reproduced"
    CORRECTED = "corrected"
    NOT_REPRODUCIBLE = "not-reproducible"
    NOT_YET_MEASURED = "not-yet-measured"


@dataclass(frozen=True)
class Entry:
    """place: of the paper. says, value: its statement and number. shows: what `command` prints of it."""

    id: str
    place: str
    says: str
    value: str
    state: State
    why: str
    command: str
    shows: str


def ledger() -> tuple[Entry, ...]:
    """In the paper's order. Errors: ConfigError with file and line."""
    entries: dict[str, Entry] = {}
    for node in load(_FILE).sequence():
        entry = _entry(node)
        if entry.id in entries:
            raise node.fail(f"the id {entry.id!r} is here twice")
        entries[entry.id] = entry
    return tuple(entries.values())


def _entry(node: Node) -> Entry:
    fields = node.mapping(known=_KEYS, needed=_NEEDED)
    texts = {key: fields[key].text() if key in fields else "" for key in _KEYS}
    state = State(fields["state"].choice([state.value for state in State]))
    shown = state in (State.REPRODUCED, State.CORRECTED)
    if shown and not (texts["command"] and texts["shows"]):
        raise node.fail(f"what is {state} needs a command, and what it shows")
    if state is not State.REPRODUCED and not texts["why"]:
        raise node.fail(f"what is {state} needs a reason")
    words = {key: text for key, text in texts.items() if key != "state"}
    return Entry(state=state, **words)


def counts(entries: tuple[Entry, ...]) -> dict[State, int]:
    return {state: sum(entry.state is state for entry in entries) for state in State}
