# SPDX-License-Identifier: Apache-2.0
"""Every operator by the name that layer sets use, and how mistakes in it are answered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.network import Layer, load_set
from harness.network.operators import OPERATORS
from harness.schema.constants import OpKind, Rounding

HWC = "h_in: 4, w_in: 5, c_in: 6"
ALL: list[tuple[str, OpKind, str, Geometry]] = [
    (f"op: conv, {HWC}, c_out: 7, k: [3, 2], s: [2, 1], d: [1, 2], pad: [1, 2, 3, 4]",
     OpKind.CONV, "", ConvGeometry(4, 5, 6, 7, 3, 2, 2, 1, 1, 2, Pad(1, 2, 3, 4))),
    (f"{HWC}, c_out: 7", OpKind.CONV, "", ConvGeometry(4, 5, 6, 7)),
    (f"op: depthwise, {HWC}, k: [3, 2], s: [2, 1], d: [1, 2], pad: [1, 2, 3, 4]",
     OpKind.DEPTHWISE, "", ConvGeometry(4, 5, 6, 6, 3, 2, 2, 1, 1, 2, Pad(1, 2, 3, 4))),
    (f"op: depthwise, {HWC}, c_out: 18", OpKind.DEPTHWISE, "", ConvGeometry(4, 5, 6, 18)),
    (f"op: average_pool, {HWC}, k: [3, 2], s: [2, 1], pad: [2, 1, 1, 0]",
     OpKind.AVERAGE_POOL, "", ConvGeometry(4, 5, 6, 6, 3, 2, 2, 1, pad=Pad(2, 1, 1, 0))),
    (f"op: max_pool, {HWC}, k: [2, 2]", OpKind.MAX_POOL, "", ConvGeometry(4, 5, 6, 6, 2, 2)),
    (f"op: add, {HWC}", OpKind.ADD, "", ElementwiseGeometry(4, 5, 6, 2)),
    (f"op: mul, {HWC}, broadcast: true", OpKind.MUL, "", ElementwiseGeometry(4, 5, 6, 2, True)),
    (f"op: mul, {HWC}, broadcast: false", OpKind.MUL, "", ElementwiseGeometry(4, 5, 6, 2)),
    (f"op: mean, {HWC}", OpKind.MEAN, "", MeanGeometry(4, 5, 6)),
    ("op: fully_connected, c_in: 6, c_out: 7",
     OpKind.FULLY_CONNECTED, "", ConvGeometry(1, 1, 6, 7)),
    (f"op: upsample, {HWC}, factor: [2, 3]", OpKind.UPSAMPLE, "", UpsampleGeometry(4, 5, 6, 2, 3)),
    ("op: concat, h_in: 4, w_in: 5, channels: [1, 2, 3, 4]",
     OpKind.CONCAT, "", ConcatGeometry(4, 5, (1, 2, 3, 4))),
    (f"op: logistic, {HWC}", OpKind.TABLE, "logistic", ElementwiseGeometry(4, 5, 6)),
    (f"op: hard_swish, {HWC}", OpKind.TABLE, "hard_swish", ElementwiseGeometry(4, 5, 6)),
    (f"op: relu, {HWC}", OpKind.TABLE, "relu", ElementwiseGeometry(4, 5, 6)),
    (f"op: relu6, {HWC}", OpKind.TABLE, "relu6", ElementwiseGeometry(4, 5, 6)),
    (f"op: clamp, {HWC}", OpKind.CLAMP, "", ElementwiseGeometry(4, 5, 6)),
    (f"op: softmax, {HWC}", OpKind.SOFTMAX, "", ElementwiseGeometry(4, 5, 6)),
    (f"op: pad, {HWC}, pad: [1, 2, 3, 4]", OpKind.PAD, "", PadGeometry(4, 5, 6, Pad(1, 2, 3, 4))),
]  # fmt: skip


def _load(tmp_path: Path, text: str) -> tuple[Layer, ...]:
    path = tmp_path / "set.yaml"
    path.write_text(text)
    return load_set(path)


@pytest.mark.parametrize(("entry", "kind", "function", "geometry"), ALL)
def test_an_operator(
    entry: str, kind: OpKind, function: str, geometry: Geometry, tmp_path: Path
) -> None:
    (layer,) = _load(tmp_path, f"layers: [{{id: a, {entry}}}]")
    rounding = Rounding.SINGLE if kind is OpKind.FULLY_CONNECTED else Rounding.DOUBLE
    assert layer == Layer("a", geometry, kind, function, rounding)


def test_every_operator_was_asked_for() -> None:
    named = {match[1] for entry, *_ in ALL if (match := re.match(r"op: (\w+)", entry))}
    assert named == set(OPERATORS)
    assert {operator.kind for operator in OPERATORS.values()} == set(OpKind) - {
        OpKind.MOVE,
        OpKind.SEGMENT,
    }


def test_labels(tmp_path: Path) -> None:
    (layer,) = _load(
        tmp_path,
        f"layers: [{{id: a, {HWC}, c_out: 1, rounding: truncate, activation: relu6, slow: true,"
        " source: 'x, y'}]",
    )
    assert (layer.rounding, layer.activation) == (Rounding.TRUNCATE, "relu6")
    assert (layer.slow, layer.source) == (True, "x, y")


LINE = "layers:\n  - {id: a, op: "


@pytest.mark.parametrize(
    ("entry", "says", "hint"),
    [
        ("^cnov, h_in: 4}", "'cnov' is not known", "did you mean 'conv'?"),
        ("^zzz, h_in: 4}", "'zzz' is not known", "known: add, average_pool, clamp"),
        ("mean, h_in: 4, w_in: 5, c_in: 6, c_in_: ^1}", "unknown key 'c_in_'", "'c_in'"),
        (
            "mean, h_in: 4, w_in: 5, c_in: 6, k: ^[1, 1]}",
            "unknown key 'k'",
            "known: budget, c_in, h_in",
        ),
        (
            "max_pool, h_in: 4, w_in: 5, c_in: 6, d: ^[1, 2]}",
            "unknown key 'd'",
            "did you mean 'id'?",
        ),
        (
            "max_pool, h_in: 4, w_in: 5, c_in: 6, c_out: ^6}",
            "unknown key 'c_out'",
            "known: activation, budget, c_in, h_in",
        ),
        ("fully_connected, c_in: 5, c_out: 6, h_in: ^1}", "unknown key 'h_in'", "'c_in'?"),
        ("softmax, h_in: 4, w_in: 5, c_in: 6, broadcast: ^true}", "key 'broadcast'", "known:"),
        ("upsample, h_in: 4, w_in: 5, c_in: 6, factors: ^[2, 2]}", "'factors'", "'factor'?"),
        ("upsample, h_in: 4, w_in: 5, c_in: 6}", "'factor' is missing", ""),
        ("concat, h_in: 4, w_in: 5}", "'channels' is missing", ""),
        ("pad, h_in: 4, w_in: 5, c_in: 6}", "'pad' is missing", ""),
        ("conv, h_in: 4, w_in: 5, c_in: 6}", "'c_out' is missing", ""),
        ("fully_connected, c_in: 5}", "'c_out' is missing", ""),
        (f"max_pool, {HWC}, k: [2, 2], pad: [2, 0, 0, 0]}}", "padding is less than", ""),
        (f"max_pool, {HWC}, k: [2, 2], pad: [0, 0, 2, 0]}}", "padding is less than", ""),
        (f"average_pool, {HWC}, k: [2, 3], pad: [0, 3, 0, 0]}}", "padding is less than", ""),
        (f"average_pool, {HWC}, k: [2, 3], pad: [0, 0, 0, 3]}}", "padding is less than", ""),
        (f"max_pool, {HWC}, k: [9, 9]}}", "a: this convolution has no output", "add padding"),
        (f"depthwise, {HWC}, c_out: 7}}", "c_out 7 is no multiple of c_in 6", ""),
        ("concat, h_in: 4, w_in: 5, channels: ^[1, 2, 3, 4, 5]}", "1 to 4 operands", ""),
        ("concat, h_in: 4, w_in: 5, channels: ^[]}", "1 to 4 operands", ""),
        ("concat, h_in: 4, w_in: 5, channels: [1, ^0]}", "0 is not within 1 to 65535", ""),
        ("concat, h_in: 4, w_in: 5, channels: [65000, 65000]}", "a: c is 130000", "65535"),
        (f"upsample, {HWC}, factor: [20000, 1]}}", "a: h is 80000", "65535"),
        (f"upsample, {HWC}, factor: [^0, 1]}}", "0 is not within 1 to 65535", ""),
        (f"add, {HWC}, broadcast: ^yes}}", "'yes' is not known", "known: false, true"),
        (f"add, {HWC}, rounding: ^singel}}", "'singel' is not known", "did you mean 'single'?"),
        (f"add, {HWC}, rounding: ^truncate}}", "'truncate' is not known", "known: double, sin"),
        (f"add, {HWC}, activation: ^rellu6}}", "'rellu6' is not known", "did you mean 'relu6'?"),
        (f"mean, {HWC}, activation: ^relu}}", "unknown key 'activation'", ""),
        (f"softmax, {HWC}, rounding: ^single}}", "unknown key 'rounding'", ""),
        (f"max_pool, {HWC}, rounding: ^single}}", "unknown key 'rounding'", ""),
    ],
)
def test_mistakes(entry: str, says: str, hint: str, tmp_path: Path) -> None:
    """^ is where the error points, the whole entry where there is none."""
    line = LINE.splitlines()[1] + entry
    column = 1 + (line.index("^") if "^" in line else line.index("{"))
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, LINE + entry.replace("^", ""))
    assert says in caught.value.message
    assert hint in caught.value.hint
    assert f"set.yaml:2:{column}: " in caught.value.message


def test_a_layer_of_its_own_keeps_its_labels_and_its_place(tmp_path: Path) -> None:
    """A varied layer that equals it is left out."""
    text = f"""
layers: [{{id: mean-4x5x6, op: mean, {HWC}, source: mine, slow: true}}]
varied: [{{base: {{op: mean, {HWC}}}, vary: [{{c_in: [6, 7]}}]}}]
"""
    first, second = _load(tmp_path, text)
    assert (first.id, first.source, first.slow) == ("mean-4x5x6", "mine", True)
    assert second.id == "mean-4x5x7"


def test_one_id_for_two_shapes(tmp_path: Path) -> None:
    text = f"""
layers: [{{id: mean-4x5x6, op: mean, h_in: 1, w_in: 5, c_in: 6}}]
varied:
  - {{base: {{op: mean, {HWC}}}, vary: [{{c_in: [6]}}]}}
"""
    with pytest.raises(ConfigError, match=r"set.yaml:4:5: .*'mean-4x5x6'"):
        _load(tmp_path, text)
