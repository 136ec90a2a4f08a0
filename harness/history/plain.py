# SPDX-License-Identifier: Apache-2.0
"""Frozen dataclasses to what JSON can hold, and back with every type checked."""

from __future__ import annotations

import types
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_MAX_INT = 2**63 - 1  # SQLite's


def to_plain(value: Any) -> dict[str, Any]:
    """By field name; what is in it as deep as it goes."""
    return asdict(value)


def from_plain(kind: type[_T], value: object) -> _T:
    """Names that the class does not have are passed over: a newer writer may know more. Errors:
    ValueError names the field that is missing or of another type."""
    made: _T = _decode(kind, value, kind.__name__)
    return made


def _decode(kind: Any, value: object, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(kind):
            return None
        (inner,) = (one for one in get_args(kind) if one is not type(None))
        return _decode(inner, value, where)
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    if is_dataclass(kind):
        return _object(kind, value, where)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind or (kind is int and abs(value) > _MAX_INT):  # type: ignore[arg-type]
        raise ValueError(f"{where} is no {kind.__name__}")
    return value


def _tuple(kinds: tuple[Any, ...], value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{where} is no list")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise ValueError(f"{where} has {len(value)} items, not {len(kinds)}")
    return tuple(
        _decode(k, v, f"{where}[{n}]") for n, (k, v) in enumerate(zip(kinds, value, strict=True))
    )


def _object(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no object")
    given = {}
    for name, (hint, needed) in _hints(kind).items():
        if name in value:
            given[name] = _decode(hint, value[name], f"{where}.{name}")
        elif needed:
            raise ValueError(f"{where}.{name} is missing")
    return kind(**given)


@cache
def _hints(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Type of each field, and whether it has to be there."""
    hints = get_type_hints(kind)
    return {
        f.name: (hints[f.name], f.default is MISSING and f.default_factory is MISSING)
        for f in fields(kind)
    }
