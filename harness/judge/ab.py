# SPDX-License-Identifier: Apache-2.0
"""Two measurements of one case side by side: is the second faster, slower, or no different?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.judge.budget import SILICON
from harness.judge.noise import MIN_SAMPLES, night_of, noise_of
from harness.judge.trend import State
from harness.judge.verdict import warm_cycles
from harness.results import Measurement

AB_Z = 3.0  # about one in 400 pairs that do not differ is said to


@dataclass(frozen=True)
class ABVerdict:
    """state: of the second, `improved` for fewer cycles. first, second: warm cycles of every repeat.
    ratio: of the second to the first, None where they are not comparable. Nothing of it is red by
    itself: which of two ought to be faster only a reader knows."""

    state: State
    reason: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    ratio: float | None = None


def judge_ab(first: Measurement, second: Measurement) -> ABVerdict:
    """Builds, plans and kernels may differ, that is what is compared; all else may not."""
    samples = warm_cycles(first), warm_cycles(second)
    unlike = _unlike(first, second)
    if unlike:
        return ABVerdict(State.INCOMPARABLE, "; ".join(unlike), *samples)
    exact = first.provenance.kind != SILICON
    if not exact and min(map(len, samples)) < MIN_SAMPLES:
        words = f"not enough samples: {len(samples[0])} and {len(samples[1])}, not {MIN_SAMPLES}"
        return ABVerdict(State.INCOMPARABLE, words, *samples)
    ratio = second.cycles / first.cycles
    if exact:
        away, reason = ratio - 1, f"{first.cycles} and {second.cycles} cycles, exact"
    else:
        one, other = night_of(samples[0]), night_of(samples[1])
        noise = noise_of([[one, other]])
        ratio = math.exp(other.middle - one.middle)
        error = math.hypot(noise.error(one.count), noise.error(other.count))
        beyond = abs(other.middle - one.middle) > noise.limit(AB_Z) * error
        away = ratio - 1 if beyond else 0.0
        reason = f"{ratio - 1:+.3%}, noise {noise.sigma:.3%}"
    state = State.SAME if away == 0 else State.IMPROVED if away < 0 else State.REGRESSED
    return ABVerdict(state, reason, *samples, ratio)


def _unlike(first: Measurement, second: Measurement) -> list[str]:
    one, other = first.provenance, second.provenance
    pairs = (
        ("board", one.board, other.board),
        ("kind", one.kind, other.kind),
        ("chip", one.chip, other.chip),
        ("clock", one.clk_sys_hz, other.clk_sys_hz),
        ("compiler", one.compiler, other.compiler),
        ("layer", first.layer, second.layer),
    )
    return [f"{what}: {a} and {b}" for what, a, b in pairs if a != b]
