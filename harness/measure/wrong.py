# SPDX-License-Identifier: Apache-2.0
"""Where an output parts from what the host says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry
from harness.geometry.traversal import output_positions
from harness.plan import Plan
from harness.results import WrongOutput


def first_wrong(plan: Plan, seen: bytes, expected: NDArray[np.int8]) -> WrongOutput | None:
    """Both as stored. None where they are equal: what was read back is not what had the wrong CRC."""
    found = np.frombuffer(seen, np.int8)
    wrong = np.flatnonzero(found != expected)
    if not wrong.size:
        return None
    first = int(wrong[0])
    pixel, channel = divmod(first, plan.layer.output.c)
    row, column = divmod(_row_major(plan, pixel), plan.layer.output.w)
    return WrongOutput(
        len(wrong), pixel, row, column, channel, int(found[first]), int(expected[first])
    )


def _row_major(plan: Plan, stored: int) -> int:
    """Number by rows of the pixel at a place in memory."""
    geometry = plan.layer.geometry
    if not isinstance(geometry, ConvGeometry):
        return stored
    return int(np.argmax(output_positions(geometry, plan.mode.execution.traversal) == stored))
