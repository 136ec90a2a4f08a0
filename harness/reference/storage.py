# SPDX-License-Identifier: Apache-2.0
"""A window's tensors between [h, w, c] and the order of memory that its execution asks for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Execution
from harness.geometry.traversal import input_positions, output_positions
from harness.schema.constants import Layout, Traversal

Int8s = NDArray[np.int8]


def stored(pixels: Int8s, positions: NDArray[np.int64]) -> Int8s:
    """int8 [h, w, c] -> int8 [h * w * c], pixel (y, x) being the positions[y * w + x]-th in memory."""
    rows = pixels.reshape(len(positions), -1)
    memory = np.empty_like(rows)
    memory[positions] = rows
    return memory.ravel()


def unstored(memory: Int8s, positions: NDArray[np.int64], h: int, w: int) -> Int8s:
    """The inverse of `stored`: int8 [h, w, c]."""
    return memory.reshape(len(positions), -1)[positions].reshape(h, w, -1)


def stored_input(g: ConvGeometry, execution: Execution, x: Int8s, fill: int) -> Int8s:
    """x int8 [h_in, w_in, c_in] as the kernel finds it, flat; PADDED: with its padding, all `fill`."""
    x = x.reshape(g.h_in, g.w_in, g.c_in)
    if execution.layout is Layout.PADDED:
        rows, columns = (g.pad.top, g.pad.bottom), (g.pad.left, g.pad.right)
        x = np.pad(x, (rows, columns, (0, 0)), constant_values=fill)
    return stored(x, input_positions(g, execution))


def stored_output(g: ConvGeometry, traversal: Traversal, y: Int8s) -> Int8s:
    """y int8 [h_out, w_out, c_out] as the kernel leaves it, flat."""
    return stored(y, output_positions(g, traversal))


def unstored_output(g: ConvGeometry, traversal: Traversal, memory: Int8s) -> Int8s:
    """The inverse of `stored_output`."""
    return unstored(memory, output_positions(g, traversal), g.h_out, g.w_out)
