# SPDX-License-Identifier: Apache-2.0
"""Graphs of Keras applications as JSON, which tools/keras_graphs.py writes: shapes only, for planning.

    {"model": "VGG16", "input": 0, "output": 21, "tensors": [[h, w, c], ...],
     "ops": [{"op": "conv", "ins": [0], "out": 1, "k": [..], "s": [..], "d": [..], "p": [t, l, b, r]}]}

An element-wise op with one operand has a constant for the other, one value for each channel, which the
graph does not hold. Here it is a TABLE with the function `affine`: one value in, one value out, at gap
0, as a planner needs it. It is no table of 256 values, and nothing can run it: harness.case refuses it.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import ConfigError
from harness.geometry import MAX_EXTENT, Pad, Shape
from harness.network.graph import Layer
from harness.network.modelfile import layer_id, slug_of
from harness.network.network import Network, Node
from harness.network.shapes import MAX_OPS, Window, geometry_of
from harness.schema.constants import OPERANDS_MAX, OpKind, Rounding
from harness.strictyaml import MAX_BYTES, nearest, quoted

AFFINE = "affine"

_TOP = ("model", "input", "output", "tensors", "ops")
_PLAIN = ("op", "ins", "out")
_WINDOW_KEYS = ("k", "s", "d", "p")
_WINDOWS = {
    "conv": OpKind.CONV,
    "dwconv": OpKind.DEPTHWISE,
    "avgpool": OpKind.AVERAGE_POOL,
    "maxpool": OpKind.MAX_POOL,
}
_TWO = {"add": OpKind.ADD, "mul": OpKind.MUL, "sub": None, "div": None}
_TABLES = {"logistic": "logistic", "hardswish": "hard_swish", "relu": "relu"}
_OTHERS = {"mean": OpKind.MEAN, "fc": OpKind.FULLY_CONNECTED, "concat": OpKind.CONCAT}
_WORDS = (*_WINDOWS, *_TWO, *_TABLES, *_OTHERS)


def load_keras_graph(path: Path) -> Network:
    """Errors: ConfigError with the file and the op's number."""
    top = _entries(path, "the graph", _parse(path), _TOP)
    if not isinstance(top["model"], str):
        _refuse(path, "`model` is no text")
    tensors = tuple(
        _shape(path, f"tensor {n}", value)
        for n, value in enumerate(_list(path, "`tensors`", top["tensors"], MAX_OPS + 1))
    )
    ops = _list(path, "`ops`", top["ops"], MAX_OPS)
    slug = slug_of(path.stem)
    nodes = tuple(_node(path, layer_id(slug, n), n, op, tensors) for n, op in enumerate(ops))
    inputs = (_index(path, "`input`", top["input"], tensors),)
    outputs = (_index(path, "`output`", top["output"], tensors),)
    try:
        return Network(slug, tensors, nodes, inputs, outputs, f"Keras application {top['model']}")
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", evidence=error.evidence) from error


def _refuse(path: Path, message: str, hint: str = "") -> NoReturn:
    raise ConfigError(f"{path}: {message}", hint=hint)


def _parse(path: Path) -> object:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a device or a pipe may never end
            _refuse(path, "not a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=error.strerror or str(error)) from error
    if len(data) > MAX_BYTES:
        _refuse(path, f"larger than {MAX_BYTES} bytes")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_constant)
    except (ValueError, RecursionError) as error:  # text that is not UTF-8 is a ValueError as well
        raise ConfigError(f"{path}: not JSON", cause=str(error)[:200]) from error


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is here twice")
    return made


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number here")


def _entries(path: Path, what: str, value: object, known: tuple[str, ...]) -> dict[str, Any]:
    """All of the known keys, and no other."""
    if not isinstance(value, dict):
        _refuse(path, f"{what} is no mapping")
    for name in value:
        if name not in known:
            _refuse(path, f"{what}: unknown key {quoted(name)}", nearest(name, known))
    for name in known:
        if name not in value:
            _refuse(path, f"{what}: {name!r} is missing")
    return value


def _list(path: Path, what: str, value: object, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        _refuse(path, f"{what} is no list of at most {most}")
    return value


def _number(path: Path, what: str, value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        _refuse(path, f"{what} is no whole number from {least} to {most}")
    return value


def _numbers(path: Path, what: str, value: object, count: int, least: int) -> list[int]:
    values = _list(path, what, value, count)
    if len(values) != count:
        _refuse(path, f"{what}: {count} numbers are expected, got {len(values)}")
    return [_number(path, what, item, least, MAX_EXTENT) for item in values]


def _shape(path: Path, what: str, value: object) -> Shape:
    h, w, c = _numbers(path, what, value, 3, 1)
    return Shape(h, w, c)


def _index(path: Path, what: str, value: object, tensors: tuple[Shape, ...]) -> int:
    return _number(path, what, value, 0, len(tensors) - 1)


def _node(path: Path, slug: str, number: int, value: object, tensors: tuple[Shape, ...]) -> Node:
    where = f"op {number}"
    word = value.get("op") if isinstance(value, dict) else None
    if not isinstance(word, str) or word not in _WORDS:
        _refuse(path, f"{where}: {quoted(str(word))} is not known", nearest(str(word), _WORDS))
    entry = _entries(path, where, value, _PLAIN + _WINDOW_KEYS * (word in _WINDOWS))
    operands = _list(path, f"{where}: `ins`", entry["ins"], OPERANDS_MAX)
    inputs = tuple(_index(path, f"{where}: an operand", item, tensors) for item in operands)
    output = _index(path, f"{where}: `out`", entry["out"], tensors)
    kind, function = _kind(path, where, word, len(inputs))
    rounding = Rounding.SINGLE if kind is OpKind.FULLY_CONNECTED else Rounding.DOUBLE
    window = _window(path, where, entry) if word in _WINDOWS else Window()
    try:
        geometry = geometry_of(kind, [tensors[n] for n in inputs], tensors[output], window)
    except ConfigError as error:
        message = f"{path}: {where}: {error.message}"
        raise ConfigError(message, evidence=error.evidence, hint=error.hint) from error
    return Node(Layer(slug, geometry, kind, function, rounding), inputs, output)


def _kind(path: Path, where: str, word: str, operands: int) -> tuple[OpKind, str]:
    if word in _TABLES:
        return OpKind.TABLE, _TABLES[word]
    if word in _TWO and operands == 1:
        return OpKind.TABLE, AFFINE
    kind = {**_WINDOWS, **_TWO, **_OTHERS}[word]
    if kind is None:
        _refuse(path, f"{where}: {word} of two tensors has no operator here")
    return kind, ""


def _window(path: Path, where: str, entry: dict[str, Any]) -> Window:
    pairs = [tuple(_numbers(path, f"{where}: `{name}`", entry[name], 2, 1)) for name in "ksd"]
    (k_h, k_w), (s_h, s_w), (d_h, d_w) = pairs
    pad = Pad(*_numbers(path, f"{where}: `p`", entry["p"], 4, 0))
    return Window((k_h, k_w), (s_h, s_w), (d_h, d_w), pad)
