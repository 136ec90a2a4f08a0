# SPDX-License-Identifier: Apache-2.0
"""Flatbuffers from files that nobody vouches for: every offset, vector and size is checked before it is
used, and nothing is copied.

A table begins with a signed 32-bit distance down to its vtable, which holds its own size, the table's
size, and one 16-bit offset for each field, 0 for a field that is left out. Strings, vectors and tables
inside are unsigned 32-bit distances upwards. All is little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError

_MAX_TEXT = 1000


@dataclass(frozen=True)
class Flatbuffer:
    """A file's bytes. name: for messages."""

    data: bytes
    name: str

    def fail(self, message: str, at: int) -> ConfigError:
        return ConfigError(f"{self.name}: {message}", evidence={"offset": at})

    def number(self, form: str, at: int) -> int:
        """form: of struct, one letter."""
        self.check(at, struct.calcsize("<" + form))
        (value,) = struct.unpack_from("<" + form, self.data, at)
        return int(value)

    def check(self, at: int, size: int) -> None:
        """Errors: ConfigError unless `size` bytes from `at` are all in the file."""
        if at < 0 or size < 0 or at + size > len(self.data):
            raise self.fail(f"{size} bytes are not in the file of {len(self.data)}", at)

    def follow(self, at: int) -> int:
        """Where the distance at `at` leads."""
        distance = self.number("I", at)
        if distance == 0:
            raise self.fail("a distance of 0", at)
        return at + distance

    def root(self, identifier: bytes) -> Table:
        self.check(0, 8)
        if self.data[4:8] != identifier:
            raise self.fail(f"no {identifier.decode()} file", 4)
        return self.table(self.follow(0))

    def table(self, at: int) -> Table:
        vtable = at - self.number("i", at)
        size = self.number("H", vtable)
        length = self.number("H", vtable + 2)
        self.check(vtable, size)
        self.check(at, length)
        if size < 4 or size % 2 or length < 4:
            raise self.fail(f"a table of {length} bytes with a vtable of {size}", at)
        return Table(self, at, vtable, size, length)


@dataclass(frozen=True)
class Table:
    """Fields by their number in the schema. Every method answers the default, or nothing, for a field
    that is left out, and raises ConfigError for one that does not lie within the file."""

    _of: Flatbuffer
    at: int
    _vtable: int
    _vtable_bytes: int
    _bytes: int

    def fail(self, message: str) -> ConfigError:
        return self._of.fail(message, self.at)

    def _field(self, number: int, size: int) -> int | None:
        entry = 4 + 2 * number
        if entry + 2 > self._vtable_bytes:
            return None
        offset = self._of.number("H", self._vtable + entry)
        if offset == 0:
            return None
        if offset < 4 or offset + size > self._bytes:
            raise self.fail(f"field {number} lies outside its table")
        return self.at + offset

    def integer(self, number: int, form: str, default: int = 0) -> int:
        at = self._field(number, struct.calcsize("<" + form))
        return default if at is None else self._of.number(form, at)

    def real(self, number: int) -> float:
        """A float32, 0 by default."""
        at = self._field(number, 4)
        return 0.0 if at is None else float(struct.unpack_from("<f", self._of.data, at)[0])

    def boolean(self, number: int) -> bool:
        return self.integer(number, "B") != 0

    def table(self, number: int) -> Table | None:
        at = self._field(number, 4)
        return None if at is None else self._of.table(self._of.follow(at))

    def tables(self, number: int, most: int) -> list[Table]:
        at, count = self._vector(number, 4, most)
        return [self._of.table(self._of.follow(at + 4 * n)) for n in range(count)]

    def array(self, number: int, dtype: str, most: int) -> NDArray[np.generic]:
        """A view of at most `most` numbers of a little-endian dtype, read-only."""
        kind = np.dtype(dtype)
        at, count = self._vector(number, kind.itemsize, most)
        found: NDArray[np.generic] = np.frombuffer(self._of.data, kind, count, at if count else 0)
        return found

    def numbers(self, number: int, dtype: str, most: int) -> tuple[int, ...]:
        return tuple(int(value) for value in self.array(number, dtype, most))

    def span(self, number: int) -> tuple[int, int]:
        """Of a vector of bytes: where it begins, and its length."""
        return self._vector(number, 1, len(self._of.data))

    def text(self, number: int) -> str:
        at, count = self._vector(number, 1, _MAX_TEXT)
        return self._of.data[at : at + count].decode("utf-8", "replace")

    def _vector(self, number: int, size: int, most: int) -> tuple[int, int]:
        at = self._field(number, 4)
        if at is None:
            return 0, 0
        start = self._of.follow(at)
        count = self._of.number("I", start)
        if count > most:
            raise self._of.fail(f"a vector of {count} where at most {most} are expected", start)
        self._of.check(start + 4, count * size)
        return start + 4, count
