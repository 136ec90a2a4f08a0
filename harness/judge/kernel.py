# SPDX-License-Identifier: Apache-2.0
"""What a kernel must have shown to be worth its cycles, and, where it did not, why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.judge.breaches import breaches_in_words
from harness.judge.patterns import pattern_of
from harness.measure import SpeedRuns, TrialRuns
from harness.measure.fit import scratch_offset
from harness.measure.kernel import LayerSpeeds
from harness.measure.trials import Tried
from harness.plan import Strategy
from harness.results import Provenance, Sample, Verdict
from harness.schema.constants import ARENA_LEAD

_SHOWN = 3  # failures of trials that are spelt out


@dataclass(frozen=True)
class KernelVerdict:
    """failures: empty when all is well. reasons: what explains them. tried, right, in_place: numbers of
    trials. bases: at which tensors began, in bytes from the arena's. scratch_used: the most that a
    trial used, and what it was given. proofs: of both sides of the debt. layers: cycles beside those of
    others. moved: bytes of padding before its functions, and cycles of the first layer then. unchecked:
    in words, what nothing was found out about."""

    provenance: Provenance
    kernel: str
    failures: tuple[str, ...]
    reasons: tuple[str, ...]
    tried: int
    right: int
    in_place: int
    bases: tuple[int, ...]
    scratch_used: tuple[int, int]
    proofs: tuple[str, ...]
    layers: tuple[LayerSpeeds, ...]
    moved: tuple[tuple[int, int], ...]
    unchecked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failures


def judge_kernel(
    kernel: str,
    runs: TrialRuns,
    proofs: Sequence[Verdict],
    speeds: SpeedRuns,
    others: Sequence[str] = (),
) -> KernelVerdict:
    """proofs: of layers that this kernel ran. others: failures that ended a part of the measurement."""
    wrong = {one: list(problems(one)) for one in runs.tried}
    failed = [one for one, found in wrong.items() if found]
    failures = [f"{_name(one)}: {words}" for one in failed[:_SHOWN] for words in wrong[one]]
    if len(failed) > _SHOWN:
        failures.append(f"and {len(failed) - _SHOWN} more of {len(runs.tried)} trials failed")
    if len(runs.tried) < runs.wanted and any(one.fault for one in failed):
        failures.append(f"{runs.wanted - len(runs.tried)} trials were not run after these faults")
    failures += [f"{v.layer} under {v.plan}: {words}" for v in proofs for words in v.failures]
    failures += speed_failures(speeds)
    failures += others
    pattern = pattern_of(failed, [one for one, found in wrong.items() if not found])
    return KernelVerdict(
        provenance=runs.provenance,
        kernel=kernel,
        failures=tuple(failures),
        reasons=(*runs.suspects, *(() if pattern is None else (pattern,))),
        tried=len(runs.tried),
        right=len(runs.tried) - len(failed),
        in_place=sum(one.trial.plan.strategy is Strategy.RIP for one in runs.tried),
        bases=tuple(sorted({one.trial.base for one in runs.tried})),
        scratch_used=_most_scratch(runs.tried),
        proofs=tuple(v.debt for v in proofs if v.debt),
        layers=speeds.layers,
        moved=cycles_by_place(speeds),
    )


def problems(tried: Tried) -> Iterator[str]:
    """Of one trial, in words."""
    if tried.fault is not None:
        cause = f": {tried.fault.cause}" if tried.fault.cause else ""
        yield f"{tried.fault.message}{cause}"
    for sample in tried.samples:
        name = f"run {sample.repeat + 1}" if len(tried.samples) > 1 else "the run"
        for words in _problems(tried, sample):
            yield f"{name}: {words}"


def _problems(tried: Tried, sample: Sample) -> Iterator[str]:
    plan, (input_crc, output_crc) = tried.trial.plan, tried.expected
    if sample.op_kernels != (plan.choice.index,):
        yield f"kernel {sample.op_kernels} ran, not {plan.choice.index}"
    if sample.input_crc != input_crc:
        yield f"its input is {sample.input_crc:08x}, the host's {input_crc:08x}"
    if sample.output_crc != output_crc:
        where = f": {sample.wrong}" if sample.wrong is not None else ""
        yield f"its output is wrong{where}"
    if sample.outside_count:
        yield _outside(tried, sample)
    elif sample.low_water < tried.trial.base or sample.high_water > plan.arena_bytes:
        yield (
            f"it touched [{sample.low_water}, {sample.high_water}) and was given "
            f"[{tried.trial.base}, {plan.arena_bytes})"
        )
    for bits in sample.op_breaches:
        yield from breaches_in_words(bits)


def _outside(tried: Tried, sample: Sample) -> str:
    """Behind the scratch, or else around the arena."""
    plan = tried.trial.plan
    scratch_end = scratch_offset(plan) - ARENA_LEAD + plan.scratch_bytes
    if sample.outside_first >= scratch_end:
        return f"it wrote {sample.outside_count} bytes behind its scratch of {plan.scratch_bytes}"
    return (
        f"it wrote {sample.outside_count} bytes outside the arena of {plan.arena_bytes}, the first "
        f"at {sample.outside_first}"
    )


def _name(tried: Tried) -> str:
    trial = tried.trial
    return f"{trial.plan.layer.id} under {trial.plan.label}, base {trial.base}, seed {trial.seed}"


def speed_failures(speeds: SpeedRuns) -> Iterator[str]:
    for row in speeds.layers:
        for speed in row.speeds:
            if not speed.right:
                moved = f", {speed.padding} bytes further on" if speed.padding else ""
                yield f"{row.layer} by {speed.kernel}{moved}: its output is wrong"


def _most_scratch(tried: Sequence[Tried]) -> tuple[int, int]:
    return max(
        (
            (sample.scratch_used, one.trial.plan.scratch_bytes)
            for one in tried
            for sample in one.samples
        ),
        default=(0, 0),
    )


def cycles_by_place(speeds: SpeedRuns) -> tuple[tuple[int, int], ...]:
    """Of the first layer, the kernel's own builds by padding."""
    if not speeds.layers:
        return ()
    row = speeds.layers[0]
    own = row.speeds[0].label
    counts = Counter({s.padding: s.cycles or 0 for s in row.speeds if s.label == own})
    return tuple(sorted((padding, cycles) for padding, cycles in counts.items() if cycles))
