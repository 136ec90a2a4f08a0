# SPDX-License-Identifier: Apache-2.0
"""What a night is: a folder with its state, the tests of each suite that have ended, logs and summary.

    reports/nights/20261201T021500Z/night.json
                                    layers-plain.done    a JSON line for each test that ended
                                    layers-plain.log     what pytest said
                                    summary.md

The state is replaced whole or not at all, so that whatever kills a night leaves one that can go on.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import ConfigError
from harness.plugin.done import read_done

VERSION = 1
_NAME = re.compile(r"\d{8}T\d{6}Z(?:-\d+)?")
_STATE = "night.json"


@dataclass(frozen=True)
class Suite:
    """One call of pytest. words: what it runs. status: pytest's, None until it came to its end.
    attempts: how often it was begun."""

    name: str
    words: tuple[str, ...]
    attempts: int = 0
    status: int | None = None


@dataclass(frozen=True)
class Night:
    """name: its start in UTC. boards: their names. finished: judged and summed up."""

    folder: Path
    boards: tuple[str, ...]
    suites: tuple[Suite, ...]
    finished: bool = False
    options: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        return self.folder.name

    def done_file(self, suite: Suite) -> Path:
        return self.folder / f"{suite.name}.done"

    def log_file(self, suite: Suite) -> Path:
        return self.folder / f"{suite.name}.log"

    def run_token(self, suite: Suite) -> str:
        """By which the history knows the runs of a night; before the last `/` stands the suite."""
        return f"{self.name}/{suite.name}/{suite.attempts}"

    def counts(self, suite: Suite) -> Counter[str]:
        """Tests by outcome."""
        return Counter(read_done(self.done_file(suite)).values())

    def with_suite(self, suite: Suite) -> Night:
        """Kept at once. Errors: ConfigError."""
        suites = tuple(suite if old.name == suite.name else old for old in self.suites)
        return replace(self, suites=suites).kept()

    def kept(self) -> Night:
        state = {
            "version": VERSION,
            "boards": self.boards,
            "suites": [asdict(suite) for suite in self.suites],
            "finished": self.finished,
            "options": self.options,
        }
        write_whole(self.folder / _STATE, json.dumps(state, indent=1) + "\n")
        return self


def write_whole(path: Path, text: str) -> None:
    """All of it or nothing. Errors: ConfigError."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written", cause=str(error)) from error


def begin_night(
    nights: Path, boards: tuple[str, ...], suites: tuple[Suite, ...], options: tuple[str, ...] = ()
) -> Night:
    """A new folder, named by the time; of two in one second the second gets `-2`.

    Errors: ConfigError."""
    start = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    number = 1
    while True:
        folder = nights / (start if number == 1 else f"{start}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise ConfigError(f"{folder} cannot be made", cause=str(error)) from error
        return Night(folder, boards, suites, options=options).kept()


def open_night(folder: Path) -> Night:
    """Errors: ConfigError for what is none, or of a newer version."""
    path = folder / _STATE
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        if state["version"] > VERSION:
            raise ConfigError(f"{path} was written by a newer ripbench")
        return Night(
            folder,
            tuple(str(board) for board in state["boards"]),
            tuple(_suite(plain) for plain in state["suites"]),
            bool(state["finished"]),
            tuple(str(word) for word in state["options"]),
        )
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is not the state of a night", cause=str(error)[:200]) from error


def _suite(plain: dict[str, object]) -> Suite:
    words, attempts, status = plain["words"], plain["attempts"], plain["status"]
    if not isinstance(words, list) or not isinstance(attempts, int):
        raise TypeError("a suite has words and attempts")
    if status is not None and not isinstance(status, int):
        raise TypeError("a status is a number")
    return Suite(str(plain["name"]), tuple(str(word) for word in words), attempts, status)


def last_night(nights: Path) -> Night | None:
    """The newest that has a state: one that was killed before it had one has run nothing. Errors: as
    open_night."""
    if not nights.is_dir():
        return None
    found = [p for p in nights.iterdir() if _NAME.fullmatch(p.name) and (p / _STATE).is_file()]
    return open_night(max(found, key=_order)) if found else None


def _order(folder: Path) -> tuple[str, int]:
    start, _, number = folder.name.partition("-")
    return start, int(number or 1)
