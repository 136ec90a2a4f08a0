# SPDX-License-Identifier: Apache-2.0
"""All operators behind one function: with two buffers, and in one memory at any distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from harness.case import Case, draw_parameters, make_case
from harness.geometry import ConvGeometry, ElementwiseGeometry
from harness.kernels import schedule_of
from harness.liveness import collides
from harness.network import Layer
from harness.plan import Mode, Plan, Strategy, modes, plan_at_distance, plan_layer, proof_distances
from harness.reference import TableParameters, compute, compute_in_place
from harness.schema.constants import OpKind, Traversal
from tests.layers import SHARING, layers, operator_of, shipped, some_layers

COLLIDING = [name for name in SHARING if name != "mean"]
SEEDS = range(1, 7)


def _plans(layer: Layer) -> Iterator[Plan]:
    for mode in modes(layer):
        steps = schedule_of(layer.kind, layer.geometry, mode.execution, mode.onto)
        if mode.execution.traversal is not Traversal.CHANNEL or not collides(steps, 0):
            yield plan_layer(layer, Strategy.RIP, mode)


@given(layer=layers(SHARING))
@settings(max_examples=150, deadline=None)
def test_right_at_the_plans_distance_and_beyond(layer: Layer) -> None:
    for plan in _plans(layer):
        case = make_case(plan)
        clean = case.expected(3)
        assert np.array_equal(case.predicted(3), clean), plan.label
        far = plan.distance + (-1 if plan.mode.execution.traversal is Traversal.REVERSE else 1) * (
            layer.n_in + layer.n_out
        )
        apart = Case("far", plan_at_distance(layer, far, plan.mode), case.parameters)
        assert np.array_equal(apart.predicted(3), clean), plan.label


@pytest.mark.parametrize("operator", SHARING)
def test_right_in_every_mode(operator: str) -> None:
    """Of 15 random layers of each operator, so that none of its modes goes untried."""
    tried = set()
    for layer in some_layers(operator, 15, seed=5):
        for plan in _plans(layer):
            tried.add(plan.mode.label)
            case = make_case(plan)
            assert np.array_equal(case.predicted(8), case.expected(8)), f"{layer.id} {plan.label}"
    assert tried >= {mode.label for mode in modes(layer)}


@pytest.mark.parametrize("operator", COLLIDING)
def test_wrong_v_below_the_debt(operator: str) -> None:
    """Where a live scalar is destroyed it shows on some seed, but for few layers: some writes leave
    the value that was there, and some rounding hides what was destroyed."""
    shown = total = 0
    for layer in some_layers(operator, 25, seed=7):
        for plan in _plans(layer):
            sides = proof_distances(plan)
            if sides is None:
                continue
            total += 1
            p = draw_parameters(layer)
            right, wrong = (
                Case("", plan_at_distance(layer, distance, plan.mode, bound=plan.bound), p)
                for distance in sides
            )
            assert np.array_equal(right.predicted(1), right.expected(1))
            shown += any(
                not np.array_equal(wrong.predicted(seed), wrong.expected(seed)) for seed in SEEDS
            )
    assert total >= 10
    assert shown >= 0.9 * total, f"{operator}: {shown} of {total}"


@pytest.mark.parametrize("onto", [0, 1])
@pytest.mark.parametrize("kind", [OpKind.ADD, OpKind.MUL])
def test_only_the_shared_operand_is_overwritten(kind: OpKind, onto: int) -> None:
    """One scalar below the gap each output is made of the one before it, and of the other operand."""
    g = ElementwiseGeometry(1, 1, 6, 2)
    layer = Layer("line", g, kind)
    p = draw_parameters(layer)
    xs = [np.arange(-30, 30, 10, dtype=np.int8).reshape(1, 1, 6) * sign for sign in (1, -1)]
    found = compute_in_place(kind, g, p, tuple(xs), -1, Mode().execution, onto).ravel()
    one = ElementwiseGeometry(1, 1, 1, 2)
    value = xs[onto].ravel()[0]
    for n in range(6):
        pair = [x.ravel()[n].reshape(1, 1, 1) for x in xs]
        pair[onto] = np.int8(value).reshape(1, 1, 1)
        assert found[n] == compute(kind, one, p, *pair).item()
        value = found[n]


def _one_of_each() -> dict[OpKind, Layer]:
    return {
        layer.kind: layer for layer in reversed(shipped().values()) if layer.activation == "none"
    }


def test_what_does_not_belong_together() -> None:
    """Every kind with every other one's geometry, and with every other one's parameters."""
    each = _one_of_each()
    assert set(each) == set(OpKind) - {OpKind.MOVE, OpKind.SEGMENT}
    tried = 0
    for kind, layer in each.items():
        case = make_case(plan_layer(layer, Strategy.DUAL))
        xs = case.inputs(1)
        for other in each.values():
            p = draw_parameters(other)
            if type(p) is not type(case.parameters):
                _refused(kind, layer, p, xs)
                tried += 1
            if type(other.geometry) is not type(layer.geometry):
                _refused(kind, replace(layer, geometry=other.geometry), case.parameters, xs)
                tried += 1
    assert tried > 250


def _refused(kind: OpKind, layer: Layer, p: object, xs: tuple[np.ndarray, ...]) -> None:
    says = f"{kind.name} of {type(layer.geometry).__name__} with {type(p).__name__}"
    with pytest.raises(TypeError, match=says):
        compute(kind, layer.geometry, p, *xs)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=says):
        compute_in_place(kind, layer.geometry, p, xs, 0, Mode().execution)  # type: ignore[arg-type]


def test_a_fully_connected_layer_has_no_order_in_one_memory() -> None:
    layer = _one_of_each()[OpKind.FULLY_CONNECTED]
    case = make_case(plan_layer(layer, Strategy.DUAL))
    assert case.expected(1).shape == (layer.n_out,)
    with pytest.raises(
        TypeError, match="FULLY_CONNECTED of ConvGeometry with ConvParameters in place"
    ):
        case.predicted(1)


def test_a_move_is_no_operator() -> None:
    table = TableParameters(np.zeros(256, np.int8))
    with pytest.raises(TypeError, match="MOVE of"):
        compute(OpKind.MOVE, ElementwiseGeometry(1, 1, 1), table, np.zeros((1, 1, 1), np.int8))


def test_kinds_that_share_geometry_and_parameters() -> None:
    """The kind decides: an average is no maximum, and a depthwise convolution no dense one."""
    layer = Layer("pool", ConvGeometry(4, 4, 2, 2, 2, 2), OpKind.MAX_POOL)
    p = draw_parameters(layer)
    (x,) = make_case(plan_layer(layer, Strategy.DUAL)).inputs(1)
    largest = compute(OpKind.MAX_POOL, layer.geometry, p, x)
    average = compute(OpKind.AVERAGE_POOL, layer.geometry, p, x)
    assert (largest >= average).all()
    assert (largest > average).any()


def test_shapes() -> None:
    for layer in _one_of_each().values():
        case = make_case(plan_layer(layer, Strategy.DUAL))
        y = compute(layer.kind, layer.geometry, case.parameters, *case.inputs(1))
        assert y.shape == (layer.output.h, layer.output.w, layer.output.c), operator_of(layer)
        assert y.dtype == np.int8
