# SPDX-License-Identifier: Apache-2.0
"""Plans of a single layer."""

from __future__ import annotations

import pytest

from harness.geometry import DIRECT, ConvGeometry, Pad
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_at_distance, plan_layer

STEM = Layer("stem", ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1)))


def test_rip_rounds_the_gap_up_last() -> None:
    """7,185 -> 7,188 and so 14,097 -> 14,100."""
    plan = plan_layer(STEM, Strategy.RIP)
    assert (plan.bound.workspace, plan.distance, plan.arena_bytes) == (14_097, 7_188, 14_100)
    assert (plan.output.offset, plan.inputs[0].offset, plan.scratch_bytes) == (0, 7_188, 27)
    assert plan.label == "rip"


def test_dual_keeps_both() -> None:
    plan = plan_layer(STEM, Strategy.DUAL, Mode(DIRECT))
    assert plan.arena_bytes == 48 * 48 * 3 + 24 * 24 * 24
    assert (plan.scratch_bytes, plan.label) == (0, "dual-direct")


@pytest.mark.parametrize("distance", [-48, -4, 0, 100])
def test_any_distance_fits_its_arena(distance: int) -> None:
    layer = Layer("shrinking", ConvGeometry(12, 12, 64, 16))
    plan = plan_at_distance(layer, distance, Mode())
    assert plan.distance == distance
    assert min(plan.inputs[0].offset, plan.output.offset) == 0
    assert plan.arena_bytes >= max(plan.inputs[0].offset + 9216, plan.output.offset + 2304)
