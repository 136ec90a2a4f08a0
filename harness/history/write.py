# SPDX-License-Identifier: Apache-2.0
"""Adding to a history. Each function is to be called within one transaction, so that a verdict is there
with all of its samples and attempts, or is not there."""

from __future__ import annotations

import sqlite3
from typing import Any

from harness.history.kept import Kept, KeptFailure, RunInfo, are_warm
from harness.history.rows import SAMPLE, sample_values, verdict_values

_NEXT_SAMPLE = (
    f"INSERT INTO sample (verdict, number, warm, {', '.join(SAMPLE)}, more) "
    f"VALUES (?, ?, ?, {'?, ' * len(SAMPLE)}?)"
)


def add_run(db: sqlite3.Connection, info: RunInfo) -> int:
    """Its id; what another process of the same run has said of it stays."""
    run = run_of(db, info.token)
    if run is None:
        values = {"token": info.token, "started": info.started, "commit": info.commit}
        more = {"dirty": info.dirty, "ripbench": info.ripbench}
        run = _insert(db, "run", {**values, **more})
    if info.ended:
        end_run(db, run, info.ended, info.status)
    return run


def run_of(db: sqlite3.Connection, token: str) -> int | None:
    row = db.execute("SELECT id FROM run WHERE token = ?", (token,)).fetchone()
    return None if row is None else int(row[0])


def end_run(db: sqlite3.Connection, run: int, time: str, status: str) -> None:
    """status: how, in a word. The first ending stays."""
    db.execute(
        "INSERT INTO ending (run, time, status) VALUES (?, ?, ?) ON CONFLICT (run) DO NOTHING",
        (run, time, status),
    )


def add_verdict(db: sqlite3.Connection, run: int, kept: Kept) -> bool:
    """False where this very row is there already."""
    if db.execute("SELECT 1 FROM verdict WHERE uid = ?", (kept.uid,)).fetchone():
        return False
    verdict, p, key = kept.verdict, kept.verdict.provenance, kept.series
    case = _id_of(db, "case", {"layer": key.case, "plan": key.plan})
    here = {"kind": key.kind, "chip": key.chip, "clock_hz": key.clock_hz}
    what = {"toolchain": key.toolchain, "kernels": key.kernels}
    built = {"elf_hash": p.elf_hash, "build_id": p.build_id}
    row: dict[str, Any] = {
        "uid": kept.uid,
        "run": run,
        "series": _id_of(db, "series", {"case": case, "board": key.board, **here, **what}),
        "board": _id_of(db, "board", {"name": key.board, **here, "unique_id": p.unique_id}),
        "build": _id_of(db, "build", {**built, **what}),
        "time": kept.time,
        "test": kept.test,
        "pack_id": p.pack_id,
        "nonce": p.nonce,
        **verdict_values(verdict),
        "flash_bytes": kept.flash_bytes,
        "budget": kept.budget,
        "frames": kept.frames,
    }
    number = _insert(db, "verdict", row)
    for attempt, error in enumerate((*verdict.recovered, ""), 1):
        _insert(db, "attempt", {"verdict": number, "number": attempt, "error": error})
    warm = are_warm(kept.samples)
    db.executemany(
        _NEXT_SAMPLE,
        [(number, n, warm[n], *sample_values(sample)) for n, sample in enumerate(kept.samples)],
    )
    return True


def add_failure(db: sqlite3.Connection, run: int, kept: KeptFailure) -> bool:
    """False where this very row is there already."""
    if db.execute("SELECT 1 FROM failure WHERE uid = ?", (kept.uid,)).fetchone():
        return False
    failure = kept.failure
    number = _insert(
        db,
        "failure",
        {
            "uid": kept.uid,
            "run": run,
            "time": kept.time,
            "test": kept.test,
            "board": failure.board,
            "layer": failure.layer,
            "plan": failure.plan,
            "error": failure.error,
            "message": failure.message,
            "cause": failure.cause,
            "attempts": failure.attempts,
        },
    )
    for attempt, error in enumerate(kept.tried, 1):
        _insert(db, "attempt", {"failure": number, "number": attempt, "error": error})
    return True


def _id_of(db: sqlite3.Connection, table: str, values: dict[str, Any]) -> int:
    """Of the row with these values, which is added where it is missing."""
    where = " AND ".join(f'"{name}" = ?' for name in values)
    found = db.execute(f'SELECT id FROM "{table}" WHERE {where}', tuple(values.values())).fetchone()
    return int(found[0]) if found else _insert(db, table, values)


def _insert(db: sqlite3.Connection, table: str, values: dict[str, Any]) -> int:
    """Names of tables and columns are this module's own; values travel apart from the statement."""
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    done = db.execute(
        f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(map(_storable, values.values()))
    )
    assert done.lastrowid is not None, "an INSERT has one"
    return done.lastrowid


def _storable(value: Any) -> Any:
    """Text that came from a board may hold halves of surrogate pairs, which UTF-8 cannot."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
