# SPDX-License-Identifier: Apache-2.0
"""The newest number of a series beside those before it.

On an emulated board one cycle is a change. On a board a change is what its own noise and drift do not
explain, and only after another run has shown it too. docs/verdicts.md says why, with the arithmetic.
"""

from __future__ import annotations

import datetime
import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.judge.budget import SILICON
from harness.judge.changepoint import (
    MIN_NIGHTS,
    REAL_Z,
    SUSPICION,
    Dated,
    Shift,
    confirmed_shift,
    enough,
    noise_so_far,
    segment,
    shift_at_end,
)
from harness.judge.noise import MIN_SAMPLES, Noise, night_of
from harness.judge.series import case_of, succession
from harness.results import Point, SeriesKey

WINDOW = 60  # points that are looked at: what was before is another story
_DAY = 86_400.0


class State(StrEnum):
    """same: nothing beyond noise. drift: beyond noise, within what a board drifts. suspected: run it
    again. regressed, improved: found, and confirmed. unsteady: an emulated board gave two numbers for
    one ELF of one commit. new: too little before it. vanished: expected, and not there. incomparable:
    not a number to compare."""

    SAME = "same"
    DRIFT = "drift"
    SUSPECTED = "suspected"
    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNSTEADY = "unsteady"
    NEW = "new"
    VANISHED = "vanished"
    INCOMPARABLE = "incomparable"

    def __repr__(self) -> str:
        return f"State.{self.name}"


RED = (State.REGRESSED, State.UNSTEADY, State.VANISHED)


@dataclass(frozen=True)
class TrendVerdict:
    """state and, in words with numbers, the reason. change: of cycles, as a ratio less 1, against the
    level before; None where there is none. commit: the first at the new level; after: the last at the
    old one, so that `git log after..commit` are the suspects, all of them where nights were missed.
    noise: of the board's samples. points, confirmation: what was judged, the newest last."""

    key: SeriesKey
    state: State
    reason: str
    change: float | None = None
    commit: str = ""
    after: str = ""
    noise: Noise | None = None
    points: tuple[Point, ...] = ()
    confirmation: tuple[int, ...] = ()

    @property
    def ok(self) -> bool:
        return self.state not in RED

    @property
    def changed(self) -> bool:
        """Something happened that a reader wants to know, good or bad."""
        return self.state is State.IMPROVED or not self.ok


def judge_trend(
    key: SeriesKey,
    points: Sequence[Point],
    confirmation: Sequence[int] = (),
    known: Iterable[SeriesKey] = (),
) -> TrendVerdict:
    """The newest of `points`, all of one series and the oldest first, against those before.

    confirmation: samples of another run of the newest build, taken because an earlier verdict was
    `suspected`; whoever keeps the point keeps them in it (`with_confirmation`), so that later verdicts
    know the change as one that was found. known: other series, to say which one a new one follows.
    """
    seen = tuple(points[-WINDOW:])
    if not seen:
        return vanished([key], [])[0]
    newest = seen[-1]
    verdict = _Verdicts(key, seen, tuple(confirmation))
    if not newest.samples or newest.cycles <= 0:
        return verdict.of(State.VANISHED, "the case measured nothing")
    if not newest.ok:
        return verdict.of(State.INCOMPARABLE, "its own verdict failed: its cycles say nothing")
    before = [point for point in seen[:-1] if _usable(point)]
    if not before:
        return verdict.of(State.NEW, succession(key, known))
    if key.kind != SILICON:
        return _judge_exact(verdict, before, newest)
    return _judge_noisy(verdict, before, newest)


def with_confirmation(point: Point, confirmation: Sequence[int]) -> Point:
    """The point as history keeps it after another run: that run's samples follow its own."""
    samples = (*point.samples, *confirmation)
    return replace(point, samples=samples, cycles=math.floor(statistics.median(samples)))


def change_points(key: SeriesKey, points: Sequence[Point]) -> tuple[Point, ...]:
    """The first point of each new level, oldest first, but for the first level of all."""
    usable = [point for point in points if _usable(point)]
    if key.kind != SILICON:
        return tuple(b for a, b in itertools.pairwise(usable) if a.cycles != b.cycles)
    usable = [point for point in usable if enough(point.samples)]
    return tuple(usable[start] for start in _starts(usable)[1:])


def vanished(expected: Iterable[SeriesKey], seen: Iterable[SeriesKey]) -> tuple[TrendVerdict, ...]:
    """One red verdict for each series that was expected and that nothing was measured of. A case that
    is there under another compiler, clock or chip has not vanished: it is a new series."""
    there = {case_of(key) for key in seen}
    return tuple(
        TrendVerdict(key, State.VANISHED, "nothing was measured of it")
        for key in expected
        if case_of(key) not in there
    )


@dataclass(frozen=True)
class _Verdicts:
    """What all verdicts on one series' newest point have in common."""

    key: SeriesKey
    points: tuple[Point, ...]
    confirmation: tuple[int, ...]

    def of(
        self,
        state: State,
        reason: str,
        change: float | None = None,
        at: tuple[Point, Point] | None = None,
        noise: Noise | None = None,
    ) -> TrendVerdict:
        """at: the last point of the old level and the first of the new one."""
        return TrendVerdict(
            self.key,
            state,
            reason,
            change,
            commit=at[1].commit if at else self.points[-1].commit if self.points else "",
            after=at[0].commit if at else "",
            noise=noise,
            points=self.points,
            confirmation=self.confirmation,
        )


