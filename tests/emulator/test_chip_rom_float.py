# SPDX-License-Identifier: Apache-2.0
"""The floating-point functions of the RP2040's boot ROM, called as pico-sdk programs call them:
through the tables SF and SD, operands and results in core registers."""

from __future__ import annotations

import functools
import math
import random
import struct

import pytest

from tests.emulator.rp2040_chip import Chip

ADD, SUB, MUL, DIV, CMP_FAST, CMP_FLAGS, SQRT = range(0x00, 0x1C, 4)
TO_INT, TO_FIX, TO_UINT, TO_UFIX, FROM_INT, FROM_FIX, FROM_UINT, FROM_UFIX = range(0x1C, 0x3C, 4)
COS, SIN, TAN, SINCOS, EXP, LN, CMP, ATAN2 = range(0x3C, 0x5C, 4)
FROM_INT64, FROM_FIX64, FROM_UINT64, FROM_UFIX64 = range(0x5C, 0x6C, 4)
TO_INT64, TO_FIX64, TO_UINT64, TO_UFIX64, TO_OTHER = range(0x6C, 0x80, 4)
INFINITY, MINUS_INFINITY, NAN, MINUS_ZERO = 0x7F800000, 0xFF800000, 0x7FC00000, 0x80000000
ROUNDS = 300


@functools.cache
def chip() -> Chip:
    return Chip()


def function(table: str, offset: int) -> int:
    data, lookup = chip().read(0x16, 2), chip().read(0x18, 2)
    functions = chip().call(lookup, data, ord(table[0]) | ord(table[1]) << 8)
    return chip().read(functions + offset)


def call(table: str, offset: int, *words: int) -> int:
    result = chip().call(function(table, offset), *words)
    assert chip().message == ""
    return result


def call_pair(table: str, offset: int, *words: int) -> int:
    """A result in r1:r0."""
    low = call(table, offset, *words)
    return low | chip().machine.register(1) << 32


def f(value: float) -> int:
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits


def d(value: float) -> tuple[int, int]:
    low, high = struct.unpack("<II", struct.pack("<d", value))
    return low, high


def as_float(bits: int) -> float:
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def as_double(bits: int) -> float:
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value


@pytest.mark.parametrize(
    ("offset", "x", "y", "result"),
    [
        (ADD, 0x3F800000, 0x40000000, 0x40400000),  # 1 + 2
        (ADD, 0x3F800000, 0x33800000, 0x3F800000),  # 1 + 2^-24: a tie, to even
        (ADD, 0x3F800001, 0x33800000, 0x3F800002),
        (ADD, 0x7F7FFFFF, 0x7F7FFFFF, INFINITY),
        (SUB, 0x3F800000, 0x3F800000, 0),
        (SUB, 0x00800001, 0x00800000, 0),  # a denormal
        (MUL, 0x3FC00000, 0xBFC00000, 0xC0100000),  # 1.5 * -1.5
        (MUL, 0x00000001, 0x7F000000, 0),
        (MUL, 0x80000001, 0x7F000000, MINUS_ZERO),
        (DIV, 0x3F800000, 0x40400000, 0x3EAAAAAB),  # 1 / 3
        (DIV, 0x3F800000, MINUS_ZERO, MINUS_INFINITY),
        (DIV, 0x3F800000, 0x007FFFFF, INFINITY),
        (ADD, NAN, 0x3F800000, INFINITY),
        (ADD, INFINITY, MINUS_INFINITY, INFINITY),
        (DIV, 0, 0, INFINITY),
        (SQRT, 0x40000000, 0, 0x3FB504F3),
        (SQRT, MINUS_ZERO, 0, MINUS_ZERO),
        (SQRT, 0xBF800000, 0, MINUS_INFINITY),
    ],
)
def test_float_arithmetic(offset: int, x: int, y: int, result: int) -> None:
    assert call("SF", offset, x, y) == result


