# SPDX-License-Identifier: Apache-2.0
"""Pictures of an arena: of one op its tensors on the bytes, of a network its tensors over the steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.report.html import svg
from harness.report.html.embed import shown
from harness.report.html.entry import Box
from harness.report.html.page import number

_WIDTH, _LEFT, _RIGHT = 860.0, 120.0, 20.0
_ROW, _PANEL = 24.0, 230.0


@dataclass(frozen=True)
class Line:
    """Across an arena at `value` bytes. kind: `limit`, or `theirs` for a number of the paper."""

    value: int
    words: str
    kind: str = "limit"


def layer_map(boxes: Sequence[Box], bound: int, given: int, title: str) -> Markup:
    """One row a tensor; bytes from left to right. The lowest row is what two of them share."""
    rows = [*boxes, *_shared(boxes)]
    most = max(given, bound, *(box.high for box in boxes))
    height = 34 + len(rows) * _ROW + 34

    def x(value: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * value / most

    parts = [svg.text(0, 16, title, "title")]
    for n, box in enumerate(rows):
        y = 30 + n * _ROW
        parts.append(svg.text(_LEFT - 8, y + 14, shown(box.name), "words", "end"))
        wide = x(box.high) - x(box.low)
        parts.append(svg.box(box.role, x(box.low), y, wide, _ROW - 6, _tip(box)))
    bottom = 30 + len(rows) * _ROW
    parts += [
        svg.line("grid", _LEFT, bottom, x(most), bottom),
        svg.line("limit", x(bound), 24, x(bound), bottom + 4),
        svg.text(_LEFT, bottom + 16, "0", "small"),
        svg.text(x(bound), bottom + 16, f"bound {number(bound)} bytes", "small", "end"),
    ]
    return svg.picture(_WIDTH, height, title, parts)


def _tip(box: Box) -> str:
    return f"{shown(box.name)}: bytes {number(box.low)} to {number(box.high)}"


def _shared(boxes: Sequence[Box]) -> Iterator[Box]:
    outputs = [box for box in boxes if box.role == "output"]
    for output in outputs:
        for box in boxes:
            low, high = max(box.low, output.low), min(box.high, output.high)
            if box.role == "input" and low < high:
                yield Box("shared", "shared", 0, 1, low, high)


def network_map(
    boxes: Sequence[Box],
    steps: int,
    title: str,
    lines: Sequence[Line] = (),
    band: int = 0,
    most: int = 0,
) -> Markup:
    """Tensors from their producer to their last reader; steps from left to right, bytes upwards. band:
    bytes of what is not arena, drawn on top of each step. most: the axis' end, so that two pictures
    can share one."""
    peak = max(box.high for box in boxes)
    top = max(most, round(1.05 * max(peak + band, *(line.value for line in lines), 1)))
    step = (_WIDTH - _LEFT - _RIGHT) / steps
    head = 48.0

    def y(value: float) -> float:
        return head + _PANEL * (1 - value / top)

    parts = [svg.text(0, 16, title, "title")]
    for value in _ticks(top):
        parts.append(svg.line("grid", _LEFT, y(value), _WIDTH - _RIGHT, y(value)))
        parts.append(svg.text(_LEFT - 8, y(value) + 4, number(value), "small", "end"))
    for box in boxes:
        x, wide = _LEFT + box.first * step, (box.last - box.first) * step
        high = y(box.high)
        parts.append(svg.box(box.role, x, high, wide, y(box.low) - high, _tip(box)))
    if band:
        for n in range(steps):
            reached = max((b.high for b in boxes if b.first <= n < b.last), default=0)
            high = y(reached + band)
            parts.append(svg.box("band", _LEFT + n * step, high, step, y(reached) - high))
    for line in lines:
        parts.append(svg.line(line.kind, _LEFT, y(line.value), _WIDTH - _RIGHT, y(line.value)))
        below = 13 if line.kind == "theirs" else -5
        place = y(line.value) + below
        parts.append(svg.text(_WIDTH - _RIGHT - 4, place, line.words, "small", "end"))
    bottom = head + _PANEL
    parts += [
        svg.box("frame", _LEFT, head, _WIDTH - _LEFT - _RIGHT, _PANEL),
        svg.text(4, head - 8, "bytes", "small"),
        svg.text(_LEFT, bottom + 16, "step 0", "small"),
        svg.text(_WIDTH - _RIGHT, bottom + 16, f"step {steps - 1}", "small", "end"),
    ]
    return svg.picture(_WIDTH, bottom + 26, title, parts)


def _ticks(top: int) -> range:
    """About five round numbers."""
    rough = max(1, top // 5)
    power: int = 10 ** (len(str(rough)) - 1)
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough)
    return range(0, top, step)
