# SPDX-License-Identifier: Apache-2.0
"""The tables of a history, and how a file of an older version becomes one of this.

Rows are only ever added. Triggers refuse every other change but a prune's, which says so in the table
`pruning` within its own transaction, so that nobody else ever sees it there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache

APPLICATION_ID = 0x52495042  # "RIPB", in the file's header
_APPEND_ONLY = (
    "run", "ending", "board", "build", "case", "series", "verdict", "attempt", "sample", "failure",
)  # fmt: skip

# A run is one invocation, however many processes it has; it has an ending when it came to its end.
# A series is what two numbers must share to be laid side by side, results.SeriesKey; board and build
# say which one of them it was. `more`: JSON of what no query asks for. A sample's `warm`: it is one of
# results.Point.samples. An attempt is a verdict's or a failure's; error: empty where it succeeded.
_FIRST = (
    "CREATE TABLE pruning (reason TEXT NOT NULL)",
    "CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL UNIQUE, "
    'started TEXT NOT NULL, "commit" TEXT NOT NULL, dirty INTEGER NOT NULL, ripbench TEXT NOT NULL)',
    "CREATE TABLE ending (run INTEGER PRIMARY KEY REFERENCES run, time TEXT NOT NULL, "
    "status TEXT NOT NULL)",
    "CREATE TABLE board (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, "
    "chip TEXT NOT NULL, clock_hz INTEGER NOT NULL, unique_id TEXT NOT NULL, "
    "UNIQUE (name, kind, chip, clock_hz, unique_id))",
    "CREATE TABLE build (id INTEGER PRIMARY KEY, elf_hash TEXT NOT NULL, build_id TEXT NOT NULL, "
    "toolchain TEXT NOT NULL, kernels TEXT NOT NULL, "
    "UNIQUE (elf_hash, build_id, toolchain, kernels))",
    'CREATE TABLE "case" (id INTEGER PRIMARY KEY, layer TEXT NOT NULL, plan TEXT NOT NULL, '
    "UNIQUE (layer, plan))",
    "CREATE TABLE series (id INTEGER PRIMARY KEY, board TEXT NOT NULL, kind TEXT NOT NULL, "
    "chip TEXT NOT NULL, clock_hz INTEGER NOT NULL, toolchain TEXT NOT NULL, "
    'kernels TEXT NOT NULL, "case" INTEGER NOT NULL REFERENCES "case", '
    'UNIQUE ("case", board, kind, chip, clock_hz, toolchain, kernels))',
    "CREATE TABLE verdict (id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, "
    "run INTEGER NOT NULL REFERENCES run, series INTEGER NOT NULL REFERENCES series, "
    "board INTEGER NOT NULL REFERENCES board, build INTEGER NOT NULL REFERENCES build, "
    "time TEXT NOT NULL, test TEXT NOT NULL, pack_id TEXT NOT NULL, nonce TEXT NOT NULL, "
    "ok INTEGER NOT NULL, workspace_bound INTEGER NOT NULL, workspace_given INTEGER NOT NULL, "
    "workspace_reached INTEGER NOT NULL, debt TEXT NOT NULL, witness TEXT NOT NULL, "
    "cycles INTEGER NOT NULL, shift_cycles INTEGER NOT NULL, cold_cycles INTEGER NOT NULL, "
    "microseconds INTEGER NOT NULL, cycles_per_mac REAL NOT NULL, ratio REAL, "
    "ratio_to TEXT NOT NULL, output_crc TEXT NOT NULL, interrupts_on INTEGER NOT NULL, "
    "xip_misses INTEGER NOT NULL, stack_peak INTEGER NOT NULL, scratch_bytes INTEGER NOT NULL, "
    "kernel TEXT NOT NULL, attempts INTEGER NOT NULL, flash_bytes INTEGER NOT NULL, "
    "more TEXT NOT NULL)",
    "CREATE INDEX verdict_series ON verdict (series, time)",
    "CREATE INDEX verdict_run ON verdict (run)",
    "CREATE TABLE failure (id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, "
    "run INTEGER NOT NULL REFERENCES run, time TEXT NOT NULL, test TEXT NOT NULL, "
    "board TEXT NOT NULL, layer TEXT NOT NULL, plan TEXT NOT NULL, error TEXT NOT NULL, "
    "message TEXT NOT NULL, cause TEXT NOT NULL, attempts INTEGER NOT NULL)",
    "CREATE INDEX failure_run ON failure (run)",
    "CREATE TABLE attempt (id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "verdict INTEGER REFERENCES verdict, failure INTEGER REFERENCES failure, "
    "number INTEGER NOT NULL, error TEXT NOT NULL)",
    "CREATE INDEX attempt_verdict ON attempt (verdict)",
    "CREATE INDEX attempt_failure ON attempt (failure)",
    "CREATE TABLE sample (verdict INTEGER NOT NULL REFERENCES verdict, number INTEGER NOT NULL, "
    "warm INTEGER NOT NULL, seed INTEGER NOT NULL, paint INTEGER NOT NULL, "
    "repeat INTEGER NOT NULL, cycles INTEGER NOT NULL, microseconds INTEGER NOT NULL, "
    "interrupt_cycles INTEGER NOT NULL, interrupts INTEGER NOT NULL, "
    "interrupts_on INTEGER NOT NULL, xip_accesses INTEGER NOT NULL, xip_hits INTEGER NOT NULL, "
    "input_crc INTEGER NOT NULL, output_crc INTEGER NOT NULL, low_water INTEGER NOT NULL, "
    "high_water INTEGER NOT NULL, outside_count INTEGER NOT NULL, "
    "outside_first INTEGER NOT NULL, scratch_used INTEGER NOT NULL, stack_peak INTEGER NOT NULL, "
    "more TEXT NOT NULL, PRIMARY KEY (verdict, number)) WITHOUT ROWID",
    *(
        statement
        for table in _APPEND_ONLY
        for statement in (
            f'CREATE TRIGGER {table}_update BEFORE UPDATE ON "{table}" '
            "BEGIN SELECT RAISE(ABORT, 'a history is append-only'); END",
            f'CREATE TRIGGER {table}_delete BEFORE DELETE ON "{table}" '
            "WHEN NOT EXISTS (SELECT 1 FROM pruning) "
            "BEGIN SELECT RAISE(ABORT, 'a history is append-only'); END",
        )
    ),
)

# budget: the ceiling in cycles that was in force. frames: the hash of the file with the frames that the
# numbers came in, empty where they were not kept.
_SECOND = (
    "ALTER TABLE verdict ADD COLUMN budget INTEGER",
    "ALTER TABLE verdict ADD COLUMN frames TEXT NOT NULL DEFAULT ''",
)

MIGRATIONS = (_FIRST, _SECOND)  # the n-th makes version n of version n - 1
VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """From a version, 0 for an empty file, to this one; within the transaction of who calls."""
    for statement in _statements(version):
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _statements(version: int) -> Iterator[str]:
    for migration in MIGRATIONS[version:]:
        yield from migration


def shape(db: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Kind, name and text of every table, index and trigger."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return frozenset((kind, name, text) for kind, name, text in rows if name != "sqlite_sequence")


@cache
def shape_of(version: int) -> frozenset[tuple[str, str, str]]:
    """What a file of this version holds, and nothing beside it: a file with triggers or views of its own
    could do what we did not ask for."""
    db = sqlite3.connect(":memory:")
    try:
        for migration in MIGRATIONS[:version]:
            for statement in migration:
                db.execute(statement)
        return shape(db)
    finally:
        db.close()
