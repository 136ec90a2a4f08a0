# SPDX-License-Identifier: Apache-2.0
"""The softmax against TFLite's integer arithmetic written out, in the same memory."""

from __future__ import annotations

import math
import random
import struct
from dataclasses import replace
from typing import Any

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from tests.firmware.one_op import STRAIGHT, Memory, OneOp, Shape, check, place, size
from tests.firmware.support import HostRunner, build, refusal

_GEOMETRIES = 300
_ONE = 2**31 - 1


def _table(scale: float) -> bytes:
    """e^(-d scale) with 31 fraction bits; 0 where it is under e^-31."""
    entries = [
        min(_ONE, round(math.exp(-d * scale) * 2**31)) if d * scale < 31 else 0 for d in range(256)
    ]
    return struct.pack("<256i", *entries)


def _op(
    shape: Shape, table: bytes, offset: int = 0, output_offset: int | None = None, **changes: object
) -> OneOp:
    at = offset + size(shape) if output_offset is None else output_offset
    op = OneOp(
        OpKind.SOFTMAX, (shape,), (offset,), shape, at, weights=table, output_zero_point=-128
    )
    return replace(op, **changes)  # type: ignore[arg-type]


# ---- gemmlowp's fixed point, with the digits before the point where they matter ----


def _multiply(a: int, b: int) -> int:
    """SaturatingRoundingDoublingHighMul."""
    product = a * b
    total = product + (2**30 if product >= 0 else 1 - 2**30)
    return abs(total) // 2**31 * (1 if total >= 0 else -1)


def _divide(x: int, exponent: int) -> int:
    """RoundingDivideByPOT."""
    mask = (1 << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


def _saturate(x: int) -> int:
    return min(max(x, -(2**31)), _ONE)


def _one_over_one_plus(a: int) -> int:
    """1 / (1 + a) for a from 0 to 1: the denominator's half, then three steps on a guess."""
    half = (a + _ONE + 1) // 2
    x = 1515870810 + _multiply(half, -1010580540)
    for _ in range(3):
        x += _saturate(_multiply(x, (1 << 29) - _multiply(half, x)) << 2)
    return _saturate(x << 1)


def _probability(power: int, total: int) -> int:
    headroom = 32 - total.bit_length()
    scale = _one_over_one_plus((total << headroom) - 2**31)
    exponent = 12 - headroom + 31 - 8
    if exponent > 31:
        return -128
    return min(_divide(_multiply(scale, power), exponent) - 128, 127)


def _define(op: OneOp, memory: Memory) -> None:
    table = struct.unpack("<256i", op.weights)
    h, w, c = op.output
    for pixel in op.in_order(h * w):
        first = pixel * c
        xs = [memory.read(first + channel) for channel in range(c)]
        total = sum(_divide(table[max(xs) - x], 12) for x in xs)
        for channel in op.in_order(c):
            # a write before may have made it larger than the largest was
            difference = max(xs) - memory.read(first + channel)
            memory.write(first + channel, _probability(table[difference & 0xFF], total))


def draw(seed: int, traversal: Traversal) -> OneOp:
    rng = random.Random(seed)
    channels = rng.choice((1, 2, 3, 5, 10, 17, 64))
    shape = rng.choice((1, rng.randint(1, 4))), rng.randint(1, 4), channels
    (offset,), output_offset = place(rng, [shape], shape)
    table = _table(math.exp(rng.uniform(-9, 0.5)))
    return _op(
        shape, table, offset, output_offset, traversal=traversal,
        rounding=rng.choice(list(Rounding)), tap_order=rng.choice(list(TapOrder)),
    )  # fmt: skip


@pytest.mark.parametrize("traversal", STRAIGHT, ids=lambda traversal: traversal.name.lower())
def test_random_geometries(host: HostRunner, traversal: Traversal) -> None:
    values: set[int] = set()
    for seed in range(_GEOMETRIES):
        values.update(check(host, draw(seed, traversal), _define, seed))
    assert len(values) > 200, "outputs would prove little"


@pytest.mark.parametrize("channels", [255, 256, 257, 511, 512, 1000, 4095])
def test_many_equal_channels(host: HostRunner, channels: int) -> None:
    """Every channel as likely as the other: 256 / c, to nearest; nothing from 512 channels on."""
    op = _op((1, 1, channels), struct.pack("<256i", *([_ONE] * 256)))
    output = check(host, op, _define, seed=2)
    assert set(output) == {round(256 / channels) - 128 & 0xFF if channels < 512 else 0x80}


def test_it_is_a_softmax(host: HostRunner) -> None:
    """Every output is within one step of the real function."""
    scale = 0.04
    for seed in range(20):
        op = _op((2, 2, 12), _table(scale))
        memory = Memory(op, seed, 0)
        xs = [[memory.read(12 * pixel + channel) for channel in range(12)] for pixel in range(4)]
        output = check(host, op, _define, seed)
        for pixel in range(4):
            total = sum(math.exp(x * scale) for x in xs[pixel])
            for channel, x in enumerate(xs[pixel]):
                found = (output[12 * pixel + channel] ^ 0x80) / 256
                assert abs(found - math.exp(x * scale) / total) <= 1.01 / 256


@pytest.mark.parametrize("entry", [0, 1, -1, _ONE, -(2**31)])
def test_any_table_stays_in_bounds(host: HostRunner, entry: int) -> None:
    """A table that is no power of e gives numbers, not a fault; which ones is not said."""
    op = _op((3, 3, 7), struct.pack("<256i", *([entry] * 256)))
    host.flash(build([op.parts()]))
    assert len(host.run(0, 1)) == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"output_zero_point": 0}, Refusal.BAD_RECORD),
        ({"layout": Layout.PADDED}, Refusal.NO_KERNEL),
        *(({"traversal": t}, Refusal.NO_KERNEL) for t in set(Traversal) - set(STRAIGHT)),
        ({"weights_bytes": 256}, Refusal.BAD_RECORD),
        ({"weights_offset": 2}, Refusal.BAD_RECORD),
    ],
)
def test_what_no_kernel_does(host: HostRunner, change: dict[str, Any], reason: Refusal) -> None:
    parts = _op((2, 2, 3), _table(0.1)).parts()
    parts.weights += bytes(4)
    host.flash(build([parts]))
    assert len(host.run(0, 1)) == 3
    parts.ops = [replace(parts.ops[0], **change)]
    host.flash(build([parts]))
    assert refusal(host.run(0, 1)).reason == reason


def test_too_many_channels(host: HostRunner) -> None:
    """4096 equal ones would overflow TFLite's sum."""
    host.flash(build([_op((1, 1, 4096), _table(0.1)).parts()]))
    found = refusal(host.run(0, 1))
    assert (found.reason, found.expected, found.seen) == (Refusal.BAD_RECORD, 4095, 4096)
