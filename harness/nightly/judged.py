# SPDX-License-Identifier: Apache-2.0
"""What a night's numbers say beside those of the nights before: pure, all data comes in.

A run of the history is a night's by its token, NIGHT/SUITE/ATTEMPT. The attempts of one suite, and the
runs that confirm a suspicion, are one point of each series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.judge.trend import (
    State,
    TrendVerdict,
    judge_trend,
    vanished,
    with_confirmation,
)
from harness.results import Point, SeriesKey

CONFIRM = "confirm"  # the suite of the runs that confirm


@dataclass(frozen=True)
class Judged:
    """Tonight's series. suspected: those of which another run is asked. measured: how many have a
    point of tonight."""

    verdicts: tuple[TrendVerdict, ...]
    measured: int

    @property
    def suspected(self) -> tuple[SeriesKey, ...]:
        return tuple(v.key for v in self.verdicts if v.state is State.SUSPECTED)

    @property
    def changed(self) -> tuple[TrendVerdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.changed)

    @property
    def ok(self) -> bool:
        """A night without a single number is none."""
        return self.measured > 0 and all(verdict.ok for verdict in self.verdicts)


def judge_night(
    night: str,
    history: Mapping[SeriesKey, Sequence[Point]],
    tokens: Mapping[int, str],
    ended: Sequence[str],
) -> Judged:
    """night: its name. history: all points, the oldest first. tokens: of the runs, by their ids. ended:
    the suites of tonight that came to their end: only of them can a case have vanished."""
    tonight = {}
    for key, points in history.items():
        # judge_trend is given what confirms tonight's point apart
        merged = merge(
            [p for p in points if _parts(tokens.get(p.run, "")) != (night, CONFIRM)], tokens
        )
        if merged and _night_of(merged[-1], tokens) == night:
            tonight[key] = merged
    verdicts = [
        judge_trend(key, points, _confirmation(history[key], tokens, night), known=history)
        for key, points in tonight.items()
    ]
    expected = _expected(night, history, tokens, ended)
    verdicts += vanished(expected, tonight)
    return Judged(tuple(verdicts), len(tonight))


def merge(points: Sequence[Point], tokens: Mapping[int, str]) -> list[Point]:
    """One point a night: the last run of it that passed or failed, with the samples of the runs that
    confirm it. Points of runs that are no night's stay as they are."""
    found: list[Point] = []
    for point in points:
        before = found[-1] if found else None
        night, suite = _night_of(point, tokens), _suite_of(point, tokens)
        if before is None or not night or _night_of(before, tokens) != night:
            found.append(point)
        elif suite == CONFIRM and before.ok and point.ok and before.build == point.build:
            found[-1] = with_confirmation(before, point.samples)
        else:
            found[-1] = replace(point, run=before.run)
    return found


def _confirmation(
    points: Sequence[Point], tokens: Mapping[int, str], night: str
) -> tuple[int, ...]:
    """Samples of tonight's runs that confirm."""
    return tuple(
        sample
        for point in points
        if _night_of(point, tokens) == night and _suite_of(point, tokens) == CONFIRM
        for sample in point.samples
    )


def _expected(
    night: str,
    history: Mapping[SeriesKey, Sequence[Point]],
    tokens: Mapping[int, str],
    ended: Sequence[str],
) -> list[SeriesKey]:
    """Of each suite that ended tonight, what the last night before measured in it."""
    last: dict[str, str] = {}
    for token in tokens.values():
        other, suite = _parts(token)
        if other and other < night and suite in ended:
            last[suite] = max(other, last.get(suite, ""))
    wanted = {(other, suite) for suite, other in last.items()}
    return [
        key
        for key, points in history.items()
        if any(_parts(tokens.get(point.run, "")) in wanted for point in points)
    ]


def _night_of(point: Point, tokens: Mapping[int, str]) -> str:
    return _parts(tokens.get(point.run, ""))[0]


def _suite_of(point: Point, tokens: Mapping[int, str]) -> str:
    return _parts(tokens.get(point.run, ""))[1]


def _parts(token: str) -> tuple[str, str]:
    """Night and suite; empty for the token of any other run."""
    parts = token.split("/")
    return (parts[0], parts[1]) if len(parts) == 3 else ("", "")
