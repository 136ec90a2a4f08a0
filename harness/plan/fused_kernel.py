# SPDX-License-Identifier: Apache-2.0
"""The fused kernels as a planner sees them: which segments they take, their rings and their scratch.

Those of a kernel set are what its kernels.yaml declares (SetFused). Others are formulas alone, for plans
of kernels that nobody has written (FUSED_KERNELS).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from harness.bounds.fused import rings
from harness.errors import ConfigError
from harness.geometry.segment import Ring, Segment, Stage
from harness.kernels import KernelTraits
from harness.kernels.formula import Formula, parse
from harness.kernels.segments import stage_names
from harness.schema.constants import OpKind, Rounding

XIP_RULE = 12 * 1024
"""Bytes of weights and channel constants that a segment may read once per output row: three quarters of
the flash cache, so that they are fetched once, as layer by layer."""
CHANNEL_BYTES = 12  # of multiplier, shift and bias of an output channel
_WEIGHTED = (OpKind.CONV, OpKind.DEPTHWISE)


class RingForm(StrEnum):
    """planar: [channel][row][w + 2 p], the padding written once a segment, for depthwise kernels that
    read rows; pixel: [row][w][channel], row-sweep kernels; least: the same with only the scratch that
    correctness needs."""

    PLANAR = "planar"
    PIXEL = "pixel"
    LEAST = "least"


class RunsSegments(Protocol):
    """What runs segments. roundings: of each stage."""

    def takes(self, segment: Segment, roundings: Sequence[Rounding]) -> bool:
        """No segment with more weights than the flash cache keeps is taken."""

    def rings(self, segment: Segment) -> tuple[Ring, ...]:
        """As they lie in memory: w with the padding that is stored."""

    def scratch_bytes(self, segment: Segment, roundings: Sequence[Rounding]) -> int:
        """That all stages share, one after the other."""

    def spare_bytes(self, segment: Segment, roundings: Sequence[Rounding]) -> int:
        """Of scratch, beyond that, with which they are quicker."""


@dataclass(frozen=True)
class SetFused:
    """The kernels of a set: planar rings, and all else as declared."""

    kernel: KernelTraits

    def takes(self, segment: Segment, roundings: Sequence[Rounding]) -> bool:
        if weights_bytes(segment) > XIP_RULE:
            return False
        try:
            self.kernel.choose_segment(segment, roundings)
        except ConfigError:
            return False
        return True

    def rings(self, segment: Segment) -> tuple[Ring, ...]:
        return tuple(_padded(segment, ring) for ring in rings(segment))

    def scratch_bytes(self, segment: Segment, roundings: Sequence[Rounding]) -> int:
        return self.kernel.choose_segment(segment, roundings).scratch_bytes

    def spare_bytes(self, segment: Segment, roundings: Sequence[Rounding]) -> int:
        return self.kernel.choose_segment(segment, roundings).spare_bytes


@dataclass(frozen=True)
class FusedKernel:
    """form: of its rings. scratch: what a stage of each kind takes while it makes a row; all stages
    share it, so a segment takes the most of any."""

    form: RingForm
    scratch: Mapping[OpKind, Formula]

    def takes(self, segment: Segment, roundings: Sequence[Rounding]) -> bool:  # noqa: ARG002
        """A convolution with a window only in front, as a stem, and without dilation; no pools."""
        return (
            all(_runs(number, stage) for number, stage in enumerate(segment.stages))
            and weights_bytes(segment) <= XIP_RULE
        )

    def rings(self, segment: Segment) -> tuple[Ring, ...]:
        kept = rings(segment)
        if self.form is not RingForm.PLANAR:
            return kept
        return tuple(_padded(segment, ring) for ring in kept)

    def scratch_bytes(self, segment: Segment, roundings: Sequence[Rounding]) -> int:  # noqa: ARG002
        needs = (
            self.scratch[stage.kind].evaluate(stage_names(stage, number))
            for number, stage in enumerate(segment.stages, 1)
            if stage.kind in self.scratch
        )
        return max(needs, default=0)

    def spare_bytes(self, segment: Segment, roundings: Sequence[Rounding]) -> int:
        """Formulas alone use none."""
        del segment, roundings
        return 0


def weights_bytes(segment: Segment) -> int:
    """int8 weights of all stages, and CHANNEL_BYTES of each output channel."""
    total = 0
    for stage in segment.stages:
        if stage.kind in _WEIGHTED:
            g = stage.window
            inputs = g.c_in if stage.kind is OpKind.CONV else 1
            total += g.c_out * (g.k_h * g.k_w * inputs + CHANNEL_BYTES)
    return total


def _runs(number: int, stage: Stage) -> bool:
    g = stage.window
    if stage.kind is OpKind.CONV:
        pointwise = (g.k_h, g.k_w, g.s_h, g.s_w) == (1, 1, 1, 1) and not any(
            (g.pad.top, g.pad.left, g.pad.bottom, g.pad.right)
        )
        return pointwise or (number == 0 and (g.d_h, g.d_w) == (1, 1))
    if stage.kind is OpKind.DEPTHWISE:
        return (g.d_h, g.d_w) == (1, 1) and g.c_in == g.c_out
    return stage.kind is OpKind.ADD


def _padded(segment: Segment, ring: Ring) -> Ring:
    """Planar, and with padding, where a depthwise stage reads the ring."""
    reader = segment.stage(ring.tensor + 1)
    if reader.kind is not OpKind.DEPTHWISE:
        return ring
    pad = reader.window.pad
    return replace(ring, w=pad.left + ring.w + pad.right, planar=True)


_LEAST = {
    # the window of one pixel, where it is not read in place
    OpKind.CONV: parse("k_h * k_w * c_in * (k_h * k_w > 1)"),
    # a row of one channel for each row of the window
    OpKind.DEPTHWISE: parse("k_h * (w_in + pad_left + pad_right)"),
}
_FAST = {
    # four channels' widened weights, and the windows of a row as 16-bit numbers
    OpKind.CONV: parse("8 * k_h * k_w * c_in + 2 * w_out * k_h * k_w * c_in"),
    # the same rows as 32-bit numbers
    OpKind.DEPTHWISE: parse("4 * k_h * (w_in + pad_left + pad_right)"),
}
PLANAR = FusedKernel(RingForm.PLANAR, _FAST)
PIXEL = FusedKernel(RingForm.PIXEL, _FAST)
LEAST = FusedKernel(RingForm.LEAST, _LEAST)
FUSED_KERNELS = {kernel.form: kernel for kernel in (PLANAR, PIXEL, LEAST)}
