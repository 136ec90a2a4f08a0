# SPDX-License-Identifier: Apache-2.0
"""Boards that did not come back by any means: left alone for a while, and why.

A note for each key of a board (`lock_keys`) in the user's state folder, so that it is found under every
name of the board. A board that lives in one process has no keys: the bench that gave it up remembers it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.boards.lock import age
from harness.boards.places import read_small, state_folder, state_path, write_small
from harness.errors import ConfigError, QuarantineError

SECONDS = 600.0
_MAX_REASON = 400
_FOLDER = "quarantine"


@dataclass(frozen=True)
class Quarantine:
    """until: seconds since the epoch."""

    board: str
    reason: str
    until: float

    def __str__(self) -> str:
        return f"for {age(self.until - time.time())} more: {self.reason}"

    @property
    def over(self) -> bool:
        """Also one that ends later than any could: the clock was set back."""
        return not 0.0 < self.until - time.time() <= SECONDS

    def error(self, name: str) -> QuarantineError:
        return QuarantineError(
            f"{name} is in quarantine {age(self.until - time.time())} more",
            cause=self.reason,
            evidence={"put there as": self.board} if self.board != name else {},
            hint=f"`ripbench boards --release {name}` lifts it, --no-quarantine passes it over",
        )


def impose(board: str, keys: Sequence[str], reason: str) -> Quarantine:
    """From now on. Errors: ConfigError when there is no folder for it."""
    text = "".join(c if c.isprintable() else " " for c in reason)[:_MAX_REASON]
    quarantine = Quarantine(board, text, time.time() + SECONDS)
    for key in keys:
        path = _note(key)
        try:
            write_small(path, json.dumps(asdict(quarantine)))
        except OSError as error:
            raise ConfigError(f"{path} cannot be written", cause=str(error)) from error
    return quarantine


def find(keys: Sequence[str]) -> Quarantine | None:
    """The one in force. Errors: ConfigError."""
    if not state_path(_FOLDER).exists():  # who only looks needs no folder
        return None
    for key in keys:
        try:
            row = json.loads(read_small(_note(key)))
            found = Quarantine(str(row["board"]), str(row["reason"]), float(row["until"]))
        except (ValueError, KeyError, TypeError):
            continue  # none, or a note that was cut short
        if not found.over:
            return found
    return None


def release(keys: Sequence[str]) -> bool:
    """Whether there was one in force. Errors: ConfigError."""
    found = find(keys) is not None
    if found:
        for key in keys:
            _note(key).unlink(missing_ok=True)
    return found


def _note(key: str) -> Path:
    return state_folder(_FOLDER) / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
