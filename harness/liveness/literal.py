# SPDX-License-Identifier: Apache-2.0
"""The simulator that anybody can check by reading: one event per scalar read or written."""

from __future__ import annotations

from harness.geometry import ConvGeometry

Event = tuple[str, int, int]  # "read" or "write", scalar index, output pixel


def events(g: ConvGeometry, *, direct: bool) -> list[Event]:
    """What the plain kernel does, in order: dense input, row-major, channel by channel."""
    happened: list[Event] = []
    for pixel in range(g.h_out * g.w_out):
        r, c = divmod(pixel, g.w_out)
        rows = [r * g.s_h + i * g.d_h - g.pad.top for i in range(g.k_h)]
        columns = [c * g.s_w + j * g.d_w - g.pad.left for j in range(g.k_w)]
        reads = [
            ("read", (y * g.w_in + x) * g.c_in + channel, pixel)
            for y in rows if 0 <= y < g.h_in
            for x in columns if 0 <= x < g.w_in
            for channel in range(g.c_in)
        ]  # fmt: skip
        if not direct:
            happened += reads
        for channel in range(g.c_out):
            if direct:
                happened += reads
            happened.append(("write", pixel * g.c_out + channel, pixel))
    return happened


def collisions(happened: list[Event], distance: int) -> list[tuple[int, int, int]]:
    """Writes that destroy an input scalar still to be read: (writer pixel, address, last reader)."""
    last_read = {
        scalar: (n, pixel) for n, (what, scalar, pixel) in enumerate(happened) if what == "read"
    }
    found = []
    for n, (what, address, pixel) in enumerate(happened):
        victim = address - distance
        if what == "write" and victim in last_read and last_read[victim][0] > n:
            found.append((pixel, address, last_read[victim][1]))
    return found


def debt(g: ConvGeometry, *, direct: bool) -> int | None:
    """The least distance from which on no distance has a collision, or None if none ever has one.

    Tried one by one from a distance so large that output and input cannot meet.
    """
    happened = events(g, direct=direct)
    distance = g.n_out
    while distance > -g.n_in and not collisions(happened, distance - 1):
        distance -= 1
    return distance if distance > -g.n_in else None
