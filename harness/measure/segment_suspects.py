# SPDX-License-Identifier: Apache-2.0
"""Why is a segment's output wrong? It is run again, alone, in other circumstances and other layouts, and
what came out is held against what well-known mistakes would give. Each answer is something that was
seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.boards import Board
from harness.build import RunnerImage
from harness.case import NetworkCase, build_pack
from harness.case.segment_layout import rings_of
from harness.errors import FirmwareFault
from harness.measure.fit import fits
from harness.measure.segment_trials import SegmentTrial, SegmentTried
from harness.reference import AddParameters, ConvParameters, Parameters
from harness.schema.constants import Rounding


def examine_segment(board: Board, image: RunnerImage, failed: SegmentTried) -> tuple[str, ...]:
    """What is known of a wrong output, in words; empty where nothing of this explains it. Errors: all
    that a board can raise, but FirmwareFault."""
    trial, right = failed.trial, failed.expected[1]
    try:
        first, second = _alone(board, image, trial.case, trial, repeats=2)
        (other,) = _alone(board, image, trial.case, trial, paint=1)
        if first == right == other:
            when = "after other ops" if second == right else "when it runs again"
            return (f"it is right after a reset and wrong {when}: it keeps something between runs",)
        found = []
        if first != other:
            found.append(
                "its output depends on what memory held before: it reads what nobody wrote"
            )
        for words, laid in _layouts(trial):
            if fits(laid.case.plan, image) and set(_both(board, image, laid)) == {right}:
                found.append(words)
    except FirmwareFault:  # in a layout that is looser than the trial's own
        return ()
    return (*found, *(words for words, crc in _mistakes(trial) if crc == first != right))


def _alone(
    board: Board,
    image: RunnerImage,
    case: NetworkCase,
    trial: SegmentTrial,
    *,
    paint: int = 0,
    repeats: int = 1,
) -> list[int]:
    """The outputs' CRCs on a board that has just been reset."""
    board.start(image, build_pack([case]))
    run = board.run(0, trial.seed, paint=paint, repeats=repeats, keep_interrupts=trial.interrupts)
    return [result.output_crc for result in run.results]


def _both(board: Board, image: RunnerImage, trial: SegmentTrial) -> list[int]:
    """Under either paint, of the same tensors as the trial's."""
    return [crc for paint in (0, 1) for crc in _alone(board, image, trial.case, trial, paint=paint)]


def _layouts(trial: SegmentTrial) -> Iterator[tuple[str, SegmentTrial]]:
    """Looser ones: in words what it says when the output is right there."""
    how, outputs = trial.how, trial.case.plan.network.outputs
    looser = []
    if how.onto is not None:
        apart = replace(how, onto=None)
        words = "apart from its operand it is right: in place it overwrites what it still reads"
        looser.append((words, apart))
    more = _more_rows(trial)
    if any(more):
        words = "with a row more in its rings it is right: it overwrites rows that it still reads"
        looser.append((words, replace(how, rows=more)))
    if how.spare:
        words = "without scratch beyond what it needs it is right"
        looser.append((words, replace(how, spare=0)))
    for words, one in looser:
        laid = trial.laid(one)
        plan = laid.case.plan
        plan = replace(plan, network=replace(plan.network, outputs=outputs))
        yield words, replace(laid, case=replace(laid.case, plan=plan))


def _more_rows(trial: SegmentTrial) -> tuple[int, ...]:
    """One for each ring, but of those that have a slot beyond their tensor already."""
    segment = trial.segment
    return tuple(
        int(ring.rows <= segment.shape(ring.tensor).h)
        for ring in rings_of(trial.network, trial.kernels)
    )


def _mistakes(trial: SegmentTrial) -> Iterator[tuple[str, int]]:
    """In words, and the CRC-32 of the outputs that each would give where they are not the right ones."""
    right = trial.case.output_crc(trial.case.tensors(trial.seed))
    for words, parameters in _variants(trial.case.parameters):
        other = replace(trial.case, parameters=parameters)
        crc = other.output_crc(other.tensors(trial.seed))
        if crc != right:
            yield words, crc


def _variants(parameters: tuple[Parameters, ...]) -> Iterator[tuple[str, tuple[Parameters, ...]]]:
    for rounding in (Rounding.DOUBLE, Rounding.SINGLE):
        yield (
            f"this is the output with {rounding.name.lower()} rounding in all stages",
            tuple(_rounded(p, rounding) for p in parameters),
        )
    yield (
        "this is the output clamped before the zero point is added",
        tuple(_clamped_early(p) for p in parameters),
    )


def _rounded(p: Parameters, rounding: Rounding) -> Parameters:
    return replace(p, rounding=rounding) if isinstance(p, ConvParameters | AddParameters) else p


def _clamped_early(p: Parameters) -> Parameters:
    if not isinstance(p, ConvParameters | AddParameters):
        return p
    return replace(
        p,
        activation_min=max(-128, p.activation_min + p.output_zero_point),
        activation_max=min(127, p.activation_max + p.output_zero_point),
    )
