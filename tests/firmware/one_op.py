# SPDX-License-Identifier: Apache-2.0
"""Cases of one op, not a convolution: operands and output anywhere in one arena, also overlapping."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from harness.schema import records
from harness.schema.constants import (
    SCRATCH_APART,
    FrameType,
    Layout,
    OpKind,
    Rounding,
    TapOrder,
    Traversal,
)
from tests.firmware.support import (
    CaseParts,
    HostRunner,
    build,
    input_byte,
    paint,
    signed,
    tensor,
)

STRAIGHT = (Traversal.ROW, Traversal.REVERSE)
HOSTILE = (-128, -127, -1, 0, 1, 126, 127)  # zero points

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class OneOp:
    """Shapes are h, w, c; offsets count from the arena's base. s: factors of an upsampling."""

    kind: OpKind
    inputs: tuple[Shape, ...]
    input_offsets: tuple[int, ...]
    output: Shape
    output_offset: int
    traversal: Traversal = Traversal.ROW
    rounding: Rounding = Rounding.DOUBLE
    tap_order: TapOrder = TapOrder.GATHER
    layout: Layout = Layout.DENSE
    s: tuple[int, int] = (1, 1)
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    input_zero_points: tuple[int, int] = (0, 0)
    output_zero_point: int = 0
    low: int = -128
    high: int = 127
    weights: bytes = b""
    quants: tuple[records.QuantRecord, ...] = ()
    scratch: int = 0

    @property
    def arena(self) -> int:
        ends = [o + size(s) for o, s in zip(self.input_offsets, self.inputs, strict=True)]
        return max(*ends, self.output_offset + size(self.output))

    @property
    def indices(self) -> range:
        """Scalars of the output in the order of the traversal."""
        return self.in_order(size(self.output))

    def in_order(self, count: int) -> range:
        return range(count)[::-1] if self.traversal is Traversal.REVERSE else range(count)

    def record(self) -> records.OpRecord:
        return records.OpRecord(
            kind=self.kind,
            rounding=self.rounding,
            layout=self.layout,
            tap_order=self.tap_order,
            traversal=self.traversal,
            input_count=len(self.inputs),
            inputs=(*range(len(self.inputs)), 0, 0, 0, 0)[:4],
            output=len(self.inputs),
            k_h=0,
            k_w=0,
            s_h=self.s[0],
            s_w=self.s[1],
            d_h=0,
            d_w=0,
            pad_top=self.pad[0],
            pad_left=self.pad[1],
            pad_bottom=self.pad[2],
            pad_right=self.pad[3],
            kernel=0,
            input_zero_points=self.input_zero_points,
            output_zero_point=self.output_zero_point,
            activation_min=self.low,
            activation_max=self.high,
            weights_offset=0,
            weights_bytes=len(self.weights),
            quant_first=0,
            quant_count=len(self.quants),
            step_pixels=1,
            scratch_offset=SCRATCH_APART,
            scratch_bytes=0,
            stages=0,
        )

    def parts(self) -> CaseParts:
        operands = zip(self.input_offsets, self.inputs, strict=True)
        return CaseParts(
            ops=[self.record()],
            tensors=[tensor(at, *s) for at, s in (*operands, (self.output_offset, self.output))],
            quants=list(self.quants),
            weights=self.weights,
            arena=self.arena,
            scratch=self.scratch,
            inputs=tuple(range(len(self.inputs))),
            outputs=(len(self.inputs),),
        )


class Memory:
    """The arena before an op: paint, then the inputs, the first one first."""

    def __init__(self, op: OneOp, seed: int, complement: int) -> None:
        self.bytes = bytearray(paint(1024 + at, complement) for at in range(op.arena))
        self.written: list[int] = []
        self._op = op
        for number, (at, shape) in enumerate(zip(op.input_offsets, op.inputs, strict=True)):
            for index in range(size(shape)):
                self.bytes[at + index] = input_byte(seed + number, index)

    def read(self, index: int, operand: int = 0) -> int:
        return signed(self.bytes[self._op.input_offsets[operand] + index])

    def write(self, index: int, value: int) -> None:
        assert -128 <= value <= 127
        self.bytes[self._op.output_offset + index] = value & 0xFF
        self.written.append(index)


Definition = Callable[[OneOp, Memory], None]


def size(shape: Shape) -> int:
    return shape[0] * shape[1] * shape[2]


def place(rng: random.Random, inputs: list[Shape], output: Shape) -> tuple[tuple[int, ...], int]:
    """Offsets: a third each without overlap, output onto one of the inputs or next to it, anywhere."""
    way = rng.randrange(3)
    if way == 0:
        at, offsets = rng.randint(0, 9), []
        for shape in (*inputs, output):
            offsets.append(at)
            at += size(shape) + rng.randint(0, 5)
        return tuple(offsets[:-1]), offsets[-1]
    offsets = [rng.randint(0, 60) for _ in inputs]
    near = offsets[rng.randrange(len(offsets))] + rng.choice((0, 0, -1, 1, -4, 4, -7, 13))
    return tuple(offsets), max(0, near) if way == 1 else rng.randint(0, 60)


def check(host: HostRunner, op: OneOp, definition: Definition, seed: int) -> bytes:
    """Runs the op and compares the whole arena with what the definition leaves there, byte by byte, and
    what the firmware says of the rest of the pool. Returns the output."""
    complement = seed & 1
    host.flash(build([op.parts()]))
    frames = host.run(0, seed, paint=complement)
    assert [f.type for f in frames] == [FrameType.CASE, FrameType.OP, FrameType.RESULT], op
    result = records.RunResult.unpack(frames[2].payload)
    memory = Memory(op, seed, complement)
    definition(op, memory)
    assert sorted(memory.written) == list(range(size(op.output))), "the definition writes each once"
    found = host.read(0, op.arena)
    wrong = [at for at in range(op.arena) if found[at] != memory.bytes[at]]
    assert not wrong, f"byte {wrong[0]} of the arena, seed {seed}: {op}"
    output = found[op.output_offset : op.output_offset + size(op.output)]
    assert result.output_crc == zlib.crc32(output), op
    assert (result.outside_count, result.outside_first) == (0, 0), op
    assert result.scratch_used <= op.scratch, op
    return output
