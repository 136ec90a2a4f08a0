# SPDX-License-Identifier: Apache-2.0
"""Addition, multiplication, tables and clamps against the definition in the same memory."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from harness.schema.records import QuantRecord
from tests.firmware.one_op import HOSTILE, STRAIGHT, Memory, OneOp, Shape, check, place, size
from tests.firmware.support import HostRunner, build, refusal, requantize

_GEOMETRIES = 300
_ROUNDINGS = (Rounding.DOUBLE, Rounding.SINGLE)
_TIES = 2**30  # a power of two as a multiplier: many results are ties


def _shape(rng: random.Random) -> Shape:
    channels = rng.choice((1, 2, 3, 4, 5, 8, 9, 17))
    return rng.choice((1, rng.randint(1, 6))), rng.choice((1, rng.randint(1, 6))), channels


def _range(rng: random.Random) -> tuple[int, int]:
    low = rng.choice((-128, rng.randint(-128, 20)))
    return low, rng.choice((127, rng.randint(low, 127)))


def _zero_point(rng: random.Random) -> int:
    return rng.choice((*HOSTILE, rng.randint(-128, 127)))


def _quant(rng: random.Random, least: int, most: int, ties: bool) -> QuantRecord:
    multiplier = _TIES if ties else rng.randint(2**30, 2**31 - 1)
    return QuantRecord(0, multiplier, rng.randint(least, most))


def _quants(rng: random.Random, kind: OpKind) -> tuple[QuantRecord, ...]:
    ties = rng.random() < 0.5
    if kind is OpKind.MUL:
        return (_quant(rng, -6, -2, ties) if ties else _quant(rng, -9, -7, ties),)
    operands = [_quant(rng, -3, 0, ties) for _ in range(2)]
    return (*operands, _quant(rng, -20, -18, ties))


def two_operands(
    seed: int, kind: OpKind, traversal: Traversal, rounding: Rounding = Rounding.DOUBLE
) -> OneOp:
    rng = random.Random(seed)
    shape = _shape(rng)
    second = (1, 1, shape[2]) if rng.random() < 0.4 else shape
    offsets, output_offset = place(rng, [shape, second], shape)
    low, high = _range(rng)
    return OneOp(
        kind, (shape, second), offsets, shape, output_offset, traversal, rounding,
        rng.choice(list(TapOrder)), input_zero_points=(_zero_point(rng), _zero_point(rng)),
        output_zero_point=_zero_point(rng), low=low, high=high, quants=_quants(rng, kind),
    )  # fmt: skip


def one_operand(seed: int, kind: OpKind, traversal: Traversal) -> OneOp:
    rng = random.Random(seed)
    shape = _shape(rng)
    (offset,), output_offset = place(rng, [shape], shape)
    low, high = _range(rng)
    return OneOp(
        kind, (shape,), (offset,), shape, output_offset, traversal, rng.choice(list(Rounding)),
        rng.choice(list(TapOrder)), low=low, high=high,
        output_zero_point=_zero_point(rng), input_zero_points=(_zero_point(rng), 0),
        weights=rng.randbytes(256) if kind is OpKind.TABLE else b"",
    )  # fmt: skip


def _int32(value: int) -> int:
    return ((value + 2**31) & 0xFFFFFFFF) - 2**31


def _define_two(op: OneOp, memory: Memory) -> None:
    def scaled(value: int, quant: QuantRecord) -> int:
        return requantize(value, quant.multiplier, quant.shift, op.rounding)

    second = size(op.inputs[1])
    for index in op.indices:
        a = memory.read(index) - op.input_zero_points[0]
        b = memory.read(index % second, operand=1) - op.input_zero_points[1]
        if op.kind is OpKind.ADD:
            shifted = scaled(a << 20, op.quants[0]), scaled(b << 20, op.quants[1])
            y = scaled(_int32(sum(shifted)), op.quants[2])
        else:
            y = scaled(a * b, op.quants[0])
        memory.write(index, min(max(y + op.output_zero_point, op.low), op.high))


def _define_one(op: OneOp, memory: Memory) -> None:
    for index in op.indices:
        x = memory.read(index)
        if op.kind is OpKind.TABLE:
            entry = op.weights[x + 128]
            memory.write(index, entry - 256 if entry > 127 else entry)
        else:
            memory.write(index, min(max(x, op.low), op.high))


@pytest.mark.parametrize("rounding", _ROUNDINGS, ids=lambda rounding: rounding.name.lower())
@pytest.mark.parametrize("traversal", STRAIGHT, ids=lambda traversal: traversal.name.lower())
@pytest.mark.parametrize("kind", [OpKind.ADD, OpKind.MUL], ids=lambda kind: kind.name.lower())
def test_two_operands(
    host: HostRunner, kind: OpKind, traversal: Traversal, rounding: Rounding
) -> None:
    for seed in range(_GEOMETRIES):
        op = two_operands(seed, kind, traversal, rounding)
        check(host, op, _define_two, seed)


@pytest.mark.parametrize("kind", [OpKind.ADD, OpKind.MUL], ids=lambda kind: kind.name.lower())
def test_the_geometries_tell_roundings_and_values_apart(kind: OpKind) -> None:
    """At least a tenth of them differs between the roundings, and few outputs lie at the clamp."""
    different = inside = total = 0
    for seed in range(_GEOMETRIES):
        outputs = []
        for rounding in _ROUNDINGS:
            op = two_operands(seed, kind, Traversal.ROW, rounding)
            memory = Memory(op, seed, 0)
            _define_two(op, memory)
            at = op.output_offset
            outputs.append(bytes(memory.bytes[at : at + size(op.output)]))
        different += outputs[0] != outputs[1]
        inside += sum(y not in (op.low & 0xFF, op.high & 0xFF) for y in outputs[0])
        total += len(outputs[0])
    assert different >= _GEOMETRIES // 10
    assert inside > total // 3


@pytest.mark.parametrize("rounding", _ROUNDINGS, ids=lambda rounding: rounding.name.lower())
@pytest.mark.parametrize("shifts", [(-31, -31), (-31, 0), (0, -31), (3, -19), (11, 2), (30, 30)])
@pytest.mark.parametrize("multiplier", [2**31 - 1, 2**30, 1, 0, -(2**30), -(2**31) + 1])
@pytest.mark.parametrize("kind", [OpKind.ADD, OpKind.MUL], ids=lambda kind: kind.name.lower())
def test_extreme_scales(
    host: HostRunner, kind: OpKind, multiplier: int, shifts: tuple[int, int], rounding: Rounding
) -> None:
    """Also those that TFLite does not make: 32 bits are kept, and wrap."""
    before, after = (QuantRecord(0, multiplier, shift) for shift in shifts)
    quants = (before, before, after) if kind is OpKind.ADD else (after,)
    op = OneOp(
        kind, ((5, 5, 9),) * 2, (0, 225), (5, 5, 9), 450, rounding=rounding, quants=quants,
        input_zero_points=(-128, 127), output_zero_point=-3,
    )  # fmt: skip
    check(host, op, _define_two, seed=3)


@pytest.mark.parametrize("traversal", STRAIGHT, ids=lambda traversal: traversal.name.lower())
@pytest.mark.parametrize("kind", [OpKind.TABLE, OpKind.CLAMP], ids=lambda kind: kind.name.lower())
def test_one_operand(host: HostRunner, kind: OpKind, traversal: Traversal) -> None:
    for seed in range(_GEOMETRIES):
        check(host, one_operand(seed, kind, traversal), _define_one, seed)


@pytest.mark.parametrize(
    ("a", "b", "y"),
    [
        # scales 1 and 1 to 1: each operand by 1/2, the sum by 2^-19
        ((127, 0), (1, 0), 127),
        ((100, 0), (-30, 0), 70),
        ((-128, -128), (127, 127), 0),  # nothing is added to nothing
        ((3, 1), (-9, -10), 3),
    ],
)
def test_additions_by_hand(
    host: HostRunner, a: tuple[int, int], b: tuple[int, int], y: int
) -> None:
    """(value, zero point); values come from tables, since inputs are drawn."""
    table = [bytes([value & 0xFF]) * 256 for value, _ in (a, b)]
    half = QuantRecord(0, 2**30, 0)
    op = OneOp(
        OpKind.ADD, ((1, 1, 1),) * 2, (0, 1), (1, 1, 1), 2,
        input_zero_points=(a[1], b[1]), quants=(half, half, QuantRecord(0, 2**30, -18)),
    )  # fmt: skip
    parts = op.parts()
    lookups = [
        replace(
            OneOp(OpKind.TABLE, ((1, 1, 1),), (at,), (1, 1, 1), at, weights=table[at]).record(),
            inputs=(at, 0, 0, 0),
            output=at,
            weights_offset=256 * at,
        )
        for at in range(2)
    ]
    parts.ops = [*lookups, *parts.ops]
    parts.weights = b"".join(table)
    host.flash(build([parts]))
    host.run(0, 1)
    assert host.read(0, 3) == bytes(value & 0xFF for value in (a[0], b[0], y))


@pytest.mark.parametrize(
    ("op", "change"),
    [
        (OpKind.ADD, {"rounding": Rounding.TRUNCATE}),
        (OpKind.MUL, {"rounding": Rounding.TRUNCATE}),
        *((kind, {"traversal": t})
          for kind in (OpKind.ADD, OpKind.MUL, OpKind.TABLE, OpKind.CLAMP)
          for t in set(Traversal) - set(STRAIGHT)),
        *((kind, {"layout": Layout.PADDED})
          for kind in (OpKind.ADD, OpKind.MUL, OpKind.TABLE, OpKind.CLAMP)),
    ],
)  # fmt: skip
def test_what_no_kernel_does(host: HostRunner, op: OpKind, change: dict[str, Any]) -> None:
    draw = two_operands if op in (OpKind.ADD, OpKind.MUL) else one_operand
    parts = draw(1, op, Traversal.ROW).parts()
    host.flash(build([parts]))
    assert len(host.run(0, 1)) == 3
    parts.ops = [replace(parts.ops[0], **change)]
    host.flash(build([parts]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL
