# SPDX-License-Identifier: Apache-2.0
"""Exact int8 convolution in NumPy, clean and in place.

`convolve` computes from an input that nothing disturbs. `convolve_in_place` computes the way the plain
kernel does, in one memory that holds input and output, so that with too small a distance it gives the
very bytes that the device must give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Execution
from harness.reference.fields import window_process
from harness.reference.in_place import run
from harness.reference.requantize import requantize, to_int32
from harness.reference.storage import stored_input, unstored_output
from harness.reference.windows import padded, tap
from harness.schema.constants import OpKind, Rounding

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ConvParameters:
    """Weights and quantisation, TFLite int8 per channel.

    weights: int8 [c_out, k_h, k_w, c_in]. bias, multiplier, shift: int32 [c_out]. A padding tap reads
    the input's zero point. activation_min, activation_max: clamp of the output, int8.
    """

    weights: Int8s
    bias: NDArray[np.int32]
    multiplier: NDArray[np.int32]
    shift: NDArray[np.int32]
    input_zero_point: int
    output_zero_point: int
    activation_min: int = -128
    activation_max: int = 127
    rounding: Rounding = Rounding.DOUBLE


def convolve(g: ConvGeometry, p: ConvParameters, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_out]."""
    return finish(p, convolution_sums(g, p.weights, x, p.input_zero_point))


def convolution_sums(g: ConvGeometry, weights: Int8s, x: Int8s, zero_point: int) -> Int64s:
    """int64 [h_out, w_out, c_out], without the bias: tap by tap, each one product of matrices.

    Exact in float64: a sum of fewer than 2^37 products of at most 2^15."""
    image = padded(g, x, zero_point, np.dtype(np.float64))
    taps = weights.reshape(g.c_out, g.k_h, g.k_w, g.c_in).astype(np.float64)
    sums = np.zeros((g.pixels_out, g.c_out))
    for row in range(g.k_h):
        for column in range(g.k_w):
            seen = tap(g, image, row, column).reshape(g.pixels_out, g.c_in)
            sums += seen @ taps[:, row, column].T
    return sums.astype(np.int64).reshape(g.h_out, g.w_out, g.c_out)


def convolve_in_place(
    g: ConvGeometry, p: ConvParameters, x: Int8s, distance: int, execution: Execution
) -> Int8s:
    """The same in one memory, with the stored input `distance` scalars above the output, in the order
    of reads and writes of `execution`. x and the result are [h, w, c]; how they lie in memory, which
    is what `distance` speaks of, say `stored_input` and `stored_output` of harness.reference.storage.
    """
    matrix = p.weights.reshape(g.c_out, -1).T.astype(np.float64)

    def compute(values: Int8s, _: Int64s, channels: slice) -> Int8s:
        real = values.astype(np.float64) - p.input_zero_point
        # exact: a sum of up to 2^32 products of up to 2^15
        return finish(p, (real @ matrix[:, channels]).astype(np.int64), channels)

    process = window_process(OpKind.CONV, g, execution, compute, p.input_zero_point)
    found = run(process, stored_input(g, execution, x, p.input_zero_point), distance)
    return unstored_output(g, execution.traversal, found)


def finish(p: ConvParameters, sums: Int64s, channels: slice = slice(None)) -> Int8s:
    """Bias, requantisation, zero point and clamp; the last axis is the channel."""
    accumulators = to_int32(sums + p.bias[channels])
    scaled = requantize(
        accumulators,
        p.multiplier[channels].astype(np.int64),
        p.shift[channels].astype(np.int64),
        p.rounding,
    )
    clamped = np.clip(scaled + p.output_zero_point, p.activation_min, p.activation_max)
    return clamped.astype(np.int8)
