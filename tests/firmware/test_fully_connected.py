# SPDX-License-Identifier: Apache-2.0
"""The plain fully connected layer against its definition in the same memory."""

from __future__ import annotations

import random

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from tests.firmware.support import HostRunner, build, refusal, signed, tensor
from tests.firmware.window_op import (
    ROUNDINGS,
    OneOp,
    check,
    finish,
    overlapping,
    random_quants,
    random_zero_point,
)

_GEOMETRIES = 300
_GEOMETRY = 7  # BAD_GEOMETRY, firmware/runner/pack.h


def _op(
    shape: tuple[int, int, int], c_out: int, offsets: tuple[int, int], rng: random.Random
) -> OneOp:
    h, w, c = shape
    n_in = h * w * c
    low, high = rng.choice([(-128, 127), (rng.randint(-128, 0), rng.randint(1, 127))])
    return OneOp(
        OpKind.FULLY_CONNECTED, tensor(offsets[0], h, w, c), tensor(offsets[1], 1, 1, c_out), 0,
        [rng.randint(-128, 127) for _ in range(n_in * c_out)],
        random_quants(rng, c_out, (-11, -7)),
        {
            "tap_order": TapOrder.DIRECT, "rounding": rng.choice(ROUNDINGS),
            "input_zero_points": (random_zero_point(rng), 0),
            "output_zero_point": random_zero_point(rng),
            "activation_min": low, "activation_max": high,
        },
    )  # fmt: skip


def _fully_connected(op: OneOp, arena: bytearray) -> None:
    """The input is read anew for each output."""
    n_in = op.input.bytes
    for channel in range(op.output.c):
        total = op.quants[channel].bias
        for index in range(n_in):
            value = signed(arena[op.input.offset + index]) - op.record.input_zero_points[0]
            total += value * op.weights[channel * n_in + index]
        arena[op.output.offset + channel] = finish(op, op.quants[channel], total)


@pytest.mark.parametrize("rounding", ROUNDINGS, ids=lambda rounding: rounding.name.lower())
def test_random_shapes(host: HostRunner, rounding: Rounding) -> None:
    for seed in range(_GEOMETRIES):
        rng = random.Random(seed)
        shape = rng.choice([(1, 1, rng.randint(1, 70)), (3, 2, rng.randint(1, 9)), (1, 5, 3)])
        c_out = rng.choice([1, 2, 3, 10, 17])
        n_in = shape[0] * shape[1] * shape[2]
        op = _op(shape, c_out, overlapping(rng, n_in, c_out), rng)
        op.fields["rounding"] = rounding
        check(host, op, lambda arena, o=op: _fully_connected(o, arena), seed)


def test_stored_padding_is_refused(host: HostRunner) -> None:
    """It would count as values."""
    op = _op((4, 4, 3), 2, (0, 48), random.Random(3))
    op.input = tensor(0, 4, 4, 3, pad_left=1)
    host.flash(build([op.parts()]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail) == (Refusal.BAD_RECORD, _GEOMETRY)


@pytest.mark.parametrize(
    "fields",
    [
        {"rounding": Rounding.TRUNCATE},
        {"layout": Layout.PADDED},
        {"tap_order": TapOrder.GATHER},
        {"traversal": Traversal.REVERSE},
    ],
)
def test_what_no_kernel_takes(host: HostRunner, fields: dict[str, int]) -> None:
    op = _op((1, 1, 20), 4, (0, 20), random.Random(3))
    op.fields.update(fields)
    host.flash(build([op.parts()]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL
