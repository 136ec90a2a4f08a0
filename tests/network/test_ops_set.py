# SPDX-License-Identifier: Apache-2.0
"""What layers/sets/ops.yaml promises, of what its systematic part loads as, and its drawn part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Geometry,
    PadGeometry,
    UpsampleGeometry,
)
from harness.network import Layer, find_set, load_set
from harness.network.operators import OPERATORS
from harness.schema.constants import OpKind, Rounding
from tests.layers import operator_of, shipped

IMAGES = [name for name in OPERATORS if name not in ("fully_connected",)]
POOLS = ("average_pool", "max_pool")
WINDOWS = ("conv", "depthwise", *POOLS)


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Layer]]:
    """The set without its drawn layers, by operator."""
    path = tmp_path_factory.mktemp("set") / "ops.yaml"
    path.write_text(find_set("ops").read_text().partition("\ndrawn:")[0])
    found: dict[str, list[Layer]] = defaultdict(list)
    for layer in load_set(path):
        found[operator_of(layer)].append(layer)
    return found


def _windows(layers: list[Layer]) -> list[ConvGeometry]:
    return [layer.window for layer in layers]


def test_every_operator_and_enough_of_each(varied: dict[str, list[Layer]]) -> None:
    assert set(varied) == set(OPERATORS)
    count = Counter(operator_of(layer) for layer in shipped().values())
    assert all(count[name] >= (2000 if name != "relu6" else 26) for name in OPERATORS)
    assert all(count[name] >= len(varied[name]) for name in OPERATORS)


def test_ids_say_all() -> None:
    """No two of them are called the same, so as many ids as layers without their names."""
    layers = shipped()
    assert all(layer.id == name for name, layer in layers.items())
    assert len({replace(layer, id="") for layer in layers.values()}) == len(layers)
    assert len(layers) > 32_000


def test_channels_modulo_4(varied: dict[str, list[Layer]]) -> None:
    """Alone and together: a kernel that handles 4 channels at once has a rest of each size."""
    pairs = {(g.c_in % 4, g.c_out % 4) for g in _windows(varied["conv"])}
    assert {a for a, _ in pairs} == {b for _, b in pairs} == set(range(4))
    assert {(a, b) for a in range(4) for b in (0, 1)} <= pairs
    assert {(a, b) for a in (3, 0) for b in range(4)} <= pairs
    connected = _windows(varied["fully_connected"])
    assert {g.c_in % 4 for g in connected} == {g.c_out % 4 for g in connected} == set(range(4))
    for name in IMAGES:
        if name != "concat":
            assert {layer.inputs[0].c for layer in varied[name]} >= set(range(1, 9)), name


@pytest.mark.parametrize("operator", IMAGES)
def test_widths_with_one_row_and_several(operator: str, varied: dict[str, list[Layer]]) -> None:
    shapes = {(layer.inputs[0].h, layer.inputs[0].w) for layer in varied[operator]}
    assert {(h, w) for h in (1, 4) for w in range(1, 10)} | {(9, 1)} <= shapes


@pytest.mark.parametrize("operator", WINDOWS)
def test_windows(operator: str, varied: dict[str, list[Layer]]) -> None:
    windows = _windows(varied[operator])
    wanted: dict[str, Callable[[ConvGeometry], bool]] = {
        "a kernel larger than the input": lambda g: g.k_h > g.h_in and g.k_w > g.w_in,
        "1 x n": lambda g: g.k_h == 1 and g.k_w > 1 and g.h_in == 1,
        "n x 1": lambda g: g.k_w == 1 and g.k_h > 1 and g.w_in == 1,
        "no padding": lambda g: g.pad == type(g.pad)() and g.k_h > 1,
        "four different pads": lambda g: len(set(vars(g.pad).values())) >= 3,
        "a stride over the kernel": lambda g: g.s_h > g.k_h and g.s_w > g.k_w,
        "two different strides": lambda g: g.s_h != g.s_w,
    }
    if operator not in POOLS:
        wanted |= {
            "padding beyond the kernel": lambda g: g.pad.top >= g.k_h and g.pad.right >= g.k_w,
            "dilation of rows": lambda g: g.d_h > g.d_w,
            "dilation of columns": lambda g: g.d_w > g.d_h,
        }
    missing = [what for what, has in wanted.items() if not any(map(has, windows))]
    assert not missing
    assert {g.s_h for g in windows} == {g.s_w for g in windows} == {1, 2, 3, 4}
    if operator in POOLS:
        for g in windows:
            assert max(g.pad.top, g.pad.bottom) < g.k_h
            assert max(g.pad.left, g.pad.right) < g.k_w
    if operator == "depthwise":
        assert {g.c_out // g.c_in for g in windows} == {1, 2, 3}


def test_roundings_and_activations(varied: dict[str, list[Layer]]) -> None:
    for name, operator in OPERATORS.items():
        seen = {layer.rounding for layer in varied[name]}
        if name != "mean":  # a single rounding of it is not in the set
            assert seen == set(operator.roundings or (Rounding.DOUBLE,)), name
        words = {layer.activation for layer in varied[name]}
        assert words == ({"none", "relu", "relu6"} if operator.activated else {"none"}), name


def test_the_rest(varied: dict[str, list[Layer]]) -> None:
    def shapes(name: str) -> list[Geometry]:
        return [layer.geometry for layer in varied[name]]

    concats = [g for g in shapes("concat") if isinstance(g, ConcatGeometry)]
    assert {len(g.channels) for g in concats} == {1, 2, 3, 4}
    upsamples = [g for g in shapes("upsample") if isinstance(g, UpsampleGeometry)]
    assert {(1, 1), (1, 2), (2, 1), (3, 3), (4, 2)} <= {(g.f_h, g.f_w) for g in upsamples}
    pads = [vars(g.pad) for g in shapes("pad") if isinstance(g, PadGeometry)]
    assert {side for pad in pads for side, n in pad.items() if n} == set(pads[0])
    assert any(not any(pad.values()) for pad in pads)
    for name in ("add", "mul"):
        twos = [g for g in shapes(name) if isinstance(g, ElementwiseGeometry)]
        assert {g.c for g in twos if g.broadcast} >= set(range(1, 9))
        assert not all(g.broadcast for g in twos)


def test_drawn_layers_are_hostile_too() -> None:
    """Of each kind of window among the 2000: much of what a systematic set would not combine."""
    for kind in (OpKind.CONV, OpKind.DEPTHWISE):
        windows = [layer.window for layer in shipped().values() if layer.kind is kind]
        assert sum(g.pad.top >= g.k_h_eff for g in windows) > 100
        assert sum(g.s_h > g.k_h and g.d_w > 1 for g in windows) > 50
        assert sum(g.h_in == 1 or g.w_in == 1 for g in windows) > 200
