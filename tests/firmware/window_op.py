# SPDX-License-Identifier: Apache-2.0
"""A case of one op with one input, run on the host and compared with a definition in one memory."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.schema.constants import (
    SCRATCH_APART,
    FrameType,
    Layout,
    OpKind,
    Rounding,
    TapOrder,
    Traversal,
)
from harness.schema.records import OpRecord, QuantRecord, RunResult, TensorRecord
from tests.firmware.support import (
    CaseParts,
    HostRunner,
    build,
    input_byte,
    paint,
    requantize,
    tensor,
)

ROUNDINGS = [Rounding.DOUBLE, Rounding.SINGLE]


@dataclass
class Window:
    """What a window op is made of, pad = (top, left, bottom, right). PADDED: the input is stored with
    its padding, and h, w are without it."""

    h: int
    w: int
    c: int
    k: tuple[int, int]
    s: tuple[int, int] = (1, 1)
    d: tuple[int, int] = (1, 1)
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    layout: Layout = Layout.DENSE

    def __post_init__(self) -> None:
        top, left, bottom, right = self.pad
        padded_h, padded_w = self.h + top + bottom, self.w + left + right
        self.h_out = (padded_h - self.d[0] * (self.k[0] - 1) - 1) // self.s[0] + 1
        self.w_out = (padded_w - self.d[1] * (self.k[1] - 1) - 1) // self.s[1] + 1
        stored = self.layout is Layout.PADDED
        self.h_in, self.w_in = (padded_h, padded_w) if stored else (self.h, self.w)
        self.top, self.left = (0, 0) if stored else (top, left)

    def taps(self, row: int, column: int) -> list[tuple[int, int, int, int]]:
        """(k_y, k_x, y, x) of those that are stored, row-major."""
        found = []
        for k_y in range(self.k[0]):
            for k_x in range(self.k[1]):
                y = row * self.s[0] - self.top + k_y * self.d[0]
                x = column * self.s[1] - self.left + k_x * self.d[1]
                if 0 <= y < self.h_in and 0 <= x < self.w_in:
                    found.append((k_y, k_x, y, x))
        return found

    def fields(self) -> dict[str, int]:
        """Of the op's record."""
        names = ("k_h", "k_w", "s_h", "s_w", "d_h", "d_w")
        names += ("pad_top", "pad_left", "pad_bottom", "pad_right")
        values = (*self.k, *self.s, *self.d, *self.pad)
        return {"layout": self.layout, **dict(zip(names, values, strict=True))}

    def input(self, offset: int, fill: int) -> TensorRecord:
        if self.layout is Layout.DENSE:
            return tensor(offset, self.h_in, self.w_in, self.c)
        names = ("pad_top", "pad_left", "pad_bottom", "pad_right")
        pads = dict(zip(names, self.pad, strict=True))
        return tensor(offset, self.h_in, self.w_in, self.c, fill=fill, **pads)


def random_window(rng: random.Random, layout: Layout = Layout.DENSE) -> Window:
    """Small and hostile: padding beyond the kernel, strides over it, dilation, 1 x n and n x 1."""
    while True:
        h, w = rng.choice([(1, rng.randint(1, 9)), (rng.randint(1, 9), 1)] + [(0, 0)] * 4)
        window = Window(
            h or rng.randint(1, 6),
            w or rng.randint(1, 6),
            rng.choice([1, 2, 3, 5, 8, 9]),
            (rng.randint(1, 4), rng.randint(1, 4)),
            (rng.randint(1, 5), rng.randint(1, 5)),
            (rng.randint(1, 3), rng.randint(1, 3)),
            tuple(rng.choice([0, 0, 1, 2, 5]) for _ in range(4)),  # type: ignore[arg-type]
            layout,
        )
        if window.h_out > 0 and window.w_out > 0:
            return window


def random_zero_point(rng: random.Random) -> int:
    return rng.choice([-128, 127, 0, rng.randint(-128, 127)])


def random_quants(rng: random.Random, count: int, shifts: tuple[int, int]) -> list[QuantRecord]:
    """A quarter of the multipliers are powers of two, which makes ties; one in ten has a bias or a
    shift at its end."""
    quants = []
    for _ in range(count):
        bias, shift = rng.randint(-3000, 3000), rng.randint(*shifts)
        if rng.random() < 0.1:
            bias, shift = rng.choice([(2**31 - 1, shift), (-(2**31), -20), (bias, -31), (bias, 30)])
        multiplier = rng.randint(2**30, 2**31 - 1) * rng.choice([1, -1])
        quants.append(QuantRecord(bias, rng.choice([2**30, *(multiplier,) * 3]), shift))
    return quants


