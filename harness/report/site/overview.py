# SPDX-License-Identifier: Apache-2.0
"""The first page: boards by suites as of last night, what changed, and every case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.html.embed import shown
from harness.report.html.page import SCRIPTS, Assets, render
from harness.report.site.state import Latest, State, states
from harness.report.site.tables import change_rows, day, series_rows

_CHANGES = 20
_COUNTED = (State.FAILED, State.MISSING, State.SLOWER, State.FASTER, State.OK)


@dataclass(frozen=True)
class Cell:
    """A board and a suite. state: the worst of last night. counts: of series, by state, the worst first;
    none where the board never ran the suite, or no longer does."""

    suite: str
    state: State
    counts: tuple[tuple[State, int], ...]


@dataclass(frozen=True)
class BoardRow:
    board: str
    kind: str
    chips: str
    newest: str
    cells: tuple[Cell, ...]


def page(found: Sequence[Latest], title: str, commit_url: str) -> str:
    suites = sorted({one.suite for one in found})
    judged = states(found)
    totals = Counter(judged)
    changes = change_rows(found, commit_url)
    return render(
        "overview.html",
        Assets(scripts=(*SCRIPTS, "filter.js"), folder="assets"),
        title=shown(title),
        newest=day(max(found, key=lambda one: one.time).point.time),
        suites=[shown(suite) for suite in suites],
        boards=board_rows(found, judged, suites),
        totals=[(state, totals[state]) for state in State if totals[state]],
        changes=changes[:_CHANGES],
        more_changes=max(0, len(changes) - _CHANGES),
        kinds=series_rows(found, commit_url, judged),
        states=list(State),
    )


def board_rows(
    found: Sequence[Latest], judged: Sequence[State], suites: Sequence[str]
) -> list[BoardRow]:
    """Ordered by kind and name. judged: of each of `found`."""
    boards: dict[tuple[str, str], list[tuple[Latest, State]]] = {}
    for one, state in zip(found, judged, strict=True):
        boards.setdefault((one.key.kind, one.key.board), []).append((one, state))
    return [
        BoardRow(
            board=shown(board),
            kind=shown(kind),
            chips=shown(", ".join(sorted({one.key.chip for one, _ in own}))),
            newest=day(max((one for one, _ in own), key=lambda one: one.time).point.time),
            cells=tuple(
                _cell(suite, [s for one, s in own if one.suite == suite]) for suite in suites
            ),
        )
        for (kind, board), own in sorted(boards.items())
    ]


def _cell(suite: str, own: Sequence[State]) -> Cell:
    counts = Counter(own)
    found = tuple((state, counts[state]) for state in _COUNTED if counts[state])
    return Cell(shown(suite), found[0][0] if found else State.RETIRED, found)
