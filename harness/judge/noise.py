# SPDX-License-Identifier: Apache-2.0
"""How much a board's numbers differ from run to run and from night to night, from its own samples.

All in natural logarithms of cycles, so that a difference is a ratio: 0.005 is 0.5 %.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

MIN_SAMPLES = 5  # of a night: with fewer neither its median nor its spread says much
PAIRS_EFFICIENCY = math.sqrt(3 / math.pi)  # of Night.middle, to the mean's, under Gaussian noise
MEDIAN_VARIANCE = math.pi / 2  # of a median, in variances of the mean
_TO_SIGMA = 1.4826  # from a median absolute deviation to a standard deviation, if Gaussian
_CAP = 3.0  # a stray one counts as at most so many times what most do not exceed
_MIN_MOVES = 15  # night to night, before they say anything of a night's own part


@dataclass(frozen=True)
class Night:
    """The samples of one point. middle: the median of the means of all pairs (Hodges and Lehmann
    1963), which one sample far off does not move and a second mode moves by halves only; mean: which a
    second mode moves by as much as there is of it. Residuals: from the middle."""

    middle: float
    mean: float
    count: int
    residuals: tuple[float, ...]


@dataclass(frozen=True)
class Noise:
    """sigma: standard deviation of a sample within its night. between: that of a night's own part,
    beyond what sampling shows. freedom: degrees of freedom behind sigma. mad: of the residuals, scaled
    to a standard deviation; sigma is never below it."""

    sigma: float
    between: float
    freedom: int
    mad: float

    def error(self, samples: int, nights: int = 1) -> float:
        """Standard error of the level of so many samples over so many nights."""
        return math.sqrt(self.sigma**2 / (samples * PAIRS_EFFICIENCY**2) + self.between**2 / nights)

    def limit(self, z: float) -> float:
        """How many standard errors are as rare as `z` under a Gaussian, given that sigma itself is an
        estimate: Wallace's approximation of Student's t (1959)."""
        return math.sqrt(self.freedom * math.expm1(z * z / self.freedom))


@lru_cache(maxsize=20_000)
def night_of(samples: tuple[int, ...]) -> Night:
    """samples: cycles, one at least, all positive."""
    logs = [math.log(cycles) for cycles in samples]
    pairs = [(a + b) / 2 for n, a in enumerate(logs) for b in logs[n:]]
    middle = statistics.median(pairs)
    residuals = tuple(x - middle for x in logs)
    return Night(middle, statistics.fmean(logs), len(logs), residuals)


def noise_of(segments: Sequence[Sequence[Night]]) -> Noise:
    """Of nights in their order, cut where the level changed. At least one night of two samples.

    sigma is the larger of two estimates. The median absolute deviation is blind to a second mode with
    fewer than half of the samples; the standard deviation sees it, but so that one sample far off does
    not hide a change for weeks, its residuals are capped.
    """
    nights = [night for segment in segments for night in segment]
    sizes = [abs(x) for night in nights for x in night.residuals]
    freedom = sum(night.count - 1 for night in nights)
    mad = _TO_SIGMA * statistics.median(sizes)
    sigma = max(math.sqrt(_capped_squares(sizes, 0.975) / freedom), mad)
    return Noise(sigma, _between(segments, sigma), freedom, mad)


def _between(segments: Sequence[Sequence[Night]], sigma: float) -> float:
    """From the mean square of the moves between neighbouring nights (von Neumann 1941), where it is more
    than sampling explains by three times its own error, sqrt(3 / moves)."""
    moves, sampled = [], 0.0
    for segment in segments:
        for a, b in itertools.pairwise(segment):
            moves.append(abs(b.mean - a.mean))
            sampled += sigma**2 * (1 / a.count + 1 / b.count)
    if len(moves) < _MIN_MOVES:
        return 0.0
    moves.pop()  # it may be the first of a change that is not found yet
    sampled *= len(moves) / (len(moves) + 1)
    seen = _capped_squares(moves, 0.75)  # less: a step may be among few moves
    if seen <= sampled * (1 + 3 * math.sqrt(3 / len(moves))):
        return 0.0
    return math.sqrt((seen - sampled) / len(moves) / 2)


def _capped_squares(sizes: Sequence[float], share: float) -> float:
    """Their sum, with none taken for more than _CAP times what this share does not exceed."""
    cap = _CAP * sorted(sizes)[math.ceil(share * len(sizes)) - 1]
    return sum(min(size, cap) ** 2 for size in sizes)
