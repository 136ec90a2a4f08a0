# SPDX-License-Identifier: Apache-2.0
"""Where an output parts from what the host says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry
from harness.geometry.traversal import output_positions
from harness.plan import Plan
from harness.results import WrongOutput

Int8s = NDArray[np.int8]


def first_wrong(plan: Plan, seen: bytes, expected: Int8s) -> WrongOutput | None:
    """Of a layer, both as stored. None where they are equal: what was read back is not what had the
    wrong CRC."""
    output = plan.layer.output
    return _first(seen, expected, output.w, output.c, lambda pixel: _row_major(plan, pixel))


def wrong_bytes(seen: bytes, expected: Int8s) -> WrongOutput | None:
    """Of a tensor stored by rows. expected: int8 [h, w, c]. None where they are equal."""
    _, w, c = expected.shape
    return _first(seen, expected.ravel(), w, c, lambda pixel: pixel)


def _first(
    seen: bytes, expected: Int8s, w: int, c: int, row_major: Callable[[int], int]
) -> WrongOutput | None:
    found = np.frombuffer(seen, np.int8)
    wrong = np.flatnonzero(found != expected)
    if not wrong.size:
        return None
    first = int(wrong[0])
    pixel, channel = divmod(first, c)
    row, column = divmod(row_major(pixel), w)
    return WrongOutput(
        len(wrong), pixel, row, column, channel, int(found[first]), int(expected[first])
    )


def _row_major(plan: Plan, stored: int) -> int:
    """Number by rows of the pixel at a place in memory."""
    geometry = plan.layer.geometry
    if not isinstance(geometry, ConvGeometry):
        return stored
    return int(np.argmax(output_positions(geometry, plan.mode.execution.traversal) == stored))
