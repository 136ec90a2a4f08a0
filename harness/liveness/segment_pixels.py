# SPDX-License-Identifier: Apache-2.0
"""Pixel pull executed on values, in one flat memory: whole rows, a strip of columns, one pixel.

Like harness.liveness.segment_values, and for expand, depthwise, project and an add only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry
from harness.geometry.segment import Segment
from harness.liveness.segment_values import Values

Int64s = NDArray[np.int64]


def run_pixels(segment: Segment, values: Values, gap: int, *, narrower: int = 0) -> Int64s:
    """Y with X at `gap` above it, as memory holds it in the end. narrower: columns that the strip
    lacks."""
    machine = _Machine(segment, values, gap, narrower)
    for row in range(machine.g.h_out):
        machine.make_row(row)
    y = segment.shape(segment.last)
    return machine.memory[: y.size].reshape(y.h, y.w, y.c)


@dataclass
class _Machine:
    segment: Segment
    values: Values
    gap: int
    narrower: int
    memory: Int64s = field(init=False)
    rows: Int64s = field(init=False)
    strip: Int64s = field(init=False)

    def __post_init__(self) -> None:
        g = self.g
        x, y = self.segment.shape(0), self.segment.shape(self.segment.last)
        outside = [t for t in self.segment.operands if t < 0]
        end = max(y.size, self.gap + x.size)
        whole = (g.k_h_eff - g.s_h) * g.w_in * g.c_in
        columns = g.k_w_eff - self.narrower
        strip = g.s_h * columns * g.c_in
        spare = end + whole + strip
        size = spare + sum(self.segment.shape(t).size for t in outside)
        self.memory = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, size, dtype=np.int64)
        self.memory[self.gap : self.gap + x.size] = self.values.operands[0].ravel()
        shape = (g.k_h_eff - g.s_h, g.w_in, g.c_in)
        self.rows = self.memory[end : end + whole].reshape(shape)
        self.strip = self.memory[end + whole : spare].reshape(g.s_h, columns, g.c_in)
        self.others = {}
        for tensor in outside:
            pixels = self.values.operands[tensor].reshape(-1, y.c)
            place = self.memory[spare : spare + pixels.size].reshape(pixels.shape)
            place[:] = pixels
            self.others[tensor] = place
            spare += pixels.size

    @property
    def g(self) -> ConvGeometry:
        return self.segment.stages[1].window

    def make_row(self, row: int) -> None:
        g = self.g
        newest = row * g.s_h - g.pad.top + g.k_h_eff - g.s_h  # the first of s_h rows
        if row == 0:
            for y in range(min(newest, g.h_in)):
                for x in range(g.w_in):
                    self.rows[y % len(self.rows), x] = self._expanded(y, x)
        entered = 0
        for column in range(g.w_out):
            start = column * g.s_w - g.pad.left
            for x in range(entered, min(g.w_in, start + g.k_w_eff)):
                self._keep(row, newest, x - self.strip.shape[1])
                for y in range(max(0, newest), min(g.h_in, newest + g.s_h)):
                    self.strip[y - newest, x % self.strip.shape[1]] = self._expanded(y, x)
                entered = x + 1
            self._store(row, column, newest)
        for x in range(max(0, entered - self.strip.shape[1]), entered):
            self._keep(row, newest, x)

    def _keep(self, row: int, newest: int, x: int) -> None:
        """A column leaves the strip: the rows that the next output row reads join the whole ones."""
        g = self.g
        following = (row + 1) * g.s_h - g.pad.top
        for y in range(max(0, newest, following), min(g.h_in, newest + g.s_h)):
            if x >= 0:
                pixel = self.strip[y - newest, x % self.strip.shape[1]]
                self.rows[y % len(self.rows), x] = pixel

    def _expanded(self, y: int, x: int) -> Int64s:
        shape = self.segment.shape(0)
        start = self.gap + (y * shape.w + x) * shape.c
        made: Int64s = self.memory[start : start + shape.c] @ self.values.weights[0][0, 0]
        return made

    def _store(self, row: int, column: int, newest: int) -> None:
        g = self.g
        pixel = np.zeros(g.c_out, dtype=np.int64)
        for i in range(g.k_h):
            y = row * g.s_h - g.pad.top + i * g.d_h
            for j in range(g.k_w):
                x = column * g.s_w - g.pad.left + j * g.d_w
                if not (0 <= y < g.h_in and 0 <= x < g.w_in):
                    continue
                held = (
                    self.rows[y % len(self.rows), x]
                    if y < newest
                    else self.strip[y - newest, x % self.strip.shape[1]]
                )
                pixel += np.repeat(held, g.c_out // g.c_in) * self.values.weights[1][i, j]
        made = pixel @ self.values.weights[2][0, 0]
        n, c = row * g.w_out + column, made.size
        last = self.segment.stages[-1]
        if self.segment.last == 4:
            made = made * self.values.weights[3][0, 0]
            if last.other == 0:
                made = made + self.memory[self.gap + n * c : self.gap + (n + 1) * c]
            elif last.other is not None:
                made = made + self.others[last.other][n]
        self.memory[n * c : (n + 1) * c] = made
