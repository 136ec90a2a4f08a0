# SPDX-License-Identifier: Apache-2.0
"""What judges, pages and people ask a history: series, their points, runs, and rows as they were kept.

`db`: an open history, see harness.history.reading.
"""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from harness.history.kept import RunInfo
from harness.results import Failure, Point, SeriesKey

_SERIES = (
    "SELECT s.id, s.board, s.kind, s.chip, s.clock_hz, s.toolchain, s.kernels, c.layer, c.plan "
    'FROM series s JOIN "case" c ON c.id = s."case" '
    "WHERE EXISTS (SELECT 1 FROM verdict WHERE series = s.id)"
)
_POINTS = (
    'SELECT v.series, v.id, v.run, v.time, r."commit", r.dirty, b.elf_hash, v.ok, v.cycles, '
    "v.cold_cycles, v.workspace_given, v.scratch_bytes, v.stack_peak, v.flash_bytes, v.xip_misses, "
    "v.budget, e.run IS NOT NULL, v.uid "
    "FROM verdict v JOIN run r ON r.id = v.run JOIN build b ON b.id = v.build "
    "LEFT JOIN ending e ON e.run = v.run"
)
# One row a verdict: a million rows would take longer to fetch than to read.
_WARM = (
    "SELECT verdict, group_concat(cycles) FROM "
    "(SELECT m.verdict, m.cycles FROM sample m {of} WHERE m.warm {which} "
    "ORDER BY m.verdict, m.number) GROUP BY verdict"
)
_RUNS = (
    "SELECT r.id, r.token, r.started, r.\"commit\", r.dirty, r.ripbench, coalesce(e.time, ''), "
    "coalesce(e.status, ''), (SELECT count(*) FROM verdict WHERE run = r.id), "
    "(SELECT count(*) FROM verdict WHERE run = r.id AND NOT ok), "
    "(SELECT count(*) FROM failure WHERE run = r.id) "
    "FROM run r LEFT JOIN ending e ON e.run = r.id ORDER BY r.id"
)


@dataclass(frozen=True)
class RunRow:
    """A run and how much it left. Without `info.ended` it is under way or was killed: each of its
    verdicts is whole, but the run is not, so that a case that is missing proves nothing. not_ok: of its
    verdicts, those that failed. failures: layers of which there is no verdict."""

    id: int
    info: RunInfo
    verdicts: int
    not_ok: int
    failures: int


@dataclass(frozen=True)
class FailureRow:
    """A failure with the run it is of."""

    run: int
    time: str
    test: str
    failure: Failure


def series(db: sqlite3.Connection) -> list[SeriesKey]:
    """All that have a point, by case, plan, board and the rest."""
    return sorted(_keys(db).values(), key=_order)


def points(db: sqlite3.Connection, key: SeriesKey) -> list[Point]:
    """Of one series, oldest first; none for a series that is not there."""
    known = {found: number for number, found in _keys(db).items()}
    if key not in known:
        return []
    where = (known[key],)
    of_it = _WARM.format(of="JOIN verdict v ON v.id = m.verdict", which="AND v.series = ?")
    warm = _warm(db.execute(of_it, where))
    rows = db.execute(f"{_POINTS} WHERE v.series = ? ORDER BY v.time, v.id", where)
    return [_point(row, warm) for row in rows]


def all_points(db: sqlite3.Connection) -> dict[SeriesKey, list[Point]]:
    """Of every series, as `points` gives them, in one pass over the file."""
    keys = _keys(db)
    found: dict[SeriesKey, list[Point]] = {key: [] for key in sorted(keys.values(), key=_order)}
    warm = _warm(db.execute(_WARM.format(of="", which="")))
    for row in db.execute(f"{_POINTS} ORDER BY v.time, v.id"):
        found[keys[row[0]]].append(_point(row, warm))
    return found


def runs(db: sqlite3.Connection) -> list[RunRow]:
    """Oldest first."""
    return [
        RunRow(
            number, RunInfo(token, started, commit, bool(dirty), version, ended, status), *counts
        )
        for number, token, started, commit, dirty, version, ended, status, *counts in db.execute(
            _RUNS
        )
    ]


def failures(db: sqlite3.Connection, run: int | None = None) -> list[FailureRow]:
    """Of one run, or of all, oldest first."""
    rows = db.execute(
        "SELECT run, time, test, board, layer, plan, error, message, cause, attempts "
        "FROM failure WHERE run = ?1 OR ?1 IS NULL ORDER BY id",
        (run,),
    )
    return [FailureRow(run, time, test, Failure(*rest)) for run, time, test, *rest in rows]


def tests_of(db: sqlite3.Connection, key: SeriesKey) -> list[str]:
    """Ids of the tests that asked for its newest point, none where that is not known."""
    newest = max(points(db, key), key=lambda point: (point.time, point.run), default=None)
    rows = db.execute(
        'SELECT DISTINCT v.test FROM verdict v JOIN series s ON s.id = v.series JOIN "case" c '
        'ON c.id = s."case" WHERE v.run = ? AND s.board = ? AND s.kernels = ? AND c.layer = ? '
        "AND c.plan = ? AND v.test != ''",
        (0 if newest is None else newest.run, key.board, key.kernels, key.case, key.plan),
    )
    return [test for (test,) in rows]


def _keys(db: sqlite3.Connection) -> dict[int, SeriesKey]:
    return {number: SeriesKey(*rest) for number, *rest in db.execute(_SERIES)}


def _order(key: SeriesKey) -> tuple[object, ...]:
    return (key.case, key.plan, *astuple(key))


def _warm(rows: Iterable[tuple[int, str]]) -> dict[int, tuple[int, ...]]:
    """Cycles by verdict, in the order in which they were taken."""
    return {verdict: tuple(map(int, cycles.split(","))) for verdict, cycles in rows}


def _point(row: Any, warm: dict[int, tuple[int, ...]]) -> Point:
    """A verdict without samples, as imported ones are, is its own one sample."""
    _, verdict, run, time, commit, dirty, build, ok, cycles, cold, *rest = row
    samples = warm.get(verdict) or (cycles,)
    arena, scratch, stack, flash, misses, budget, ended, uid = rest
    return Point(
        run=run,
        time=time,
        commit=commit,
        dirty=bool(dirty),
        build=build,
        ok=bool(ok),
        cycles=int(statistics.median(samples)),
        samples=samples,
        cold_cycles=cold,
        arena_bytes=arena,
        scratch_bytes=scratch,
        stack_peak=stack,
        flash_bytes=flash,
        xip_misses=misses,
        budget=budget,
        run_ended=bool(ended),
        uid=uid,
    )
