# SPDX-License-Identifier: Apache-2.0
"""The simulator at the speed of a real layer: one last reader per input scalar.

Release in the kernel's own order. gather: a pixel's reads all come before its first write. direct:
the taps are read again for each channel, so they are live until the last channel has read them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry
from harness.results import Collision

_NEVER_READ = -1


def taps(g: ConvGeometry, pixel: int) -> NDArray[np.int64]:
    """Input pixels (row-major index) that an output pixel reads from real input, ascending."""
    r, c = divmod(pixel, g.w_out)
    y = r * g.s_h - g.pad.top + np.arange(g.k_h, dtype=np.int64) * g.d_h
    x = c * g.s_w - g.pad.left + np.arange(g.k_w, dtype=np.int64) * g.d_w
    y, x = y[(y >= 0) & (y < g.h_in)], x[(x >= 0) & (x < g.w_in)]
    return (y[:, None] * g.w_in + x[None, :]).ravel()


def last_readers(g: ConvGeometry) -> NDArray[np.int64]:
    """For each input pixel the last output pixel that reads it, or -1."""
    last = np.full(g.h_in * g.w_in, _NEVER_READ, dtype=np.int64)
    for pixel in range(g.pixels_out):
        last[taps(g, pixel)] = pixel
    return last


def debt(g: ConvGeometry, *, direct: bool) -> int | None:
    """The least distance from which on no distance has a collision; None if no write can collide.

    A write to address a destroys scalar x at distance a - x, so every live x below the write frontier
    forbids that distance; the lowest live x forbids the largest.
    """
    last = last_readers(g)
    # lowest_live[u]: the first input pixel whose last reader is u or later
    lowest = np.full(g.pixels_out + 1, g.h_in * g.w_in, dtype=np.int64)
    for index in range(len(last) - 1, -1, -1):
        if last[index] != _NEVER_READ:
            lowest[last[index]] = index
    lowest = np.minimum.accumulate(lowest[::-1])[::-1]
    worst: int | None = None
    for pixel in range(g.pixels_out):
        for address, reader in _frontiers(g, pixel, direct=direct):
            if lowest[reader] < g.h_in * g.w_in:
                needed = address + 1 - int(lowest[reader]) * g.c_in
                worst = needed if worst is None else max(worst, needed)
    return worst


def _frontiers(g: ConvGeometry, pixel: int, *, direct: bool) -> list[tuple[int, int]]:
    """(address, first pixel whose taps are still live) of the writes of a pixel that matter: the last
    one, and in direct order the last but one, after which the pixel's own taps are read once more."""
    end = (pixel + 1) * g.c_out - 1
    frontiers = [(end, pixel + 1)]
    if direct and g.c_out > 1:
        frontiers.append((end - 1, pixel))
    return frontiers


def first_collision(g: ConvGeometry, distance: int, *, direct: bool) -> Collision | None:
    """The first write, in the kernel's order, that destroys a live scalar with the input at
    `distance` above the output; None if there is none."""
    last = np.repeat(last_readers(g), g.c_in)
    for pixel in range(g.pixels_out):
        addresses = np.arange(pixel * g.c_out, (pixel + 1) * g.c_out)
        victims = addresses - distance
        inside = (victims >= 0) & (victims < g.n_in)
        readers = np.where(inside, last[np.clip(victims, 0, g.n_in - 1)], _NEVER_READ)
        hit = readers > pixel
        if direct:
            hit |= (readers == pixel) & (addresses < addresses[-1])
        if hit.any():
            n = int(np.argmax(hit))
            return Collision(pixel, int(addresses[n]), int(victims[n]), int(readers[n]))
    return None
