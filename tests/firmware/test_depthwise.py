# SPDX-License-Identifier: Apache-2.0
"""The plain depthwise convolutions, by pixels and by channels, against their definition in the same
memory, input and output at any distance."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from harness.schema.records import QuantRecord
from tests.firmware.support import HostRunner, build, refusal, signed, tensor
from tests.firmware.window_op import (
    ROUNDINGS,
    OneOp,
    Window,
    check,
    finish,
    overlapping,
    random_quants,
    random_window,
    random_zero_point,
)

_GEOMETRIES = 300
_GEOMETRY = 7  # BAD_GEOMETRY, firmware/runner/pack.h


def _op(
    window: Window,
    multiplier: int,
    rng: random.Random,
    offsets: tuple[int, int],
    *,
    tap_order: TapOrder = TapOrder.GATHER,
    traversal: Traversal = Traversal.ROW,
    rounding: Rounding = Rounding.DOUBLE,
) -> OneOp:
    c_out = window.c * multiplier
    zero_in = random_zero_point(rng)
    low, high = rng.choice([(-128, 127), (rng.randint(-128, 0), rng.randint(1, 127))])
    usual = -7 - (window.k[0] * window.k[1]).bit_length() // 2  # few results are clamped
    scratch = 0
    if traversal is Traversal.CHANNEL:
        scratch = (window.d[0] * (window.k[0] - 1) + 1) * window.w_in
    elif tap_order is TapOrder.GATHER:
        scratch = window.k[0] * window.k[1] * window.c
    return OneOp(
        OpKind.DEPTHWISE,
        window.input(offsets[0], zero_in),
        tensor(offsets[1], window.h_out, window.w_out, c_out),
        scratch,
        [rng.randint(-128, 127) for _ in range(window.k[0] * window.k[1] * c_out)],
        random_quants(rng, c_out, (usual - 1, usual)),
        {
            **window.fields(), "tap_order": tap_order, "traversal": traversal,
            "rounding": rounding, "input_zero_points": (zero_in, 0),
            "output_zero_point": random_zero_point(rng),
            "activation_min": low, "activation_max": high,
        },
    )  # fmt: skip


def _scalar(window: Window, op: OneOp, taps: list[tuple[int, int, int]], channel: int) -> int:
    """taps: k_y, k_x and the input value."""
    total = op.quants[channel].bias
    for k_y, k_x, value in taps:
        weight = op.weights[(k_y * window.k[1] + k_x) * op.output.c + channel]
        total += (value - op.record.input_zero_points[0]) * weight
    return finish(op, op.quants[channel], total)


def _by_pixels(window: Window, op: OneOp, arena: bytearray) -> None:
    at = op.output.offset
    multiplier = op.output.c // window.c
    for row in range(window.h_out):
        for column in range(window.w_out):
            taps = window.taps(row, column)
            offsets = [op.input.offset + (y * window.w_in + x) * window.c for _, _, y, x in taps]
            copied = bytes(arena)  # gather reads before the pixel's first write
            direct = op.record.tap_order == TapOrder.DIRECT
            for channel in range(op.output.c):
                memory = arena if direct else copied
                values = [signed(memory[base + channel // multiplier]) for base in offsets]
                read = [(k_y, k_x, v) for (k_y, k_x, _, _), v in zip(taps, values, strict=True)]
                arena[at] = _scalar(window, op, read, channel)
                at += 1


def _by_channels(window: Window, op: OneOp, arena: bytearray) -> None:
    """Rows are read once, just before the first output row whose field they lie in."""
    c, w_in = window.c, window.w_in
    for channel in range(c):
        rows: dict[int, list[int]] = {}
        for row in range(window.h_out):
            first = row * window.s[0] - window.top
            field = range(first, first + window.d[0] * (window.k[0] - 1) + 1)
            for y in field:
                if 0 <= y < window.h_in and y not in rows:
                    base = op.input.offset + y * w_in * c + channel
                    rows[y] = [signed(arena[base + x * c]) for x in range(w_in)]
            for column in range(window.w_out):
                taps = [(k_y, k_x, rows[y][x]) for k_y, k_x, y, x in window.taps(row, column)]
                at = op.output.offset + (row * window.w_out + column) * c + channel
                arena[at] = _scalar(window, op, taps, channel)


@pytest.mark.parametrize("layout", [Layout.DENSE, Layout.PADDED], ids=["dense", "padded"])
@pytest.mark.parametrize("rounding", ROUNDINGS, ids=lambda rounding: rounding.name.lower())
@pytest.mark.parametrize("order", list(TapOrder), ids=lambda order: order.name.lower())
def test_by_pixels(host: HostRunner, order: TapOrder, rounding: Rounding, layout: Layout) -> None:
    full = 0
    for seed in range(_GEOMETRIES // 2):
        rng = random.Random(seed)
        window = random_window(rng, layout)
        multiplier = rng.choice([1, 1, 2, 3])
        n_in = window.h_in * window.w_in * window.c
        n_out = window.h_out * window.w_out * window.c * multiplier
        offsets = overlapping(rng, n_in, n_out)
        op = _op(window, multiplier, rng, offsets, tap_order=order, rounding=rounding)
        results = check(host, op, lambda arena, w=window, o=op: _by_pixels(w, o, arena), seed)
        full += max(result.scratch_used for result in results) == op.scratch
    assert full == _GEOMETRIES // 2  # gather fills its scratch, direct has none


@pytest.mark.parametrize("rounding", ROUNDINGS, ids=lambda rounding: rounding.name.lower())
def test_by_channels(host: HostRunner, rounding: Rounding) -> None:
    for seed in range(_GEOMETRIES):
        rng = random.Random(seed)
        window = random_window(rng)
        n_in = window.h_in * window.w_in * window.c
        offsets = overlapping(rng, n_in, window.h_out * window.w_out * window.c)
        op = _op(window, 1, rng, offsets, traversal=Traversal.CHANNEL, rounding=rounding)
        check(host, op, lambda arena, w=window, o=op: _by_channels(w, o, arena), seed)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 3, 5, 7])
def test_channels_in_place_give_what_pixels_apart_give(
    host: HostRunner, k: int, stride: int
) -> None:
    """Output base on input base is safe while padding is below the kernel."""
    window = Window(11, 9, 5, (k, k), (stride, stride), pad=(k // 2,) * 4)
    n_in = 11 * 9 * 5
    apart = _op(window, 1, random.Random(k), (0, n_in), tap_order=TapOrder.DIRECT)
    in_place = _op(window, 1, random.Random(k), (0, 0), traversal=Traversal.CHANNEL)
    outputs = []
    for op in (apart, in_place):
        op.fields.update(input_zero_points=(0, 0), output_zero_point=0)
        op.fields.update(activation_min=-128, activation_max=127)
        host.flash(build([op.parts()]))
        host.run(0, seed=k)
        outputs.append(host.read(op.output.offset, op.output.bytes))
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0])) > 20


def test_a_ring_is_filled_to_its_end(host: HostRunner) -> None:
    window = Window(9, 7, 2, (3, 2), d=(2, 1))
    op = _op(window, 1, random.Random(1), (0, 0), traversal=Traversal.CHANNEL)
    results = check(host, op, lambda arena: _by_channels(window, op, arena), seed=3)
    assert op.scratch == 5 * 7
    assert max(result.scratch_used for result in results) == op.scratch


def test_rows_between_two_fields_are_not_read(host: HostRunner) -> None:
    """Fields are rows -2 to 0 and 4 to 6 of five: rows 0 and 4 take two of the ring's three slots,
    while rows 0 to 4 would take all."""
    window = Window(5, 4, 1, (3, 1), (6, 1), pad=(2, 0, 2, 0))
    op = _op(window, 1, random.Random(1), (0, 20), traversal=Traversal.CHANNEL)
    results = check(host, op, lambda arena: _by_channels(window, op, arena), seed=3)
    assert max(result.scratch_used for result in results) == 2 * 4


def test_one_pixel_by_hand(host: HostRunner) -> None:
    """2 x 1 kernel, multiplier 2: a quarter of x + 2 y and of 3 x + 4 y + 6: -2.5 and 19.5,
    which `double` takes away from zero."""
    op = OneOp(
        OpKind.DEPTHWISE, tensor(0, 2, 1, 1), tensor(2, 1, 1, 2), 0, [1, 3, 2, 4],
        [QuantRecord(0, 2**30, -1), QuantRecord(6, 2**30, -1)],
        {**Window(2, 1, 1, (2, 1)).fields(), "tap_order": TapOrder.DIRECT},
    )  # fmt: skip
    host.flash(build([op.parts()]))
    host.run(0, seed=42)
    assert [signed(byte) for byte in host.read(0, 4)] == [92, -51, -3, 20]


def test_channels_take_a_multiplier_of_one_alone(host: HostRunner) -> None:
    op = _op(Window(3, 3, 2, (2, 2)), 2, random.Random(1), (0, 18), traversal=Traversal.CHANNEL)
    host.flash(build([op.parts()]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail & 0xFFFF) == (Refusal.BAD_RECORD, _GEOMETRY)


@pytest.mark.parametrize(
    "fields",
    [
        {"rounding": Rounding.TRUNCATE},
        {"traversal": Traversal.REVERSE},
        {"traversal": Traversal.CHANNEL, "tap_order": TapOrder.DIRECT},
    ],
)
def test_what_no_kernel_takes(host: HostRunner, fields: dict[str, int]) -> None:
    op = _op(Window(3, 3, 2, (2, 2)), 1, random.Random(1), (0, 18))
    host.flash(build([replace(op, fields={**op.fields, **fields}).parts()]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL


def test_scratch_must_hold_the_ring(host: HostRunner) -> None:
    op = _op(Window(4, 3, 1, (3, 3)), 1, random.Random(2), (0, 0), traversal=Traversal.CHANNEL)
    host.flash(build([replace(op, scratch=op.scratch - 1).parts()]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.expected) == (Refusal.ARENA_TOO_SMALL, 9)
