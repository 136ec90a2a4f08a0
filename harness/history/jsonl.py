# SPDX-License-Identifier: Apache-2.0
"""The append-only file of verdicts."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.results import Verdict

VERSION = 1


def append(path: Path, verdict: Verdict) -> None:
    """Adds one line, whole. Errors: ConfigError when the file cannot be written."""
    row = {
        "version": VERSION,
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **asdict(verdict),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=True) + "\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written", cause=str(error)) from error


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The rows, oldest first. Errors: ConfigError names the line that is not one."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            if row["version"] > VERSION:
                raise ConfigError(f"{path}:{number} was written by a newer ripbench")
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"{path}:{number} is not a row of history", cause=str(error)
            ) from error
        yield row
