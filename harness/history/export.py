# SPDX-License-Identifier: Apache-2.0
"""A history, or one run of it, in a format that others read."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ConfigError
from harness.history.benchmarkjson import benchmark_json
from harness.history.csvfile import csv_text
from harness.history.database import reading
from harness.history.kept import now
from harness.history.lines import failure_lines, verdict_lines
from harness.history.write import run_of

FORMATS = ("jsonl", "csv", "pytest-benchmark")


def export(db: sqlite3.Connection, form: str, run: int | None = None) -> Iterator[str]:
    """Pieces of text. form: of FORMATS. run: None for all; of pytest-benchmark's, whose files are
    one run's, the last. JSON lines alone have failures, too."""
    if form == "jsonl":
        for line in itertools.chain(verdict_lines(db, run), failure_lines(db, run)):
            yield json.dumps(line) + "\n"
    elif form == "csv":
        yield from csv_text(verdict_lines(db, run))
    else:
        chosen = run if run is not None else _last_run(db)
        yield json.dumps(benchmark_json(verdict_lines(db, chosen), now()), indent=4) + "\n"


def write_benchmark_json(history: Path, file: Path, token: str) -> None:
    """Of the run with this token, whole or not at all; a run that left nothing has no benchmarks.
    Errors: ConfigError, OSError."""
    made = benchmark_json((), now())
    if history.exists():
        with reading(history) as db:
            run = run_of(db, token)
            if run is not None:
                made = benchmark_json(verdict_lines(db, run), now())
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_name(f".{file.name}.half")
    half.write_text(json.dumps(made, indent=4) + "\n")
    half.replace(file)


def _last_run(db: sqlite3.Connection) -> int:
    """Errors: ConfigError where there is none with a verdict."""
    (run,) = db.execute("SELECT max(run) FROM verdict").fetchone()
    if run is None:
        raise ConfigError("the history has no verdict")
    return int(run)
