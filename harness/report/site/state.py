# SPDX-License-Identifier: Apache-2.0
"""What last night says of a series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from harness.report.site.thin import Change, moment
from harness.results import Point, SeriesKey

NIGHT = timedelta(hours=24)  # before the newest point of the whole history
FORGOTTEN = timedelta(days=30)


class State(StrEnum):
    """The worst first. failed: a verdict. missing: measured in the last 30 days, but not last night.
    slower, faster: a change point last night. ok. ended: last night the same case ran under another
    compiler, clock or chip. retired: not measured for 30 days."""

    FAILED = "failed"
    MISSING = "missing"
    SLOWER = "slower"
    FASTER = "faster"
    OK = "ok"
    ENDED = "ended"
    RETIRED = "retired"


RED = frozenset({State.FAILED, State.MISSING, State.SLOWER})


@dataclass(frozen=True)
class Latest:
    """The end of a series. previous: cycles of the point before the newest one that passed, None for
    the first. changes: all of them, each with the point where it begins."""

    key: SeriesKey
    suite: str
    page: str
    point: Point
    previous: int | None
    changes: tuple[tuple[Change, Point], ...]

    @property
    def time(self) -> datetime:
        return moment(self.point.time)


def latest(
    key: SeriesKey, suite: str, page: str, points: Sequence[Point], changes: Sequence[Change]
) -> Latest:
    """points: of one series, oldest first, at least one."""
    passed = [point.cycles for point in points[:-1] if point.ok]
    return Latest(
        key=key,
        suite=suite,
        page=page,
        point=points[-1],
        previous=passed[-1] if passed else None,
        changes=tuple((change, points[change.index]) for change in changes),
    )


def states(found: Sequence[Latest]) -> list[State]:
    """Of each, in their order."""
    if not found:
        return []
    newest = max(one.time for one in found)
    alive = {_lineage(one.key) for one in found if one.time > newest - NIGHT}
    return [_state(one, newest, alive) for one in found]


def _state(one: Latest, newest: datetime, alive: Iterable[tuple[str, ...]]) -> State:
    age = newest - one.time
    if age >= NIGHT:
        if _lineage(one.key) in alive:
            return State.ENDED
        return State.MISSING if age < FORGOTTEN else State.RETIRED
    if not one.point.ok:
        return State.FAILED
    ratios = [c.ratio for c, point in one.changes if moment(point.time) > newest - NIGHT]
    if not ratios:
        return State.OK
    return State.SLOWER if ratios[-1] > 1 else State.FASTER


def _lineage(key: SeriesKey) -> tuple[str, ...]:
    """What stays when a compiler, a clock or the chip on a board changes."""
    return key.board, key.kind, key.kernels, key.case, key.plan