@dataclass
class OneOp:
    """fields: of the op's record, where they differ from a dense gather by rows."""

    kind: OpKind
    input: TensorRecord
    output: TensorRecord
    scratch: int = 0
    weights: Sequence[int] = ()
    quants: list[QuantRecord] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def record(self) -> OpRecord:
        usual: dict[str, Any] = {
            "rounding": Rounding.DOUBLE, "layout": Layout.DENSE, "tap_order": TapOrder.GATHER,
            "traversal": Traversal.ROW, "input_count": 1, "inputs": (0, 0, 0, 0), "output": 1,
            **dict.fromkeys(("k_h", "k_w", "s_h", "s_w", "d_h", "d_w"), 0),
            **dict.fromkeys(("pad_top", "pad_left", "pad_bottom", "pad_right", "kernel"), 0),
            "input_zero_points": (0, 0), "output_zero_point": 0,
            "activation_min": -128, "activation_max": 127,
            "weights_offset": 0, "weights_bytes": len(self.weights),
            "quant_first": 0, "quant_count": len(self.quants), "step_pixels": 1,
            "scratch_offset": SCRATCH_APART, "scratch_bytes": 0, "stages": 0,
        }  # fmt: skip
        return OpRecord(**{"kind": self.kind, **usual, **self.fields})

    @property
    def arena(self) -> int:
        return max(t.offset + t.bytes for t in (self.input, self.output))

    def parts(self) -> CaseParts:
        weights = struct.pack(f"{len(self.weights)}b", *self.weights)
        tensors = [self.input, self.output]
        return CaseParts([self.record], tensors, self.quants, weights, self.arena, self.scratch)

    def before(self, seed: int, complement: int) -> bytearray:
        """The arena when the op begins: paint, and the input with its stored padding."""
        arena = bytearray(paint(1024 + at, complement) for at in range(self.arena))
        t, index = self.input, 0
        for y in range(t.h):
            for x in range(t.w):
                real = t.pad_top <= y < t.h - t.pad_bottom and t.pad_left <= x < t.w - t.pad_right
                for channel in range(t.c):
                    at = t.offset + (y * t.w + x) * t.c + channel
                    arena[at] = input_byte(seed, index) if real else t.fill & 0xFF
                    index += real
        return arena


def overlapping(rng: random.Random, n_in: int, n_out: int) -> tuple[int, int]:
    """Offsets of input and output: apart, base on base, or any distance in between."""
    return rng.choice([
        (0, n_in), (n_out, 0), (0, 0),
        *((rng.randint(0, n_out), 0) for _ in "12"), (0, rng.randint(0, n_in)),
    ])  # fmt: skip


def check(
    host: HostRunner, op: OneOp, definition: Callable[[bytearray], None], seed: int
) -> list[RunResult]:
    """Every byte of the arena is what `definition` makes of it, under both paints."""
    results = []
    for complement in (0, 1):
        host.flash(build([op.parts()]))
        frames = host.run(0, seed, paint=complement)
        kinds = [frame.type for frame in frames]
        assert kinds == [FrameType.CASE, FrameType.OP, FrameType.RESULT], f"{frames} of {op}"
        expected = op.before(seed, complement)
        definition(expected)
        found = host.read(0, op.arena)
        wrong = [at for at in range(op.arena) if found[at] != expected[at]]
        assert not wrong, f"byte {wrong[0]} of {op}"
        result = RunResult.unpack(frames[2].payload)
        assert result.outside_count == 0, op
        assert result.scratch_used <= op.scratch, op
        results.append(result)
    return results


def finish(op: OneOp, quant: QuantRecord, total: int) -> int:
    """The output byte of an accumulator."""
    record = op.record
    wrapped = ((total + 2**31) & 0xFFFFFFFF) - 2**31
    scaled = requantize(wrapped, quant.multiplier, quant.shift, Rounding(record.rounding))
    value = scaled + record.output_zero_point
    return min(max(value, record.activation_min), record.activation_max) & 0xFF
