# SPDX-License-Identifier: Apache-2.0
"""Random layers of every operator, with a name, and the shipped set of all operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

from hypothesis import strategies as st

from harness.network import Layer, find_set, load_set
from harness.network.draw import draw_geometry
from harness.network.names import name_of
from harness.network.operators import OPERATORS
from harness.plan import in_place

SHARING = tuple(name for name in OPERATORS if name != "fully_connected")


def random_layers(operator: str, seed: int) -> Iterator[Layer]:
    """Without end. operator: as in layer sets."""
    of = OPERATORS[operator]
    for geometry in draw_geometry(of.kind, seed):
        layer = Layer("", geometry, of.kind, of.function, of.rounding)
        yield replace(layer, id=name_of(layer))


def some_layers(operator: str, count: int, seed: int = 1) -> list[Layer]:
    return list(islice(random_layers(operator, seed), count))


@st.composite
def layers(draw: st.DrawFn, operators: tuple[str, ...] = tuple(OPERATORS)) -> Layer:
    operator = draw(st.sampled_from(operators))
    return next(random_layers(operator, draw(st.integers(0, 1 << 20))))


@cache
def shipped() -> dict[str, Layer]:
    """layers/sets/ops.yaml by id."""
    return {layer.id: layer for layer in load_set(find_set("ops"))}


def operator_of(layer: Layer) -> str:
    """Its name in layer sets."""
    return layer.function or layer.kind.name.lower()


def sharing(chosen: list[Layer]) -> list[Layer]:
    return [layer for layer in chosen if in_place(layer)]
