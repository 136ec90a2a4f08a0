# SPDX-License-Identifier: Apache-2.0
"""Layers that nobody wrote out: varied and drawn ones, and their names."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Geometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.network import Layer, load_set
from harness.network.names import name_of
from harness.network.operators import OPERATORS
from harness.schema.constants import OpKind, Rounding
from tests.layers import layers

SLUG = re.compile(r"[a-z0-9][a-z0-9_.]*(-[a-z0-9.]+)*")
BASE = "base: {h_in: 4, w_in: 5, c_in: 2, c_out: 3, k: [3, 3]}"


def _load(tmp_path: Path, text: str) -> tuple[Layer, ...]:
    path = tmp_path / "set.yaml"
    path.write_text(text)
    return load_set(path)


def test_all_combinations_in_turn(tmp_path: Path) -> None:
    found = _load(
        tmp_path,
        f"varied: [{{{BASE}, vary: [{{c_in: [1, 2], s: [[1, 1], [2, 1]], activation: [relu]}},"
        " {c_out: [8, 9]}]}]",
    )
    assert [layer.id for layer in found] == [
        "conv-4x5x1-3-k3x3-relu",
        "conv-4x5x1-3-k3x3-s2x1-relu",
        "conv-4x5x2-3-k3x3-relu",
        "conv-4x5x2-3-k3x3-s2x1-relu",
        "conv-4x5x2-8-k3x3",
        "conv-4x5x2-9-k3x3",
    ]
    assert [layer.window.c_in for layer in found] == [1, 1, 2, 2, 2, 2]
    assert {layer.activation for layer in found[:4]} == {"relu"}
    assert found[1].geometry == ConvGeometry(4, 5, 1, 3, 3, 3, 2, 1)


def test_the_same_layer_twice_is_one(tmp_path: Path) -> None:
    assert (
        len(_load(tmp_path, f"varied: [{{{BASE}, vary: [{{c_in: [2, 3]}}, {{c_in: [2]}}]}}]")) == 2
    )


@pytest.mark.parametrize(
    ("vary", "place", "says"),
    [
        ("{k: [[3, 3], [5, 6]]}", "4:9", "this convolution has no output"),
        ("{k: [[3, 3], [5, x]]}", "4:26", "a whole number"),
        ("{kk: [[3, 3]]}", "4:15", "unknown key 'kk'"),
        ("{c_in: 3}", "4:16", "a list is expected here"),
        ("{activation: [relu, rellu]}", "4:29", "'rellu' is not known"),
    ],
)
def test_mistakes_in_vary(vary: str, place: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, f"varied:\n  - {BASE}\n    vary:\n      - {vary}\n")
    assert f"set.yaml:{place}: " in caught.value.message
    assert says in caught.value.message


@pytest.mark.parametrize("operator", OPERATORS)
def test_drawn_by_seed(operator: str, tmp_path: Path) -> None:
    def ids(seed: int, count: int) -> list[str]:
        text = f"drawn: [{{op: {operator}, seed: {seed}, count: {count}}}]"
        return [layer.id for layer in _load(tmp_path, text)]

    first = ids(1, 60)
    assert len(set(first)) == 60
    assert ids(1, 60) == first
    assert ids(1, 20) == first[:20]
    assert len(set(ids(2, 60)) & set(first)) < 20
    assert all(SLUG.fullmatch(name) and len(name) <= 60 for name in first)


def test_drawn_with_labels(tmp_path: Path) -> None:
    found = _load(
        tmp_path, "drawn: [{op: add, seed: 1, count: 5, rounding: single, activation: relu}]"
    )
    assert {(layer.rounding, layer.activation) for layer in found} == {(Rounding.SINGLE, "relu")}
    assert all(layer.id.endswith("-single-relu") for layer in found)


@pytest.mark.parametrize(
    ("entry", "place", "says"),
    [
        ("{op: mean, seed: 1, count: 100000}", "1:36", "not so many different ones, only 5760"),
        ("{op: mean, seed: 1, count: 0}", "1:36", "0 is not within 1 to 100000"),
        ("{op: mean, seed: -1, count: 1}", "1:26", "-1 is not within 0"),
        ("{op: mean, seed: 1}", "1:9", "'count' is missing"),
        ("{op: meen, seed: 1, count: 1}", "1:14", "'meen' is not known"),
        ("{op: mean, seed: 1, count: 1, k: 1}", "1:42", "unknown key 'k'"),
        ("{op: mean, seed: 1, count: 1, activation: relu}", "1:51", "unknown key 'activation'"),
    ],
)
def test_mistakes_in_drawn(entry: str, place: str, says: str, tmp_path: Path) -> None:
    """There are 12 * 12 * 40 means; how long it takes to find that out does not depend on the count."""
    started = time.monotonic()
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, f"drawn: [{entry}]")
    assert f"set.yaml:{place}: " in caught.value.message
    assert says in caught.value.message
    assert time.monotonic() - started < 20


def _others(geometry: Geometry) -> list[Geometry]:
    """Each with another value in one field."""
    numbers: tuple[str, ...]
    match geometry:
        case ConvGeometry():
            numbers = ("h_in", "w_in", "c_in", "c_out", "k_h", "k_w", "s_h", "s_w", "d_h", "d_w")
        case ElementwiseGeometry():
            return [
                *_counted(geometry, ("h", "w", "c")),
                *([replace(geometry, broadcast=True)] if geometry.operands == 2 else []),
            ]
        case ConcatGeometry(channels=channels):
            return [
                *_counted(geometry, ("h", "w")),
                replace(geometry, channels=(*channels[:-1], channels[-1] + 1)),
                replace(geometry, channels=(*channels, 1)),
                replace(geometry, channels=channels[::-1]),
            ]
        case UpsampleGeometry():
            numbers = ("h", "w", "c", "f_h", "f_w")
        case _:
            numbers = ("h", "w", "c")
    return [*_counted(geometry, numbers), *_padded(geometry)]


def _counted(geometry: Geometry, names: tuple[str, ...]) -> list[Geometry]:
    return [replace(geometry, **{name: getattr(geometry, name) + 1}) for name in names]


def _padded(geometry: Geometry) -> list[Geometry]:
    if not isinstance(geometry, ConvGeometry | PadGeometry):
        return []
    pads = [
        replace(geometry.pad, **{side: getattr(geometry.pad, side) + 1})
        for side in ("top", "left", "bottom", "right")
    ]
    return [replace(geometry, pad=pad) for pad in pads]


ONE_EACH: dict[str, Geometry] = {
    "conv": ConvGeometry(9, 9, 2, 3, 2, 2, pad=Pad(1, 1, 1, 1)),
    "depthwise": ConvGeometry(9, 9, 2, 4, 2, 2, pad=Pad(0, 1, 2, 1)),
    "add": ElementwiseGeometry(4, 5, 6, 2),
    "relu": ElementwiseGeometry(4, 5, 6),
    "upsample": UpsampleGeometry(4, 5, 6, 2, 3),
    "concat": ConcatGeometry(4, 5, (1, 2)),
    "pad": PadGeometry(4, 5, 6, Pad(1, 2, 3, 4)),
}


@pytest.mark.parametrize("operator", ONE_EACH)
def test_all_that_differs_shows_in_the_name(operator: str) -> None:
    of, geometry = OPERATORS[operator], ONE_EACH[operator]
    layer = Layer("", geometry, of.kind, of.function)
    named = [layer, *(replace(layer, geometry=other) for other in _others(geometry))]
    named += [replace(layer, activation=word) for word in ("relu", "relu6")]
    named += [replace(layer, rounding=word) for word in (Rounding.SINGLE, Rounding.TRUNCATE)]
    assert len(named) > 6
    assert len({name_of(one) for one in named}) == len(named)


def test_the_usual_rounding_is_not_named() -> None:
    connected = Layer("", ConvGeometry(1, 1, 4, 5), OpKind.FULLY_CONNECTED)
    assert name_of(connected) == "fully_connected-4-5-double"
    assert name_of(replace(connected, rounding=Rounding.SINGLE)) == "fully_connected-4-5"


@given(layer=layers())
@settings(max_examples=200, deadline=None)
def test_names_are_slugs(layer: Layer) -> None:
    assert SLUG.fullmatch(layer.id), layer.id
    assert len(layer.id) <= 60
