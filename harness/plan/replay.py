# SPDX-License-Identifier: Apache-2.0
"""One op in one memory with an operand, replayed: does a write come before a read that needs the byte?

It is asked of the order of reads and writes of the kernel that runs the op (harness.liveness) and of no
gap. An input pixel's scalars share their last reader, so a schedule with one channel names it for each
pixel, or of a kernel that makes several pixels a step the first of that step, and the turn of the first
write into a pixel's bytes is a division: that is as fast as whole networks need. Executions that release
the channels of a pixel one by one in another way than writing them in their place are replayed by the
scalar.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
)
from harness.geometry.step import Step
from harness.kernels import PLAIN, KernelTraits, schedule_of
from harness.liveness import first_collision
from harness.network import Layer
from harness.schema.constants import OpKind, Traversal

Int64s = NDArray[np.int64]
_OWN_CHANNEL = (OpKind.AVERAGE_POOL, OpKind.MAX_POOL)


@dataclass(frozen=True)
class Harm:
    """The first write that destroys a scalar still to be read: both counted from the tensors' starts."""

    written: int
    lost: int


class Replay:
    """Of the kernels of a set. Remembers the last readers of geometries that it has seen."""

    def __init__(self, kernel: KernelTraits = PLAIN) -> None:
        self._kernel = kernel
        self._last: dict[object, Int64s] = {}

    def harm(
        self,
        layer: Layer,
        execution: Execution,
        operand: int,
        distance: int,
        step: Step | None = None,
    ) -> Harm | None:
        """With the operand's base `distance` bytes above the output's, by a kernel of such steps, by
        default of the one that runs the layer. An operand that the kernels' schedules do not know in one
        memory with the output (one that every pixel reads) is taken to be read until the end."""
        size, n_out = layer.inputs[operand].size, layer.n_out
        if distance >= n_out or -distance >= size:
            return None
        if step is None:
            chosen = self._kernel.choose(layer.kind, layer.geometry, execution, layer.rounding)
            step = chosen.step
        try:
            if execution.traversal is Traversal.CHANNEL:
                return _by_channel(layer, execution, distance, step)
            if _by_pixel(layer, execution, step):
                return self._by_pixels(layer, execution, operand, distance, step)
            return _by_scalar(layer.kind, layer.geometry, execution, operand, distance, step)
        except ConfigError:
            written = max(0, distance)
            return Harm(written, written - distance)

    def _by_pixels(
        self, layer: Layer, execution: Execution, operand: int, distance: int, step: Step
    ) -> Harm | None:
        """All counted in order of traversal: from the ends in REVERSE."""
        last = self._last_readers(layer, execution, operand, step)
        size, n_out, c = layer.inputs[operand].size, layer.n_out, layer.inputs[operand].c
        reverse = execution.traversal is Traversal.REVERSE
        if reverse:
            last, distance = last[::-1], n_out - size - distance
        start = distance + np.arange(len(last), dtype=np.int64) * c
        # outputs' scalars that are written before the step of the last read
        before = last * layer.output.c
        first = np.maximum(start, 0)
        if _releases_in_place(layer):
            # channel n goes right before scalar n of the step is written: all of a pixel or nothing
            harmed = (last >= 0) & (first < np.minimum(start + c, n_out)) & (start < before)
        else:
            harmed = first < np.minimum(np.minimum(start + c, n_out), before)
        if not harmed.any():
            return None
        written = int(first[harmed].min())
        lost = written - distance
        return Harm(n_out - 1 - written, size - 1 - lost) if reverse else Harm(written, lost)

    def _last_readers(self, layer: Layer, execution: Execution, operand: int, step: Step) -> Int64s:
        """Of each pixel of the operand the pixels that are written before its last read, or -1."""
        thin, alone = _thin(layer.geometry), replace(step, channels=1)
        key = (layer.kind, thin, execution, operand, alone)
        if key not in self._last:
            self._last[key] = schedule_of(layer.kind, thin, execution, operand, alone).last_reader
        return self._last[key]


def _by_channel(layer: Layer, execution: Execution, distance: int, step: Step) -> Harm | None:
    """At a whole number of pixels no two channels meet, and one stands for all."""
    g = layer.window
    if distance % g.c_in or g.c_in != g.c_out:
        return _by_scalar(layer.kind, g, execution, 0, distance, step)
    thin, alone = replace(g, c_in=1, c_out=1), replace(step, channels=1)
    found = _by_scalar(layer.kind, thin, execution, 0, distance // g.c_in, alone)
    return None if found is None else Harm(found.written * g.c_out, found.lost * g.c_in)


def _by_pixel(layer: Layer, execution: Execution, step: Step) -> bool:
    """Do all scalars of a pixel go at once, or in the order in which they are written?"""
    if isinstance(layer.geometry, ConvGeometry) and not execution.direct:
        return True
    return step.channels == 1 and (not execution.direct or layer.kind in _OWN_CHANNEL)


def _releases_in_place(layer: Layer) -> bool:
    return layer.kind in _OWN_CHANNEL or isinstance(layer.geometry, ElementwiseGeometry)


def _thin(geometry: Geometry) -> Geometry:
    """With one channel in and out: the same pixels, read in the same steps."""
    match geometry:
        case ConvGeometry():
            return replace(geometry, c_in=1, c_out=1)
        case ConcatGeometry():
            return replace(geometry, channels=(1,) * len(geometry.channels))
        case ElementwiseGeometry() | MeanGeometry():
            return replace(geometry, c=1)
        case _:
            return replace(geometry, c=1)


def _by_scalar(
    kind: OpKind,
    geometry: Geometry,
    execution: Execution,
    operand: int,
    distance: int,
    step: Step,
) -> Harm | None:
    found = first_collision(schedule_of(kind, geometry, execution, operand, step), distance)
    return None if found is None else Harm(found.address, found.live)
