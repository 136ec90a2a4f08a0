# SPDX-License-Identifier: Apache-2.0
"""Operators executed event by event on real bytes, in loops that are only the definition.

`execute` replays the literal simulator's reads and writes in one memory; what is written is computed
from the values that the reads found, by the functions below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    Execution,
    PadGeometry,
    UpsampleGeometry,
)
from harness.geometry.traversal import input_positions, output_pixels
from harness.liveness.literal import Event, stored_pixel
from harness.reference.conv import ConvParameters, finish
from harness.schema.constants import OpKind, Traversal

Seen = dict[int, list[int]]  # of each scalar of the operand the values that reads found, in order
Value = Callable[[int, int, Seen], int]  # of (step, address in the output)


def execute(
    happened: list[Event], stored: np.ndarray, n_out: int, distance: int, value: Value
) -> np.ndarray:
    """The output's bytes at the end."""
    memory = {distance + scalar: int(x) for scalar, x in enumerate(stored)}
    seen: Seen = defaultdict(list)
    for what, scalar, step in happened:
        if what == "read":
            seen[scalar].append(memory[distance + scalar])
        else:
            memory[scalar] = value(step, scalar, seen)
    return np.array([memory[scalar] for scalar in range(n_out)], np.int8)


def as_int8(value: int) -> int:
    return (value + 128) % 256 - 128


class _Field:
    """Of each output address the taps' places in the stored input, None where nothing is stored."""

    def __init__(self, g: ConvGeometry, execution: Execution) -> None:
        self._g = g
        places = input_positions(g, execution).tolist()
        self._taps = []
        for pixel in range(g.pixels_out):
            r, c = divmod(pixel, g.w_out)
            found: list[int | None] = []
            for i in range(g.k_h):
                for j in range(g.k_w):
                    y, x = r * g.s_h + i * g.d_h - g.pad.top, c * g.s_w + j * g.d_w - g.pad.left
                    number = stored_pixel(g, execution, y, x)
                    found.append(None if number is None else places[number])
            self._taps.append(found)
        by_rows = execution.traversal in (Traversal.REVERSE, Traversal.CHANNEL)
        self._pixels = output_pixels(g, Traversal.ROW if by_rows else execution.traversal).tolist()

    def taps(self, address: int) -> list[int | None]:
        return self._taps[self._pixels[address // self._g.c_out]]


def convolved(kind: OpKind, g: ConvGeometry, p: ConvParameters, execution: Execution) -> Value:
    field = _Field(g, execution)

    def value(_: int, address: int, seen: Seen) -> int:
        channel = address % g.c_out
        own = channel // (g.c_out // g.c_in) if kind is OpKind.DEPTHWISE else None
        total = 0
        for number, tap in enumerate(field.taps(address)):
            for n in range(g.c_in):
                if tap is None or (own is not None and n != own):
                    continue
                i, j = divmod(number, g.k_w)
                weight = p.weights[channel, i, j, n] if own is None else p.weights[i, j, channel]
                total += (seen[tap * g.c_in + n][-1] - p.input_zero_point) * int(weight)
        return int(finish(p, np.array([[total]]), slice(channel, channel + 1))[0, 0])

    return value


def pooled(g: ConvGeometry, execution: Execution, *, largest: bool) -> Value:
    """Of a window without a tap on the image: 0, since no pool is defined there."""
    field = _Field(g, execution)

    def value(_: int, address: int, seen: Seen) -> int:
        channel = address % g.c_out
        taps = [tap for tap in field.taps(address) if tap is not None]
        values = [seen[tap * g.c_in + channel][-1] for tap in taps]
        if not values:
            return 0
        return max(values) if largest else sum(values) // len(values)

    return value


def mapped(table: np.ndarray, other: np.ndarray) -> Value:
    """table of x, plus the other operand."""
    return lambda _, address, seen: as_int8(
        int(table[seen[address][-1] + 128]) + int(other[address % len(other)])
    )


def softmax_like(g_c: int) -> Value:
    """Something of the first pass' largest, the second one's sum and the third one's value."""

    def value(_: int, address: int, seen: Seen) -> int:
        pixel = address - address % g_c
        channels = range(pixel, pixel + g_c)
        top = max(seen[scalar][0] for scalar in channels)
        return as_int8(top - sum(seen[scalar][1] for scalar in channels) + 3 * seen[address][2])

    return value


def copied(g: UpsampleGeometry | PadGeometry, fill: int) -> Value:
    def value(_: int, address: int, seen: Seen) -> int:
        pixel, channel = divmod(address, g.c)
        r, column = divmod(pixel, g.output.w)
        if isinstance(g, UpsampleGeometry):
            y, x = r // g.f_h, column // g.f_w
        else:
            y, x = r - g.pad.top, column - g.pad.left
        if not (0 <= y < g.h and 0 <= x < g.w):
            return fill
        return seen[(y * g.w + x) * g.c + channel][-1]

    return value


def concatenated(g: ConcatGeometry, xs: list[np.ndarray], onto: int) -> Value:
    def value(_: int, address: int, seen: Seen) -> int:
        pixel, channel = divmod(address, sum(g.channels))
        operand = 0
        while channel >= g.channels[operand]:
            channel -= g.channels[operand]
            operand += 1
        scalar = pixel * g.channels[operand] + channel
        return seen[scalar][-1] if operand == onto else int(xs[operand].ravel()[scalar])

    return value
