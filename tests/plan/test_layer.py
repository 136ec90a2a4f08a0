# SPDX-License-Identifier: Apache-2.0
"""Plans of a single layer."""

from __future__ import annotations

import pytest

from harness.geometry import ConvGeometry, Pad
from harness.kernels import PLAIN_CONV
from harness.network import Layer
from harness.plan import Strategy, plan_at_distance, plan_layer
from harness.schema.constants import TapOrder

STEM = Layer("stem", ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1)))


def test_rip_rounds_the_gap_up_last() -> None:
    """7,185 -> 7,188 and so 14,097 -> 14,100."""
    plan = plan_layer(STEM, Strategy.RIP, TapOrder.GATHER, PLAIN_CONV)
    assert (plan.bound.workspace, plan.distance, plan.arena_bytes) == (14_097, 7_188, 14_100)
    assert (plan.output_offset, plan.input_offset, plan.scratch_bytes) == (0, 7_188, 27)
    assert plan.label == "rip"


def test_dual_keeps_both() -> None:
    plan = plan_layer(STEM, Strategy.DUAL, TapOrder.DIRECT, PLAIN_CONV)
    assert plan.arena_bytes == 48 * 48 * 3 + 24 * 24 * 24
    assert (plan.scratch_bytes, plan.label) == (0, "dual-direct")


@pytest.mark.parametrize("distance", [-48, -4, 0, 100])
def test_any_distance_fits_its_arena(distance: int) -> None:
    layer = Layer("shrinking", ConvGeometry(12, 12, 64, 16))
    plan = plan_at_distance(layer, distance, TapOrder.GATHER, PLAIN_CONV)
    assert plan.distance == distance
    assert min(plan.input_offset, plan.output_offset) == 0
    assert plan.arena_bytes >= max(plan.input_offset + 9216, plan.output_offset + 2304)
