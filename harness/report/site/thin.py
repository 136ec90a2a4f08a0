# SPDX-License-Identifier: Apache-2.0
"""Which points of a long series a page keeps.

The newest 400 all; of older ones the run with the median cycles of each ISO week, among those that
passed where any did, and every change point. All are shown as they were measured, with their commits:
nothing is averaged. Samples become least and most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.errors import ConfigError
from harness.results import Point

NEWEST = 400


@dataclass(frozen=True)
class Change:
    """Where a series' level changed. index: of the first point of the new level. ratio: of the new
    level to the old, in cycles. commit: that of this point, empty where it is not known."""

    index: int
    ratio: float
    commit: str


@dataclass(frozen=True)
class Kept:
    """points: oldest first. weekly: how many of the first of them stand for a week each. changes: by the
    index among `points`."""

    points: tuple[Point, ...]
    weekly: int
    changes: tuple[Change, ...]


def thin(points: Sequence[Point], changes: Sequence[Change], newest: int = NEWEST) -> Kept:
    """points: of one series, oldest first."""
    first = max(0, len(points) - newest)
    weeks: dict[tuple[int, int], list[int]] = {}
    for index in range(first):
        weeks.setdefault(_week(points[index]), []).append(index)
    old = {_median(points, week) for week in weeks.values()}
    old |= {change.index for change in changes if change.index < first}
    kept = [*sorted(old), *range(first, len(points))]
    place = {index: n for n, index in enumerate(kept)}
    moved = tuple(Change(place[c.index], c.ratio, c.commit) for c in changes)
    return Kept(tuple(points[index] for index in kept), len(old), moved)


def moment(time: str) -> datetime:
    """UTC, also where it does not say so. Errors: ConfigError for a time that is not ISO 8601."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError as error:
        raise ConfigError(f"{time[:60]!r} in the history is no time", cause=str(error)) from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _week(point: Point) -> tuple[int, int]:
    year, week, _ = moment(point.time).isocalendar()
    return year, week


def _median(points: Sequence[Point], week: Sequence[int]) -> int:
    """The index of the point in the middle by cycles, the earlier of two."""
    passed = [index for index in week if points[index].ok] or list(week)
    passed.sort(key=lambda index: (points[index].cycles, index))
    return passed[(len(passed) - 1) // 2]
