# SPDX-License-Identifier: Apache-2.0
"""The figure of `ripbench gap --figure`, as SVG of our own.

No plotting library: a curve, two grids and some words need about a hundred lines, no dependency of
eight megabytes, and the same layer gives the same bytes, so a figure can be kept under version control.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from harness.bounds import published
from harness.cli.explain import Explanation, binned
from harness.geometry import ConvGeometry
from harness.geometry.traversal import output_pixels
from harness.schema.constants import Traversal

_WIDTH, _HEIGHT = 760, 560
_INK, _PALE, _MARK, _FIELD = "#222222", "#b8bec6", "#c0392b", "#f3c9c2"
_MOST_CELLS = 40  # of an axis: beyond it a grid is drawn without its cells
_BINS = 640


def figure(title: str, e: Explanation) -> str:
    """Above: the debt of each output pixel, the binding one marked. Below: the output in row order and
    in herringbone order, and the stored input with the binding pixel's receptive field."""
    parts = [
        *_text(20, 26, title, size=15),
        *_curve(e, x=70, y=50, w=_WIDTH - 100, h=210),
        *_order(e, Traversal.ROW, x=20, y=330),
        *_order(e, Traversal.HERRINGBONE, x=270, y=330),
        *_input(e, x=520, y=330),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" fill="{_INK}">'
    )
    return "\n".join(
        [head, f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>', *parts]
    ) + ("\n</svg>\n")


def _text(x: float, y: float, words: str, size: int = 12, anchor: str = "start") -> Iterator[str]:
    yield (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor={quoteattr(anchor)}>'
        f"{escape(words)}</text>"
    )


def _line(points: Iterable[tuple[float, float]], colour: str, width: float = 1.5) -> Iterator[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'


def _box(x: float, y: float, w: float, h: float, fill: str, stroke: str) -> Iterator[str]:
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" '
        f'stroke="{stroke}"/>'
    )


def _curve(e: Explanation, x: float, y: float, w: float, h: float) -> Iterator[str]:
    yield from _box(x, y, w, h, "none", _PALE)
    yield from _text(x, y + h + 32, "output pixel, in row order")
    yield from _text(x, y + h + 16, "0")
    yield from _text(x + w, y + h + 16, str(len(e.debts) - 1), anchor="end")
    bins = binned(e, _BINS)
    values = [value for value in bins if value is not None]
    if not values or e.binding is None:
        yield from _text(x + w / 2, y + h / 2, "no debt", anchor="middle")
        return
    low, high = min(0, *values), max(1, *values)

    def at(pixel: float, debt: float) -> tuple[float, float]:
        across = pixel / max(1, len(e.debts) - 1)
        return x + w * across, y + h * (1 - (debt - low) / (high - low))

    step = len(e.debts) / len(bins)
    points = [
        at(min(len(e.debts) - 1, n * step), value)
        for n, value in enumerate(bins)
        if value is not None
    ]
    yield from _line([at(0, 0), at(len(e.debts) - 1, 0)], _PALE)
    yield from _line(points, _INK)
    for value in {low, high}:
        yield from _text(x - 6, at(0, value)[1] + 4, str(value), anchor="end")
    r, c = e.binding.output
    cx, cy = at(r * e.geometry.w_out + c, e.binding.debt)
    yield f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="5" fill="{_MARK}"/>'
    words = f"binds: debt {e.binding.debt} at ({r}, {c}), tap {e.binding.tap}"
    yield from _text(x + w, y + h + 32, words, anchor="end")


def _grid(h: int, w: int, x: float, y: float) -> tuple[float, list[str]]:
    """Side of a cell, and a grid of h x w cells in a square of 200."""
    cell = 200 / max(h, w)
    lines = [*_box(x, y, cell * w, cell * h, "none", _PALE)]
    if max(h, w) <= _MOST_CELLS:
        for n in range(1, h):
            lines += _line([(x, y + n * cell), (x + w * cell, y + n * cell)], _PALE, 0.5)
        for n in range(1, w):
            lines += _line([(x + n * cell, y), (x + n * cell, y + h * cell)], _PALE, 0.5)
    return cell, lines


def _cell(x: float, y: float, side: float, colour: str) -> Iterator[str]:
    """A pixel, never too small to be seen."""
    seen = max(side, 3.0)
    yield from _box(x, y, seen, seen, colour, colour)


def _order(e: Explanation, traversal: Traversal, x: float, y: float) -> Iterator[str]:
    g = e.geometry
    yield from _text(x, y - 10, f"output {g.h_out} x {g.w_out}, {traversal.name.lower()} order")
    cell, lines = _grid(g.h_out, g.w_out, x, y)
    yield from lines
    if e.binding is not None and traversal is Traversal.ROW:
        r, c = e.binding.output
        yield from _cell(x + c * cell, y + r * cell, cell, _MARK)
    for leg in _legs(g, traversal):
        rows, columns = np.divmod(leg, g.w_out)
        ends = [
            (x + (c + 0.5) * cell, y + (r + 0.5) * cell) for r, c in zip(rows, columns, strict=True)
        ]
        yield from _line([ends[0], ends[-1]], _INK, 1)
        yield f'<circle cx="{ends[0][0]:.1f}" cy="{ends[0][1]:.1f}" r="1.8"/>'


def _legs(g: ConvGeometry, traversal: Traversal) -> Iterator[NDArray[np.int64]]:
    """Straight runs of the traversal, each as its pixels; of a large grid every n-th, so that about
    _MOST_CELLS are drawn (of herringbone a leg of either axis, in turn)."""
    order = output_pixels(g, traversal)
    lengths = [g.w_out] * g.h_out
    together = 1
    if traversal is Traversal.HERRINGBONE:
        lengths = [length for _, length in published.legs(g.h_out, g.w_out)]
        together = 2
    every = -(-len(lengths) // _MOST_CELLS)
    start = 0
    for n, length in enumerate(lengths):
        if n // together % every == 0:
            yield order[start : start + length]
        start += length


def _input(e: Explanation, x: float, y: float) -> Iterator[str]:
    g = e.geometry
    yield from _text(x, y - 10, f"stored input {g.h_in} x {g.w_in}")
    cell, lines = _grid(g.h_in, g.w_in, x, y)
    if e.binding is None:
        yield from lines
        return
    r, c = e.binding.output
    for i in range(g.k_h):
        for j in range(g.k_w):
            row, column = r * g.s_h + i * g.d_h - g.pad.top, c * g.s_w + j * g.d_w - g.pad.left
            if 0 <= row < g.h_in and 0 <= column < g.w_in:
                first = (row, column) == e.binding.stored
                colour = _MARK if first else _FIELD
                yield from _cell(x + column * cell, y + row * cell, cell, colour)
    yield from lines
    yield from _text(x, y + g.h_in * cell + 16, f"reads from {e.binding.stored} on", size=11)