@pytest.mark.parametrize(
    ("offset", "x", "y", "result"),
    [
        (ADD, 0.1, 0.2, 0x3FD3333333333334),
        (SUB, 1.0, 2.0**-53, 0x3FEFFFFFFFFFFFFF),
        (MUL, 1.1, 1.1, 0x3FF35C28F5C28F5D),
        (MUL, 5e-324, 2.0, 0),
        (DIV, 1.0, 3.0, 0x3FD5555555555555),
        (DIV, -1.0, 0.0, 0xFFF0000000000000),
        (SUB, math.inf, math.inf, 0x7FF0000000000000),
        (SQRT, 2.0, 0.0, 0x3FF6A09E667F3BCD),
    ],
)
def test_double_arithmetic(offset: int, x: float, y: float, result: int) -> None:
    assert call_pair("SD", offset, *d(x), *d(y)) == result


@pytest.mark.parametrize("offset", [CMP_FAST, CMP_FLAGS, CMP])
@pytest.mark.parametrize(
    ("x", "y", "result", "flags"),
    [
        (1.0, 2.0, 0xFFFFFFFF, 0b1010),
        (2.0, 1.0, 1, 0b0010),
        (-1.0, -2.0, 1, 0b0010),
        (0.0, -0.0, 0, 0b0110),
        (math.inf, 1.0, 1, 0b0010),
    ],
)
def test_comparison(offset: int, x: float, y: float, result: int, flags: int) -> None:
    xpsr = 16
    assert call("SF", offset, f(x), f(y)) == result
    assert chip().machine.register(xpsr) >> 28 == flags
    assert call("SD", offset, *d(x), *d(y)) == result
    assert chip().machine.register(xpsr) >> 28 == flags


@pytest.mark.parametrize(
    ("offset", "x", "points", "result"),
    [
        (TO_INT, -1.5, 0, 0xFFFFFFFE),  # towards minus infinity
        (TO_INT, 1.5, 0, 1),
        (TO_INT, 3e9, 0, 0x7FFFFFFF),
        (TO_INT, -3e9, 0, 0x80000000),
        (TO_FIX, 0.5, 16, 0x8000),
        (TO_FIX, -0.5, 16, 0xFFFF8000),
        (TO_UINT, 3e9, 0, 3_000_000_000),
        (TO_UINT, -1.0, 0, 0),
        (TO_UINT, 1e10, 0, 0xFFFFFFFF),
        (TO_UFIX, 0.5, 32, 0x80000000),
        (TO_UFIX, 6.0, -1, 3),
    ],
)
def test_conversion_to_32_bits(offset: int, x: float, points: int, result: int) -> None:
    assert call("SF", offset, f(x), points) == result
    assert call("SD", offset, *d(x), points) == result


@pytest.mark.parametrize(
    ("offset", "x", "points", "result"),
    [
        (TO_INT64, -1.5, 0, 0xFFFFFFFFFFFFFFFE),
        (TO_INT64, 1e19, 0, 0x7FFFFFFFFFFFFFFF),
        (TO_INT64, -1e19, 0, 0x8000000000000000),
        (TO_FIX64, 1.5, 32, 0x0000000180000000),
        (TO_UINT64, 2.0**63, 0, 0x8000000000000000),
        (TO_UINT64, -2.0, 0, 0),
        (TO_UFIX64, 0.75, 64, 0xC000000000000000),
        (TO_UFIX64, 1.0, 64, 0xFFFFFFFFFFFFFFFF),
    ],
)
def test_conversion_to_64_bits(offset: int, x: float, points: int, result: int) -> None:
    assert call_pair("SF", offset, f(x), points) == result
    assert call_pair("SD", offset, *d(x), points) == result


