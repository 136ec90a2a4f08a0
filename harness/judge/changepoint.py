# SPDX-License-Identifier: Apache-2.0
"""Where the level of a board's nights changed: steps at once, creep by a cumulative sum.

Both ask whether the nights from some night on lie higher (or lower) than a drift may explain:
* step: the last night, or the last two, against both nights before, with what a board may drift from one
  night to the next;
* creep: up to the last 20 nights against all before, with what a drift may span at all. It is Page's
  CUSUM (1954) with the drift as reference value, each sum divided by its own standard error, the largest
  over all nights on which it may have begun.
docs/verdicts.md has the numbers and the arithmetic of false alarms.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.judge.noise import MEDIAN_VARIANCE, MIN_SAMPLES, Night, Noise, noise_of

DRIFT_A_NIGHT = 0.0016  # what a board may drift from one night to the next: 2 pi 0.5 % / 20,
DRIFT_SPAN = 0.010  # and from one end to the other: 0.5 % to either side
REAL_Z = 4.5  # a step is so many standard errors from nothing,
STEP_Z = 2.0  # and so many from what a drift explains;
CREEP_Z = 4.2  # a creep so many from that
SUSPICION = 0.5  # of these: enough to ask for another run, and what each run alone must show
MIN_NIGHTS = 5  # in all, before anything is judged
MIN_BASE = 5  # nights before a creep
CREEP_NIGHTS = 20

_MEASURES: tuple[Callable[[Night], float], ...] = (
    lambda night: night.middle,
    lambda night: night.mean,
)


@dataclass(frozen=True)
class Dated:
    """A night and when it was, in days from any begin."""

    night: Night
    day: float


@dataclass(frozen=True)
class Shift:
    """A change that noise and drift do not explain. start: the number of the first night at the new
    level. change: as a logarithm, positive for more cycles. drift: what of it a drift explains. error:
    the standard error of the change. creep: found by the cumulative sum."""

    start: int
    change: float
    drift: float
    error: float
    creep: bool

    @property
    def beyond(self) -> float:
        """In standard errors, beyond the drift."""
        return _in_errors(abs(self.change) - self.drift, self.error)

    def shows(self, noise: Noise, part: float = 1.0) -> bool:
        """Is it as large as it has to be, or as this part of that?"""
        if self.creep:
            return self.beyond >= noise.limit(CREEP_Z * part)
        real = _in_errors(abs(self.change), self.error)
        return real >= noise.limit(REAL_Z * part) and self.beyond >= noise.limit(STEP_Z * part)


def allowed(days: float) -> float:
    """What a board may drift in so many days; runs of one day count as nights of their own."""
    return min(DRIFT_A_NIGHT * max(days, 1.0), DRIFT_SPAN)


def shift_at_end(nights: Sequence[Dated], noise: Noise, part: float = 1.0) -> Shift | None:
    """The change that the last night shows, if any, against the nights of its level before. part: of
    what a change has to show, that is enough."""
    found = [
        shift
        for shift in (*_steps(nights, noise), *_creeps(nights, noise))
        if shift.shows(noise, part)
    ]
    if not found:
        return None
    # where the cut explains most of what was seen: the likeliest begin under Gaussian noise
    return max(found, key=lambda shift: _explained(nights, shift.start))


def confirmed_shift(
    nights: Sequence[Dated], again: Night, both: Night, noise: Noise
) -> Shift | None:
    """The change that the last night shows, that its second run `again` shows alone too, and that `both`
    together show beyond doubt; all to the same side."""
    *before, last = nights
    found = shift_at_end([*before, Dated(both, last.day)], noise)
    if found is None:
        return None
    for alone in (last.night, again):
        seen = shift_at_end([*before, Dated(alone, last.day)], noise, SUSPICION)
        if seen is None or (seen.change > 0) != (found.change > 0):
            return None
    return found


def segment(nights: Sequence[Dated], halves: Sequence[tuple[Night, Night] | None]) -> list[int]:
    """The first night of each level, 0 to begin with. halves: of a night that was measured twice both
    runs apart; a night that was not is no change by itself, but two in a row are."""
    starts = [0]
    for end in range(MIN_NIGHTS, len(nights)):
        first = starts[-1]
        noise = noise_so_far([n.night for n in nights[:end]], starts)
        level, twice = nights[first : end + 1], halves[end]
        if len(level) < 2:
            continue
        if twice is None:
            found = shift_at_end(level, noise)
            if found is not None and found.start == len(level) - 1:
                found = None
        else:
            run, again = twice
            once = [*level[:-1], Dated(run, level[-1].day)]
            found = confirmed_shift(once, again, level[-1].night, noise)
        if found is not None:
            starts.append(first + found.start)
    return starts


def noise_so_far(nights: Sequence[Night], starts: Sequence[int]) -> Noise:
    """Within a night noise has no level: all nights count, whatever changed between them."""
    ends = [*starts[1:], len(nights)]
    return noise_of([nights[a:b] for a, b in zip(starts, ends, strict=True)])


def _steps(nights: Sequence[Dated], noise: Noise) -> Iterator[Shift]:
    end = len(nights)
    for start in range(max(1, end - 2), end):
        base, new = nights[max(0, start - 2) : start], nights[start:]
        drift = statistics.fmean(allowed(n.day - base[-1].day) for n in new)
        least = min(n.night.count for n in base)
        error = math.hypot(
            noise.error(least), noise.error(sum(n.night.count for n in new), len(new))
        )
        for sign in (1, -1):
            rises = [
                statistics.fmean(sign * measure(n.night) for n in new)
                - max(sign * measure(n.night) for n in base)
                for measure in _MEASURES
            ]
            rise = min(rises)  # a tail moves the one, a second mode the other, a step both
            if rise > 0:
                yield Shift(start, sign * rise, drift, error, creep=False)


def _creeps(nights: Sequence[Dated], noise: Noise) -> Iterator[Shift]:
    end = len(nights)
    starts = range(max(MIN_BASE, end - CREEP_NIGHTS), end)
    levels = [[measure(n.night) for n in nights] for measure in _MEASURES]
    if not starts or all(max(some) - min(some) <= DRIFT_SPAN for some in levels):
        return
    counts = [n.night.count for n in nights]
    for start in starts:
        rises = [
            statistics.fmean(some[start:]) - statistics.median(some[:start]) for some in levels
        ]
        if min(rises) < 0 < max(rises):
            continue
        rise = min(rises, key=abs)
        usual = round(statistics.fmean(counts[:start]))
        error = math.hypot(
            noise.error(usual) * math.sqrt(MEDIAN_VARIANCE / start),
            noise.error(sum(counts[start:]), end - start),
        )
        yield Shift(start, rise, DRIFT_SPAN, error, creep=True)


def _in_errors(beyond: float, error: float) -> float:
    """A board whose samples never differ has no noise: there all that is beyond drift is a change."""
    return beyond / error if error > 0 else math.copysign(math.inf, beyond)


def _explained(nights: Sequence[Dated], start: int) -> float:
    """By how much a cut there lessens the sum of squares about the level."""
    before = [n.night.middle for n in nights[:start]]
    after = [n.night.middle for n in nights[start:]]
    apart = statistics.fmean(after) - statistics.fmean(before)
    return apart**2 * len(before) * len(after) / len(nights)


def enough(samples: Sequence[int]) -> bool:
    return len(samples) >= MIN_SAMPLES
