# SPDX-License-Identifier: Apache-2.0
"""The row of a verdict: the same for layers and for networks, whatever was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.judge.budget import over_budget
from harness.results import Measurement, Verdict


@dataclass(frozen=True)
class Asked:
    """What a measurement is held against. workspace: the bound in bytes. budget: in cycles, None for
    none. against: the measurement of the plan that the ratio is to, None where that does not fit."""

    workspace: int
    seeds: tuple[int, ...]
    budget: int | None
    against: Measurement | None
    against_plan: str


def verdict_of(
    measured: Measurement,
    failures: Sequence[str],
    asked: Asked,
    *,
    debt: str = "",
    witness: str = "",
    recovered: tuple[str, ...] = (),
) -> Verdict:
    """failures: of bound and exactness; that of the budget is added here."""
    over = over_budget(measured.provenance.kind, warm_cycles(measured), asked.budget)
    failures = (*failures, *over)
    first = measured.samples[0]
    return Verdict(
        provenance=measured.provenance,
        layer=measured.layer,
        plan=measured.plan,
        ok=not failures,
        failures=failures,
        workspace_bound=asked.workspace,
        workspace_given=measured.arena_bytes,
        workspace_reached=measured.reached,
        debt=debt,
        witness=witness,
        cycles=measured.cycles,
        shift_cycles=measured.shift_cycles,
        cycles_by_model=measured.by_model,
        cold_cycles=measured.cold_cycles,
        microseconds=first.microseconds,
        cycles_per_mac=measured.cycles_per_mac,
        ratio=None if asked.against is None else measured.cycles / asked.against.cycles,
        output_crc=f"{first.output_crc:08x}",
        seeds=asked.seeds,
        interrupts_on=any(sample.interrupts_on for sample in measured.samples),
        xip_misses=first.xip_accesses - first.xip_hits,
        stack_peak=max(sample.stack_peak for sample in measured.samples),
        scratch_bytes=measured.scratch_bytes,
        attempts=1 + len(recovered),
        recovered=recovered,
        ratio_to=asked.against_plan,
        kernel=kernels_in_a_word(measured),
        budget=asked.budget,
    )


def kernels_in_a_word(measured: Measurement) -> str:
    """Which ran it, but for the memmove: a plain one's name says what the op says already."""
    names = [
        "plain" if name.startswith("plain_") else name
        for _, name in measured.kernels[measured.shifted :]
    ]
    counts = Counter(names)
    if len(names) <= 1:
        return "".join(names)
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def warm_cycles(measured: Measurement) -> tuple[int, ...]:
    """Of every repeat of the first seed and paint but the cold one; that one where there is no other."""
    first = measured.samples[0]
    repeats = [s for s in measured.samples if (s.seed, s.paint) == (first.seed, first.paint)]
    return tuple(sample.cycles for sample in repeats[1:] or repeats)
