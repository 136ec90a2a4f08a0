# SPDX-License-Identifier: Apache-2.0
"""What the device must have shown for a whole network to pass under a strategy."""

from __future__ import annotations

from collections.abc import Iterator

from harness.judge.judge import check_paints, check_sample, kernels_in_a_word
from harness.measure import NetworkRuns
from harness.plan import Strategy
from harness.results import Measurement, Verdict


def judge_network(runs: NetworkRuns, strategy: Strategy) -> Verdict | None:
    """Outputs equal to the host's under either paint, and nothing changed outside the plan's peak; None
    where the plan does not fit. The ratio is to `baseline`, None where that does not fit."""
    measured = runs.measured.get(strategy)
    if measured is None:
        return None
    plan = runs.plans[strategy]
    baseline = runs.measured.get(Strategy.BASELINE)
    failures = [*_failures(measured, runs, strategy)]
    first = measured.samples[0]
    return Verdict(
        provenance=measured.provenance,
        layer=measured.layer,
        plan=measured.plan,
        ok=not failures,
        failures=tuple(failures),
        workspace_bound=plan.peak,
        workspace_given=measured.arena_bytes,
        workspace_reached=measured.reached,
        debt="",
        witness="",
        cycles=measured.cycles,
        shift_cycles=0,
        cycles_by_model=measured.by_model,
        cold_cycles=measured.cold_cycles,
        microseconds=first.microseconds,
        cycles_per_mac=measured.cycles_per_mac,
        ratio=None if baseline is None else measured.cycles / baseline.cycles,
        output_crc=f"{first.output_crc:08x}",
        seeds=tuple(runs.expected),
        interrupts_on=any(sample.interrupts_on for sample in measured.samples),
        xip_misses=first.xip_accesses - first.xip_hits,
        stack_peak=max(sample.stack_peak for sample in measured.samples),
        scratch_bytes=measured.scratch_bytes,
        attempts=1 + len(runs.failed),
        recovered=runs.failed,
        ratio_to=str(Strategy.BASELINE),
        kernel=kernels_in_a_word(measured),
    )


def _failures(measured: Measurement, runs: NetworkRuns, strategy: Strategy) -> Iterator[str]:
    for sample in measured.samples:
        yield from check_sample(sample, measured, runs.expected)
    yield from check_paints(measured)
    if measured.arena_bytes != runs.plans[strategy].peak:
        yield f"the arena is {measured.arena_bytes} bytes, the peak {runs.plans[strategy].peak}"
    if strategy in runs.wrong:
        yield str(runs.wrong[strategy])
