# SPDX-License-Identifier: Apache-2.0
"""What the device must have shown for a whole network to pass under a strategy."""

from __future__ import annotations

from collections.abc import Iterator

from harness.judge.judge import check_paints, check_sample
from harness.judge.verdict import Asked, verdict_of
from harness.measure import NetworkRuns
from harness.network import ceiling_of
from harness.plan import Strategy
from harness.results import Measurement, Verdict


def judge_network(runs: NetworkRuns, strategy: Strategy) -> Verdict | None:
    """Outputs equal to the host's under either paint, and nothing changed outside the plan's peak; None
    where the plan does not fit. The ratio is to `baseline`, None where that does not fit."""
    measured = runs.measured.get(strategy)
    if measured is None:
        return None
    plan = runs.plans[strategy]
    return verdict_of(
        measured,
        [*_failures(measured, runs, strategy)],
        Asked(
            workspace=plan.peak,
            seeds=tuple(runs.expected),
            budget=ceiling_of(plan.network.budget, measured.provenance.chip, plan.kernel.name),
            against=runs.measured.get(Strategy.BASELINE),
            against_plan=str(Strategy.BASELINE),
        ),
        recovered=runs.failed,
    )


def _failures(measured: Measurement, runs: NetworkRuns, strategy: Strategy) -> Iterator[str]:
    for sample in measured.samples:
        yield from check_sample(sample, measured, runs.expected)
    yield from check_paints(measured)
    if measured.arena_bytes != runs.plans[strategy].peak:
        yield f"the arena is {measured.arena_bytes} bytes, the peak {runs.plans[strategy].peak}"
    if strategy in runs.wrong:
        yield str(runs.wrong[strategy])
