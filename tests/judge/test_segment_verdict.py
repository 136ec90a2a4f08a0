# SPDX-License-Identifier: Apache-2.0
"""From a segment kernel's trials to the verdict on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.case.segment_trials import trial_segments
from harness.errors import BoundViolation, FirmwareFault, Mismatch
from harness.judge import KernelVerdict
from harness.judge.segment_kernel import judge_segment_kernel
from harness.kernels import KernelTraits
from harness.measure import SpeedRuns
from harness.measure.segment_kernel import SegmentRuns
from harness.measure.segment_trials import SegmentTried, make_segment_trials
from harness.results import Provenance, Sample, WrongOutput
from harness.validation import demand_kernel

WHERE = Provenance("desk", "emulated", "rp2350", "01", 150_000_000, "e", "b", "p", "n", "gcc")
M33 = KernelTraits("m33", "rp2350")
Tried = tuple[SegmentTried, ...]


@pytest.fixture(scope="module")
def tried() -> Tried:
    """Forty trials, all right, and wrong wherever they have to be."""
    (kernel,) = (one for one in M33.kernels.kernels if one.name == "m33_segment")
    trials = make_segment_trials(kernel, M33, trial_segments(kernel, M33, 40, 1), 1)
    found = []
    for trial in trials:
        plan = trial.case.plan
        sample = Sample(
            seed=1, paint=0, repeat=0, cycles=100, microseconds=1, interrupt_cycles=0, interrupts=0,
            interrupts_on=False, xip_accesses=0, xip_hits=0, input_crc=11, output_crc=22,
            low_water=trial.how.base, high_water=plan.peak, outside_count=0, outside_first=0,
            scratch_used=0, stack_peak=300, op_cycles=(100,), op_kernels=(plan.choices[0].index,),
            op_breaches=(0,),
        )  # fmt: skip
        told = tuple(None if case is None else True for case in (trial.nearer, trial.fewer))
        found.append(SegmentTried(trial, (sample,), (11, 22), told=(told[0], told[1])))
    return tuple(found)


def _with(one: SegmentTried, **changes: object) -> SegmentTried:
    return replace(one, samples=(replace(one.samples[0], **changes),))  # type: ignore[arg-type]


def _judge(tried: Tried, wanted: int = 40, unchecked: tuple[str, ...] = ()) -> KernelVerdict:
    runs = SegmentRuns((), wanted, (), WHERE, segments=tried)
    return judge_segment_kernel("mine", runs, SpeedRuns(()), (), unchecked)


def test_all_is_well(tried: Tried) -> None:
    verdict = _judge(tried, unchecked=("the weather",))
    assert (verdict.ok, verdict.tried, verdict.right, verdict.in_place) == (True, 40, 40, 32)
    assert (verdict.bases, verdict.unchecked) == ((0, 1, 2, 3), ("the weather",))
    demand_kernel(verdict)


def test_trials_vary(tried: Tried) -> None:
    """In place on X, on another operand, apart; every order; either paint is every trial's own."""
    assert _judge(tried).unchecked == ()
    trials = [one.trial for one in tried]
    assert {trial.how.onto for trial in trials} >= {None, 0, -1}
    assert len({trial.how.order for trial in trials}) == 3
    assert sum(trial.interrupts for trial in trials) == 10
    for trial in trials:
        lies_on, network = trial.how.onto, trial.case.plan.network
        assert len(network.outputs) == 1 + len(trial.segment.operands) - (lies_on is not None)
    assert sum(trial.nearer is not None for trial in trials) > 5
    assert sum(trial.fewer is not None for trial in trials) > 10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: {"output_crc": 23}, "run 1 under paint 0: its output is wrong"),
        (lambda _: {"input_crc": 12}, "its input is 0000000c, the host's 0000000b"),
        (lambda _: {"op_kernels": (0,)}, "kernel (0,) ran, not "),
        (lambda _: {"op_breaches": (0x10,)}, "it does not keep r8, which belong to its caller"),
        (lambda _: {"outside_count": 2, "outside_first": 9}, "it wrote 2 bytes outside the arena"),
        (lambda one: {"high_water": one.trial.case.plan.peak + 1}, "it touched [3, "),
        (lambda _: {"low_water": 2}, "it touched [2, "),
    ],
)
def test_each_thing_that_is_wrong(
    change: Callable[[SegmentTried], dict[str, object]], words: str, tried: Tried
) -> None:
    """One of them, in a trial with a base of 3."""
    number = next(n for n, one in enumerate(tried) if one.trial.how.base == 3)
    wrong = _with(tried[number], **change(tried[number]))
    verdict = _judge((*tried[:number], wrong, *tried[number + 1 :]))
    assert not verdict.ok and verdict.right == 39
    assert words in verdict.failures[0]
    with pytest.raises(Mismatch if "output" in words else BoundViolation, match="mine fails"):
        demand_kernel(verdict)


