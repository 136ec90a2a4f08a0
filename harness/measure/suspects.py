# SPDX-License-Identifier: Apache-2.0
"""Why is an output wrong? A failed trial is run again, alone, in other circumstances, and what came out
is held against what well-known mistakes would give. Each answer is something that was seen."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.boards import Board
from harness.build import RunnerImage
from harness.case import Case
from harness.geometry import ConvGeometry, Pad
from harness.measure.trials import Tried, run_alone, with_two_buffers
from harness.plan import Strategy
from harness.reference import AddParameters, ConvParameters, MulParameters, Parameters, compute
from harness.schema.constants import OpKind, Rounding

Int8s = NDArray[np.int8]
_PADDED = (OpKind.CONV, OpKind.DEPTHWISE)


def examine(board: Board, image: RunnerImage, failed: Tried) -> tuple[str, ...]:
    """What is known of a wrong output, in words; empty where nothing of this explains it. Errors: all
    that a board can raise, but FirmwareFault."""
    trial = replace(failed.trial, repeats=2)
    again = run_alone(board, image, trial)
    if not again.samples:
        return ()
    first, second = again.samples
    right = again.expected[1]
    if first.output_crc == right:
        return (_state(second.output_crc == right),)
    found = []
    other = run_alone(board, image, replace(trial, paint=1 - trial.paint))
    if other.samples and other.samples[0].output_crc != first.output_crc:
        found.append("its output depends on what memory held before: it reads what nobody wrote")
    if trial.plan.strategy is Strategy.RIP:
        apart = run_alone(board, image, with_two_buffers(trial))
        if apart.right:
            found.append(
                "with two buffers it is right: in place it overwrites input that it still reads"
            )
    found += [
        name for name, crc in mistakes(trial.case, trial.seed) if crc == first.output_crc != right
    ]
    return tuple(found)


def _state(second_is_right: bool) -> str:
    """Of a case that is right on a board that was just reset, and was wrong among others."""
    when = "after other ops" if second_is_right else "when it runs again"
    return f"it is right after a reset and wrong {when}: it keeps something between runs"


def mistakes(case: Case, seed: int) -> Iterator[tuple[str, int]]:
    """Mistakes that kernels are known for: in words, and the CRC-32 of the output that each would give
    where it is not the right one."""
    right = zlib.crc32(case.expected(seed).tobytes())
    for name, wrong in _variants(case):
        crc = zlib.crc32(wrong.expected(seed).tobytes())
        if crc != right:
            yield name, crc
    if case.plan.layer.kind in _PADDED:
        crc = zlib.crc32(_padded_with_zero(case, seed).tobytes())
        if crc != right:
            yield "this is the output with padding of 0 instead of the input's zero point", crc


def _variants(case: Case) -> Iterator[tuple[str, Case]]:
    p = case.parameters
    if not isinstance(p, ConvParameters | AddParameters | MulParameters):
        return
    for other in Rounding:
        if other is not p.rounding:
            words = f"{other.name.lower()} rounding instead of {p.rounding.name.lower()}"
            yield f"this is the output with {words}", _with(case, replace(p, rounding=other))
    clamped = replace(
        p,
        activation_min=max(-128, p.activation_min + p.output_zero_point),
        activation_max=min(127, p.activation_max + p.output_zero_point),
    )
    yield "this is the output clamped before its zero point is added", _with(case, clamped)


def _with(case: Case, parameters: Parameters) -> Case:
    return replace(case, parameters=parameters)


def _padded_with_zero(case: Case, seed: int) -> Int8s:
    """By the reference itself, of an input that brings its padding along."""
    layer, p = case.plan.layer, case.parameters
    g = layer.geometry
    assert isinstance(g, ConvGeometry) and isinstance(p, ConvParameters)
    rows, columns = (g.pad.top, g.pad.bottom), (g.pad.left, g.pad.right)
    (x,) = case.inputs(seed)
    stored = np.pad(x, (rows, columns, (0, 0)), constant_values=0)
    wide = replace(g, h_in=stored.shape[0], w_in=stored.shape[1], pad=Pad())
    return compute(layer.kind, wide, p, stored).ravel()
