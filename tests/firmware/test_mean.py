# SPDX-License-Identifier: Apache-2.0
"""The plain mean over all pixels against its definition in the same memory."""

from __future__ import annotations

import random

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from harness.schema.records import QuantRecord
from tests.firmware.support import HostRunner, build, refusal, signed, tensor
from tests.firmware.window_op import ROUNDINGS, OneOp, check, finish, overlapping, random_zero_point

_GEOMETRIES = 300
_GEOMETRY = 7  # BAD_GEOMETRY, firmware/runner/pack.h


def _op(h: int, w: int, c: int, offsets: tuple[int, int], rng: random.Random) -> OneOp:
    """Of a scale that is 1 to 4 for the mean, now and then any."""
    pixels = h * w
    multiplier, shift = (2**31 - 1) // pixels, rng.randint(0, 2)
    if rng.random() < 0.2:
        multiplier, shift = rng.randint(-(2**31) + 1, 2**31 - 1), rng.randint(-31, 30)
    low, high = rng.choice([(-128, 127), (rng.randint(-128, 0), rng.randint(1, 127))])
    return OneOp(
        OpKind.MEAN, tensor(offsets[0], h, w, c), tensor(offsets[1], 1, 1, c), 4 * c,
        quants=[QuantRecord(0, multiplier, shift)],
        fields={
            "input_zero_points": (random_zero_point(rng), 0),
            "output_zero_point": random_zero_point(rng),
            "activation_min": low, "activation_max": high,
        },
    )  # fmt: skip


def _mean(op: OneOp, arena: bytearray) -> None:
    """All is read before the first write."""
    t = op.input
    values = [signed(byte) for byte in arena[t.offset : t.offset + t.bytes]]
    for channel in range(t.c):
        total = sum(value - op.record.input_zero_points[0] for value in values[channel :: t.c])
        arena[op.output.offset + channel] = finish(op, op.quants[0], total)


@pytest.mark.parametrize("rounding", ROUNDINGS, ids=lambda rounding: rounding.name.lower())
def test_random_shapes(host: HostRunner, rounding: Rounding) -> None:
    for seed in range(_GEOMETRIES):
        rng = random.Random(seed)
        h, w = rng.choice([(1, rng.randint(1, 40)), (rng.randint(1, 40), 1), (3, 5), (7, 7)])
        c = rng.choice([1, 2, 3, 5, 8, 17, 33])
        op = _op(h, w, c, overlapping(rng, h * w * c, c), rng)
        op.fields["rounding"] = rounding
        results = check(host, op, lambda arena, o=op: _mean(o, arena), seed)
        assert max(result.scratch_used for result in results) == 4 * c


def test_sums_need_more_than_16_bits(host: HostRunner) -> None:
    """10,000 pixels, each at least 0 and 128 on average above the zero point."""
    op = _op(100, 100, 2, (0, 20_000), random.Random(1))
    op.quants = [QuantRecord(0, 2**31 // 10_000, 0)]
    op.fields.update(input_zero_points=(-128, 0), output_zero_point=-128)
    check(host, op, lambda arena: _mean(op, arena), seed=1)
    assert all(abs(signed(byte)) < 4 for byte in host.read(20_000, 2))


def test_the_bias_is_not_read(host: HostRunner) -> None:
    outputs = set()
    for bias in (0, 2**31 - 1):
        op = _op(4, 4, 3, (0, 48), random.Random(3))
        op.quants = [QuantRecord(bias, 2**31 // 16, 0)]
        host.flash(build([op.parts()]))
        host.run(0, seed=3)
        outputs.add(host.read(48, 3))
    assert len(outputs) == 1


def test_stored_padding_is_refused(host: HostRunner) -> None:
    """It would count as values."""
    op = _op(4, 4, 3, (0, 48), random.Random(3))
    op.input = tensor(0, 4, 4, 3, pad_top=1)
    host.flash(build([op.parts()]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail) == (Refusal.BAD_RECORD, _GEOMETRY)


@pytest.mark.parametrize(
    "fields",
    [
        {"rounding": Rounding.TRUNCATE},
        {"layout": Layout.PADDED},
        {"tap_order": TapOrder.DIRECT},
        {"traversal": Traversal.REVERSE},
    ],
)
def test_what_no_kernel_takes(host: HostRunner, fields: dict[str, int]) -> None:
    op = _op(4, 4, 3, (0, 48), random.Random(3))
    op.fields.update(fields)
    host.flash(build([op.parts()]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL
