# SPDX-License-Identifier: Apache-2.0
"""Records: structs that C and Python share, described once.

A record is a frozen dataclass whose fields are annotated with how they lie in memory. From that one
description come the Python codec (`pack`, `unpack`) and the C declaration (`header.py`). Everything
is little-endian, and a field must lie on its natural alignment, so that a C compiler adds no padding
and a Cortex-M0+ can read it in place.
"""

from __future__ import annotations

import dataclasses
import struct
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Scalar:
    """An integer: `c` is the C type, `code` the struct module's letter, `size` in bytes."""

    c: str
    code: str
    size: int


@dataclass(frozen=True)
class Array:
    """A fixed number of scalars, a tuple of int in Python."""

    of: Scalar
    length: int


@dataclass(frozen=True)
class Raw:
    """A fixed number of bytes."""

    length: int


@dataclass(frozen=True)
class Text:
    """UTF-8 in a fixed number of bytes, padded with zeros, always ended by one."""

    length: int


_U8 = Scalar("uint8_t", "B", 1)
_U16 = Scalar("uint16_t", "H", 2)
_U32 = Scalar("uint32_t", "I", 4)
_U64 = Scalar("uint64_t", "Q", 8)
_I32 = Scalar("int32_t", "i", 4)

U8 = Annotated[int, _U8]
U16 = Annotated[int, _U16]
U32 = Annotated[int, _U32]
U64 = Annotated[int, _U64]
I32 = Annotated[int, _I32]
U16x4 = Annotated[tuple[int, ...], Array(_U16, 4)]
U32x8 = Annotated[tuple[int, ...], Array(_U32, 8)]
I32x2 = Annotated[tuple[int, ...], Array(_I32, 2)]
Bytes8 = Annotated[bytes, Raw(8)]
Text32 = Annotated[str, Text(32)]


class LayoutError(TypeError):
    """A record whose fields would not lie the same way in C: a mistake in the schema itself."""


@dataclass(frozen=True)
class Member:
    """One field of a record: where it lies (`offset`, `size` in bytes) and as what."""

    name: str
    kind: Scalar | Array | Raw | Text | type[Record]
    offset: int
    size: int


@dataclass(frozen=True)
class Record:
    """Base of all shared structs. Subclasses are frozen dataclasses with annotated fields."""

    c_name: ClassVar[str] = ""

    @classmethod
    def members(cls) -> tuple[Member, ...]:
        return _members(cls)

    @classmethod
    def size(cls) -> int:
        """Bytes, the same in C (the generated header asserts it)."""
        last = cls.members()[-1]
        return last.offset + last.size

    def pack(self) -> bytes:
        """Errors: struct.error or ValueError when a value does not fit its field."""
        return b"".join(_pack_value(m, getattr(self, m.name)) for m in self.members())

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Errors: ValueError when `data` is not exactly `size()` bytes."""
        if len(data) != cls.size():
            raise ValueError(f"{cls.__name__} is {cls.size()} bytes, got {len(data)}")
        return cls(**{m.name: _unpack_value(m, data) for m in cls.members()})


def _describe(annotation: Any) -> Scalar | Array | Raw | Text | type[Record]:
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    if get_origin(annotation) is Annotated:
        for extra in get_args(annotation)[1:]:
            if isinstance(extra, (Scalar, Array, Raw, Text)):
                return extra
    raise LayoutError(f"no memory layout in annotation {annotation!r}")


def _size_and_alignment(kind: Scalar | Array | Raw | Text | type[Record]) -> tuple[int, int]:
    if isinstance(kind, Scalar):
        return kind.size, kind.size
    if isinstance(kind, Array):
        return kind.of.size * kind.length, kind.of.size
    if isinstance(kind, (Raw, Text)):
        return kind.length, 1
    return kind.size(), alignment(kind)


def alignment(record: type[Record]) -> int:
    """The largest alignment of any field, in bytes."""
    return max(_size_and_alignment(m.kind)[1] for m in record.members())


_KNOWN: dict[type[Record], tuple[Member, ...]] = {}


def _members(cls: type[Record]) -> tuple[Member, ...]:
    if cls not in _KNOWN:
        _KNOWN[cls] = _lay_out(cls)
    return _KNOWN[cls]


def _lay_out(cls: type[Record]) -> tuple[Member, ...]:
    hints = get_type_hints(cls, include_extras=True)
    found: list[Member] = []
    offset = 0
    for field in dataclasses.fields(cls):
        kind = _describe(hints[field.name])
        size, align = _size_and_alignment(kind)
        if offset % align:
            raise LayoutError(
                f"{cls.__name__}.{field.name} at byte {offset} is not aligned to {align}"
            )
        found.append(Member(field.name, kind, offset, size))
        offset += size
    if not found:
        raise LayoutError(f"{cls.__name__} has no fields")
    widest = max(_size_and_alignment(m.kind)[1] for m in found)
    if offset % widest:
        raise LayoutError(
            f"{cls.__name__} is {offset} bytes, not a multiple of its alignment {widest}"
        )
    return tuple(found)


def _pack_value(member: Member, value: Any) -> bytes:
    kind = member.kind
    if isinstance(kind, Scalar):
        return struct.pack("<" + kind.code, value)
    if isinstance(kind, Array):
        return struct.pack(f"<{kind.length}{kind.of.code}", *value)
    if isinstance(kind, Raw):
        if len(value) != kind.length:
            raise ValueError(f"{member.name} is {kind.length} bytes, got {len(value)}")
        return bytes(value)
    if isinstance(kind, Text):
        encoded: bytes = value.encode()
        if len(encoded) >= kind.length:
            raise ValueError(
                f"{member.name} holds {kind.length - 1} bytes of text, got {len(encoded)}"
            )
        return encoded.ljust(kind.length, b"\0")
    packed: bytes = value.pack()
    return packed


def _unpack_value(member: Member, data: bytes) -> Any:
    kind = member.kind
    part = data[member.offset : member.offset + member.size]
    if isinstance(kind, Scalar):
        return struct.unpack("<" + kind.code, part)[0]
    if isinstance(kind, Array):
        return struct.unpack(f"<{kind.length}{kind.of.code}", part)
    if isinstance(kind, Raw):
        return part
    if isinstance(kind, Text):
        return part.split(b"\0", 1)[0].decode("utf-8", "replace")
    return kind.unpack(part)
