# SPDX-License-Identifier: Apache-2.0
"""Where to cut a network into steps: the least peak that any cuts reach, by the fewest ops fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan.parts import Part


@dataclass(frozen=True)
class Cuts:
    """parts: the steps, in order. least: the largest need of any; no other cuts have less."""

    parts: tuple[Part, ...]
    least: int

    @property
    def fused(self) -> int:
        """Ops that are in segments."""
        return sum(len(part.ops) for part in self.parts if part.fused is not None)


def best_cuts(singles: Sequence[Part], segments: Sequence[Part], loaded: int) -> Cuts:
    """By dynamic programming over the cut points, twice: what peak, and then how few ops fused. Of
    equally few those by the quickest kernels are taken, then those with the least needs in all. singles:
    each op at least once. loaded: bytes in memory before any step."""
    ending: list[list[Part]] = [[] for _ in range(max(part.ops[-1] for part in singles) + 2)]
    for part in (*singles, *segments):
        ending[part.ops[-1] + 1].append(part)
    peaks = [loaded]
    for candidates in ending[1:]:
        peaks.append(min(max(peaks[part.ops[0]], part.need) for part in candidates))
    return Cuts(_fewest_fused(ending, peaks[-1]), peaks[-1])


def _fewest_fused(ending: list[list[Part]], peak: int) -> tuple[Part, ...]:
    """costs: ops fused, places of kernels among the quickest, and needs, summed up, of the best way to
    get so far."""
    costs: list[tuple[int, int, int] | None] = [(0, 0, 0)]
    last: list[Part | None] = [None]
    for candidates in ending[1:]:
        best: tuple[tuple[int, int, int], Part] | None = None
        for part in candidates:
            before = costs[part.ops[0]]
            if before is None or part.need > peak:
                continue
            fused = len(part.ops) if part.fused is not None else 0
            cost = (before[0] + fused, before[1] + part.slower, before[2] + part.need)
            if best is None or cost < best[0]:
                best = (cost, part)
        costs.append(None if best is None else best[0])
        last.append(None if best is None else best[1])
    found: list[Part] = []
    at = len(ending) - 1
    while at > 0:
        chosen = last[at]
        assert chosen is not None, "the least peak is reached"
        found.append(chosen)
        at = chosen.ops[0]
    return tuple(reversed(found))