def test_runs_that_are_wrong_alike_are_one_failure(tried: Tried) -> None:
    (sample,) = _with(tried[0], output_crc=23).samples
    other = replace(sample, paint=1, wrong=WrongOutput(7, 3, 0, 1, 2, 5, 6))
    some = replace(tried[0], samples=(sample, other))
    (failure,) = _judge((some, *tried[1:])).failures
    assert failure.endswith(f"every run: its output is wrong: {other.wrong}")
    (failure,) = _judge((replace(some, samples=(*some.samples, tried[0].samples[0])),)).failures[:1]
    assert "run 1 under paint 0, run 1 under paint 1: its output is wrong" in failure


def test_an_operand_that_is_changed(tried: Tried) -> None:
    """Nothing else is wrong then, and it is said as what it is."""
    wrong = replace(_with(tried[0], output_crc=23), changed=(0, -2))
    verdict = _judge((wrong, *tried[1:]))
    assert [failure.split(": ", 1)[1] for failure in verdict.failures] == [
        "its output is wrong: it changed X, which it only reads",
        "its output is wrong: it changed operand 2 from outside, which it only reads",
    ]


@pytest.mark.parametrize(("side", "name"), [(0, "a pixel nearer"), (1, "a ring row fewer")])
def test_what_has_to_be_wrong_and_is_not(side: int, name: str, tried: Tried) -> None:
    """In no trial: a failure. In some: said. Asked of none: not checked."""

    def told(answer: Callable[[int], bool | None]) -> Tried:
        found = []
        for number, one in enumerate(tried):
            both = list(one.told)
            both[side] = None if both[side] is None else answer(number)
            found.append(replace(one, told=(both[0], both[1])))
        return tuple(found)

    asked = sum(one.told[side] is not None for one in tried)
    verdict = _judge(told(lambda _: False))
    assert any(
        f"{name}, and every output is right, in {asked} trials" in f for f in verdict.failures
    )
    first = next(n for n, one in enumerate(tried) if one.told[side] is not None)
    verdict = _judge(told(lambda number: number == first))
    assert verdict.ok and f"{name}: wrong in 1 of {asked}" in verdict.proofs
    verdict = _judge(told(lambda _: None))
    assert verdict.ok and len(verdict.proofs) == 1
    assert verdict.unchecked == (f"{name}: of no trial that was right can it be asked",)


def test_trials_that_were_not_run(tried: Tried) -> None:
    """For want of room: not checked. After faults: a failure."""
    verdict = _judge(tried[:38])
    assert verdict.ok and verdict.unchecked == ("2 trials: the board has no room for them",)
    fault = FirmwareFault("the firmware faulted in mine", cause="HardFault")
    verdict = _judge((*tried[:37], replace(tried[37], samples=(), fault=fault)))
    assert "the firmware faulted in mine: HardFault" in verdict.failures[0]
    assert verdict.failures[1] == "2 trials were not run after these faults"


def test_what_all_failed_ones_have_in_common(tried: Tried) -> None:
    spoilt = tuple(
        _with(one, output_crc=1) if any(s.other == 0 for s in one.trial.segment.stages) else one
        for one in tried
    )
    (reason,) = _judge(spoilt).reasons
    assert reason.startswith("wrong only where it adds X: in ")
    assert _judge(tuple(_with(one, output_crc=1) for one in tried)).reasons == ()


def test_an_operand_that_cannot_be_read_back(tried: Tried) -> None:
    number = next(n for n, one in enumerate(tried) if len(one.trial.case.plan.network.outputs) > 1)
    trial, case = tried[number].trial, tried[number].trial.case
    network = replace(case.plan.network, outputs=case.plan.network.outputs[:1])
    less = replace(trial, case=replace(case, plan=replace(case.plan, network=network)))
    verdict = _judge((*tried[:number], replace(tried[number], trial=less), *tried[number + 1 :]))
    assert verdict.unchecked == (
        "one operand each of 1 trials: a case has 4 outputs to be read back",
    )
