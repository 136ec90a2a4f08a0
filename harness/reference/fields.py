# SPDX-License-Identifier: Apache-2.0
"""Windows over a stored input, as processes: which scalars each output pixel reads, and when."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Execution
from harness.geometry.traversal import input_positions, output_pixels, stored_geometry
from harness.reference.in_place import Compute, Process
from harness.schema.constants import OpKind, Traversal

Int64s = NDArray[np.int64]


class Field:
    """The receptive fields of a window over the input as stored."""

    def __init__(self, geometry: ConvGeometry, execution: Execution) -> None:
        self._g = stored_geometry(geometry, execution)
        self._pixels = output_pixels(geometry, execution.traversal)
        self._places = input_positions(geometry, execution)

    def taps(self, steps: Int64s) -> Int64s:
        """[n, k_h * k_w]: places of pixels in the stored input, -1 where no pixel is stored."""
        g = self._g
        r, c = np.divmod(self._pixels[steps], g.w_out)
        y = (r * g.s_h - g.pad.top)[:, None] + np.arange(g.k_h) * g.d_h
        x = (c * g.s_w - g.pad.left)[:, None] + np.arange(g.k_w) * g.d_w
        rows = ((y >= 0) & (y < g.h_in))[:, :, None]
        columns = ((x >= 0) & (x < g.w_in))[:, None, :]
        pixels = np.where(rows & columns, y[:, :, None] * g.w_in + x[:, None, :], 0)
        places = np.where(rows & columns, self._places[pixels], -1)
        return places.reshape(len(steps), -1)

    def scalars(self, steps: Int64s) -> Int64s:
        """[n, k_h * k_w * c_in]: scalars of the stored input, channels innermost, or -1."""
        taps = self.taps(steps)[:, :, None]
        scalars = np.where(taps >= 0, taps * self._g.c_in + np.arange(self._g.c_in), -1)
        return scalars.reshape(len(steps), -1)


def window_process(
    kind: OpKind, g: ConvGeometry, execution: Execution, compute: Compute, fill: int
) -> Process:
    """A convolution, a depthwise one or a pool, pixel by pixel. compute: of values
    [n, k_h * k_w * c_in], as the field lies, in which a tap that is not stored is `fill`."""
    reverse = execution.traversal is Traversal.REVERSE
    again = np.zeros(g.c_in, dtype=np.int64)
    if execution.direct and kind is OpKind.CONV:
        again += g.c_out - 1
    elif execution.direct:
        # an input channel is read for its own output channels, the last of them in turn being
        multiplier = g.c_out // g.c_in
        last = np.arange(g.c_in) * multiplier + (0 if reverse else multiplier - 1)
        again = g.c_out - 1 - last if reverse else last
    return Process(
        steps=g.pixels_out,
        unit=g.c_out,
        reads=Field(g, execution).scalars,
        again=np.tile(again, g.k_h * g.k_w),
        compute=compute,
        fill=fill,
        reverse=reverse,
    )
