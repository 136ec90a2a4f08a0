# SPDX-License-Identifier: Apache-2.0
"""Lists of convolutions for `ripbench gap --from`: JSON or YAML, ten thousand of them in a moment.

harness.strictyaml keeps a node for every value and stops at 50,000 of them. Here the parser's events
are taken as they come, and only what an entry can hold is kept: whole numbers and lists of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import MAX_EXTENT, ConvGeometry, Pad
from harness.strictyaml import nearest

Int64s = NDArray[np.int64]
Columns = dict[str, Int64s]
Place = tuple[int, int] | None  # line and column from 1, of YAML
Pairs = list[tuple[str, object, Place]]

COLUMNS = (
    *("h_in", "w_in", "c_in", "c_out", "k_h", "k_w", "s_h", "s_w", "d_h", "d_w"),
    *("pad_top", "pad_left", "pad_bottom", "pad_right"),
)  # fmt: skip
_MAX_BYTES = 64 << 20
_MAX_DEPTH = 20
_MAX_SCALARS = 1 << 31
_EXTENTS = ("h_in", "w_in", "c_in", "c_out")
_PAIRS = ("k", "s", "d")
_KEYS = (*_EXTENTS, *_PAIRS, "p", "pad")
_NEEDED = (*_EXTENTS, "k")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_SHOWN = 40


@dataclass(frozen=True)
class BadEntry:
    """index: from 0, as in the answer's list. field: a key of the entry, or "" for the entry itself."""

    index: int
    field: str
    place: Place
    problem: str
    hint: str = ""

    def where(self, path: str) -> str:
        spot = f":{self.place[0]}:{self.place[1]}" if self.place else ""
        field = f", {self.field}" if self.field else ""
        return f"{path}{spot}: entry {self.index}{field}"


@dataclass(frozen=True)
class Listing:
    """rows: index of each good entry; columns: their numbers, COLUMNS by name. bad: the others."""

    count: int
    rows: list[int]
    columns: Columns
    bad: list[BadEntry]

    def geometry(self, number: int) -> ConvGeometry:
        """Of the number-th good entry."""
        h_in, w_in, c_in, c_out, *steps = (int(self.columns[name][number]) for name in COLUMNS)
        k_h, k_w, s_h, s_w, d_h, d_w, *sides = steps
        return ConvGeometry(h_in, w_in, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, Pad(*sides))


class _Problem(Exception):
    def __init__(self, field: str, place: Place, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.field, self.place, self.problem, self.hint = field, place, problem, hint


def read_listing(path: Path) -> Listing:
    """Errors: ConfigError for a file that is no list; wrong entries are in `bad`."""
    entries = _entries(path)
    rows, good, bad = [], [], []
    for index, (place, pairs) in enumerate(entries):
        try:
            good.append(_numbers(place, pairs))
            rows.append(index)
        except _Problem as error:
            bad.append(BadEntry(index, error.field, error.place, error.problem, error.hint))
    table = np.array(good, dtype=np.int64).reshape(len(good), len(COLUMNS))
    columns = {name: np.ascontiguousarray(table[:, n]) for n, name in enumerate(COLUMNS)}
    return Listing(len(entries), rows, columns, bad)


def _entries(path: Path) -> list[tuple[Place, object]]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path} is larger than {_MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text", cause=str(error)) from error
    if path.suffix == ".json":
        return _from_json(text, path)
    if path.suffix in (".yaml", ".yml"):
        return _from_yaml(text, path)
    raise ConfigError(f"{path} is neither .json nor .yaml", hint="name it by what is in it")


def _no_list(path: Path) -> ConfigError:
    return ConfigError(
        f"{path} is not a list of convolutions",
        hint="[{h_in: 56, w_in: 56, c_in: 64, c_out: 128, k: [3, 3], p: [1, 1]}, ...]",
    )


class _Object(list[tuple[str, object]]):
    """A JSON object as its pairs, so that a key that is there twice is seen."""


def _from_json(text: str, path: Path) -> list[tuple[Place, object]]:
    try:
        found = json.loads(text, object_pairs_hook=_Object)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{path}:{error.lineno}:{error.colno}: not JSON", cause=error.msg
        ) from error
    except (ValueError, RecursionError) as error:  # thousands of digits, or of brackets
        raise ConfigError(f"{path}: not JSON that can be read", cause=str(error)) from error
    if not isinstance(found, list) or isinstance(found, _Object):
        raise _no_list(path)
    return [
        (None, [(key, value, None) for key, value in item] if isinstance(item, _Object) else item)
        for item in found
    ]


def _from_yaml(text: str, path: Path) -> list[tuple[Place, object]]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, ten times as fast
    try:
        events = _nodes(yaml.parse(text, Loader=loader))
        found = _value(events, next(events), 0)
        if next(events, None) is not None:
            raise ConfigError(f"{path}: more than one YAML document")
    except StopIteration:
        raise ConfigError(f"{path} is empty") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        spot = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}{spot}: not YAML", cause=str(error.problem)) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML", cause=str(error)) from error
    if not isinstance(found, list) or isinstance(found, _Mapped):
        raise _no_list(path)
    return [
        (value.place, value) if isinstance(value, _Mapped) else (place, value)
        for place, value in found
    ]


class _Mapped(list[tuple[str, object, Place]]):
    """A YAML mapping as its pairs and their places."""

    place: Place = None


class _Sequence(list[tuple[Place, object]]):
    """A YAML sequence with the places of its items."""


