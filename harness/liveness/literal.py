# SPDX-License-Identifier: Apache-2.0
"""The simulator that anybody can check by reading: one event per scalar read or written.

It shares with the fast one only the geometry: shapes, the order of a traversal and the places in
memory that this order gives.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    PadGeometry,
    UpsampleGeometry,
)
from harness.geometry.traversal import input_positions, output_pixels, output_positions
from harness.schema.constants import Layout, OpKind, Traversal

Event = tuple[str, int, int]  # "read" or "write", scalar index, step


def events(
    kind: OpKind,
    geometry: Geometry,
    execution: Execution,
    onto: int = 0,
    *,
    release: str = "scalar",
) -> list[Event]:
    """What the plain kernel does to operand `onto` and to the output, in order.

    release `pixel`: as if a pixel's taps were all read once more after its last write.
    """
    return list(_events(kind, geometry, execution, onto, release))


def _events(
    kind: OpKind, geometry: Geometry, execution: Execution, onto: int, release: str
) -> Iterator[Event]:
    match geometry:
        case ConvGeometry() if execution.traversal is Traversal.CHANNEL:
            yield from _channel(geometry, execution)
        case ConvGeometry():
            yield from _window(kind, geometry, execution, release)
        case ElementwiseGeometry() if kind is OpKind.SOFTMAX:
            yield from _softmax(geometry, execution)
        case ElementwiseGeometry():
            for step, scalar in enumerate(_turns(execution, geometry.h * geometry.w * geometry.c)):
                yield ("read", scalar, step)
                yield ("write", scalar, step)
        case MeanGeometry():
            for scalar in range(geometry.h * geometry.w * geometry.c):
                yield ("read", scalar, 0)
            for scalar in range(geometry.c):
                yield ("write", scalar, 0)
        case ConcatGeometry():
            for step, pixel in enumerate(_turns(execution, geometry.h * geometry.w)):
                c, c_out = geometry.channels[onto], sum(geometry.channels)
                for channel in range(c):
                    yield ("read", pixel * c + channel, step)
                for channel in _turns(execution, c_out):
                    yield ("write", pixel * c_out + channel, step)
        case UpsampleGeometry() | PadGeometry():
            yield from _copies(geometry, execution)


def _turns(execution: Execution, count: int) -> range:
    return range(count)[:: -1 if execution.traversal is Traversal.REVERSE else 1]


def stored_pixel(g: ConvGeometry, execution: Execution, y: int, x: int) -> int | None:
    """Row-major number among the stored pixels of input pixel (y, x), which may lie in the padding;
    None where nothing is stored."""
    if execution.layout is Layout.PADDED:
        width = g.w_in + g.pad.left + g.pad.right
        return (y + g.pad.top) * width + x + g.pad.left
    return y * g.w_in + x if 0 <= y < g.h_in and 0 <= x < g.w_in else None


def _window(kind: OpKind, g: ConvGeometry, execution: Execution, release: str) -> Iterator[Event]:
    inputs = input_positions(g, execution).tolist()
    outputs = output_positions(g, execution.traversal).tolist()
    for step, pixel in enumerate(output_pixels(g, execution.traversal).tolist()):
        r, c = divmod(pixel, g.w_out)
        taps = [
            inputs[stored]
            for i in range(g.k_h)
            for j in range(g.k_w)
            for stored in [
                stored_pixel(
                    g,
                    execution,
                    r * g.s_h + i * g.d_h - g.pad.top,
                    c * g.s_w + j * g.d_w - g.pad.left,
                )
            ]
            if stored is not None
        ]
        reads = [("read", tap * g.c_in + n, step) for tap in taps for n in range(g.c_in)]
        if not execution.direct:
            yield from reads
        for channel in _turns(execution, g.c_out):
            if execution.direct and kind in (OpKind.CONV, OpKind.FULLY_CONNECTED):
                yield from reads
            elif execution.direct:
                own = channel // (g.c_out // g.c_in)
                yield from (("read", tap * g.c_in + own, step) for tap in taps)
            yield ("write", outputs[pixel] * g.c_out + channel, step)
        if execution.direct and release == "pixel":
            yield from reads


def _channel(g: ConvGeometry, execution: Execution) -> Iterator[Event]:
    padded = execution.layout is Layout.PADDED
    height = g.h_in + (g.pad.top + g.pad.bottom if padded else 0)
    width = g.w_in + (g.pad.left + g.pad.right if padded else 0)
    top = 0 if padded else g.pad.top
    step = 0
    for channel in range(g.c_in):
        read: set[int] = set()
        for row in range(g.h_out):
            for y in range(row * g.s_h - top, row * g.s_h - top + (g.k_h - 1) * g.d_h + 1):
                if 0 <= y < height and y not in read:
                    read.add(y)
                    for x in range(width):
                        yield ("read", (y * width + x) * g.c_in + channel, step)
            for column in range(g.w_out):
                yield ("write", (row * g.w_out + column) * g.c_out + channel, step)
            step += 1


def _softmax(g: ElementwiseGeometry, execution: Execution) -> Iterator[Event]:
    for step, pixel in enumerate(_turns(execution, g.h * g.w)):
        scalars = [pixel * g.c + channel for channel in _turns(execution, g.c)]
        for _ in ("the largest", "the sum"):
            for scalar in scalars:
                yield ("read", scalar, step)
        for scalar in scalars:
            yield ("read", scalar, step)
            yield ("write", scalar, step)


def _copies(g: UpsampleGeometry | PadGeometry, execution: Execution) -> Iterator[Event]:
    width = g.output.w
    for step, pixel in enumerate(_turns(execution, g.output.pixels)):
        r, column = divmod(pixel, width)
        if isinstance(g, UpsampleGeometry):
            y, x = r // g.f_h, column // g.f_w
        else:
            y, x = r - g.pad.top, column - g.pad.left
        copied = 0 <= y < g.h and 0 <= x < g.w
        reads = [("read", (y * g.w + x) * g.c + n, step) for n in range(g.c)]
        if copied:
            yield from reads
        for channel in _turns(execution, g.c):
            yield ("write", pixel * g.c + channel, step)


def collisions(happened: list[Event], distance: int) -> list[tuple[int, int, int]]:
    """Writes that destroy an input scalar still to be read: (writer step, address, last reader)."""
    last_read = {
        scalar: (n, step) for n, (what, scalar, step) in enumerate(happened) if what == "read"
    }
    found = []
    for n, (what, address, step) in enumerate(happened):
        victim = address - distance
        if what == "write" and victim in last_read and last_read[victim][0] > n:
            found.append((step, address, last_read[victim][1]))
    return found


def debt(happened: list[Event], n_in: int, n_out: int, traversal: Traversal) -> int | None:
    """The least distance from which on no distance has a collision, or None if none ever has one.

    Tried one by one from a distance so large that output and input cannot meet. n_in, n_out: scalars
    as stored. REVERSE counts n_out - n_in - distance; CHANNEL: 0 if that distance has no collision.
    """
    reverse = traversal is Traversal.REVERSE

    def bad(distance: int) -> bool:
        return bool(collisions(happened, n_out - n_in - distance if reverse else distance))

    distance = n_out
    while distance > -n_in and not bad(distance - 1):
        distance -= 1
    if distance == -n_in:
        return None
    return 0 if traversal is Traversal.CHANNEL and not bad(0) else distance
