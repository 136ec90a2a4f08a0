# SPDX-License-Identifier: Apache-2.0
"""Layer sets: YAML lists of ops, written out, varied from a base, or drawn from a seed."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from harness import resources
from harness.errors import ConfigError
from harness.geometry import Geometry
from harness.network.budget import read_budget
from harness.network.draw import draw_geometry
from harness.network.graph import Layer
from harness.network.names import name_of
from harness.network.operators import OPERATORS, Operator
from harness.schema.constants import Rounding
from harness.strictyaml import Mapping, Node, load, nearest, quoted

_LABELS = ("id", "op", "source", "slow", "budget")
_ACTIVATIONS = ("none", "relu", "relu6")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_.]*(-[a-z0-9.]+)*")
_MAX_SLUG = 60
_MAX_DRAWN = 100_000
_MAX_LAYERS = 200_000  # of one file: a few lists of `vary` multiply to more than any memory holds
_TRIES = 20


def find_set(name: str) -> Path:
    """A set by file name or by its name in layers/sets. Errors: ConfigError lists what there is."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return path
    folder = resources.layers() / "sets"
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if name not in known:
        raise ConfigError(
            f"no layer set {name!r}", hint=nearest(name, known) + "; or give a .yaml file"
        )
    return folder / f"{name}.yaml"


def load_set(path: Path) -> tuple[Layer, ...]:
    """All layers of a file, in its order: `layers`, then `varied`, then `drawn`. A varied or drawn
    layer that another one equals is left out. Errors: ConfigError with line and column."""
    top = load(path).mapping(known=("layers", "varied", "drawn"))
    layers: dict[str, Layer] = {}
    for node in _items(top, "layers"):
        layer = _layer(node)
        if layer.id in layers:
            raise node.fail(f"the id {layer.id!r} is here twice")
        layers[layer.id] = layer
    made = itertools.count(1)
    for name, make in (("varied", _varied), ("drawn", _drawn)):
        for node in _items(top, name):
            for layer in make(node):
                if next(made) > _MAX_LAYERS:
                    raise node.fail(f"more than {_MAX_LAYERS} layers in one file")
                known = layers.setdefault(layer.id, layer)
                if _shaped(known) != _shaped(layer):
                    raise node.fail(f"a layer of another shape has the id {layer.id!r}")
    if not layers:
        raise top.node.fail("no layers")
    return tuple(layers.values())


def _shaped(layer: Layer) -> Layer:
    """What a layer computes, without what is said of it."""
    return replace(layer, source="", slow=False, budget=())


def _items(top: Mapping, name: str) -> list[Node]:
    node = top.get(name)
    return node.sequence() if node else []


def _layer(node: Node) -> Layer:
    entry = node.mapping()
    layer = _unnamed(entry, required=("id",))
    slug = entry["id"].text()
    if not _SLUG.fullmatch(slug) or len(slug) > _MAX_SLUG:
        raise entry["id"].fail(
            f"{quoted(slug)} is not an id",
            "lower-case letters, digits, dots, joined by single hyphens",
        )
    return replace(layer, id=slug)


def _unnamed(entry: Mapping, required: tuple[str, ...] = ()) -> Layer:
    operator = _operator(entry)
    _known(entry, (*_LABELS, *operator.labels, *operator.needed, *operator.optional))
    for name in (*required, *operator.needed):
        if name not in entry:
            raise entry.node.fail(f"{name!r} is missing")
    try:
        geometry = operator.geometry(entry)
    except ConfigError as error:
        if error.message.startswith(entry.node.path):
            raise
        slug = f"{entry['id'].text()}: " if "id" in entry else ""
        raise entry.node.fail(f"{slug}{error.message}", error.hint) from error
    return _labelled(operator, geometry, entry)


def _known(entry: Mapping, names: Sequence[str]) -> None:
    for name in entry:
        if name not in names:
            raise entry[name].fail(f"unknown key {quoted(name)}", nearest(name, names))


def _operator(entry: Mapping) -> Operator:
    return OPERATORS[entry["op"].choice(OPERATORS) if "op" in entry else "conv"]


def _labelled(operator: Operator, geometry: Geometry, entry: Mapping) -> Layer:
    rounding, slow = entry.get("rounding"), entry.get("slow")
    activation, source = entry.get("activation"), entry.get("source")
    budget = entry.get("budget")
    names = [item.name.lower() for item in operator.roundings]
    layer = Layer("", geometry, operator.kind, operator.function, operator.rounding)
    return replace(
        layer,
        rounding=Rounding[rounding.choice(names).upper()] if rounding else layer.rounding,
        activation=activation.choice(_ACTIVATIONS) if activation else layer.activation,
        source=source.text() if source else "",
        slow=slow is not None and slow.choice(("true", "false")) == "true",
        budget=read_budget(budget) if budget else (),
    )


def _varied(node: Node) -> Iterator[Layer]:
    """Each item of `vary` is the `base`, an entry without id, with every combination of its lists."""
    parts = node.mapping(known=("base", "vary"), needed=("base", "vary"))
    base = parts["base"].mapping()
    for item in parts["vary"].sequence():
        lists = {name: choices.sequence() for name, choices in item.mapping().entries.items()}
        if math.prod(map(len, lists.values())) > _MAX_LAYERS:
            raise item.fail(f"more than {_MAX_LAYERS} layers in one file")
        for chosen in itertools.product(*lists.values()):
            entry = Mapping({**base.entries, **dict(zip(lists, chosen, strict=True))}, item)
            layer = _unnamed(entry)
            yield replace(layer, id=name_of(layer))


def _drawn(node: Node) -> Iterator[Layer]:
    """`count` random ops of one kind, the same ones for the same seed."""
    needed = ("op", "count", "seed")
    entry = node.mapping(needed=needed)
    operator = OPERATORS[entry["op"].choice(OPERATORS)]
    _known(entry, (*needed, *operator.labels))
    count = entry["count"].integer(1, _MAX_DRAWN)
    geometries = draw_geometry(operator.kind, entry["seed"].integer(0, 2**32 - 1))
    seen: set[str] = set()
    tries = itertools.count()
    while len(seen) < count:
        if next(tries) > _TRIES * (len(seen) + 1):
            raise entry["count"].fail(f"there are not so many different ones, only {len(seen)}")
        layer = _labelled(operator, next(geometries), entry)
        layer = replace(layer, id=name_of(layer))
        if layer.id not in seen:
            seen.add(layer.id)
            yield layer
