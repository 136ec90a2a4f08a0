# SPDX-License-Identifier: Apache-2.0
"""The depthwise convolution in one memory with its input: pixel by pixel, or channel by channel."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Execution
from harness.geometry.traversal import stored_geometry
from harness.reference.conv import ConvParameters, finish
from harness.reference.fields import window_process
from harness.reference.in_place import run
from harness.reference.storage import stored_input, unstored_output
from harness.schema.constants import OpKind, Traversal

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]


def depthwise_in_place(
    g: ConvGeometry, p: ConvParameters, x: Int8s, distance: int, execution: Execution
) -> Int8s:
    """As `convolve_in_place`: x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_out], the stored input
    `distance` scalars above the output; p.weights int8 [k_h, k_w, c_out], and output channel o reads
    input channel o // (c_out // c_in) alone. CHANNEL is for c_out = c_in."""
    memory = stored_input(g, execution, x, p.input_zero_point)
    if execution.traversal is Traversal.CHANNEL:
        return _by_channel(stored_geometry(g, execution), p, memory, distance)
    taps = g.k_h * g.k_w
    weights = p.weights.reshape(taps, g.c_out).astype(np.int64)
    source = np.arange(g.c_out) // (g.c_out // g.c_in)

    def compute(values: Int8s, _: Int64s, channels: slice) -> Int8s:
        fields = values.reshape(-1, taps, g.c_in)[:, :, source[channels]].astype(np.int64)
        sums = ((fields - p.input_zero_point) * weights[:, channels]).sum(axis=1)
        return finish(p, sums, channels)

    process = window_process(OpKind.DEPTHWISE, g, execution, compute, p.input_zero_point)
    return unstored_output(g, execution.traversal, run(process, memory, distance))


def _by_channel(g: ConvGeometry, p: ConvParameters, stored: Int8s, distance: int) -> Int8s:
    """For each channel, for each output row: the rows of its field that have not been read yet are
    copied, then the row of this channel is written. The ring is as high as the image here."""
    base = max(0, -distance)
    start = base + distance
    memory = np.zeros(max(start + g.n_in, base + g.n_out), dtype=np.int8)
    memory[start : start + g.n_in] = stored
    image = memory[start : start + g.n_in].reshape(g.h_in, g.w_in, g.c_in)
    output = memory[base : base + g.n_out].reshape(g.h_out, g.w_out, g.c_out)
    for channel in range(g.c_out):
        # less the zero point, with the columns of padding; ring row y is input row y - pad_top
        height = g.h_in + g.pad.top + g.pad.bottom
        ring = np.zeros((height, g.pad.left + g.w_in + g.pad.right), dtype=np.int64)
        real = ring[g.pad.top : g.pad.top + g.h_in, g.pad.left : g.pad.left + g.w_in]
        taps = sliding_window_view(ring, (g.k_h_eff, g.k_w_eff))
        taps = taps[:: g.s_h, :: g.s_w, :: g.d_h, :: g.d_w]  # [h_out, w_out, k_h, k_w]
        weights = p.weights[:, :, channel].astype(np.int64)
        following = 0
        for row in range(g.h_out):
            first = max(following, row * g.s_h - g.pad.top)
            end = min(g.h_in, row * g.s_h - g.pad.top + g.k_h_eff)
            if first < end:
                real[first:end] = image[first:end, :, channel].astype(np.int64) - p.input_zero_point
                following = end
            sums = (taps[row] * weights).sum(axis=(1, 2))
            output[row, :, channel] = finish(p, sums[:, None], slice(channel, channel + 1))[:, 0]
    return output.copy()
