# SPDX-License-Identifier: Apache-2.0
"""Figures 2 and 3 of the paper: the order in which output pixels are made, drawn from the order that the
bench itself uses, beside what the paper says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from harness.geometry import ConvGeometry
from harness.geometry.traversal import output_pixels
from harness.paper.compare import Row, cells
from harness.report.html import svg
from harness.schema.constants import Traversal

_CELL, _TOP = 46.0, 30.0


@dataclass(frozen=True)
class Order:
    """A part of a figure. row: its legs, ours and as the paper says, as `row(3) col(2)`."""

    name: str
    picture: Markup
    row: Row


@dataclass(frozen=True)
class Asked:
    """A grid and its order. says: of the paper, the legs in our words."""

    name: str
    rows: int
    columns: int
    traversal: Traversal
    says: str


# Sec. 3.1: "the square of side floor(x*) falls between D_col(2) and D_row(2)", "pixels 7 and 8" are
# the last two of Fig. 2(a), made by col(1) and row(1); Appendix D spells out the legs of Fig. 3(b)
FIGURE_2 = (
    Asked("2(a) herringbone", 3, 3, Traversal.HERRINGBONE, "row(3) col(2) row(2) col(1) row(1)"),
    Asked("2(b) row-major", 3, 3, Traversal.ROW, "row(3) row(3) row(3)"),
)
FIGURE_3 = (
    Asked("3(a) wide", 3, 5, Traversal.HERRINGBONE, "row(5) col(2) row(4) col(1) row(3)"),
    Asked("3(b) tall", 5, 3, Traversal.HERRINGBONE, "col(5) row(2) col(4) row(1) col(3)"),
)


def orders(parts: Sequence[Asked]) -> list[Order]:
    return [_order(part) for part in parts]


def _order(part: Asked) -> Order:
    g = ConvGeometry(part.rows, part.columns, 1, 1, 1, 1)
    pixels = [divmod(int(pixel), part.columns) for pixel in output_pixels(g, part.traversal)]
    words = " ".join(_legs(pixels, part.traversal))
    row = Row(f"Figure {part.name}", cells(legs=words), cells(legs=part.says))
    return Order(part.name, _picture(part, pixels), row)


def _legs(pixels: Sequence[tuple[int, int]], traversal: Traversal) -> Iterator[str]:
    """Straight runs of neighbours, each as its axis and length. Of herringbone the axes take turns,
    which tells what a run of one pixel is."""
    start = 0  # of the run
    axis = "row" if pixels[1][0] == pixels[0][0] else "col"
    while start < len(pixels):
        down, right = (0, 1) if axis == "row" else (1, 0)
        end = start + 1
        while end < len(pixels) and pixels[end] == (
            pixels[end - 1][0] + down,
            pixels[end - 1][1] + right,
        ):
            end += 1
        yield f"{axis}({end - start})"
        start = end
        if traversal is Traversal.HERRINGBONE:
            axis = "col" if axis == "row" else "row"


def _picture(part: Asked, pixels: Sequence[tuple[int, int]]) -> Markup:
    title = f"{part.name}, {part.rows} x {part.columns}"
    places = [((c + 0.5) * _CELL + 2, _TOP + (r + 0.5) * _CELL) for r, c in pixels]
    parts = [svg.text(0, 16, title, "title")]
    for r in range(part.rows):
        for c in range(part.columns):
            parts.append(svg.box("frame", c * _CELL + 2, _TOP + r * _CELL, _CELL, _CELL))
    parts.append(svg.path("order", places))
    for n, (x, y) in enumerate(places):
        parts.append(svg.text(x + 5, y - 6, str(n)))
    width = max(part.columns * _CELL + 4, 230)
    return svg.picture(width, _TOP + part.rows * _CELL + 4, title, parts)
