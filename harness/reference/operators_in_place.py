# SPDX-License-Identifier: Apache-2.0
"""Operators other than convolutions in one memory with one of their operands, the others elsewhere.

What is computed of the values comes as a function, from the operator's own reference; here is only
what the plain kernels read and write, and when. Tensors are stored by rows; REVERSE goes from the last
pixel or scalar to the first. Tap order says nothing but of pools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    PadGeometry,
    UpsampleGeometry,
)
from harness.geometry.traversal import pad_sources, upsample_sources
from harness.reference.fields import Field, window_process
from harness.reference.in_place import Process, run
from harness.reference.storage import stored_input, unstored_output
from harness.schema.constants import OpKind, Traversal

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


def pool_in_place(
    g: ConvGeometry,
    x: Int8s,
    distance: int,
    execution: Execution,
    compute: Callable[[Int8s, Bools], Int8s],
) -> Int8s:
    """x int8 [h_in, w_in, c] -> int8 [h_out, w_out, c], dense. compute: of the values
    [n, k_h * k_w, c] of n windows, and which of their taps [n, k_h * k_w] are on the image, int8 [n, c].
    It is called with some of the channels too."""
    field = Field(g, execution)

    def of_window(values: Int8s, steps: Int64s, channels: slice) -> Int8s:
        windows = values.reshape(len(steps), -1, g.c_in)[:, :, channels]
        return compute(windows, field.taps(steps) >= 0)

    process = window_process(OpKind.MAX_POOL, g, execution, of_window, 0)
    found = run(process, stored_input(g, execution, x, 0), distance)
    return unstored_output(g, execution.traversal, found)


def elementwise_in_place(
    g: ElementwiseGeometry,
    x: Int8s,
    distance: int,
    execution: Execution,
    compute: Callable[[Int8s, Int64s], Int8s],
) -> Int8s:
    """x, the operand that shares memory, int8 [h, w, c] -> int8 [h, w, c]. compute: of values [n] of x
    and their indices [n] (row-major scalars, by which to pick those of another operand), int8 [n]."""
    size = g.output.size
    reverse = execution.traversal is Traversal.REVERSE

    def scalars(steps: Int64s) -> Int64s:
        return size - 1 - steps if reverse else steps

    process = Process(
        steps=size,
        unit=1,
        reads=lambda steps: scalars(steps)[:, None],
        again=np.zeros(1, dtype=np.int64),
        compute=lambda values, steps, _: compute(values[:, 0], scalars(steps))[:, None],
        reverse=reverse,
    )
    return run(process, x.ravel(), distance).reshape(g.h, g.w, g.c)


def softmax_in_place(
    g: ElementwiseGeometry,
    x: Int8s,
    distance: int,
    execution: Execution,
    compute: Callable[[Int8s, Int8s], Int8s],
) -> Int8s:
    """x int8 [h, w, c] -> int8 [h, w, c], in three passes over each pixel. compute: of the pixels [n, c]
    as the first two passes read them, and the channels [n, m] that the third one reads, int8 [n, m]."""
    pixels = g.output.pixels
    reverse = execution.traversal is Traversal.REVERSE
    channels = np.arange(g.c, dtype=np.int64)

    def reads(steps: Int64s) -> Int64s:
        pixel = pixels - 1 - steps if reverse else steps
        return np.tile(pixel[:, None] * g.c + channels, 2)

    process = Process(
        steps=pixels,
        unit=g.c,
        reads=reads,
        again=np.append(np.zeros_like(channels), channels[::-1] if reverse else channels),
        compute=lambda values, _, some: compute(values[:, : g.c], values[:, g.c :][:, some]),
        reverse=reverse,
    )
    return run(process, x.ravel(), distance).reshape(g.h, g.w, g.c)


def copy_in_place(
    g: UpsampleGeometry | PadGeometry, x: Int8s, distance: int, execution: Execution, fill: int = 0
) -> Int8s:
    """Upsampling, and padding with `fill`: x int8 [h, w, c] -> int8 of g.output, each pixel read, then
    written."""
    sources = upsample_sources(g) if isinstance(g, UpsampleGeometry) else pad_sources(g)
    return _moved(g.c, sources, x, distance, execution, fill).reshape(g.output.h, g.output.w, g.c)


def _moved(
    c: int, sources: Int64s, x: Int8s, distance: int, execution: Execution, fill: int
) -> Int8s:
    reverse = execution.traversal is Traversal.REVERSE
    in_turn = sources[::-1] if reverse else sources

    def reads(steps: Int64s) -> Int64s:
        pixel = in_turn[steps][:, None]
        return np.where(pixel >= 0, pixel * c + np.arange(c), -1)

    process = Process(
        steps=len(sources),
        unit=c,
        reads=reads,
        again=np.zeros(c, dtype=np.int64),
        compute=lambda values, _, channels: values[:, channels],
        fill=fill,
        reverse=reverse,
    )
    return run(process, x.ravel(), distance)


def concat_in_place(
    g: ConcatGeometry, xs: Sequence[Int8s], distance: int, execution: Execution, onto: int
) -> Int8s:
    """xs int8 [h, w, channels[i]] -> int8 [h, w, sum of channels], with xs[onto] `distance` scalars
    above the output. For each pixel all operands are read, then it is written."""
    pixels, c = g.output.pixels, g.channels[onto]
    reverse = execution.traversal is Traversal.REVERSE
    others = [x.reshape(pixels, -1) for x in xs]

    def pixel(steps: Int64s) -> Int64s:
        return pixels - 1 - steps if reverse else steps

    def compute(values: Int8s, steps: Int64s, channels: slice) -> Int8s:
        parts = [values if i == onto else x[pixel(steps)] for i, x in enumerate(others)]
        return np.concatenate(parts, axis=1)[:, channels]

    process = Process(
        steps=pixels,
        unit=g.output.c,
        reads=lambda steps: pixel(steps)[:, None] * c + np.arange(c),
        again=np.zeros(c, dtype=np.int64),
        compute=compute,
        reverse=reverse,
    )
    return run(process, xs[onto].ravel(), distance).reshape(g.h, g.w, g.output.c)
