# SPDX-License-Identifier: Apache-2.0
"""Kernels of segments: which they take, and the scratch that they need, by their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.geometry import GATHER
from harness.geometry.segment import Segment, Stage
from harness.kernels.declared import Kernel, situation_of
from harness.schema.constants import OpKind, Rounding


def takes_segment(kernel: Kernel, segment: Segment, roundings: Sequence[Rounding]) -> bool:
    """As the C table's accepts does. roundings: of each stage."""
    return (
        kernel.kind is OpKind.SEGMENT
        and all(rounding in kernel.roundings for rounding in roundings)
        and all(
            formula.evaluate(names) for names in _each_stage(segment) for formula in kernel.accepts
        )
    )


def segment_scratch(kernel: Kernel, segment: Segment) -> int:
    """Bytes that all stages share, one after the other."""
    return max(kernel.scratch.evaluate(names) for names in _each_stage(segment))


def segment_spare(kernel: Kernel, segment: Segment) -> int:
    """Bytes of scratch, beyond what it needs, that it makes use of."""
    if kernel.spare is None:
        return 0
    return sum(kernel.spare.evaluate(names) for names in _each_stage(segment))


def stage_names(stage: Stage, number: int) -> Mapping[str, int]:
    """The values of formula.STAGE_NAMES for a stage; number: from 1."""
    names = situation_of(stage.kind, stage.window, GATHER, Rounding.DOUBLE).names
    return {
        **names,
        "conv": int(stage.kind is OpKind.CONV),
        "depthwise": int(stage.kind is OpKind.DEPTHWISE),
        "operands": 2 if stage.kind is OpKind.ADD else 1,
        "stage": number,
    }


def _each_stage(segment: Segment) -> Iterator[Mapping[str, int]]:
    for number, stage in enumerate(segment.stages, 1):
        yield stage_names(stage, number)
