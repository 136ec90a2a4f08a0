# SPDX-License-Identifier: Apache-2.0
"""The first wrong byte of an output, as a row and a column of the image whatever the order in memory."""

from __future__ import annotations

import numpy as np
import pytest

from harness.geometry import ConvGeometry, ElementwiseGeometry, Execution, Pad, UpsampleGeometry
from harness.geometry.traversal import output_pixels
from harness.measure.wrong import first_wrong
from harness.network import Layer
from harness.plan import Mode, Plan, Strategy, plan_layer
from harness.results import WrongOutput
from harness.schema.constants import OpKind, TapOrder, Traversal

GEOMETRY = ConvGeometry(3, 4, 2, 5, 3, 3, pad=Pad.same(1, 1))  # 3 x 4 pixels of 5
LAYER = Layer("a", GEOMETRY)


def _plan(traversal: Traversal) -> Plan:
    way = Execution(tap_order=TapOrder.DIRECT, traversal=traversal)
    return plan_layer(LAYER, Strategy.RIP, Mode(way))


def _wrong(plan: Plan, *places: int) -> WrongOutput | None:
    expected = np.zeros(plan.layer.n_out, np.int8)
    seen = expected.copy()
    for place in places:
        seen[place] = -7
    return first_wrong(plan, seen.tobytes(), expected)


@pytest.mark.parametrize(
    ("traversal", "row", "column"),
    [
        (Traversal.ROW, 1, 2),  # pixel 6 of rows of 4
        (Traversal.COLUMN, 0, 2),  # of columns of 3
        (Traversal.REVERSE, 1, 2),  # stored by rows
        (Traversal.HERRINGBONE, 1, 1),  # the top row, the rest of the left column, then row 1
    ],
)
def test_rows_and_columns(traversal: Traversal, row: int, column: int) -> None:
    found = _wrong(_plan(traversal), 6 * 5 + 3, 6 * 5 + 4, 55)
    assert found == WrongOutput(3, 6, row, column, 3, -7, 0)


@pytest.mark.parametrize("traversal", [t for t in Traversal if t is not Traversal.CHANNEL])
def test_every_pixel_of_every_order(traversal: Traversal) -> None:
    """The n-th in memory is the n-th processed, and in REVERSE the n-th by rows."""
    order = output_pixels(GEOMETRY, traversal).tolist()
    for place, number in enumerate(order[::-1] if traversal is Traversal.REVERSE else order):
        found = _wrong(_plan(traversal), place * 5)
        assert found is not None
        assert (found.pixel, found.channel) == (place, 0)
        assert found.row * 4 + found.column == number


def test_channel_by_channel_is_stored_by_rows() -> None:
    layer = Layer("b", ConvGeometry(3, 4, 5, 5, 3, 3, pad=Pad.same(1, 1)), OpKind.DEPTHWISE)
    plan = plan_layer(layer, Strategy.DUAL)
    assert plan.mode.execution.traversal is Traversal.CHANNEL
    assert _wrong(plan, 33) == WrongOutput(1, 6, 1, 2, 3, -7, 0)


def test_other_operators() -> None:
    up = plan_layer(Layer("c", UpsampleGeometry(2, 3, 2), OpKind.UPSAMPLE), Strategy.RIP)
    assert _wrong(up, 29) == WrongOutput(1, 14, 2, 2, 1, -7, 0)
    add = plan_layer(Layer("d", ElementwiseGeometry(2, 3, 2, 2), OpKind.ADD), Strategy.RIP)
    assert _wrong(add, 7, 9) == WrongOutput(2, 3, 1, 0, 1, -7, 0)


def test_nothing_wrong() -> None:
    assert _wrong(_plan(Traversal.ROW)) is None


def test_in_words() -> None:
    found = _wrong(_plan(Traversal.COLUMN), 33)
    assert str(found) == (
        "1 bytes, the first in pixel 6 (row 0, column 2), channel 3: -7 instead of 0"
    )
