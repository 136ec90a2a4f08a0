# SPDX-License-Identifier: Apache-2.0
"""What a segment's kernel must have shown, and, where it did not, why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.geometry import Pad
from harness.judge.breaches import breaches_in_words
from harness.judge.kernel import KernelVerdict, cycles_by_place, speed_failures
from harness.measure import SpeedRuns
from harness.measure.segment_kernel import SegmentRuns
from harness.measure.segment_trials import SegmentTrial, SegmentTried
from harness.results import Sample
from harness.schema.constants import OPERANDS_MAX, OpKind

_SHOWN = 3  # failures of trials that are spelt out
_FEWEST = 3  # failures, before they have a pattern
_NEARER = "a pixel nearer"
_FEWER = "a ring row fewer"


def judge_segment_kernel(
    kernel: str,
    runs: SegmentRuns,
    speeds: SpeedRuns,
    others: Sequence[str] = (),
    unchecked: Sequence[str] = (),
) -> KernelVerdict:
    """others: failures that ended a part of the measurement. unchecked: in words, what was left out."""
    tried = runs.segments
    wrong = {one: list(segment_problems(one)) for one in tried}
    failed = [one for one, found in wrong.items() if found]
    failures = [f"{_name(one)}: {words}" for one in failed[:_SHOWN] for words in wrong[one]]
    if len(failed) > _SHOWN:
        failures.append(f"and {len(failed) - _SHOWN} more of {len(tried)} trials failed")
    left_out = runs.wanted - len(tried)
    if left_out and any(one.fault for one in failed):
        failures.append(f"{left_out} trials were not run after these faults")
    proofs, unproved, unknown = _both_sides(tried)
    pattern = _pattern(failed, [one for one, found in wrong.items() if not found])
    missing = [*unchecked, *unknown]
    unread = sum(_unread(one.trial) for one in tried)
    if unread:
        missing.append(
            f"one operand each of {unread} trials: a case has {OPERANDS_MAX} outputs to be read back"
        )
    if left_out and not any(one.fault for one in failed):
        missing.append(f"{left_out} trials: the board has no room for them")
    return KernelVerdict(
        provenance=runs.provenance,
        kernel=kernel,
        failures=(*failures, *unproved, *speed_failures(speeds), *others),
        reasons=(*runs.suspects, *(() if pattern is None else (pattern,))),
        tried=len(tried),
        right=len(tried) - len(failed),
        in_place=sum(one.trial.how.onto is not None for one in tried),
        bases=tuple(sorted({one.trial.how.base for one in tried})),
        scratch_used=_most_scratch(tried),
        proofs=proofs,
        layers=speeds.layers,
        moved=cycles_by_place(speeds),
        unchecked=tuple(missing),
    )


def segment_problems(tried: SegmentTried) -> Iterator[str]:
    """Of one trial, in words."""
    if tried.fault is not None:
        cause = f": {tried.fault.cause}" if tried.fault.cause else ""
        yield f"{tried.fault.message}{cause}"
    runs: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    for sample in tried.samples:
        for words in _problems(tried, sample):
            what = words.split(": ")[0]  # without the place, which is known of the last run alone
            runs.setdefault(what, []).append(f"run {sample.repeat + 1} under paint {sample.paint}")
            said[what] = max(said.get(what, ""), words, key=len)
    for what, names in runs.items():
        every = len(names) == len(tried.samples) > 1
        yield f"{'every run' if every else ', '.join(names)}: {said[what]}"
    for operand in tried.changed:
        what = "X" if operand == 0 else f"operand {-operand} from outside"
        yield f"its output is wrong: it changed {what}, which it only reads"


def _problems(tried: SegmentTried, sample: Sample) -> Iterator[str]:
    plan, (input_crc, output_crc) = tried.trial.case.plan, tried.expected
    (choice,) = plan.choices
    if sample.op_kernels != (choice.index,):
        yield f"kernel {sample.op_kernels} ran, not {choice.index}"
    if sample.input_crc != input_crc:
        yield f"its input is {sample.input_crc:08x}, the host's {input_crc:08x}"
    if sample.output_crc != output_crc and not (tried.changed and sample.wrong is None):
        where = f": {sample.wrong}" if sample.wrong is not None else ""
        yield f"its output is wrong{where}"
    base, end = tried.trial.how.base, plan.arena_bytes
    if sample.outside_count:
        yield (
            f"it wrote {sample.outside_count} bytes outside the arena of {end}, the first at "
            f"{sample.outside_first}; its {tried.trial.how.order.value.split(', ')[-1]} lie on top"
        )
    elif sample.low_water < base or sample.high_water > end:
        yield (
            f"it touched [{sample.low_water}, {sample.high_water}) and was given [{base}, {end})"
        )
    for bits in sample.op_breaches:
        yield from breaches_in_words(bits)


def _name(tried: SegmentTried) -> str:
    trial = tried.trial
    where = {None: "apart", 0: "on X"}.get(trial.how.onto, "on an operand from outside")
    return (
        f"{trial.network.name} {where}, base {trial.how.base}, seed {trial.seed}, "
        f"{trial.how.spare} bytes to spare"
    )


def _both_sides(
    tried: Sequence[SegmentTried],
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """What has to be wrong: how often it was, failures, and what could not be asked. A trial that is
    wrong itself says nothing."""
    proofs, failures, unknown = [], [], []
    for words, number in ((_NEARER, 0), (_FEWER, 1)):
        told = [one.told[number] for one in tried if one.right and one.told[number] is not None]
        if not told:
            unknown.append(f"{words}: of no trial that was right can it be asked")
            continue
        proofs.append(f"{words}: wrong in {sum(map(bool, told))} of {len(told)}")
        if not any(told):
            failures.append(
                f"{words}, and every output is right, in {len(told)} trials: it does not keep to the "
                f"rows of docs/fused.md, and nothing of what is right proves them"
            )
    return tuple(proofs), tuple(failures), tuple(unknown)


def _most_scratch(tried: Sequence[SegmentTried]) -> tuple[int, int]:
    """Bytes that a trial used at the most of those that it was given: of those with the scratch on top,
    where the paint shows how far it went."""
    return max(
        (
            (max(0, sample.high_water - buffer.offset), buffer.size)
            for one in tried
            for buffer in [one.trial.case.plan.steps[0].buffers[-1]]
            if buffer.size and buffer.end == one.trial.case.plan.peak
            for sample in one.samples
        ),
        default=(0, 0),
    )


def _unread(trial: SegmentTrial) -> bool:
    """Is there an operand that Y does not lie on, and that is not read back?"""
    kept = len(trial.segment.operands) - (trial.how.onto is not None)
    return kept > len(trial.case.plan.network.outputs) - 1


def _stages(kind: OpKind, trial: SegmentTrial) -> bool:
    return any(stage.kind is kind for stage in trial.segment.stages)


def _any_channels_odd(trial: SegmentTrial) -> bool:
    return any(trial.segment.shape(t).c % 2 for t in range(trial.segment.last + 1))


def _adds(trial: SegmentTrial, which: Callable[[int], bool]) -> bool:
    return any(s.other is not None and which(s.other) for s in trial.segment.stages)


def _parked(trial: SegmentTrial) -> bool:
    rings = (buffer.ring for buffer in trial.case.plan.steps[0].buffers)
    return any(ring is not None and ring.guest is not None for ring in rings)


def _planar_padding(trial: SegmentTrial) -> bool:
    return any(
        stage.kind is OpKind.DEPTHWISE and (stage.window.pad.left or stage.window.pad.right)
        for stage in trial.segment.stages[1:]
    )


def _uneven(pad: Pad) -> bool:
    return pad.left != pad.right or pad.top != pad.bottom


_PATTERNS: dict[str, Callable[[SegmentTrial], bool]] = {
    "it adds the operand that it lies on": lambda trial: (
        trial.how.onto is not None and _adds(trial, lambda other: other == trial.how.onto)
    ),
    "it adds X": lambda trial: _adds(trial, lambda other: other == 0),
    "it adds a tensor from outside": lambda trial: _adds(trial, lambda other: other < 0),
    "it adds what a stage of its own makes": lambda trial: _adds(trial, lambda other: other > 0),
    "there is an add": lambda trial: _stages(OpKind.ADD, trial),
    "there is a depthwise stage": lambda trial: _stages(OpKind.DEPTHWISE, trial),
    "a depthwise stage reads X": lambda trial: trial.segment.stages[0].kind is OpKind.DEPTHWISE,
    "there is a stem": lambda trial: (
        trial.segment.stages[0].kind is OpKind.CONV and trial.segment.stages[0].window.k_h > 1
    ),
    "a row is parked": _parked,
    "a ring of a depthwise stage stores padding": _planar_padding,
    "padding is uneven": lambda trial: any(_uneven(s.window.pad) for s in trial.segment.stages),
    "a stride is over 1": lambda trial: any(
        (s.window.s_h, s.window.s_w) != (1, 1) for s in trial.segment.stages
    ),
    "a window is 5 rows or more": lambda trial: any(s.window.k_h > 4 for s in trial.segment.stages),
    "a tensor has an odd number of channels": _any_channels_odd,
    "the output has one row": lambda trial: trial.segment.shape(trial.segment.last).h == 1,
    "the output has one column": lambda trial: trial.segment.shape(trial.segment.last).w == 1,
    "it is in place": lambda trial: trial.how.onto is not None,
    "interrupts stay on": lambda trial: trial.interrupts,
    "there is scratch to spare": lambda trial: trial.how.spare > 0,
    "the base is odd": lambda trial: trial.how.base % 2 != 0,
}


def _pattern(failed: Sequence[SegmentTried], passed: Sequence[SegmentTried]) -> str | None:
    """As harness.judge.patterns: the property of all failed trials that fewest others have; None where
    most of the others have it, too."""
    if len(failed) < _FEWEST or not passed:
        return None
    also = {
        name: sum(has(one.trial) for one in passed)
        for name, has in _PATTERNS.items()
        if all(has(one.trial) for one in failed)
    }
    name = min(also, key=lambda name: also[name], default=None)
    if name is None or 2 * also[name] > len(passed):
        return None
    return (
        f"wrong only where {name}: in {len(failed)} of {len(failed) + also[name]} such trials, and in "
        f"none of the {len(passed) - also[name]} others"
    )
