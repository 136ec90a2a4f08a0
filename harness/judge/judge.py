# SPDX-License-Identifier: Apache-2.0
"""What the device must have shown for a layer to pass, from both sides of the bound."""

from __future__ import annotations

from collections.abc import Iterator

from harness.judge.breaches import check_breaches
from harness.judge.verdict import Asked, verdict_of
from harness.judge.witness import disagreements, name_of, runs_witnessed
from harness.measure import UNORDERED_TELLING, PlanRuns
from harness.network import ceiling_of
from harness.plan import Plan, Strategy, proof_distances
from harness.results import DebtProof, Measurement, Sample, Verdict


def judge(runs: PlanRuns, strategy: Strategy) -> Verdict | None:
    """The verdict on one plan; None for dual where two buffers do not fit, and for rip where the
    output shares no memory."""
    measured = runs.rip if strategy is Strategy.RIP else runs.dual
    plan = runs.rip_plan if strategy is Strategy.RIP else runs.dual_plan
    if measured is None or plan is None:
        return None
    proof = runs.debt if strategy is Strategy.RIP else None
    failures = [*_workspace(measured, plan, runs.expected)]
    if proof is not None:
        failures += _debt(proof, plan, measured)
    failures += disagreements(measured, proof)
    return verdict_of(
        measured,
        failures,
        Asked(
            workspace=plan.exact_workspace,
            seeds=tuple(runs.expected),
            budget=ceiling_of(plan.layer.budget, measured.provenance.chip, plan.kernel.name),
            against=runs.dual,
            against_plan=str(Strategy.DUAL),
        ),
        debt="" if proof is None else _in_a_word(proof),
        witness=runs_witnessed(measured, proof),
        recovered=runs.failed,
    )


def _workspace(
    measured: Measurement, plan: Plan, expected: dict[int, tuple[int, int]]
) -> Iterator[str]:
    """The output is exact, and nothing outside [0, W) changed, under either paint."""
    for sample in measured.samples:
        yield from check_sample(sample, measured, expected)
    yield from check_paints(measured)
    rounded = plan.kernel.alignment * len(plan.inputs)  # each operand's place is rounded up
    if measured.arena_bytes - plan.exact_workspace >= rounded:
        yield f"the arena is {measured.arena_bytes} bytes, the bound is {plan.exact_workspace}"


def check_paints(measured: Measurement) -> Iterator[str]:
    paints = {sample.paint for sample in measured.samples}
    if paints != {0, 1}:
        yield f"painted only with {sorted(paints)}: a byte that equals its paint would not show"


def check_sample(
    sample: Sample, measured: Measurement, expected: dict[int, tuple[int, int]]
) -> Iterator[str]:
    """One run by itself: exact, and inside what it was given. expected: by seed, CRCs of input and
    output."""
    name = name_of(sample)
    yield from check_kernels(name, sample, measured)
    yield from check_breaches(name, sample)
    input_crc, output_crc = expected[sample.seed]
    if sample.input_crc != input_crc:
        yield f"{name}: the input's CRC is {sample.input_crc:08x}, the host's {input_crc:08x}"
    if sample.output_crc != output_crc:
        yield (
            f"{name}: the output's CRC is {sample.output_crc:08x}, the host's {output_crc:08x}"
            f"{_where(sample)}"
        )
    if sample.outside_count:
        yield (
            f"{name}: {sample.outside_count} bytes changed outside the arena, "
            f"the first at {sample.outside_first}"
        )
    if sample.low_water < 0 or sample.high_water > measured.arena_bytes:
        yield (
            f"{name}: touched [{sample.low_water}, {sample.high_water}) "
            f"of an arena of {measured.arena_bytes}"
        )
    if sample.scratch_used > measured.scratch_bytes:
        yield f"{name}: used {sample.scratch_used} bytes of {measured.scratch_bytes} scratch"


def check_kernels(name: str, sample: Sample, measured: Measurement) -> Iterator[str]:
    """The kernels that ran are those that were asked for."""
    if len(sample.op_kernels) != len(measured.kernels):
        yield f"{name}: {len(sample.op_kernels)} ops ran, not {len(measured.kernels)}"
    asked = zip(sample.op_kernels, measured.kernels, strict=False)
    for op, (ran, (index, kernel)) in enumerate(asked):
        if ran != index:
            yield f"{name}: op {op} was run by kernel {ran}, not by {index}, {kernel}"


def _debt(proof: DebtProof, plan: Plan, measured: Measurement) -> Iterator[str]:
    """Right at the debt, and wrong in just the predicted way one word below it; where nothing can be
    predicted, wrong on most seeds."""
    if proof.debt != proof.simulated_debt:
        yield f"the closed form says debt {proof.debt}, the simulator {proof.simulated_debt}"
    sides = proof_distances(plan)
    if sides is None:
        return
    distances = {run.distance for run in proof.runs}
    if distances != set(sides):
        yield f"proved at distances {sorted(distances)}, not at {sides[0]} and {sides[1]}"
    for run in proof.runs:
        name = f"seed {run.seed} at distance {run.distance}"
        if run.sample is not None and run.sample.outside_count:
            yield (
                f"{name}: {run.sample.outside_count} bytes changed outside the arena, "
                f"the first at {run.sample.outside_first}"
            )
        if run.sample is not None:
            yield from check_kernels(name, run.sample, measured)
            yield from check_breaches(name, run.sample)
        if run.right and run.output_crc != run.clean_crc:
            yield (
                f"{name}: the output is {run.output_crc:08x}, not {run.clean_crc:08x}: unsafe"
                f"{_where(run.sample)}"
            )
        if run.right or not proof.ordered:
            continue
        if run.output_crc == run.clean_crc:
            yield f"{name}: the output is right below the debt: the bound is loose"
        if run.output_crc != run.predicted_crc:
            yield (
                f"{name}: the output is {run.output_crc:08x}, predicted {run.predicted_crc or 0:08x}"
                f"{_where(run.sample)}"
            )
    if not proof.ordered and (told := _telling(proof)) < UNORDERED_TELLING:
        yield (
            f"at distance {sides[1]} the output is wrong on {told} of {_seeds(proof)} seeds, "
            f"not on {UNORDERED_TELLING}: the bound is loose"
        )


def _where(sample: Sample | None) -> str:
    """The first wrong pixel, where the output was read back."""
    return "" if sample is None or sample.wrong is None else f"; {sample.wrong}"


def _seeds(proof: DebtProof) -> int:
    return len({run.seed for run in proof.runs})


def _telling(proof: DebtProof) -> int:
    """Seeds whose output below the debt is wrong."""
    return sum(not run.right and run.output_crc != run.clean_crc for run in proof.runs)


def _in_a_word(proof: DebtProof) -> str:
    """For the table: the debt and on how many seeds both sides were shown."""
    if proof.debt is None:
        return "none possible"
    if not proof.runs:
        return f"{proof.debt} (not shown)"
    seeds = _seeds(proof)
    told = "" if proof.ordered else f"{_telling(proof)} of "
    word = f"{proof.debt} ({told}{seeds} seed{'s' if seeds != 1 else ''})"
    return f"{word}, {proof.replaced} replaced" if proof.replaced else word
