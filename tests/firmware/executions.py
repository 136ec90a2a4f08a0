# SPDX-License-Identifier: Apache-2.0
"""Convolutions in every execution, and what they leave in memory by definition: one memory, where
input and output may lie over each other."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.schema.constants import Layout, Rounding, StoredBy, TapOrder, Traversal
from tests.firmware.support import CaseParts, Conv, input_byte, paint, requantize, tensor

Pixel = tuple[int, int]
STORED = {
    Traversal.ROW: StoredBy.ROW,
    Traversal.COLUMN: StoredBy.COLUMN,
    Traversal.REVERSE: StoredBy.ROW,
    Traversal.HERRINGBONE: StoredBy.ORDER,
}
EXECUTIONS = [
    (layout, order, traversal)
    for layout in Layout
    for order in TapOrder
    for traversal in STORED
    if traversal is not Traversal.HERRINGBONE or order is TapOrder.DIRECT
]


@dataclass(frozen=True)
class Walk:
    """A convolution and how it is executed. conv has the input's real size and its padding, which
    `padded` stores; places: where each stored pixel lies, in pixels. fill: of the stored padding."""

    conv: Conv
    layout: Layout
    traversal: Traversal
    places: dict[Pixel, int]
    h: int  # of the input as stored
    w: int
    fill: int
    input_offset: int
    output_offset: int

    @property
    def arena(self) -> int:
        n_in = self.h * self.w * self.conv.c_in
        return max(self.input_offset + n_in, self.output_offset + self.conv.n_out)

    @property
    def corner(self) -> Pixel:
        """Of the real input in the stored one."""
        top, left, _, _ = self.conv.pad
        return (top, left) if self.layout is Layout.PADDED else (0, 0)


def make_walk(
    conv: Conv, layout: Layout, traversal: Traversal, distance: int | None, rng: random.Random
) -> Walk:
    """distance: of the input's first byte over the output's; None: they do not meet. The order of
    herringbone's input is any, to show that the kernel follows the table."""
    top, left, bottom, right = conv.pad if layout is Layout.PADDED else (0, 0, 0, 0)
    h, w = conv.h_in + top + bottom, conv.w_in + left + right
    pixels = [(y, x) for y in range(h) for x in range(w)]
    if traversal is Traversal.COLUMN:
        pixels = [(y, x) for x in range(w) for y in range(h)]
    elif traversal is Traversal.HERRINGBONE:
        rng.shuffle(pixels)
    if distance is None:
        distance = rng.choice((-h * w * conv.c_in - rng.randint(0, 5), conv.n_out))
    places = {pixel: place for place, pixel in enumerate(pixels)}
    fill = conv.zero_in if rng.random() < 0.8 else rng.randint(-128, 127)
    base = max(0, -distance)
    return Walk(conv, layout, traversal, places, h, w, fill, base + distance, base)


def walk_parts(walk: Walk) -> CaseParts:
    conv = walk.conv
    weights = struct.pack(f"{len(conv.weights)}b", *conv.weights)
    changes: dict[str, Any] = {"stored_by": STORED[walk.traversal]}
    if walk.traversal is Traversal.HERRINGBONE:
        weights += b"\0" * (len(weights) % 2)
        changes["positions_offset"] = len(weights)
        table = [walk.places[y, x] for y in range(walk.h) for x in range(walk.w)]
        weights += struct.pack(f"<{len(table)}H", *table)
    if walk.layout is Layout.PADDED:
        names = ("pad_top", "pad_left", "pad_bottom", "pad_right")
        changes |= {"fill": walk.fill, **dict(zip(names, conv.pad, strict=True))}
    stored = StoredBy.COLUMN if walk.traversal is Traversal.COLUMN else StoredBy.ROW
    tensors = [
        tensor(walk.input_offset, walk.h, walk.w, conv.c_in, **changes),
        tensor(walk.output_offset, conv.h_out, conv.w_out, conv.c_out, stored_by=stored),
    ]
    op = replace(conv.record(), layout=walk.layout, traversal=walk.traversal)
    scratch = conv.field if conv.order is TapOrder.GATHER else 0
    return CaseParts([op], tensors, conv.quants, weights, walk.arena, scratch)


# ---- the definition ----


