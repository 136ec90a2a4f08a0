# SPDX-License-Identifier: Apache-2.0
"""Verdicts and failures of a history in either format, as plain rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.history import jsonl
from harness.history.database import MAGIC, reading
from harness.history.lines import failure_rows, verdict_rows


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The verdicts, oldest first, in the form of harness.history.jsonl. Errors: ConfigError for a file
    that cannot be read, and for a row that is none."""
    if not is_database(path):
        yield from jsonl.read(path)
        return
    with reading(path) as db:
        yield from verdict_rows(db)


def read_failures(path: Path) -> Iterator[dict[str, Any]]:
    """The failures, oldest first. Errors: as `read`."""
    if not is_database(path):
        yield from jsonl.read_failures(path)
        return
    with reading(path) as db:
        yield from failure_rows(db)


def is_database(path: Path) -> bool:
    """By how it begins. Errors: ConfigError."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=str(error)) from error
