# SPDX-License-Identifier: Apache-2.0
"""What the charts of one case draw, as JSON: columns, or a plain number where one is constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.report.html.embed import shown
from harness.report.site.thin import Kept, moment
from harness.results import Point, SeriesKey

VERSION = 1
_DIGITS = 16  # of a commit: at 40 they are a third of a page
Column = int | list[int]


@dataclass(frozen=True)
class Series:
    key: SeriesKey
    kept: Kept


_COLUMNS: dict[str, Callable[[Point], int]] = {
    "cycles": lambda p: p.cycles,
    "low": lambda p: min(p.samples, default=p.cycles),
    "high": lambda p: max(p.samples, default=p.cycles),
    "arena": lambda p: p.arena_bytes,
    "stack": lambda p: p.stack_peak,
    "flash": lambda p: p.flash_bytes,
    "ok": lambda p: int(p.ok),
    "dirty": lambda p: int(p.dirty),
}


def case_data(found: Sequence[Series], template: str) -> dict[str, object]:
    """One panel a board and kind, so that numbers of two kinds share no axis. Times in minutes UTC since
    1970. commits: all that the points name, each once, cut to what still tells them apart and every
    host of repositories finds; links: how they are linked, or empty."""
    commits = sorted({point.commit for one in found for point in one.kept.points})
    places = {commit: n for n, commit in enumerate(commits)}
    panels: dict[tuple[str, str], list[dict[str, object]]] = {}
    for one in found:
        panels.setdefault((one.key.board, one.key.kind), []).append(_series(one, places))
    return {
        "version": VERSION,
        "links": template,
        "commits": [shown(commit)[:_DIGITS] for commit in commits],
        "panels": [
            {"board": shown(board), "kind": shown(kind), "series": series}
            for (board, kind), series in panels.items()
        ],
    }


def _series(one: Series, places: dict[str, int]) -> dict[str, object]:
    points = one.kept.points
    return {
        **{name: shown(getattr(one.key, name)) for name in ("chip", "plan", "kernels")},
        "toolchain": shown(one.key.toolchain),
        "clock": one.key.clock_hz,
        "weekly": one.kept.weekly,
        "time": [int(moment(point.time).timestamp()) // 60 for point in points],
        "commit": _column([places[point.commit] for point in points]),
        **{name: _column([value(point) for point in points]) for name, value in _COLUMNS.items()},
        "changes": [[change.index, round(change.ratio, 6)] for change in one.kept.changes],
    }


def _column(values: list[int]) -> Column:
    return values[0] if len(set(values)) == 1 else values