def output_pixels(h: int, w: int, traversal: Traversal) -> Iterator[Pixel]:
    """Output pixels in the order of their computation."""
    if traversal is Traversal.HERRINGBONE:
        yield from _herringbone(h, w)
    elif traversal is Traversal.COLUMN:
        yield from ((y, x) for x in range(w) for y in range(h))
    else:
        rows = [(y, x) for y in range(h) for x in range(w)]
        yield from reversed(rows) if traversal is Traversal.REVERSE else rows


def _herringbone(h: int, w: int) -> Iterator[Pixel]:
    """rip-paper, Eq. 25: legs maj(M), min(n - 1), maj(M - 1), ..., min(1), maj(M - n + 1). The leg
    number i along either axis starts on the diagonal's pixel i, minor legs one pixel further."""
    longer, shorter = max(h, w), min(h, w)
    for leg in range(shorter):
        major = [(leg, leg + step) for step in range(longer - leg)]
        minor = [(leg + 1 + step, leg) for step in range(shorter - 1 - leg)]
        yield from major + minor if w >= h else [(x, y) for y, x in major + minor]


def walk_by_definition(walk: Walk, seed: int, complement: int) -> bytes:
    """The arena afterwards: paint, input, and the output written byte by byte into the same memory."""
    conv = walk.conv
    arena = np.array([paint(1024 + at, complement) for at in range(walk.arena)], np.uint8)
    top, left = walk.corner
    index = 0
    for y in range(walk.h):
        for x in range(walk.w):
            at = walk.input_offset + walk.places[y, x] * conv.c_in
            real = 0 <= y - top < conv.h_in and 0 <= x - left < conv.w_in
            for channel in range(conv.c_in):
                arena[at + channel] = input_byte(seed, index) if real else walk.fill & 0xFF
                index += real
    weights = np.array(conv.weights, np.int64).reshape(conv.c_out, conv.field)
    reverse = walk.traversal is Traversal.REVERSE
    channels = range(conv.c_out)[:: -1 if reverse else 1]
    to = walk.output_offset + (conv.n_out - 1 if reverse else 0)
    for pixel in output_pixels(conv.h_out, conv.w_out, walk.traversal):
        addresses = tap_addresses(walk, pixel)
        gathered = _read(arena, addresses, conv.zero_in)
        for channel in channels:
            if conv.order is TapOrder.DIRECT:
                gathered = _read(arena, addresses, conv.zero_in)
            total = int((gathered - conv.zero_in) @ weights[channel])
            arena[to] = _output(conv, total, channel) & 0xFF
            to += -1 if reverse else 1
    return arena.tobytes()


def tap_addresses(walk: Walk, pixel: Pixel) -> NDArray[np.int64]:
    """Of a pixel's taps in the order of the weights, -1 for padding that is not stored."""
    conv, places = walk.conv, walk.places
    top, left = (0, 0) if walk.layout is Layout.PADDED else conv.pad[:2]
    addresses: list[int] = []
    for k_y in range(conv.k[0]):
        for k_x in range(conv.k[1]):
            y = pixel[0] * conv.s[0] - top + k_y * conv.d[0]
            x = pixel[1] * conv.s[1] - left + k_x * conv.d[1]
            place = places.get((y, x))
            at = None if place is None else walk.input_offset + place * conv.c_in
            addresses += [-1 if at is None else at + channel for channel in range(conv.c_in)]
    return np.array(addresses, np.int64)


def _read(
    arena: NDArray[np.uint8], addresses: NDArray[np.int64], padding: int
) -> NDArray[np.int64]:
    values = arena[addresses].astype(np.int8).astype(np.int64)
    return np.where(addresses < 0, padding, values)


def _output(conv: Conv, total: int, channel: int) -> int:
    quant = conv.quants[channel]
    total = ((total + quant.bias + 2**31) & 0xFFFFFFFF) - 2**31
    if conv.rounding is Rounding.TRUNCATE:
        scale = np.ldexp(np.float32(quant.multiplier), quant.shift - 31)
        scaled = min(max(int(np.float32(total) * scale), -(2**31)), 2**31 - 1)
    else:
        scaled = requantize(total, quant.multiplier, quant.shift, conv.rounding)
    return min(max(scaled + conv.zero_out, conv.low), conv.high)
