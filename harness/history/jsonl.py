# SPDX-License-Identifier: Apache-2.0
"""The append-only file of verdicts, and of layers of which there is none, as JSON lines.

A row of the second kind has `error`, a name of the error tree, and no numbers: who looks for numbers is
not shown it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.history.kept import now
from harness.results import Failure, Verdict

VERSION = 1
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
# Not through a link, which an untrusted checkout could point anywhere, and without waiting for a pipe.
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def append(path: Path, result: Verdict | Failure) -> None:
    """Adds one line, whole. Errors: ConfigError when the file cannot be written, or is none."""
    append_row(path, {"version": VERSION, "time": now(), **asdict(result)})


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """The same of a row that has its version. Errors: as `append`."""
    line = (json.dumps(row, ensure_ascii=True) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, _APPEND | _PLAIN, 0o666), "wb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError("it is not a file")
            file.write(line)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written", cause=str(error)) from error


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The verdicts, oldest first. Errors: ConfigError names the line that is no row."""
    return (row for row in rows(path) if "error" not in row)


def read_failures(path: Path) -> Iterator[dict[str, Any]]:
    """The failures, oldest first. Errors: as `read`."""
    return (row for row in rows(path) if "error" in row)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Both kinds, oldest first. Errors: as `read`."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=str(error)) from error
    for number, line in enumerate(lines[:-1] if lines[-1] == b"" else lines, 1):
        try:
            row = json.loads(line)
            newer = row["version"] > VERSION
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ConfigError(
                f"{path}:{number} is not a row of history", cause=str(error)[:200]
            ) from error
        if newer:
            raise ConfigError(f"{path}:{number} was written by a newer ripbench")
        yield row