@pytest.mark.parametrize(
    ("offset", "words", "single", "double"),
    [
        (FROM_INT, (0xFFFFFFFF,), 0xBF800000, 0xBFF0000000000000),
        (FROM_INT, (0x01000001,), 0x4B800000, 0x4170000010000000),
        (FROM_FIX, (0xFFFF8000, 16), 0xBF000000, 0xBFE0000000000000),
        (FROM_UINT, (0xFFFFFFFF,), 0x4F800000, 0x41EFFFFFFFE00000),
        (FROM_UFIX, (0x80000000, 32), 0x3F000000, 0x3FE0000000000000),
        (FROM_INT64, (0, 0x80000000), 0xDF000000, 0xC3E0000000000000),
        (FROM_INT64, (1, 0x40000040), 0x5E800001, 0x43D0000010000000),  # not a tie
        (FROM_FIX64, (0, 0xFFFFFFFF, 32), 0xBF800000, 0xBFF0000000000000),
        (FROM_UINT64, (0, 0x80000000), 0x5F000000, 0x43E0000000000000),
        (FROM_UFIX64, (0, 0x80000000, 64), 0x3F000000, 0x3FE0000000000000),
    ],
)
def test_conversion_from_integers(
    offset: int, words: tuple[int, ...], single: int, double: int
) -> None:
    assert call("SF", offset, *words) == single
    assert call_pair("SD", offset, *words) == double


def test_conversion_to_the_other_precision() -> None:
    assert call_pair("SF", TO_OTHER, 0x3FC00000) == 0x3FF8000000000000
    assert call_pair("SF", TO_OTHER, 0x00000001) == 0
    assert call("SD", TO_OTHER, *d(1 / 3)) == 0x3EAAAAAB
    assert call("SD", TO_OTHER, *d(1e39)) == INFINITY
    assert call("SD", TO_OTHER, *d(1e-40)) == 0


@pytest.mark.parametrize(
    ("offset", "x", "y", "result"),
    [
        (SIN, 1.0, 0.0, 0x3F576AA4),
        (SIN, -100.0, 0.0, 0x3F01A12E),
        (COS, 1.0, 0.0, 0x3F0A5140),
        (COS, 100.0, 0.0, 0x3F5CC0EE),
        (TAN, 1.0, 0.0, 0x3FC75923),
        (EXP, 1.0, 0.0, 0x402DF854),
        (EXP, -10.0, 0.0, 0x383E6BCE),
        (EXP, 89.0, 0.0, INFINITY),
        (EXP, -100.0, 0.0, 0),
        (EXP, -math.inf, 0.0, 0),
        (LN, 10.0, 0.0, 0x40135D8E),
        (LN, 1.0, 0.0, 0),
        (LN, 0.0, 0.0, MINUS_INFINITY),
        (LN, math.inf, 0.0, INFINITY),
        (ATAN2, 1.0, -1.0, 0x4016CBE4),
        (ATAN2, -3.0, 2.0, 0xBF7B985F),
        (ATAN2, 0.0, -1.0, 0x40490FDB),
    ],
)
def test_scientific_functions_of_floats(offset: int, x: float, y: float, result: int) -> None:
    assert call("SF", offset, f(x), f(y)) == result


def test_a_sine_comes_with_the_cosine() -> None:
    assert call_pair("SF", SIN, f(1.0)) == 0x3F0A51403F576AA4


def test_random_arithmetic_is_that_of_the_host() -> None:
    numbers = random.Random(1)
    for _ in range(ROUNDS):
        x, y = (as_float(numbers.getrandbits(25) << 7 & 0xBFFFFFFF | 0x20000000) for _ in "xy")
        for offset, exact in ((ADD, x + y), (SUB, x - y), (MUL, x * y), (DIV, x / y)):
            assert call("SF", offset, f(x), f(y)) == f(exact)
            assert as_double(call_pair("SD", offset, *d(x), *d(y))) == exact


@pytest.mark.parametrize(
    ("table", "offset", "word", "message"),
    [
        ("SF", SINCOS, 0, "boot ROM float function 18 (table offset 0x48) is not modelled"),
        ("SD", SIN, 0, "boot ROM double function 16 (table offset 0x40) is not modelled"),
        ("SF", COS, 0x43000000, "boot ROM float function 0x3c of an angle that is not within"),
    ],
)
def test_what_is_not_modelled_stops(table: str, offset: int, word: int, message: str) -> None:
    alone = Chip()
    alone.call(function(table, offset), word)
    assert alone.message.startswith(message)
