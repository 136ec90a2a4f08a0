# SPDX-License-Identifier: Apache-2.0
"""Models as YAML: tensors by number, and ops in order, in the words of layer sets. No weights.

    source: where the shapes are from
    budget: {rp2040: 45000000}
    inputs: [0]
    outputs: [2]
    tensors:
      0: [48, 48, 3]
      1: [24, 24, 16]
      2: [24, 24, 16]
    ops:
      - {op: conv, in: [0], out: 1, k: [3, 3], s: [2, 2], pad: [1, 1, 1, 1], activation: relu6}
      - {op: depthwise, in: [1], out: 2, k: [3, 3], pad: [1, 1, 1, 1], activation: relu6}

Channels come from the tensors; rows and columns are derived from the op and must be the tensors'.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import ConfigError
from harness.geometry import MAX_EXTENT, Pad, Shape
from harness.network.budget import read_budget
from harness.network.graph import Layer
from harness.network.network import Network, Node
from harness.network.operators import OPERATORS, Operator
from harness.network.shapes import MAX_OPS, Window, check_size, geometry_of
from harness.schema.constants import OPERANDS_MAX, Rounding
from harness.strictyaml import Mapping, load, quoted
from harness.strictyaml import Node as Value

_TOP = ("source", "budget", "inputs", "outputs", "tensors", "ops")
_ACTIVATIONS = ("none", "relu", "relu6")
_WINDOW_KEYS = ("k", "s", "d", "pad", "factor")
_UNSLUG = re.compile(r"[^a-z0-9]+")
_MAX_STEM = 40


def slug_of(stem: str) -> str:
    """A file's name as the beginning of ids: lower-case letters, digits and single hyphens; dots that
    stand between digits stay."""
    kept = re.sub(r"(?<=[0-9])\.(?=[0-9])", "\0", stem.lower()[:_MAX_STEM])
    words = [_UNSLUG.sub("-", part).strip("-") for part in kept.split("\0")]
    return ".".join(words).strip("-.") or "model"


def layer_id(slug: str, op: int) -> str:
    """The id of op number `op` of a model: it never changes, as the weights are drawn from it."""
    return f"{slug}.op{op}"


def load_model_file(path: Path) -> Network:
    """Errors: ConfigError with file, line and column."""
    top = load(path).mapping(known=_TOP, needed=("inputs", "outputs", "tensors", "ops"))
    tensors = _tensors(top["tensors"])
    slug = slug_of(path.stem)
    entries = top["ops"].sequence()
    if len(entries) > MAX_OPS:
        raise top["ops"].fail(f"more than {MAX_OPS} ops")
    nodes = tuple(_node(entry, layer_id(slug, n), tensors) for n, entry in enumerate(entries))
    source, budget = top.get("source"), top.get("budget")
    try:
        return Network(
            name=slug,
            tensors=tensors,
            nodes=nodes,
            inputs=_numbers(top["inputs"], len(tensors)),
            outputs=_numbers(top["outputs"], len(tensors)),
            source=source.text() if source else "",
            budget=read_budget(budget) if budget else (),
        )
    except ConfigError as error:
        if error.message.startswith(str(path)):
            raise
        raise ConfigError(
            f"{path}: {error.message}", evidence=error.evidence, hint=error.hint
        ) from error


def _tensors(node: Value) -> tuple[Shape, ...]:
    """Numbered from 0 without a gap, in order."""
    entries = node.mapping().entries
    shapes = []
    for wanted, (name, value) in enumerate(entries.items()):
        if name != str(wanted):
            raise value.fail(f"tensor {quoted(name)} stands where tensor {wanted} is expected")
        h, w, c = value.integers(3, 1, MAX_EXTENT)
        shape = Shape(h, w, c)
        try:
            check_size(shape)
        except ConfigError as error:
            raise value.fail(error.message) from error
        shapes.append(shape)
    return tuple(shapes)


def _numbers(node: Value, count: int) -> tuple[int, ...]:
    return tuple(item.integer(0, max(count - 1, 0)) for item in node.sequence())


def _node(value: Value, slug: str, tensors: tuple[Shape, ...]) -> Node:
    entry = value.mapping(needed=("op", "in", "out"))
    operator = OPERATORS[entry["op"].choice(OPERATORS)]
    window_keys = tuple(
        key for key in _WINDOW_KEYS if key in (*operator.needed, *operator.optional)
    )
    value.mapping(known=("op", "in", "out", *window_keys, *operator.labels))
    if len(entry["in"].sequence()) > OPERANDS_MAX:
        raise entry["in"].fail(f"1 to {OPERANDS_MAX} operands are possible")
    inputs = _numbers(entry["in"], len(tensors))
    output = entry["out"].integer(0, len(tensors) - 1)
    try:
        geometry = geometry_of(
            operator.kind, [tensors[n] for n in inputs], tensors[output], _window(entry)
        )
    except ConfigError as error:
        if error.message.startswith(value.path):
            raise
        raise ConfigError(
            f"{value.where}: {error.message}", evidence=error.evidence, hint=error.hint
        ) from error
    layer = Layer(slug, geometry, operator.kind, operator.function, _rounding(entry, operator))
    activation = entry.get("activation")
    if activation:
        layer = Layer(**{**vars(layer), "activation": activation.choice(_ACTIVATIONS)})
    return Node(layer, inputs, output)


def _rounding(entry: Mapping, operator: Operator) -> Rounding:
    node = entry.get("rounding")
    if node is None:
        return operator.rounding
    return Rounding[node.choice([r.name.lower() for r in operator.roundings]).upper()]


def _window(entry: Mapping) -> Window:
    pad = entry.get("pad")
    return Window(
        k=_pair(entry, "k"),
        s=_pair(entry, "factor" if "factor" in entry else "s"),
        d=_pair(entry, "d"),
        pad=Pad(*pad.integers(4, 0, MAX_EXTENT)) if pad else Pad(),
    )


def _pair(entry: Mapping, name: str) -> tuple[int, int]:
    node = entry.get(name)
    h, w = node.integers(2, 1, MAX_EXTENT) if node else (1, 1)
    return h, w
