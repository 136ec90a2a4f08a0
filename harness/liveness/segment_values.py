# SPDX-License-Identifier: Apache-2.0
"""Segments executed on values, in one flat memory: what is overwritten too early comes out wrong.

Arithmetic is that of 64-bit integers modulo 2^64, so it is exact whatever the sizes are, and a wrong
scalar stays wrong: weights are odd, and an odd multiple of a difference is a difference. Memory is dirty
at first. A stage reads what memory holds where its rows should be, and never what they should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from harness.geometry import Shape
from harness.geometry.segment import Ring, Segment, Stage, guest_slot
from harness.liveness.segments import walk
from harness.schema.constants import OpKind

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Values:
    """weights: of each stage, [k_h, k_w, c_in, c_out], of own-channel windows [k_h, k_w, c_out].
    operands: of each of Segment.operands, [h, w, c]."""

    weights: tuple[Int64s, ...]
    operands: dict[int, Int64s]


@dataclass(frozen=True)
class Layout:
    """Where things start in the flat memory, in scalars: operands by tensor, rings by tensor, and Y."""

    output: int
    operands: dict[int, int]
    rings: dict[int, int]
    size: int


def draw_values(segment: Segment, seed: int) -> Values:
    rng = np.random.default_rng(seed)
    weights = []
    for stage in segment.stages:
        g = stage.window
        inputs = () if _own_channel(stage) else (g.c_in,)
        weights.append(_integers(rng, (g.k_h, g.k_w, *inputs, g.c_out)) | 1)
    operands = {t: _integers(rng, _extents(segment.shape(t))) for t in segment.operands}
    return Values(tuple(weights), operands)


def layer_by_layer(segment: Segment, values: Values) -> Int64s:
    """Y, with every tensor whole."""
    tensors = dict(values.operands)
    for number, stage in enumerate(segment.stages, 1):
        source = tensors[number - 1]
        rows = []
        for row in range(stage.output.h):
            window = {y: source[y] for y in stage.reads(row)}
            made = _row(stage, values.weights[number - 1], row, window)
            rows.append(made if stage.other is None else made + tensors[stage.other][row])
        tensors[number] = np.stack(rows)
    return tensors[segment.last]


def lay_out(
    segment: Segment, gap: int, rings: Sequence[Ring], onto: int = 0, raised: int = 0
) -> Layout:
    """Y at 0, the operand `onto` at `gap` above it, then all others and the rings without any space
    between. raised: Y starts so many scalars higher, the rest stays."""
    end = max(segment.shape(segment.last).size + raised, gap + segment.shape(onto).size)
    operands = {onto: gap}
    for tensor in segment.operands:
        if tensor != onto:
            operands[tensor] = end
            end += segment.shape(tensor).size
    places = {}
    for ring in rings:
        places[ring.tensor] = end
        end += ring.size
    return Layout(raised, operands, places, end)


def run_rows(segment: Segment, values: Values, rings: Sequence[Ring], layout: Layout) -> Int64s:
    """Y as row pull leaves it in memory."""
    machine = _Machine(segment, values, rings, layout)
    for made in walk(segment):
        machine.make(made.stage, made.row)
    y = segment.shape(segment.last)
    return machine.memory[layout.output :][: y.size].reshape(_extents(y))


@dataclass
class _Machine:
    segment: Segment
    values: Values
    rings: Sequence[Ring]
    layout: Layout
    memory: Int64s = field(init=False)

    def __post_init__(self) -> None:
        self.memory = _integers(np.random.default_rng(1), (self.layout.size,))
        for tensor, start in self.layout.operands.items():
            values = self.values.operands[tensor].ravel()
            self.memory[start : start + values.size] = values

    def make(self, number: int, row: int) -> None:
        """One row of one stage. A guest goes channel by channel, each from its own channel alone; an add
        pixel by pixel, which matters where it is the last stage."""
        stage, weights = self.segment.stage(number), self.values.weights[number - 1]
        target = self._view(number, row)
        if self._host(number) is not None:
            one = replace(stage, window=replace(stage.window, c_in=1, c_out=1))
            for c in range(stage.window.c_out):
                own = slice(c, c + 1)
                window = {y: rows[:, own] for y, rows in self._window(number, row).items()}
                target[:, own] = _row(one, weights[..., own], row, window)
        elif stage.kind is OpKind.ADD:
            source = self._view(number - 1, row)
            other = source if stage.other is None else self._view(stage.other, row)
            for x in range(stage.output.w):
                added = _row(stage, weights, row, {row: source[x : x + 1]})
                target[x] = added[0] + (0 if stage.other is None else other[x])
        else:
            target[:] = _row(stage, weights, row, self._window(number, row))

    def _window(self, number: int, row: int) -> dict[int, Int64s]:
        """The memory of the rows that a stage reads for one of its own."""
        return {y: self._view(number - 1, y) for y in self.segment.stage(number).reads(row)}

    def _host(self, tensor: int) -> Ring | None:
        return next((ring for ring in self.rings if ring.guest == tensor), None)

    def _view(self, tensor: int, row: int) -> Int64s:
        """[w, c]: the memory of a row."""
        shape = self.segment.shape(tensor)
        if tensor == self.segment.last:
            start = self.layout.output + row * shape.w * shape.c
        elif tensor in self.layout.operands:
            start = self.layout.operands[tensor] + row * shape.w * shape.c
        else:
            host = self._host(tensor)
            ring = next((r for r in self.rings if r.tensor == tensor), host)
            assert ring is not None, f"tensor {tensor} has no ring"
            slot = row % ring.rows
            if ring is host:
                slot = guest_slot(self.segment.stage(tensor).window, ring.rows, row)
            start = self.layout.rings[ring.tensor] + slot * ring.w * ring.c
        return self.memory[start : start + shape.w * shape.c].reshape(shape.w, shape.c)


def _row(stage: Stage, weights: Int64s, row: int, window: dict[int, Int64s]) -> Int64s:
    """[w_out, c_out]: of the rows of its window that exist; where nothing exists it is 0."""
    g = stage.window
    width = next(iter(window.values())).shape[0] if window else g.w_in
    w_out = g.w_out if stage.kind is not OpKind.ADD else width
    made = np.zeros((w_out, g.c_out), dtype=np.int64)
    columns = np.arange(w_out, dtype=np.int64) * g.s_w - g.pad.left
    for i, y in enumerate(stage.rows_of(row)[:: g.d_h]):
        if y not in window:
            continue
        for j in range(g.k_w):
            at = columns + j * g.d_w
            real = np.flatnonzero((at >= 0) & (at < width))
            made[real] += _tap(stage, weights[i, j], window[y][at[real]])
    return made


def _tap(stage: Stage, weights: Int64s, pixels: Int64s) -> Int64s:
    """Of a depthwise stage, input channel n makes output channels n m to (n + 1) m - 1."""
    if _own_channel(stage):
        return np.repeat(pixels, stage.window.c_out // stage.window.c_in, axis=1) * weights
    return pixels @ weights


def _own_channel(stage: Stage) -> bool:
    return stage.kind is not OpKind.CONV


def _extents(shape: Shape) -> tuple[int, int, int]:
    return shape.h, shape.w, shape.c


def _integers(rng: np.random.Generator, extents: tuple[int, ...]) -> Int64s:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return rng.integers(low, high, size=extents, dtype=np.int64, endpoint=True)
