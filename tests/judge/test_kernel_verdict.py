# SPDX-License-Identifier: Apache-2.0
"""From trials to a verdict on a kernel, and its table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.case.trials import trial_layers
from harness.errors import BoundViolation, FirmwareFault, Mismatch
from harness.judge import KernelVerdict, judge_kernel
from harness.kernels import KernelTraits
from harness.kernels.scaffold import new_kernel
from harness.measure import SpeedRuns, TrialRuns
from harness.measure.fit import scratch_offset
from harness.measure.kernel import LayerSpeeds, Speed
from harness.measure.trials import Tried, make_trials
from harness.report.kernels import kernel_tables, sensitivity
from harness.results import Provenance, Sample
from harness.schema.constants import ARENA_LEAD
from harness.validation import demand_kernel, own_kernels

WHERE = Provenance("desk", "emulated", "rp2350", "01", 150_000_000, "e", "b", "p", "n", "gcc")


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tried, ...]:
    """Forty trials of the depthwise template, all right."""
    folder = tmp_path_factory.mktemp("kernel") / "mine"
    new_kernel(folder, "depthwise", (), "pico2-emu")
    traits = KernelTraits(str(folder), "rp2350")
    (kernel,) = own_kernels(traits)
    trials = make_trials(kernel, traits, trial_layers(kernel, traits, 40, 1), 1)
    return tuple(_right(Tried(trial, (), (11, 22))) for trial in trials)


def _right(one: Tried) -> Tried:
    plan = one.trial.plan
    sample = Sample(
        seed=1, paint=0, repeat=0, cycles=100, microseconds=1, interrupt_cycles=0, interrupts=0,
        interrupts_on=False, xip_accesses=0, xip_hits=0, input_crc=11, output_crc=22,
        low_water=one.trial.base, high_water=plan.arena_bytes, outside_count=0, outside_first=0,
        scratch_used=plan.scratch_bytes, stack_peak=300, op_cycles=(100,),
        op_kernels=(plan.choice.index,), op_breaches=(0,),
    )  # fmt: skip
    return replace(one, samples=(sample,))


def _with(one: Tried, **changes: object) -> Tried:
    return replace(one, samples=(replace(one.samples[0], **changes),))  # type: ignore[arg-type]


def _judge(
    tried: tuple[Tried, ...], suspects: tuple[str, ...] = (), speeds: SpeedRuns | None = None
) -> KernelVerdict:
    return judge_kernel(
        "mine", TrialRuns(tried, len(tried), suspects, WHERE), (), speeds or SpeedRuns(())
    )


def test_all_is_well(tried: tuple[Tried, ...]) -> None:
    verdict = _judge(tried)
    assert (verdict.ok, verdict.tried, verdict.right, verdict.in_place) == (True, 40, 40, 32)
    assert verdict.bases == (0, 1, 2, 3)
    demand_kernel(verdict)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda _: {"output_crc": 23}, "its output is wrong"),
        (lambda _: {"input_crc": 12}, "its input is 0000000c, the host's 0000000b"),
        (lambda _: {"op_kernels": (0,)}, "kernel (0,) ran, not "),
        (lambda _: {"op_breaches": (0x10,)}, "it does not keep r8, which belong to its caller"),
        (
            lambda plan: {
                "outside_count": 2,
                "outside_first": scratch_offset(plan) - ARENA_LEAD + plan.scratch_bytes,
            },
            "it wrote 2 bytes behind its scratch of ",
        ),
        (
            lambda plan: {"outside_count": 1, "outside_first": plan.arena_bytes},
            "it wrote 1 bytes outside the arena of ",
        ),
        (lambda plan: {"high_water": plan.arena_bytes + 1}, "it touched [3, "),
        (lambda _: {"low_water": 2}, "it touched [2, "),
    ],
)
def test_each_thing_that_is_wrong(
    change: Callable[..., dict[str, object]], words: str, tried: tuple[Tried, ...]
) -> None:
    """One of them, in a trial with a base of 3."""
    number = next(n for n, one in enumerate(tried) if one.trial.base == 3)
    wrong = _with(tried[number], **change(tried[number].trial.plan))
    verdict = _judge((*tried[:number], wrong, *tried[number + 1 :]))
    assert not verdict.ok and verdict.right == 39
    assert words in verdict.failures[0]
    with pytest.raises(Mismatch if "output" in words else BoundViolation, match="mine fails"):
        demand_kernel(verdict)


def test_what_all_failed_ones_have_in_common(tried: tuple[Tried, ...]) -> None:
    odd = [one.trial.plan.layer.output.c % 2 == 1 for one in tried]
    wrong = tuple(
        _with(one, output_crc=1) if is_odd else one for one, is_odd in zip(tried, odd, strict=True)
    )
    (reason,) = _judge(wrong).reasons
    assert reason == (
        f"wrong only where the input has an odd number of channels: in {sum(odd)} of {sum(odd)} such "
        f"trials, and in none of the {40 - sum(odd)} others"
    )


def test_nothing_is_said_of_failures_without_a_pattern(tried: tuple[Tried, ...]) -> None:
    assert _judge(tuple(_with(one, output_crc=1) for one in tried)).reasons == ()
    two = (*(_with(one, output_crc=1) for one in tried[:2]), *tried[2:])
    assert _judge(two, ("because",)).reasons == ("because",)


def test_failures_are_counted_not_listed(tried: tuple[Tried, ...]) -> None:
    verdict = _judge((*(_with(one, output_crc=1) for one in tried[:9]), *tried[9:]))
    assert len(verdict.failures) == 4
    assert verdict.failures[-1] == "and 6 more of 40 trials failed"


def test_a_fault_ends_the_trials(tried: tuple[Tried, ...]) -> None:
    fault = FirmwareFault("the firmware faulted in mine (run)", cause="HardFault")
    some = (*tried[:2], Tried(tried[2].trial, (), (11, 22), fault))
    verdict = judge_kernel("mine", TrialRuns(some, 40, (), WHERE), (), SpeedRuns(()))
    assert verdict.failures[0].endswith("seed 3: the firmware faulted in mine (run): HardFault")
    assert verdict.failures[-1] == "37 trials were not run after these faults"


def test_speed(tried: tuple[Tried, ...]) -> None:
    """The first label is the kernel's own; of the others the fastest that is not plain is the best."""
    speeds = (
        Speed("own", "mine", 0, 4000, True),
        Speed("own", "mine", 2, 4000, True),
        Speed("own", "mine", 4, 4010, True),
        Speed("own", "mine", 6, 3990, True),
        Speed("plain", "plain_x", 0, 9000, True),
        Speed("m33", "m33_x", 0, 1500, True),
        Speed("other", "other_x", 0, None, True),
    )
    row = LayerSpeeds("layer\x1b", 1000, speeds)
    verdict = _judge(tried, (), SpeedRuns((row,)))
    assert verdict.ok and verdict.moved == ((0, 4000), (2, 4000), (4, 4010), (6, 3990))
    text = kernel_tables([verdict])
    assert "20 cycles (0.50 %)" in text and "pass" in text and "\x1b" not in text
    line = next(line for line in text.splitlines() if line.startswith("layer?"))
    assert line.split()[3:] == ["1,000", "mine", "4.00", "9.00", "1.50", "m33_x"]


def test_a_wrong_output_from_another_place_fails(tried: tuple[Tried, ...]) -> None:
    row = LayerSpeeds("layer", 1000, (Speed("own", "mine", 2, 4000, False),))
    verdict = _judge(tried, (), SpeedRuns((row,)))
    assert verdict.failures == ("layer by mine, 2 bytes further on: its output is wrong",)
    assert "WRONG" in kernel_tables([verdict])


def test_the_table_says_why(tried: tuple[Tried, ...]) -> None:
    text = kernel_tables([_judge((_with(tried[0], output_crc=1), *tried[1:]), ("a reason",))])
    assert "FAIL" in text and "39 of 40" in text
    assert text.splitlines()[-1] == "  because: a reason"


def test_sensitivity() -> None:
    assert sensitivity([(0, 100), (2, 100), (4, 100), (6, 100)]) == "no cycle"
    assert sensitivity([(0, 2000), (2, 1990), (4, 2010)]) == "20 cycles (1.00 %)"
    assert sensitivity([]) == "-"
