# SPDX-License-Identifier: Apache-2.0
"""Layer sets: YAML lists of geometries."""

from __future__ import annotations

import re
from pathlib import Path

from harness import resources
from harness.errors import ConfigError
from harness.geometry import MAX_EXTENT, ConvGeometry, Pad
from harness.network.graph import Layer
from harness.strictyaml import Mapping, Node, load, nearest

_KEYS = ("id", "h_in", "w_in", "c_in", "c_out", "k", "s", "d", "pad", "source", "slow")
_SLUG = re.compile(r"[a-z0-9][a-z0-9.]*(-[a-z0-9.]+)*")
_MAX_SLUG = 60


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
    """All layers of a file, in its order. Errors: ConfigError with line and column."""
    top = load(path).mapping(known=("layers",), needed=("layers",))
    layers: dict[str, Layer] = {}
    for node in top["layers"].sequence():
        layer = _layer(node)
        if layer.id in layers:
            raise node.fail(f"the id {layer.id!r} is here twice")
        layers[layer.id] = layer
    if not layers:
        raise top["layers"].fail("no layers")
    return tuple(layers.values())


def _layer(node: Node) -> Layer:
    entry = node.mapping(known=_KEYS, needed=("id", "h_in", "w_in", "c_in", "c_out"))
    slug = entry["id"].text()
    if not _SLUG.fullmatch(slug) or len(slug) > _MAX_SLUG:
        raise entry["id"].fail(
            f"{slug!r} is not an id", "lower-case letters, digits, dots, joined by single hyphens"
        )
    try:
        geometry = _geometry(entry)
    except ConfigError as error:
        if error.message.startswith(node.path):
            raise
        raise node.fail(f"{slug}: {error.message}", error.hint) from error
    source = entry.get("source")
    slow = entry.get("slow")
    return Layer(
        slug,
        geometry,
        source=source.text() if source else "",
        slow=slow is not None and slow.choice(("true", "false")) == "true",
    )


def _geometry(entry: Mapping) -> ConvGeometry:
    def number(name: str) -> int:
        return entry[name].integer(1, MAX_EXTENT)

    def pair(name: str) -> tuple[int, int]:
        node = entry.get(name)
        h, w = node.integers(2, 1, MAX_EXTENT) if node else (1, 1)
        return h, w

    pad = entry.get("pad")
    return ConvGeometry(
        number("h_in"),
        number("w_in"),
        number("c_in"),
        number("c_out"),
        *pair("k"),
        *pair("s"),
        *pair("d"),
        Pad(*pad.integers(4, 0, MAX_EXTENT)) if pad else Pad(),
    )
