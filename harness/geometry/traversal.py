# SPDX-License-Identifier: Apache-2.0
"""The order in which a window visits its output pixels, and where that puts every pixel in memory.

Pixels are numbered row-major (y * w + x). An order lists pixel numbers in order of processing;
positions give for each pixel number its place in memory, counted in pixels. HERRINGBONE is the
paper's order for uneven grids (Eq. 25): with M the longer and n the shorter axis, legs
maj(M), min(n-1), maj(M-1), min(n-2), ..., maj(M-n+1), major horizontal where w_out >= h_out; a
horizontal leg takes the top row that remains from left to right, a vertical one the leftmost column
from top to bottom.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.geometry.conv import ConvGeometry, Pad
from harness.geometry.execution import Execution
from harness.geometry.shapes import PadGeometry, UpsampleGeometry
from harness.schema.constants import Layout, StoredBy, Traversal

Int64s = NDArray[np.int64]
NEVER_READ = -1


def stored_geometry(g: ConvGeometry, execution: Execution) -> ConvGeometry:
    """The same window over the input as it is stored: PADDED makes the padding a part of the input."""
    if execution.layout is Layout.DENSE:
        return g
    p = g.pad
    return replace(
        g, h_in=g.h_in + p.top + p.bottom, w_in=g.w_in + p.left + p.right, pad=Pad()
    )  # fmt: skip


def stored_by(execution: Execution) -> StoredBy:
    """How input and output follow each other in memory; ORDER: as `input_positions` and
    `output_positions` say."""
    if execution.traversal is Traversal.COLUMN:
        return StoredBy.COLUMN
    return StoredBy.ORDER if execution.traversal is Traversal.HERRINGBONE else StoredBy.ROW


def output_pixels(g: ConvGeometry, traversal: Traversal) -> Int64s:
    """Row-major pixel numbers in order of processing. CHANNEL goes row-major, once a channel."""
    pixels = np.arange(g.pixels_out, dtype=np.int64)
    if traversal is Traversal.COLUMN:
        return pixels.reshape(g.h_out, g.w_out).T.ravel()
    if traversal is Traversal.REVERSE:
        return pixels[::-1].copy()
    if traversal is Traversal.HERRINGBONE:
        return _herringbone(pixels.reshape(g.h_out, g.w_out))
    return pixels


def output_positions(g: ConvGeometry, traversal: Traversal) -> Int64s:
    """For each row-major output pixel its place in memory: that of its turn, but for REVERSE, which
    stores by rows."""
    if traversal in (Traversal.REVERSE, Traversal.CHANNEL):
        return np.arange(g.pixels_out, dtype=np.int64)
    return _inverse(output_pixels(g, traversal))


def input_positions(g: ConvGeometry, execution: Execution) -> Int64s:
    """For each row-major pixel of the stored input, with its padding where that is stored, its place
    in memory. HERRINGBONE: in order of the last reader; first those never read; ties row-major."""
    stored = stored_geometry(g, execution)
    pixels = np.arange(stored.h_in * stored.w_in, dtype=np.int64)
    if execution.traversal is Traversal.COLUMN:
        return _inverse(pixels.reshape(stored.h_in, stored.w_in).T.ravel())
    if execution.traversal is Traversal.HERRINGBONE:
        return _inverse(np.argsort(last_readers(stored, execution.traversal), kind="stable"))
    return pixels


def last_readers(g: ConvGeometry, traversal: Traversal) -> Int64s:
    """For each row-major input pixel the last turn that reads it, 0 for the first pixel processed,
    or NEVER_READ. Padding of `g` is not there to be read."""
    turns = _inverse(output_pixels(g, traversal)).reshape(g.h_out, g.w_out)
    last = np.full((g.h_in, g.w_in), NEVER_READ, dtype=np.int64)
    for i in range(g.k_h):
        rows = _on_image(i * g.d_h - g.pad.top, g.s_h, g.h_in, g.h_out)
        for j in range(g.k_w):
            columns = _on_image(j * g.d_w - g.pad.left, g.s_w, g.w_in, g.w_out)
            read = last[rows[1], columns[1]]
            np.maximum(read, turns[rows[0], columns[0]], out=read)
    return last.ravel()


def _on_image(start: int, stride: int, n: int, n_out: int) -> tuple[slice, slice]:
    """Along one axis, of a tap at `start` of output 0: the outputs whose tap is one of the n inputs,
    and those inputs."""
    first = max(0, -(start // stride))
    end = max(first, min(n_out, (n - 1 - start) // stride + 1))
    at = start + first * stride
    return slice(first, end), slice(at, at + (end - first) * stride, stride)


def _herringbone(pixels: Int64s) -> Int64s:
    legs = []
    horizontal = pixels.shape[1] >= pixels.shape[0]
    while pixels.size:
        if horizontal:
            legs.append(pixels[0])
            pixels = pixels[1:]
        else:
            legs.append(pixels[:, 0])
            pixels = pixels[:, 1:]
        horizontal = not horizontal
    return np.concatenate(legs)


def _inverse(order: Int64s) -> Int64s:
    """Place of each number in a list of all numbers."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def upsample_sources(g: UpsampleGeometry) -> Int64s:
    """For each output pixel the input pixel that is copied there."""
    pixels = np.arange(g.h * g.w, dtype=np.int64).reshape(g.h, g.w)
    return pixels.repeat(g.f_h, axis=0).repeat(g.f_w, axis=1).ravel()


def pad_sources(g: PadGeometry) -> Int64s:
    """For each output pixel the input pixel that is copied there, -1 in the border."""
    p = g.pad
    pixels = np.arange(g.h * g.w, dtype=np.int64).reshape(g.h, g.w)
    return np.pad(pixels, ((p.top, p.bottom), (p.left, p.right)), constant_values=-1).ravel()
