# SPDX-License-Identifier: Apache-2.0
"""Drawn parameters of every operator: the same for the same id, and outputs that say something."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from harness.case import draw_parameters, make_case
from harness.network import Layer
from harness.network.operators import OPERATORS
from harness.plan import Strategy, plan_layer
from harness.reference import ClampParameters, Parameters
from tests.layers import operator_of, shipped

SEEDS = range(1, 6)
SPREAD = ("conv", "depthwise", "fully_connected", "add", "mul", "mean")


def _of(operator: str) -> list[Layer]:
    """Without activation; the systematic layers and some random ones."""
    plain = [
        layer
        for layer in shipped().values()
        if operator_of(layer) == operator and layer.activation == "none"
    ]
    return plain[:40] + plain[-60:]


def _outputs(layer: Layer) -> np.ndarray:
    case = make_case(plan_layer(layer, Strategy.DUAL))
    return np.concatenate([case.expected(seed) for seed in SEEDS]).astype(int)


@pytest.mark.parametrize("operator", SPREAD)
def test_outputs_are_not_saturated(operator: str) -> None:
    """At least 9 of 10 values of each layer lie strictly inside the clamp."""
    for layer in _of(operator):
        assert (np.abs(_outputs(layer) + 0.5) < 127).mean() >= 0.9, layer.id


@pytest.mark.parametrize("operator", SPREAD)
def test_outputs_spread(operator: str) -> None:
    """All layers together use most of int8, and single ones of some size at least a tenth of it."""
    every = [(layer, _outputs(layer)) for layer in _of(operator)]
    assert len(np.unique(np.concatenate([y for _, y in every]))) > 200
    narrow = [layer.id for layer, y in every if y.size >= 100 and len(np.unique(y)) < 25]
    assert len(narrow) <= len(every) // 50 + _padding_only(operator), narrow


def _padding_only(operator: str) -> int:
    """Convolutions some of whose outputs see little else than padding."""
    return 5 if operator in ("conv", "depthwise") else 0


@pytest.mark.parametrize("operator", [name for name in OPERATORS if name not in SPREAD])
def test_outputs_differ(operator: str) -> None:
    """Of tables, pools and moves more than a few values; a softmax over one channel has but one."""
    for layer in _of(operator):
        if operator == "softmax" and layer.output.c == 1:
            assert set(_outputs(layer).tolist()) == {127}
            continue
        assert len(np.unique(_outputs(layer))) > 3, layer.id


def _said(p: Parameters) -> dict[str, object]:
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(p).items()
    }


@pytest.mark.parametrize("operator", OPERATORS)
def test_they_depend_on_the_id_alone(operator: str) -> None:
    layer = _of(operator)[-1]
    first = _said(draw_parameters(layer))
    assert _said(draw_parameters(replace(layer, source="elsewhere", slow=True))) == first
    others = [_said(draw_parameters(replace(layer, id=f"other{n}"))) for n in range(3)]
    drawn_at_all = operator not in ("average_pool", "max_pool", "clamp")
    assert any(other != first for other in others) == drawn_at_all


@pytest.mark.parametrize("operator", [n for n, of in OPERATORS.items() if of.activated])
def test_activations_clamp(operator: str) -> None:
    """At the output's zero point and, relu6, 100 steps above it: both ends are reached, or nearly."""
    found = {
        layer.activation: layer
        for layer in islice(shipped().values(), 600)
        if operator_of(layer) == operator and layer.activation != "none"
    }
    assert set(found) == {"relu", "relu6"}
    for word, layer in found.items():
        p = draw_parameters(layer)
        if isinstance(p, ClampParameters):
            low, high = p.low, p.high
        else:
            low, high = p.activation_min, p.activation_max  # type: ignore[union-attr]
            assert low == getattr(p, "output_zero_point", 0)
        assert high == (127 if word == "relu" else min(127, low + 100))
        y = _outputs(layer)
        assert y.min() == low
        assert y.max() <= high
