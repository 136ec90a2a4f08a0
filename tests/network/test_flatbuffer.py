# SPDX-License-Identifier: Apache-2.0
"""The bounded reader of flatbuffers, on tables written out byte by byte."""

from __future__ import annotations

import struct

import pytest

from harness.errors import ConfigError
from harness.network.flatbuffer import Flatbuffer, Table

# 0 root -> 16 | 4 identifier | 8 vtable: 8 bytes, table of 8 bytes, field 0 at 4 | 16 table | 24 vector
_VECTOR = 24


def _table(field: int = 4, table_bytes: int = 8, count: int = 3) -> Table:
    data = struct.pack("<I4s", 16, b"TEST")
    data += struct.pack("<HHHH", 8, table_bytes, field, 0)
    data += struct.pack("<iI", 8, _VECTOR - 20)
    data += struct.pack("<I3i", count, 5, 6, 7)
    return Flatbuffer(data, "made.bin").root(b"TEST")


def test_a_vector() -> None:
    assert _table().numbers(0, "<i4", 3) == (5, 6, 7)
    assert _table().numbers(1, "<i4", 3) == ()
    assert _table().numbers(9, "<i4", 3) == ()


def test_a_vector_longer_than_expected() -> None:
    """Although the file has all of it."""
    with pytest.raises(ConfigError, match="a vector of 3 where at most 2") as caught:
        _table().numbers(0, "<i4", 2)
    assert caught.value.evidence["offset"] == _VECTOR


def test_a_vector_longer_than_the_file() -> None:
    with pytest.raises(ConfigError, match="16 bytes are not in the file of 40"):
        _table(count=4).numbers(0, "<i4", 100)


@pytest.mark.parametrize(("field", "table_bytes"), [(5, 8), (8, 8), (4, 7), (3, 8), (400, 8)])
def test_a_field_outside_its_table(field: int, table_bytes: int) -> None:
    """Although the file has bytes there."""
    with pytest.raises(ConfigError, match="field 0 lies outside its table"):
        _table(field, table_bytes).integer(0, "i")


def test_a_table_that_is_none() -> None:
    with pytest.raises(ConfigError, match="a table of 3 bytes"):
        _table(table_bytes=3)
    with pytest.raises(ConfigError, match="are not in the file"):
        _table(table_bytes=100)


def test_another_file() -> None:
    with pytest.raises(ConfigError, match="no TFL3 file"):
        Flatbuffer(bytes(16), "made.bin").root(b"TFL3")