def _nodes(events: Iterator[Any]) -> Iterator[Any]:
    outer = (
        *(yaml.StreamStartEvent, yaml.StreamEndEvent),
        *(yaml.DocumentStartEvent, yaml.DocumentEndEvent),
    )
    return (event for event in events if not isinstance(event, outer))


def _place(event: Any) -> Place:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _value(events: Iterator[Any], event: Any, depth: int) -> object:
    """Whole numbers as int, other scalars as text in a tuple (never taken for a number or a key)."""
    if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
        what = (
            "aliases are not allowed" if depth <= _MAX_DEPTH else f"more than {_MAX_DEPTH} levels"
        )
        raise yaml.MarkedYAMLError(problem=what, problem_mark=event.start_mark)
    if isinstance(event, yaml.ScalarEvent):
        text: str = event.value
        plain = event.style in (None, "") and event.tag is None
        return int(text) if plain and _WHOLE.fullmatch(text) else (text,)
    if isinstance(event, yaml.SequenceStartEvent):
        items = _Sequence()
        for item in iter(lambda: next(events), None):
            if isinstance(item, yaml.SequenceEndEvent):
                return items
            items.append((_place(item), _value(events, item, depth + 1)))
    pairs = _Mapped()
    pairs.place = _place(event)
    for key in iter(lambda: next(events), None):
        if isinstance(key, yaml.MappingEndEvent):
            break
        if not isinstance(key, yaml.ScalarEvent):
            raise yaml.MarkedYAMLError(problem="a key that is no text", problem_mark=key.start_mark)
        pairs.append((key.value, _value(events, next(events), depth + 1), _place(key)))
    return pairs


def _numbers(place: Place, pairs: object) -> list[int]:
    """The entry's numbers in the order of COLUMNS. Errors: _Problem."""
    if not isinstance(pairs, list) or isinstance(pairs, _Sequence) or not _are_pairs(pairs):
        raise _Problem("", place, "a mapping (key: value) is expected here")
    found: dict[str, tuple[object, Place]] = {}
    for key, value, spot in pairs:
        if key in found:
            raise _Problem(_shown(key), spot, "is here twice")
        if key not in _KEYS:
            raise _Problem(_shown(key), spot, "unknown key", nearest(key[:_SHOWN], _KEYS))
        found[key] = value, spot
    for key in _NEEDED:
        if key not in found:
            raise _Problem(key, place, "is missing")
    if "p" in found and "pad" in found:
        raise _Problem(
            "pad", found["pad"][1], "is given beside p", "p: [h, w] or pad: [t, l, b, r]"
        )
    numbers = [_whole(key, *found[key], 1) for key in _EXTENTS]
    for key in _PAIRS:
        numbers += _wholes(key, *found[key], 2, 1) if key in found else [1, 1]
    if "pad" in found:
        numbers += _wholes("pad", *found["pad"], 4, 0)
    else:
        numbers += _wholes("p", *found["p"], 2, 0) * 2 if "p" in found else [0] * 4
    _check_sizes(numbers, found)
    return numbers


def _are_pairs(pairs: list[Any]) -> bool:
    return not pairs or (type(pairs[0]) is tuple and len(pairs[0]) == 3)


def _whole(key: str, value: object, place: Place, least: int) -> int:
    if type(value) is not int:
        raise _Problem(key, place, f"{_shown(value)} is not a whole number")
    if not least <= value <= MAX_EXTENT:
        raise _Problem(key, place, f"{_shown(value)} is not within {least} to {MAX_EXTENT}")
    return value


def _wholes(key: str, value: object, place: Place, length: int, least: int) -> list[int]:
    if isinstance(value, _Sequence):
        value = [item for _, item in value]
    if type(value) is not list or len(value) != length:
        form = {2: "[h, w]", 4: "[top, left, bottom, right]"}[length]
        raise _Problem(key, place, f"{length} whole numbers are expected here", f"{key}: {form}")
    return [_whole(key, item, place, least) for item in value]


def _check_sizes(numbers: list[int], found: dict[str, tuple[object, Place]]) -> None:
    h_in, w_in, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, top, left, bottom, right = numbers
    axes = (
        ("rows", h_in + top + bottom, (k_h - 1) * d_h + 1, s_h),
        ("columns", w_in + left + right, (k_w - 1) * d_w + 1, s_w),
    )
    outputs = []
    for name, padded, kernel, stride in axes:
        if kernel > padded:
            problem = f"the kernel spans {kernel} {name} and the padded input has {padded}"
            raise _Problem("k", found["k"][1], problem)
        outputs.append((padded - kernel) // stride + 1)
        if outputs[-1] > MAX_EXTENT:
            field = "p" if "p" in found else "pad"
            raise _Problem(field, found[field][1], f"the output has {outputs[-1]} {name}")
    sizes = (
        ("c_in", "input with its padding", axes[0][1] * axes[1][1] * c_in),
        ("c_out", "output", outputs[0] * outputs[1] * c_out),
    )
    for field, name, size in sizes:
        if size >= _MAX_SCALARS:
            problem = f"the {name} has {size} scalars; less than 2^31 are possible"
            raise _Problem(field, found[field][1], problem)


def _shown(value: object) -> str:
    """Safe to print: no control characters, and short."""
    if isinstance(value, tuple):
        value = value[0]
    if isinstance(value, list):
        return "a mapping" if isinstance(value, (_Mapped, _Object)) else "a list"
    text = (
        ascii(value) if not isinstance(value, int) or abs(value) < 10**_SHOWN else "a huge number"
    )
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
