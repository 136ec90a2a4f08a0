# SPDX-License-Identifier: Apache-2.0
"""Upsampling, concatenation, padding and moves against the definition in the same memory."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from tests.firmware.one_op import HOSTILE, STRAIGHT, Memory, OneOp, Shape, check, place, size
from tests.firmware.support import HostRunner, build, refusal

_GEOMETRIES = 300
_GATHERED = (OpKind.UPSAMPLE, OpKind.CONCAT, OpKind.PAD)


def _name(value: OpKind | Traversal) -> str:
    return value.name.lower()


def _shape(rng: random.Random) -> Shape:
    channels = rng.choice((1, 2, 3, 4, 5, 8, 9, 17))
    return rng.choice((1, rng.randint(1, 5))), rng.choice((1, rng.randint(1, 5))), channels


def draw(seed: int, kind: OpKind, traversal: Traversal) -> OneOp:
    rng = random.Random(seed)
    inputs = [_shape(rng)]
    h, w, c = inputs[0]
    s, pad = (1, 1), (0, 0, 0, 0)
    if kind is OpKind.UPSAMPLE:
        s = rng.randint(1, 4), rng.randint(1, 4)
        output = h * s[0], w * s[1], c
    elif kind is OpKind.CONCAT:
        inputs += [(h, w, rng.randint(1, 9)) for _ in range(rng.randint(0, 3))]
        output = h, w, sum(shape[2] for shape in inputs)
    else:
        top, left, bottom, right = (rng.choice((0, rng.randint(0, 7))) for _ in range(4))
        pad = top, left, bottom, right
        output = h + top + bottom, w + left + right, c
    offsets, output_offset = place(rng, inputs, output)
    return OneOp(
        kind, tuple(inputs), offsets, output, output_offset, traversal, rng.choice(list(Rounding)),
        s=s, pad=pad, output_zero_point=rng.choice((*HOSTILE, rng.randint(-128, 127))),
        input_zero_points=(rng.randint(-128, 127), 0), scratch=output[2],
    )  # fmt: skip


def _sources(op: OneOp, y: int, x: int) -> list[tuple[int, int]]:
    """The scalars of an output pixel as (operand, index); empty in a border."""
    if op.kind is OpKind.CONCAT:
        pixel = y * op.output[1] + x
        return [
            (number, pixel * shape[2] + channel)
            for number, shape in enumerate(op.inputs)
            for channel in range(shape[2])
        ]
    h, w, c = op.inputs[0]
    y, x = (
        (y // op.s[0], x // op.s[1])
        if op.kind is OpKind.UPSAMPLE
        else (y - op.pad[0], x - op.pad[1])
    )
    inside = 0 <= y < h and 0 <= x < w
    return [(0, (y * w + x) * c + channel) for channel in range(c)] if inside else []


def _define(op: OneOp, memory: Memory) -> None:
    h, w, c = op.output
    for pixel in op.in_order(h * w):
        sources = _sources(op, *divmod(pixel, w))
        values = [memory.read(index, operand) for operand, index in sources]
        values = values or [op.output_zero_point] * c
        for channel in op.in_order(c):
            memory.write(pixel * c + channel, values[channel])


@pytest.mark.parametrize("traversal", STRAIGHT, ids=_name)
@pytest.mark.parametrize("kind", _GATHERED, ids=_name)
def test_random_geometries(host: HostRunner, kind: OpKind, traversal: Traversal) -> None:
    for seed in range(_GEOMETRIES):
        check(host, draw(seed, kind, traversal), _define, seed)


def _define_move(op: OneOp, memory: Memory) -> None:
    values = [memory.read(index) for index in range(size(op.output))]
    for index, value in enumerate(values):
        memory.write(index, value)


def move(shape: Shape, offset: int, output_offset: int) -> OneOp:
    return OneOp(OpKind.MOVE, (shape,), (offset,), shape, output_offset)


def test_moves_by_words(host: HostRunner) -> None:
    """Every length to two turns of the unrolled loop and more, by distances around its groups."""
    for length in range(1, 101):
        for distance in (-100, -36, -32, -28, -16, -12, -4, 0, 4, 12, 16, 28, 32, 36, 100):
            op = move((1, 1, length), max(0, -distance), max(0, distance))
            check(host, op, _define_move, length)


def test_moves_anywhere(host: HostRunner) -> None:
    """Aligned or not, alike or not."""
    for seed in range(_GEOMETRIES):
        rng = random.Random(seed)
        shape = rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)
        check(host, move(shape, rng.randint(0, 99), rng.randint(0, 99)), _define_move, seed)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        *((kind, {"layout": Layout.PADDED})
          for kind in (*_GATHERED, OpKind.MOVE)),
        *((kind, {"tap_order": TapOrder.DIRECT})
          for kind in _GATHERED),
        *((kind, {"traversal": t})
          for kind in _GATHERED
          for t in set(Traversal) - set(STRAIGHT)),
        *((OpKind.MOVE, {"traversal": t}) for t in set(Traversal) - {Traversal.ROW}),
    ],
)  # fmt: skip
def test_what_no_kernel_does(host: HostRunner, kind: OpKind, change: dict[str, Any]) -> None:
    op = move((2, 2, 3), 0, 4) if kind is OpKind.MOVE else draw(1, kind, Traversal.ROW)
    parts = op.parts()
    host.flash(build([parts]))
    assert len(host.run(0, 1)) == 3
    parts.ops = [replace(parts.ops[0], **change)]
    host.flash(build([parts]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL


@pytest.mark.parametrize("kind", _GATHERED, ids=_name)
def test_scratch_is_a_pixel_of_the_output(host: HostRunner, kind: OpKind) -> None:
    parts = draw(7, kind, Traversal.ROW).parts()
    parts.scratch -= 1
    host.flash(build([parts]))
    assert refusal(host.run(0, 1)).reason == Refusal.ARENA_TOO_SMALL
