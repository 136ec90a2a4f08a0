# SPDX-License-Identifier: Apache-2.0
"""A ceiling in cycles: one cycle over it is red on an emulated board, on a board all beyond noise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from harness.judge.noise import MIN_SAMPLES, night_of, noise_of

SILICON = "board"  # the kind of a number that is not exact
BEYOND_Z = 2.33  # one in a hundred of what lies just at its budget is called over it


def over_budget(kind: str, samples: Sequence[int], budget: int | None) -> Iterator[str]:
    """In words, if it is over. samples: warm cycles of every repeat, the last one the verdict's."""
    if budget is None:
        return
    if kind != SILICON:
        if (cycles := samples[-1]) > budget:
            yield f"{cycles} cycles, {cycles - budget} over the budget of {budget}"
        return
    median = math.floor(statistics.median(samples))
    if median <= budget:
        return
    if len(samples) < MIN_SAMPLES:
        yield (
            f"{median} cycles, {median - budget} over the budget of {budget}; how much of it is noise "
            f"is not known with {len(samples)} samples: {MIN_SAMPLES} are needed"
        )
        return
    night = night_of(tuple(samples))
    noise = noise_of([[night]])
    sure = math.exp(night.middle - noise.limit(BEYOND_Z) * noise.error(night.count))
    if sure > budget:
        yield (
            f"{median} cycles, {median - budget} over the budget of {budget}; with its noise of "
            f"{noise.sigma:.3%} at least {math.floor(sure)}"
        )
