# SPDX-License-Identifier: Apache-2.0
"""The history that `ripbench trend` shows, and where its levels changed."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.history import points, reading, series
from harness.judge.trend import change_points
from harness.report.site import Change, History
from harness.results import Point, SeriesKey

HISTORY = Path("reports/history.sqlite")


class Database:
    """An open history, one series in memory at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def series(self) -> Sequence[SeriesKey]:
        return series(self._db)

    def points(self, key: SeriesKey) -> Sequence[Point]:
        return points(self._db, key)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[History]:
    """Errors: ConfigError for a file that cannot be read or is no history."""
    with reading(path) as db:
        yield Database(db)


def changes(key: SeriesKey, found: Sequence[Point]) -> Sequence[Change]:
    """The judge's change points, each with the ratio of the medians of the levels on both sides."""
    starts = [0, *(found.index(point) for point in change_points(key, found)), len(found)]
    levels = [_level(found[a:b]) for a, b in itertools.pairwise(starts)]
    return [
        Change(start, after / before, found[start].commit)
        for start, before, after in zip(starts[1:], levels, levels[1:], strict=False)
        if before
    ]


def _level(points: Sequence[Point]) -> float:
    """Median cycles of those that passed, 0 where none did."""
    return statistics.median([point.cycles for point in points if point.ok] or [0])
