# SPDX-License-Identifier: Apache-2.0
"""Where plans put the tensors of every operator, in every mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Execution, Pad, UpsampleGeometry
from harness.kernels import schedule_of
from harness.liveness import Schedule, collides, debt, literal
from harness.network import Layer
from harness.plan import (
    LAYER_STRATEGIES,
    Mode,
    Place,
    Plan,
    Strategy,
    modes,
    plan_at_distance,
    plan_layer,
    proof_distances,
)
from harness.schema.constants import Layout, OpKind, Traversal
from tests.layers import SHARING, layers, shipped, some_layers

V = 4
CHANNEL = Mode(Execution(traversal=Traversal.CHANNEL))


def _steps(layer: Layer, mode: Mode) -> Schedule:
    return schedule_of(layer.kind, layer.geometry, mode.execution, mode.onto)


def _rip_plans(layer: Layer) -> Iterator[Plan]:
    for mode in modes(layer):
        if mode.execution.traversal is Traversal.CHANNEL and collides(_steps(layer, mode), 0):
            continue
        yield plan_layer(layer, Strategy.RIP, mode)
        yield plan_layer(layer, Strategy.RIP, replace(mode, copied=True))


def _meet(a: Place, b: Place) -> bool:
    return a.offset < b.end and b.offset < a.end


def _check_arena(plan: Plan) -> None:
    """Inside the arena, from its start to its end; aligned; operands but the shared one apart."""
    places = (*plan.inputs, *plan.loaded, plan.output)
    assert min(place.offset for place in places) == 0
    assert max(place.end for place in places) == plan.arena_bytes
    assert all(place.offset % V == 0 for place in places)
    assert 0 <= plan.arena_bytes - plan.exact_workspace < V * len(plan.inputs)
    for n, place in enumerate(plan.inputs):
        others = [*plan.inputs[:n], *plan.inputs[n + 1 :]]
        if plan.strategy is Strategy.DUAL or n != plan.mode.onto:
            others += [plan.output] + ([plan.arrival] if plan.arrival else [])
        assert not any(_meet(place, other) for other in others)


@given(layer=layers())
@settings(max_examples=120, deadline=None)
def test_dual(layer: Layer) -> None:
    for mode in modes(layer):
        plan = plan_layer(layer, Strategy.DUAL, replace(mode, copied=True))
        assert plan.arrival is None
        assert plan.loaded == plan.inputs
        assert plan.mode == mode
        assert plan.output.offset == 0
        _check_arena(plan)


@given(layer=layers(SHARING))
@settings(max_examples=200, deadline=None)
def test_rip(layer: Layer) -> None:
    for plan in _rip_plans(layer):
        onto, steps = plan.mode.onto, _steps(layer, plan.mode)
        _check_arena(plan)
        assert plan.distance % V == 0
        assert not collides(steps, plan.distance)
        assert plan.inputs[onto].shape.size == steps.n_in
        assert plan.unit == steps.unit
        if plan.arrival is not None:
            assert plan.mode.copied
            assert plan.loaded[onto] == plan.arrival != plan.inputs[onto]
            assert plan.arrival.shape == plan.inputs[onto].shape
        elif plan.mode.copied and plan.mode.execution.traversal is not Traversal.REVERSE:
            assert plan.distance == 0  # nothing to shift


@given(layer=layers(SHARING))
@settings(max_examples=200, deadline=None)
def test_no_smaller_distance_is_safe_and_large_enough(layer: Layer) -> None:
    """At the exact gap nothing collides; one scalar less does, or the output would not fit."""
    for plan in _rip_plans(layer):
        steps, gap = _steps(layer, plan.mode), plan.bound.gap
        assert not collides(steps, steps.distance(gap))
        assert plan.bound.debt == debt(steps)
        if plan.mode.execution.traversal is Traversal.CHANNEL:
            assert plan.distance == 0
        elif gap > max(0, steps.n_out - steps.n_in):
            assert collides(steps, steps.distance(gap - 1))
        assert plan.bound.workspace == max(steps.n_in + gap, steps.n_out)


@given(layer=layers(SHARING))
@settings(max_examples=200, deadline=None)
def test_both_sides_of_the_debt(layer: Layer) -> None:
    for plan in _rip_plans(layer):
        steps, sides = _steps(layer, plan.mode), proof_distances(plan)
        if plan.bound.debt is None:
            assert sides is None
        if sides is None:
            continue
        right, wrong = sides
        assert (right % V, abs(right - wrong)) == (0, V)
        assert not collides(steps, right)
        assert collides(steps, wrong)
        exact = steps.distance(plan.bound.debt or 0)
        if plan.mode.execution.traversal is Traversal.REVERSE:
            assert 0 <= exact - right < V
            assert wrong > right
        elif plan.mode.execution.traversal is not Traversal.CHANNEL:
            assert 0 <= right - exact < V
            assert wrong < right


def test_the_other_side_is_seldom_missing() -> None:
    """Of layers with a debt only few have none V below it: those smaller than V, or with holes."""
    missing = total = 0
    for operator in SHARING:
        for layer in some_layers(operator, 40):
            for plan in _rip_plans(layer):
                if not plan.mode.copied and plan.bound.debt is not None:
                    total += 1
                    missing += proof_distances(plan) is None
    assert total > 1000
    assert missing < total / 50


def test_two_scalars_are_too_few_to_show_a_debt() -> None:
    """4 scalars apart they no longer meet."""
    layer = Layer("pair", ElementwiseGeometry(1, 2, 1, 2), OpKind.ADD)
    plan = plan_layer(layer, Strategy.RIP)
    assert (plan.bound.debt, proof_distances(plan)) == (0, None)


@pytest.mark.parametrize("operator", ["conv", "max_pool", "add", "softmax", "pad", "upsample"])
def test_bounds_by_exhaustion(operator: str) -> None:
    """The gap against events written out and distances tried one by one."""
    small = [
        layer for layer in some_layers(operator, 200, seed=3) if layer.n_in + layer.n_out < 150
    ]
    for layer in small[:6]:
        for plan in _rip_plans(layer):
            way, mode = plan.mode.execution, plan.mode
            events = literal.events(layer.kind, layer.geometry, way, mode.onto)
            steps = _steps(layer, mode)
            found = literal.debt(events, steps.n_in, steps.n_out, way.traversal)
            assert plan.bound.debt == found
            assert not literal.collisions(events, plan.distance)


@given(layer=layers(SHARING))
@settings(max_examples=100, deadline=None)
def test_an_operand_arrives_where_the_output_starts(layer: Layer) -> None:
    """At its base; in REVERSE at its end, so that it never needs more memory than the two have."""
    for plan in _rip_plans(layer):
        if plan.arrival is None:
            continue
        placed = plan_layer(layer, Strategy.RIP, replace(plan.mode, copied=False))
        assert plan.arena_bytes == placed.arena_bytes
        assert (plan.inputs, plan.output) == (placed.inputs, placed.output)
        if plan.mode.execution.traversal is Traversal.REVERSE:
            assert 0 <= plan.output.end - plan.arrival.end < V
        else:
            assert plan.arrival.offset == plan.output.offset


def test_the_place_of_an_arrival() -> None:
    """REVERSE, 150 scalars onto 120: gap 56, so that the output lies at 88 and ends at 208."""
    layer = shipped()["conv-5x6x5-4-k3x3-p1.1.1.1"]
    plan = plan_layer(
        layer, Strategy.RIP, Mode(Execution(traversal=Traversal.REVERSE), copied=True)
    )
    assert plan.arrival is not None
    places = (plan.output.offset, plan.inputs[0].offset, plan.arrival.offset)
    assert places == (plan.output.end - 120, 0, (plan.output.end - 150) // V * V)


def test_reverse_is_mirrored() -> None:
    """An image twice as large, from the end: the output's end is at the input's."""
    layer = Layer("up", UpsampleGeometry(3, 4, 5), OpKind.UPSAMPLE)
    plan = plan_layer(layer, Strategy.RIP)
    assert (plan.inputs[0].offset, plan.output.offset, plan.arena_bytes) == (0, 0, 240)
    by_row = plan_layer(layer, Strategy.RIP, Mode())
    assert (by_row.inputs[0].offset, by_row.output.offset, by_row.arena_bytes) == (180, 0, 240)


def test_reverse_needs_what_row_needs_of_the_mirrored_image() -> None:
    """Same gap, and the same distance between the ends as there was between the bases."""
    g = ConvGeometry(5, 7, 3, 4, 3, 2, pad=Pad(2, 1, 0, 0))
    mirrored = replace(g, pad=Pad(g.pad.bottom, g.pad.right, g.pad.top, g.pad.left))
    for direct in (Execution().tap_order, Execution().tap_order.DIRECT):
        row = plan_layer(Layer("a", g), Strategy.RIP, Mode(Execution(tap_order=direct)))
        way = Execution(tap_order=direct, traversal=Traversal.REVERSE)
        reverse = plan_layer(Layer("b", mirrored), Strategy.RIP, Mode(way))
        assert (reverse.bound.gap, reverse.bound.debt) == (row.bound.gap, row.bound.debt)
        assert reverse.distance <= 0 <= row.distance
        assert 0 <= reverse.output.end - reverse.inputs[0].end - row.bound.gap < V


def test_channel_by_channel_only_where_the_input_stays_ahead() -> None:
    safe = Layer("a", ConvGeometry(5, 6, 4, 4, 3, 3, pad=Pad.same(1, 1)), OpKind.DEPTHWISE)
    plan = plan_layer(safe, Strategy.RIP)
    assert plan.mode == CHANNEL
    assert (plan.distance, plan.arena_bytes) == (0, 120)
    grows = Layer("b", ConvGeometry(5, 6, 4, 4, 3, 3, pad=Pad.same(2, 2)), OpKind.DEPTHWISE)
    with pytest.raises(ConfigError, match="b: channel by channel the output overtakes") as caught:
        plan_layer(grows, Strategy.RIP, CHANNEL)
    assert "--traversal row" in caught.value.hint
    assert CHANNEL not in modes(grows)
    assert plan_layer(grows, Strategy.RIP).mode == modes(grows)[0] == Mode()


def test_channel_wrong_sides() -> None:
    """V apart, another channel's input is destroyed; with V channels it is the same one's, of a pixel
    that the ring holds already."""
    sides = {}
    for c in (4, 5):
        layer = Layer("a", ConvGeometry(5, 6, c, c, 3, 3, pad=Pad.same(1, 1)), OpKind.DEPTHWISE)
        sides[c] = proof_distances(plan_layer(layer, Strategy.RIP))
    assert sides == {4: None, 5: (0, -4)}


def test_no_memory_to_share() -> None:
    layer = Layer("fc", ConvGeometry(1, 1, 9, 6), OpKind.FULLY_CONNECTED)
    with pytest.raises(ConfigError, match="output of fully_connected shares no memory") as caught:
        plan_layer(layer, Strategy.RIP)
    assert "dual" in caught.value.hint
    plan = plan_layer(layer, Strategy.DUAL)
    assert (plan.inputs[0].offset, plan.output.offset, plan.arena_bytes) == (8, 0, 17)
    assert (plan.bound.debt, plan.unit, plan.label) == (None, 1, "dual")


def test_stored_padding_is_part_of_the_operand() -> None:
    layer = Layer("a", ConvGeometry(5, 6, 3, 4, 3, 3, pad=Pad(1, 2, 0, 3)))
    mode = Mode(Execution(Layout.PADDED))
    for strategy in LAYER_STRATEGIES:
        place = plan_layer(layer, strategy, mode).inputs[0]
        assert (place.shape.h, place.shape.w, place.shape.c) == (6, 11, 3)
        assert place.pad == Pad(1, 2, 0, 3)


@pytest.mark.parametrize("distance", [-9, -4, 0, 3, 100])
@pytest.mark.parametrize("onto", [0, 1])
def test_any_distance_leaves_other_operands_alone(distance: int, onto: int) -> None:
    layer = Layer("two", ElementwiseGeometry(3, 3, 3, 2), OpKind.ADD)
    plan = plan_at_distance(layer, distance, Mode(onto=onto))
    other = plan.inputs[1 - onto]
    assert plan.distance == distance
    assert plan.output.offset % V == 0
    assert min(plan.inputs[onto].offset, plan.output.offset) >= 0
    assert not _meet(other, plan.inputs[onto])
    assert not _meet(other, plan.output)
    assert plan.arena_bytes == other.end
