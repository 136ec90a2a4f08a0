# SPDX-License-Identifier: Apache-2.0
"""The ways in which each operator runs, and their names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from harness.errors import ConfigError
from harness.geometry import (
    DIRECT,
    GATHER,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.network import Layer
from harness.plan import Mode, Strategy, find_mode, in_place, mode_name, modes
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from tests.layers import layers

OVER_ALL = [
    "", "-direct", "-column", "-column-direct", "-reverse", "-reverse-direct", "-herringbone-direct"
]  # fmt: skip
WITH_PADDING = [
    "", "-direct", "-padded", "-padded-direct",
    "-column", "-column-direct", "-padded-column", "-padded-column-direct",
    "-reverse", "-reverse-direct", "-padded-reverse", "-padded-reverse-direct",
    "-herringbone-direct", "-padded-herringbone-direct",
]  # fmt: skip
SAME = Pad.same(1, 1)
BOTH_WAYS = ["", "-reverse"]
ONE, TWO = ElementwiseGeometry(3, 4, 5), ElementwiseGeometry(3, 4, 5, 2)
ALL = [
    (OpKind.CONV, ConvGeometry(5, 6, 3, 4, 3, 3), OVER_ALL),
    (OpKind.CONV, ConvGeometry(5, 6, 3, 4, 3, 3, pad=SAME), WITH_PADDING),
    (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 3), ["", "-row", "-direct"]),
    (
        OpKind.DEPTHWISE,
        ConvGeometry(5, 6, 3, 3, 3, 3, pad=SAME),
        ["", "-row", "-direct", "-padded", "-padded-direct"],
    ),
    (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 6, 3, 3), ["", "-direct"]),
    (
        OpKind.DEPTHWISE,
        ConvGeometry(5, 6, 3, 6, 3, 3, pad=Pad(0, 0, 0, 1)),
        ["", "-direct", "-padded", "-padded-direct"],
    ),
    (OpKind.AVERAGE_POOL, ConvGeometry(5, 6, 3, 3, 3, 3, pad=SAME), [""]),
    (OpKind.MAX_POOL, ConvGeometry(5, 6, 3, 3, 3, 3), [""]),
    (OpKind.ADD, TWO, ["", "-onto1", "-reverse", "-reverse-onto1"]),
    (OpKind.MUL, TWO, ["", "-onto1", "-reverse", "-reverse-onto1"]),
    (OpKind.MUL, replace(TWO, broadcast=True), BOTH_WAYS),
    (OpKind.ADD, ElementwiseGeometry(1, 1, 5, 2, True), BOTH_WAYS),
    (OpKind.MEAN, MeanGeometry(3, 4, 5), [""]),
    (OpKind.FULLY_CONNECTED, ConvGeometry(1, 1, 3, 4), [""]),
    (OpKind.UPSAMPLE, UpsampleGeometry(3, 4, 5), ["", "-row"]),
    (OpKind.CONCAT, ConcatGeometry(3, 4, (5,)), BOTH_WAYS),
    (
        OpKind.CONCAT,
        ConcatGeometry(3, 4, (5, 1, 2)),
        ["", "-onto1", "-onto2", "-reverse", "-reverse-onto1", "-reverse-onto2"],
    ),
    (OpKind.TABLE, ONE, BOTH_WAYS),
    (OpKind.CLAMP, ONE, BOTH_WAYS),
    (OpKind.SOFTMAX, ONE, [""]),
    (OpKind.PAD, PadGeometry(3, 4, 5, SAME), BOTH_WAYS),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "geometry", "names"), ALL)
def test_modes_of_each_kind(kind: OpKind, geometry: ConvGeometry, names: list[str]) -> None:
    layer = Layer("a", geometry, kind)
    assert [mode_name(layer, mode) for mode in modes(layer)] == names
    assert in_place(layer) == (kind is not OpKind.FULLY_CONNECTED)
    assert not any(mode.copied for mode in modes(layer))


def test_every_kind_was_asked_for() -> None:
    assert {kind for kind, *_ in ALL} == set(OpKind) - {OpKind.MOVE, OpKind.SEGMENT}


def test_the_usual_modes() -> None:
    """By whose name a plan is just `rip` or `dual`."""
    usual = {}
    for kind, geometry, _ in reversed(ALL):
        usual[kind, geometry.inputs == geometry.inputs[:1]] = modes(Layer("a", geometry, kind))[0]
    channel, reverse = (
        Execution(traversal=Traversal.CHANNEL),
        Execution(traversal=Traversal.REVERSE),
    )
    assert {kind: mode for (kind, _), mode in usual.items()} == {
        **{kind: Mode(GATHER) for kind in set(OpKind) - {OpKind.MOVE, OpKind.SEGMENT}},
        OpKind.DEPTHWISE: Mode(channel),
        OpKind.AVERAGE_POOL: Mode(DIRECT),
        OpKind.MAX_POOL: Mode(DIRECT),
        OpKind.FULLY_CONNECTED: Mode(DIRECT),
        OpKind.UPSAMPLE: Mode(reverse),
    }


@given(layer=layers())
@settings(max_examples=150, deadline=None)
def test_names_lead_back(layer: Layer) -> None:
    known = modes(layer)
    names = [f"{Strategy.DUAL}{mode_name(layer, mode)}" for mode in known]
    for mode, name in zip(known, tuple(names), strict=True):
        assert find_mode(layer, name) == (Strategy.DUAL, mode)
        if not in_place(layer):
            continue
        for copied in (replace(mode, copied=True), mode):
            names.append(f"{Strategy.RIP}{mode_name(layer, copied)}")
            assert find_mode(layer, names[-1]) == (Strategy.RIP, copied)
            assert names[-1].endswith("-copy") == copied.copied
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("kind", "geometry", "name", "hint"),
    [
        (OpKind.UPSAMPLE, UpsampleGeometry(3, 4, 5), "rip-reverse", "known: dual, dual-row, rip,"),
        (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 3), "rip-rwo", "did you mean 'rip-row'"),
        (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 3), "rip-padded", "'rip"),
        (OpKind.FULLY_CONNECTED, ConvGeometry(1, 1, 3, 4), "rip", "known: dual"),
        (OpKind.ADD, replace(TWO, broadcast=True), "rip-onto1", "known: dual, dual-reverse, rip,"),
        (OpKind.ADD, TWO, "dual-copy", "did you mean"),
        (
            OpKind.CONV,
            ConvGeometry(5, 6, 3, 4, 3, 3),
            "rip-herringbone",
            "'rip-herringbone-direct'",
        ),
    ],
)
def test_no_such_plan(kind: OpKind, geometry: ConvGeometry, name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"no plan '{name}' of a") as caught:
        find_mode(Layer("a", geometry, kind), name)
    assert hint in caught.value.hint


def test_labels() -> None:
    assert Mode().label == ""
    execution = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.COLUMN)
    assert Mode(execution, 2, copied=True).label == "-padded-column-direct-onto2-copy"