def _judge_exact(verdict: _Verdicts, before: Sequence[Point], newest: Point) -> TrendVerdict:
    for point in before:
        if _same_source(point, newest) and point.cycles != newest.cycles:
            return verdict.of(
                State.UNSTEADY,
                f"the same ELF of the same commit took {point.cycles} cycles in run {point.run} and "
                f"{newest.cycles} in run {newest.run}: the emulated board is not deterministic",
                newest.cycles / point.cycles - 1,
                (point, newest),
            )
    last = before[-1]
    if newest.cycles == last.cycles:
        return verdict.of(State.SAME, f"{newest.cycles} cycles, as before", 0.0)
    more = newest.cycles > last.cycles
    reason = f"{newest.cycles} cycles, {abs(newest.cycles - last.cycles)} "
    reason += f"{'more' if more else 'fewer'} than {last.cycles}{_where(last, newest)}"
    if newest.build == last.build:
        reason += "; the ELF is the same, so the pack is not"
    state = State.REGRESSED if more else State.IMPROVED
    return verdict.of(state, reason, newest.cycles / last.cycles - 1, (last, newest))


def _judge_noisy(verdict: _Verdicts, before: Sequence[Point], newest: Point) -> TrendVerdict:
    points = [point for point in before if enough(point.samples)]
    if not enough(newest.samples):
        return verdict.of(
            State.INCOMPARABLE,
            f"not enough samples: {len(newest.samples)}, and noise needs {MIN_SAMPLES}",
        )
    if len(points) < MIN_NIGHTS:
        return verdict.of(
            State.NEW,
            f"{len(points)} nights before it with {MIN_SAMPLES} samples, not {MIN_NIGHTS}",
        )
    starts = _starts(points)
    noise = noise_so_far([night_of(point.samples) for point in points], starts)
    level = [*points[starts[-1] :], newest]
    nights = _dated(level)
    if verdict.confirmation:
        both = night_of((*newest.samples, *verdict.confirmation))
        again = night_of(verdict.confirmation)
        found = confirmed_shift(nights, again, both, noise)
        nights[-1] = replace(nights[-1], night=both)
    else:
        found = shift_at_end(nights, noise, SUSPICION)
    if found is None:
        return _within(verdict, nights, noise)
    at = level[found.start - 1], level[found.start]
    change = math.expm1(found.change)
    state = State.REGRESSED if change > 0 else State.IMPROVED
    if not verdict.confirmation:
        state = State.SUSPECTED
    return verdict.of(state, _say(found, at), change, at, noise)


def _say(found: Shift, at: tuple[Point, Point]) -> str:
    how = "a creep" if found.creep else "a step"
    size = "without any noise" if found.error == 0 else f"{found.beyond:.1f} standard errors"
    return f"{how} of {_percent(found.change)}, {size} beyond drift{_where(*at)}"


def _within(verdict: _Verdicts, nights: Sequence[Dated], noise: Noise) -> TrendVerdict:
    """Nothing found: the same, or drift where noise alone does not explain the distance."""
    level = statistics.median(n.night.middle for n in nights[:-1])
    last = nights[-1].night
    away = last.middle - level
    error = math.hypot(noise.error(last.count), noise.error(last.count) / math.sqrt(len(nights)))
    drifted = abs(away) > noise.limit(REAL_Z) * error
    state = State.DRIFT if drifted else State.SAME
    again = ", not confirmed by another run" if verdict.confirmation else ""
    return verdict.of(
        state,
        f"{_percent(away)} from the level of {len(nights) - 1} nights, noise {noise.sigma:.3%}{again}",
        math.expm1(away),
        noise=noise,
    )


def _starts(points: Sequence[Point]) -> list[int]:
    """The first point of each level; all with enough samples."""
    halves = []
    for point in points:
        cut = len(point.samples) // 2
        one, other = point.samples[:cut], point.samples[cut:]
        halves.append((night_of(one), night_of(other)) if enough(one) else None)
    return segment(_dated(points), halves)


def _dated(points: Sequence[Point]) -> list[Dated]:
    return [Dated(night_of(point.samples), _day(point.time)) for point in points]


def _day(time: str) -> float:
    return datetime.datetime.fromisoformat(time).timestamp() / _DAY


def _usable(point: Point) -> bool:
    return point.ok and point.cycles > 0 and bool(point.samples)


def _same_source(one: Point, other: Point) -> bool:
    """One ELF of one commit; where a tree had changes of its own its pack may differ all the same."""
    return (one.build, one.commit) == (other.build, other.commit) and not (one.dirty or other.dirty)


def _where(last: Point, first: Point) -> str:
    dirty = " with changes of its own" if first.dirty else ""
    return f", since {_name(first)}{dirty} after {_name(last)}"


def _name(point: Point) -> str:
    """By its commit, where there was one."""
    return point.commit or f"run {point.run}"


def _percent(change: float) -> str:
    return f"{math.expm1(change):+.3%}"
