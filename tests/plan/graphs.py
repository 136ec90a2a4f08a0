# SPDX-License-Identifier: Apache-2.0
"""Graphs of layers/keras and layers/models as networks, by name."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from harness import resources
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    MeanGeometry,
    Pad,
    Shape,
    UpsampleGeometry,
)
from harness.network import Layer, Network, Node
from harness.schema.constants import OpKind, Rounding

_WINDOWS = {
    "conv": OpKind.CONV,
    "dwconv": OpKind.DEPTHWISE,
    "avgpool": OpKind.AVERAGE_POOL,
    "maxpool": OpKind.MAX_POOL,
}
_TWO = {"add": OpKind.ADD, "mul": OpKind.MUL}


@cache
def keras(name: str) -> Network:
    path = resources.layers() / "keras" / f"{name}.json"
    return _network(json.loads(path.read_text()), name)


@cache
def model(name: str) -> Network:
    path = resources.layers() / "models" / f"{name}.yaml"
    return _network(yaml.safe_load(path.read_text()), name)


def keras_names() -> list[str]:
    return sorted(path.stem for path in _files("keras", "json"))


def _files(folder: str, ending: str) -> list[Path]:
    return list((resources.layers() / folder).glob(f"*.{ending}"))


def _network(graph: dict[str, Any], name: str) -> Network:
    entries = graph["tensors"]
    numbers = entries if isinstance(entries, dict) else range(len(entries))
    shapes = {number: Shape(*entries[number]) for number in numbers}
    assert list(shapes) == list(range(len(shapes)))
    nodes = tuple(_node(f"{name}-{n}".lower(), op, shapes) for n, op in enumerate(graph["ops"]))
    outputs = graph["outputs"] if "outputs" in graph else [graph["output"]]
    return Network(name, tuple(shapes.values()), nodes, (graph["input"],), tuple(outputs))


def _node(slug: str, op: dict[str, Any], shapes: dict[int, Shape]) -> Node:
    inputs = tuple(op["ins"] if "ins" in op else op["in"])
    kind, geometry = _geometry(op, [shapes[number] for number in inputs], shapes[op["out"]])
    rounding = Rounding.SINGLE if kind is OpKind.FULLY_CONNECTED else Rounding.DOUBLE
    function = op["op"] if kind is OpKind.TABLE else ""
    return Node(Layer(slug, geometry, kind, function, rounding), inputs, op["out"])


def _geometry(op: dict[str, Any], ins: list[Shape], out: Shape) -> tuple[OpKind, Any]:
    name, first = op["op"], ins[0]
    hwc = (first.h, first.w, first.c)
    if name in _WINDOWS:
        pad = Pad(*(op["p"] if "p" in op else op["pad"]))
        strides = (*op["s"], *op.get("d", (1, 1)))
        return _WINDOWS[name], ConvGeometry(*hwc, out.c, *op["k"], *strides, pad=pad)
    if name == "fc":  # over all of its input, as a view
        return OpKind.FULLY_CONNECTED, ConvGeometry(*hwc, out.c, first.h, first.w)
    if name == "concat":
        return OpKind.CONCAT, ConcatGeometry(first.h, first.w, tuple(shape.c for shape in ins))
    if name == "mean":
        return OpKind.MEAN, MeanGeometry(*hwc)
    if name == "upsample":
        factors = (out.h // first.h, out.w // first.w)
        return OpKind.UPSAMPLE, UpsampleGeometry(*hwc, *factors)
    if len(ins) == 2:
        return _TWO[name], ElementwiseGeometry(*hwc, 2, ins[1] != first)
    return OpKind.TABLE, ElementwiseGeometry(*hwc)
