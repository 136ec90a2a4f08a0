# SPDX-License-Identifier: Apache-2.0
"""Boards that never were: nights of samples of documented noise and drift, by seed."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.judge import State, TrendVerdict, judge_trend, with_confirmation
from harness.results import Point, SeriesKey

BOARD = SeriesKey("pico1", "board", "rp2040", 125_000_000, "gcc 14.2", "plain", "stem", "rip")
EMULATED = replace(BOARD, board="pico1-emu", kind="emulated")
CYCLES = 10_000_000
FOUND = (State.REGRESSED, State.IMPROVED)
Floats = NDArray[np.float64]
Random = np.random.Generator


def _gaussian(rng: Random, n: int) -> Floats:
    return rng.normal(size=n)


def _skewed(rng: Random, n: int) -> Floats:
    """Log-normal with sigma 1: skewness 6.2."""
    return (np.exp(rng.normal(size=n)) - math.exp(0.5)) / math.sqrt(math.e * (math.e - 1))


def _two_modes(share: float) -> Callable[[Random, int], Floats]:
    """The upper mode has `share` of the samples; each mode is a Gaussian of a tenth of the whole."""

    def draw(rng: Random, n: int) -> Floats:
        upper = (rng.random(n) < share) - share
        return upper / math.sqrt(share * (1 - share)) + 0.1 * rng.normal(size=n)

    return draw


SHAPES: dict[str, Callable[[Random, int], Floats]] = {  # mean 0, deviation 1
    "Gaussian": _gaussian,
    "skewed": _skewed,
    "two modes, 1:1": _two_modes(0.5),
    "two modes, 4:1": _two_modes(0.2),
    "two modes, 9:1": _two_modes(0.1),
}


def _bump(nights: int, every: int) -> Callable[[int], float]:
    return lambda i: 0.005 * math.sin(math.pi * (i % every) / nights) if i % every < nights else 0.0


DRIFTS: dict[str, Callable[[int], float]] = {  # to 0.5 % from the mean, and back within 20 nights
    "none": lambda _: 0.0,
    "half a wave in 20 nights, 20 of rest": _bump(20, 40),
    "a triangle in 20 nights, 10 of rest": lambda i: 0.005 * max(0, 1 - abs(i % 30 - 10) / 10),
    "a wave every 20 nights": lambda i: 0.005 * math.sin(2 * math.pi * i / 20),
}


@dataclass(frozen=True)
class Noisy:
    """shape: of SHAPES. deviation: of a sample, relative. drift: of DRIFTS. level: of a night, relative
    to the first. samples: a night, and of each confirming run."""

    shape: str = "Gaussian"
    deviation: float = 0.001
    drift: str = "none"
    level: Callable[[int], float] = lambda _: 1.0
    samples: int = 5

    def taken(self, rng: Random, night: int) -> tuple[int, ...]:
        noise = 1 + self.deviation * SHAPES[self.shape](rng, self.samples)
        level = self.level(night) * (1 + DRIFTS[self.drift](night))
        return tuple(int(cycles) for cycles in np.rint(CYCLES * noise * level))


def point(night: int, samples: tuple[int, ...], **more: object) -> Point:
    """Of a commit `c<night>`, built as `b<night>`."""
    day = datetime.datetime(2026, 1, 1, 3, tzinfo=datetime.UTC) + datetime.timedelta(days=night)
    usual: dict[str, object] = {
        "run": night,
        "time": day.isoformat(),
        "commit": f"c{night}",
        "dirty": False,
        "build": f"b{night}",
        "ok": True,
        "cycles": int(np.median(samples)) if samples else 0,
        "samples": samples,
        "cold_cycles": max(samples, default=0) + 1,
        "arena_bytes": 14_100,
        "scratch_bytes": 27,
        "stack_peak": 800,
        "flash_bytes": 65_536,
        "xip_misses": 6,
    }
    return Point(**{**usual, **more})  # type: ignore[arg-type]


def verdicts(noisy: Noisy, nights: int, *seed: int) -> Iterator[TrendVerdict]:
    """Night after night as a nightly run does it: what is suspected is run again, and the samples of
    that run are kept."""
    rng = np.random.default_rng(seed)
    points: list[Point] = []
    for night in range(nights):
        points.append(point(night, noisy.taken(rng, night)))
        verdict = judge_trend(BOARD, points)
        if verdict.state is State.SUSPECTED:
            again = noisy.taken(rng, night)
            verdict = judge_trend(BOARD, points, again)
            points[-1] = with_confirmation(points[-1], again)
        yield verdict


def found(noisy: Noisy, nights: int, *seed: int) -> list[tuple[int, TrendVerdict]]:
    """The nights on which a change was found, and what was said."""
    every = enumerate(verdicts(noisy, nights, *seed))
    return [(night, verdict) for night, verdict in every if verdict.state in FOUND]
