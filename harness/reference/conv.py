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

from harness.geometry import ConvGeometry
from harness.reference.requantize import requantize, to_int32
from harness.schema.constants import Rounding, TapOrder

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
    columns = _fields(g, p, x)
    return _finish(p, columns @ _matrix(p)).reshape(g.h_out, g.w_out, g.c_out)


def convolve_in_place(
    g: ConvGeometry, p: ConvParameters, x: Int8s, distance: int, tap_order: TapOrder
) -> Int8s:
    """The same with the input `distance` scalars above the output in one memory; row-major pixels,
    channels ascending. gather: the field is read before the pixel's first write. direct: again
    before each channel's write. Returns the output as it is found at the end."""
    base = max(0, -distance)  # where the output starts, so that both fit
    start = base + distance
    memory = np.zeros(max(start + g.n_in, base + g.n_out), dtype=np.int8)
    memory[start : start + g.n_in] = x.ravel()
    matrix = _matrix(p)
    for pixel in range(g.pixels_out):
        addresses = _addresses(g, pixel)
        real = addresses >= 0
        where = np.where(real, addresses + start, 0)
        first = base + pixel * g.c_out
        shared = real & (where >= first) & (where < first + g.c_out)
        if tap_order is TapOrder.GATHER or not shared.any():
            field = np.where(real, memory[where], p.input_zero_point).astype(np.int64)
            memory[first : first + g.c_out] = _finish(p, (field - p.input_zero_point) @ matrix)
            continue
        for channel in range(g.c_out):
            field = np.where(real, memory[where], p.input_zero_point).astype(np.int64)
            accumulator = (field - p.input_zero_point) @ matrix[:, channel]
            memory[first + channel] = _finish(p, accumulator[None], slice(channel, channel + 1))[0]
    return memory[base : base + g.n_out].reshape(g.h_out, g.w_out, g.c_out)


def _matrix(p: ConvParameters) -> Int64s:
    """Weights as [k_h * k_w * c_in, c_out]."""
    return p.weights.reshape(p.weights.shape[0], -1).T.astype(np.int64)


def _fields(g: ConvGeometry, p: ConvParameters, x: Int8s) -> Int64s:
    """Receptive fields less the zero point, [pixels, k_h * k_w * c_in]."""
    flat = np.append(x.ravel().astype(np.int64) - p.input_zero_point, 0)
    addresses = np.stack([_addresses(g, pixel) for pixel in range(g.pixels_out)])
    return flat[addresses]  # -1, a padding tap, picks the zero at the end


def _addresses(g: ConvGeometry, pixel: int) -> Int64s:
    """Input scalars of a pixel's field in the order of the weights, -1 for padding."""
    r, c = divmod(pixel, g.w_out)
    y = r * g.s_h - g.pad.top + np.arange(g.k_h, dtype=np.int64) * g.d_h
    x = c * g.s_w - g.pad.left + np.arange(g.k_w, dtype=np.int64) * g.d_w
    real = ((y >= 0) & (y < g.h_in))[:, None] & ((x >= 0) & (x < g.w_in))[None, :]
    pixels = y[:, None] * g.w_in + x[None, :]
    scalars = pixels[:, :, None] * g.c_in + np.arange(g.c_in)
    return np.where(real[:, :, None], scalars, -1).ravel()


def _finish(p: ConvParameters, sums: Int64s, channels: slice = slice(None)) -> Int8s:
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
