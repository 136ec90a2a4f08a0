# SPDX-License-Identifier: Apache-2.0
"""Orders and places against the paper's figure and against loops that are only the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.geometry import ConvGeometry, Execution, Pad, PadGeometry, UpsampleGeometry
from harness.geometry.traversal import (
    NEVER_READ,
    input_positions,
    last_readers,
    output_pixels,
    output_positions,
    pad_sources,
    stored_by,
    stored_geometry,
    upsample_sources,
)
from harness.schema.constants import Layout, StoredBy, Traversal
from tests.strategies import conv_geometries

OVER_PIXELS = [Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE, Traversal.HERRINGBONE]


@pytest.mark.parametrize(
    ("h", "w", "traversal", "expected"),
    [
        (2, 3, Traversal.ROW, [0, 1, 2, 3, 4, 5]),
        (2, 3, Traversal.COLUMN, [0, 3, 1, 4, 2, 5]),
        (2, 3, Traversal.REVERSE, [5, 4, 3, 2, 1, 0]),
        # Fig. 3(b): column of 5, row of 2, column of 4, row of 1, column of 3
        (5, 3, Traversal.HERRINGBONE, [0, 3, 6, 9, 12, 1, 2, 4, 7, 10, 13, 5, 8, 11, 14]),
        # Fig. 3(a): the same lying down
        (3, 5, Traversal.HERRINGBONE, [0, 1, 2, 3, 4, 5, 10, 6, 7, 8, 9, 11, 12, 13, 14]),
        (2, 2, Traversal.HERRINGBONE, [0, 1, 2, 3]),
        (1, 4, Traversal.HERRINGBONE, [0, 1, 2, 3]),
        (4, 1, Traversal.HERRINGBONE, [0, 1, 2, 3]),
    ],
)
def test_orders(h: int, w: int, traversal: Traversal, expected: list[int]) -> None:
    assert output_pixels(ConvGeometry(h, w, 1, 1), traversal).tolist() == expected


@pytest.mark.parametrize(("h", "w"), [(1, 1), (6, 6), (4, 9), (9, 4), (7, 1)])
def test_legs_of_equation_25(h: int, w: int) -> None:
    """Lengths and directions of the legs, and each pixel once."""
    order = output_pixels(ConvGeometry(h, w, 1, 1), Traversal.HERRINGBONE).tolist()
    major, minor = max(h, w), min(h, w)
    lengths = [major]
    for pair in range(1, minor):
        lengths += [minor - pair, major - pair]
    assert sorted(order) == list(range(h * w))
    horizontal = w >= h
    start = 0
    for length in lengths:
        leg = order[start : start + length]
        assert set(np.diff(leg)) <= {1 if horizontal else w}
        horizontal = not horizontal
        start += length
    assert start == h * w


def _last_readers(g: ConvGeometry, traversal: Traversal) -> list[int]:
    last = [NEVER_READ] * (g.h_in * g.w_in)
    for turn, pixel in enumerate(output_pixels(g, traversal).tolist()):
        r, c = divmod(pixel, g.w_out)
        for i in range(g.k_h):
            for j in range(g.k_w):
                y = r * g.s_h + i * g.d_h - g.pad.top
                x = c * g.s_w + j * g.d_w - g.pad.left
                if 0 <= y < g.h_in and 0 <= x < g.w_in:
                    last[y * g.w_in + x] = turn
    return last


@settings(max_examples=200, deadline=None)
@given(conv_geometries(), st.sampled_from(OVER_PIXELS))
def test_last_readers(g: ConvGeometry, traversal: Traversal) -> None:
    assert last_readers(g, traversal).tolist() == _last_readers(g, traversal)


@settings(max_examples=200, deadline=None)
@given(conv_geometries(), st.sampled_from(list(Layout)))
def test_herringbone_stores_the_input_by_last_reader(g: ConvGeometry, layout: Layout) -> None:
    execution = Execution(layout, traversal=Traversal.HERRINGBONE)
    readers = _last_readers(stored_geometry(g, execution), Traversal.HERRINGBONE)
    positions = input_positions(g, execution).tolist()
    in_memory = sorted(range(len(positions)), key=lambda pixel: positions[pixel])
    assert sorted(positions) == list(range(len(readers)))
    assert in_memory == sorted(range(len(readers)), key=lambda pixel: (readers[pixel], pixel))


def test_places_by_hand() -> None:
    """2x3 input with a border of one column on the left, 1x1."""
    g = ConvGeometry(2, 3, 1, 1, pad=Pad(left=1))
    for traversal in (Traversal.ROW, Traversal.REVERSE):
        padded = Execution(Layout.PADDED, traversal=traversal)
        assert input_positions(g, padded).tolist() == list(range(8))
        assert output_positions(g, traversal).tolist() == list(range(8))
        assert stored_by(padded) is StoredBy.ROW
    by_columns = Execution(traversal=Traversal.COLUMN)
    assert input_positions(g, by_columns).tolist() == [0, 2, 4, 1, 3, 5]
    padded = Execution(Layout.PADDED, traversal=Traversal.COLUMN)
    assert input_positions(g, padded).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert output_positions(g, Traversal.COLUMN).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert stored_by(padded) is StoredBy.COLUMN
    assert stored_by(Execution(traversal=Traversal.HERRINGBONE)) is StoredBy.ORDER
    # legs: top row 0 1 2 3, then 4, then 5 6 7
    assert output_positions(g, Traversal.HERRINGBONE).tolist() == list(range(8))


@settings(max_examples=100, deadline=None)
@given(conv_geometries(), st.sampled_from(OVER_PIXELS))
def test_outputs_lie_in_the_order_of_their_turns(g: ConvGeometry, traversal: Traversal) -> None:
    places = output_positions(g, traversal)[output_pixels(g, traversal)].tolist()
    turns = list(range(g.pixels_out))
    assert places == (turns[::-1] if traversal is Traversal.REVERSE else turns)


def test_sources() -> None:
    up = upsample_sources(UpsampleGeometry(1, 2, 1, 2, 3))
    assert up.tolist() == [0, 0, 0, 1, 1, 1] * 2
    border = pad_sources(PadGeometry(1, 2, 1, Pad(1, 2, 0, 1)))
    assert border.tolist() == [-1] * 5 + [-1, -1, 0, 1, -1]
