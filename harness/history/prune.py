# SPDX-License-Identifier: Apache-2.0
"""The one way in which a history gets smaller: old runs, and the files of the oldest rows."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from harness.history.blobs import Blobs
from harness.history.database import transaction

_HALF_SECONDS = 3600.0  # a file without a name is another process's, or a killed one's leftover
# Rows that hang on others first.
_OF_OLD_RUNS = (
    "DELETE FROM sample WHERE verdict IN (SELECT id FROM verdict WHERE run IN (SELECT id FROM old))",
    "DELETE FROM attempt WHERE verdict IN (SELECT id FROM verdict WHERE run IN (SELECT id FROM old)) "
    "OR failure IN (SELECT id FROM failure WHERE run IN (SELECT id FROM old))",
    "DELETE FROM verdict WHERE run IN (SELECT id FROM old)",
    "DELETE FROM failure WHERE run IN (SELECT id FROM old)",
    "DELETE FROM ending WHERE run IN (SELECT id FROM old)",
    "DELETE FROM run WHERE id IN (SELECT id FROM old)",
    "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM verdict WHERE series = series.id)",
    "DELETE FROM board WHERE NOT EXISTS (SELECT 1 FROM verdict WHERE board = board.id)",
    "DELETE FROM build WHERE NOT EXISTS (SELECT 1 FROM verdict WHERE build = build.id)",
    'DELETE FROM "case" WHERE NOT EXISTS (SELECT 1 FROM series WHERE "case" = "case".id)',
)


@dataclass(frozen=True)
class Pruned:
    """What went, or with dry_run would go. bytes: of files, not of rows."""

    runs: int
    verdicts: int
    files: int
    bytes: int


def prune(
    db: sqlite3.Connection,
    path: Path,
    *,
    before: str = "",
    max_bytes: int | None = None,
    now: float,
    dry_run: bool = False,
) -> Pruned:
    """Runs that started before a time (UTC, ISO 8601; empty for none) go with all their rows, and files
    that no row names any more. Then, down to max_bytes of files, those that were named longest ago go;
    the numbers of their rows stay. now: seconds since the epoch.

    No writer is in a transaction meanwhile, so no file that one has just written is taken for one that
    nobody names.
    """
    blobs = Blobs(path)
    db.execute("CREATE TEMP TABLE IF NOT EXISTS old (id INTEGER PRIMARY KEY)")
    with transaction(db):
        db.execute("DELETE FROM old")
        db.execute("INSERT INTO old SELECT id FROM run WHERE started < ?", (before,))
        (runs,) = db.execute("SELECT count(*) FROM old").fetchone()
        (verdicts,) = db.execute(
            "SELECT count(*) FROM verdict WHERE run IN (SELECT id FROM old)"
        ).fetchone()
        named = _named(db)
        if runs and not dry_run:
            db.execute("INSERT INTO pruning VALUES ('prune')")
            for statement in _OF_OLD_RUNS:
                db.execute(statement)
            db.execute("DELETE FROM pruning")
        chosen = _files(blobs, named, max_bytes, now)
        if not dry_run:
            for file, _ in chosen:
                file.unlink(missing_ok=True)
    if runs and not dry_run:
        with contextlib.suppress(sqlite3.OperationalError):  # no room, or others are at work
            db.execute("VACUUM")
    return Pruned(runs, verdicts, len(chosen), sum(size for _, size in chosen))


def _named(db: sqlite3.Connection) -> dict[str, int]:
    """Files that rows of other runs than the old ones name, and the last verdict that does."""
    rows = db.execute(
        "SELECT f.elf_hash, v.frames, v.id FROM verdict v JOIN build f ON f.id = v.build "
        "WHERE v.run NOT IN (SELECT id FROM old) ORDER BY v.id"
    )
    return {name: verdict for elf, frames, verdict in rows for name in (elf, frames) if name}


def _files(
    blobs: Blobs, named: dict[str, int], max_bytes: int | None, now: float
) -> list[tuple[Path, int]]:
    """Those that go, with their sizes."""
    gone, kept = [], []
    for written, path, size in blobs.list():
        half = path.name.startswith(".") and now - written < _HALF_SECONDS
        if path.name in named or half:
            kept.append((named.get(path.name, 0), path, size))
        else:
            gone.append((path, size))
    left = sum(size for _, _, size in kept)
    for _, path, size in sorted(kept):
        if max_bytes is None or left <= max_bytes:
            break
        gone.append((path, size))
        left -= size
    return gone
