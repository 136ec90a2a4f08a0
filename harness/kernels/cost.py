# SPDX-License-Identifier: Apache-2.0
"""What a step size costs: a first model, from which the host takes the cheapest.

    cycles = arithmetic + misses * miss_cycles

arithmetic is the kernel's own estimate (`cycles` in kernels.yaml; 0 where it says nothing). misses are
of the flash cache, by the weights alone: they are read once a step, in order, through a cache that keeps
the latest 16 KB. Weights that fit it miss once a line; larger ones push themselves out, and every line
misses in every step. So it is about 7 / B cycles a MAC for weights beyond the cache, and next to nothing
below.

What the model leaves out: the cache's two ways and what else is in it, writes of the scratch, and a
last step that is shorter than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CACHE_BYTES = 16 * 1024  # of either chip
LINE_BYTES = 8
_USUAL_MISS_CYCLES = 56  # both chips' quad read at half of clk_sys
_USUAL_SCRATCH = 24 * 1024
SCRATCHES = (16 << 10, 8 << 10, 4 << 10, 2 << 10, 0)  # where a network leaves less


@dataclass(frozen=True)
class Limits:
    """miss_cycles: of a line of the flash cache. scratch_bytes: the most that a step may take."""

    miss_cycles: int = _USUAL_MISS_CYCLES
    scratch_bytes: int = _USUAL_SCRATCH


USUAL = Limits()


@dataclass(frozen=True)
class Option:
    """One size of a step: its pixels, the scratch it takes, and how many of them make the output."""

    pixels: int
    scratch_bytes: int
    steps: int
    arithmetic: int = 0


def misses(weights_bytes: int, steps: int) -> int:
    """Of the flash cache, over an op that reads its weights once a step."""
    lines = -(-weights_bytes // LINE_BYTES)
    return lines if weights_bytes <= CACHE_BYTES else lines * steps


def cycles(option: Option, weights_bytes: int, limits: Limits) -> int:
    return option.arithmetic + misses(weights_bytes, option.steps) * limits.miss_cycles


def cheapest(options: Sequence[Option], weights_bytes: int, limits: Limits) -> Option | None:
    """The one of the fewest cycles; of equals the one of the least scratch, then the first. None where
    all take more scratch than there is."""
    fitting = [option for option in options if option.scratch_bytes <= limits.scratch_bytes]
    return min(
        fitting,
        key=lambda option: (cycles(option, weights_bytes, limits), option.scratch_bytes),
        default=None,
    )
