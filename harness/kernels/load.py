# SPDX-License-Identifier: Apache-2.0
"""kernels.yaml: kernels by declaration, strict. A mistake is answered with file, line and column."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import IntEnum
from pathlib import Path, PurePosixPath
from typing import TypeVar

from harness.kernels.declared import INT8, STAGES, Kernel
from harness.kernels.formula import (
    NAMES,
    STAGE_NAMES,
    STEP_NAMES,
    Formula,
    parse,
    parse_node,
)
from harness.kernels.packers import PACKERS
from harness.schema.constants import Chip, Layout, OpKind, Rounding, TapOrder, Traversal
from harness.strictyaml import Mapping, Node, load, quoted

FILE = "kernels.yaml"
MAX_KERNELS = 500
_NEEDED = ("name", "op", "sources")
_KEYS = (
    *_NEEDED,
    *("set", "run", "chips", "accepts", "rounding", "layout", "tap_order", "traversal"),
    *("pixels", "channels", "ring", "over_rows", "prefetch", "scratch", "spare", "alignment"),
    *("weights", "weights_bytes", "sound", "cycles", "library"),
)
_KEYS_OF_SEGMENTS = (
    *_NEEDED,
    *("set", "run", "chips", "accepts", "rounding", "scratch", "spare", "alignment"),
    *("weights", "sound", "library"),
)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MAX_NAME = 60
_SOURCE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*\.[cS]")
_MOST_ALIGNED = 8  # bytes: where a pool starts
_C_WORDS = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
        *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
        *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch"),
        *("typedef", "union", "unsigned", "void", "volatile", "while", "main", "asm"),
        *("memcpy", "memmove", "memset", "memcmp"),
    )
)
_Member = TypeVar("_Member", bound=IntEnum)


def load_kernels(folder: Path, usual_set: str | None = None) -> tuple[Kernel, ...]:
    """The kernels of a folder, in the order of its kernels.yaml. usual_set: of an entry without one,
    where that may be. Errors: ConfigError."""
    top = load(folder / FILE).mapping(known=("kernels",), needed=("kernels",))
    entries = top["kernels"].sequence()
    if not entries:
        raise top["kernels"].fail("no kernels")
    if len(entries) > MAX_KERNELS:
        raise top["kernels"].fail(f"more than {MAX_KERNELS} kernels")
    kernels: dict[str, Kernel] = {}
    for entry in entries:
        kernel = _kernel(entry, folder, usual_set)
        if kernel.name in kernels:
            raise entry.fail(f"the kernel {kernel.name!r} is here twice")
        kernels[kernel.name] = kernel
    return tuple(kernels.values())


def _kernel(node: Node, folder: Path, usual_set: str | None) -> Kernel:
    entry = node.mapping(known=_KEYS, needed=_NEEDED if usual_set else (*_NEEDED, "set"))
    name = _name(entry["name"])
    kind = OpKind[entry["op"].choice([kind.name.lower() for kind in OpKind]).upper()]
    segment = kind is OpKind.SEGMENT
    forms = (INT8, STAGES) if segment else (INT8, *PACKERS)
    weights = entry["weights"].choice(forms) if "weights" in entry else INT8
    packed = weights in PACKERS
    if packed != ("weights_bytes" in entry):
        raise node.fail(
            "packed weights need weights_bytes" if packed else "weights_bytes is of packed weights",
            "a formula: the least number of bytes that the kernel reads",
        )
    if "sound" in entry and weights == INT8:
        raise entry["sound"].fail("only packed weights are looked through", "leave it out")
    traversals = _members(entry.get("traversal"), Traversal, (Traversal.ROW,))
    names = STAGE_NAMES if segment else STEP_NAMES
    kernel = Kernel(
        name=name,
        set=_name(entry["set"]) if "set" in entry else usual_set or "",
        kind=kind,
        chips=frozenset(_words(entry.get("chips"), [chip.name.lower() for chip in Chip], ())),
        accepts=tuple(
            parse_node(item, STAGE_NAMES if segment else NAMES)
            for item in _items(entry.get("accepts"))
        ),
        roundings=_members(entry.get("rounding"), Rounding, (Rounding.DOUBLE,)),
        layouts=_members(entry.get("layout"), Layout, (Layout.DENSE,)),
        tap_orders=_members(entry.get("tap_order"), TapOrder, (TapOrder.GATHER,)),
        traversals=traversals,
        pixels=tuple(parse_node(item) for item in _items(entry.get("pixels"))) or (parse("1"),),
        channels=_formula(entry, "channels", "1"),
        ring=_formula(entry, "ring", "0"),
        over_rows="over_rows" in entry and entry["over_rows"].boolean(),
        prefetch="prefetch" in entry and entry["prefetch"].boolean(),
        scratch=_formula(entry, "scratch", "0", names),
        spare=_formula(entry, "spare", "0", STAGE_NAMES) if "spare" in entry else None,
        alignment=_alignment(entry.get("alignment")),
        weights=weights,
        weights_bytes=_formula(entry, "weights_bytes", "0", STEP_NAMES) if packed else None,
        sound=_name(entry["sound"]) if "sound" in entry else None,
        cycles=_formula(entry, "cycles", "0", STEP_NAMES) if "cycles" in entry else None,
        sources=tuple(_source(item, folder) for item in entry["sources"].sequence()),
        library=tuple(_source(item, folder) for item in _items(entry.get("library"))),
        folder=folder,
        run=_name(entry["run"]) if "run" in entry else name,
    )
    _check(kernel, entry)
    return kernel


def _check(kernel: Kernel, entry: Mapping) -> None:
    """What does not go together. What depends on a geometry shows when a layer is planned."""
    if kernel.kind is OpKind.SEGMENT:
        for key in _KEYS:
            if key in entry and key not in _KEYS_OF_SEGMENTS:
                raise entry[key].fail("a segment's kernel has none", "leave it out")
    elif kernel.spare is not None:
        raise entry["spare"].fail(
            "only a segment's kernel uses more than its scratch", "leave it out"
        )
    if not kernel.sources:
        raise entry["sources"].fail("no sources")
    if Traversal.CHANNEL in kernel.traversals and kernel.kind is not OpKind.DEPTHWISE:
        raise entry["traversal"].fail("`channel` is of depthwise convolutions", "list the others")
    direct = TapOrder.DIRECT in kernel.tap_orders
    for name, used in (("prefetch", kernel.prefetch), ("ring", kernel.has_ring)):
        if used and direct:
            raise entry[name].fail("direct order reads its taps anew", "tap_order: gather")


def _name(node: Node) -> str:
    name = node.text()
    if not is_kernel_name(name):
        raise node.fail(
            f"{quoted(name)} is no name",
            f"lower-case letters, digits and _, up to {_MAX_NAME}; it is a C function's",
        )
    return name


def is_kernel_name(name: str) -> bool:
    """Of a kernel and a C function."""
    return bool(_NAME.fullmatch(name)) and len(name) <= _MAX_NAME and name not in _C_WORDS


def _formula(entry: Mapping, key: str, usual: str, names: Collection[str] = NAMES) -> Formula:
    return parse_node(entry[key], names) if key in entry else parse(usual, names)


def _items(node: Node | None) -> list[Node]:
    """A list, or one value alone."""
    if node is None:
        return []
    return [node] if node.kind == "scalar" else node.sequence()


def _words(node: Node | None, known: Collection[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    if node is None:
        return usual
    items = _items(node)
    if not items:
        raise node.fail("an empty list", "leave the key out for what is usual")
    return tuple(item.choice(known) for item in items)


def _members(
    node: Node | None, enum: type[_Member], usual: tuple[_Member, ...]
) -> frozenset[_Member]:
    """`any`, one name, or a list of names."""
    if node is not None and node.kind == "scalar" and node.text() == "any":
        return frozenset(enum)
    names = _words(node, [member.name.lower() for member in enum], ())
    return frozenset(enum[name.upper()] for name in names) if names else frozenset(usual)


def _alignment(node: Node | None) -> int:
    """A power of two."""
    if node is None:
        return 1
    value = node.integer(1, _MOST_ALIGNED)
    if value & (value - 1):
        raise node.fail(f"an alignment of {value} bytes", "1, 2, 4 or 8")
    return value


def _source(node: Node, folder: Path) -> str:
    """A file below the folder, by links neither."""
    name = node.text()
    path = PurePosixPath(name)
    if not _SOURCE.fullmatch(name) or path.is_absolute() or ".." in path.parts:
        raise node.fail(
            f"{quoted(name)} is no source", "a .c or .S file below kernels.yaml's folder"
        )
    found = (folder / name).resolve()
    if not found.is_file() or not found.is_relative_to(folder.resolve()):
        raise node.fail(f"{quoted(name)} is not a file of this folder")
    return name
