# SPDX-License-Identifier: Apache-2.0
"""The plain average and max pools against their definition in the same memory."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from harness.schema.constants import Layout, OpKind, Refusal, Rounding, TapOrder, Traversal
from tests.firmware.support import HostRunner, build, input_byte, refusal, signed, tensor
from tests.firmware.window_op import OneOp, Window, check, overlapping, random_window

_GEOMETRIES = 300
_GEOMETRY = 7  # BAD_GEOMETRY, firmware/runner/pack.h
_POOLS = [OpKind.AVERAGE_POOL, OpKind.MAX_POOL]


def _op(
    kind: OpKind, window: Window, offsets: tuple[int, int], limits: tuple[int, int] = (-128, 127)
) -> OneOp:
    return OneOp(
        kind,
        window.input(offsets[0], 0),
        tensor(offsets[1], window.h_out, window.w_out, window.c),
        fields={
            **window.fields(), "tap_order": TapOrder.DIRECT,
            "activation_min": limits[0], "activation_max": limits[1],
        },
    )  # fmt: skip


def _every_window_has_a_tap(window: Window) -> bool:
    return all(
        window.taps(row, column) for row in range(window.h_out) for column in range(window.w_out)
    )


def _value(kind: OpKind, values: list[int]) -> int:
    if kind is OpKind.MAX_POOL:
        return max(values)
    exact = Fraction(sum(values), len(values))
    away = int(abs(exact) + Fraction(1, 2))
    return away if exact > 0 else -away


def _pool(kind: OpKind, window: Window, op: OneOp, arena: bytearray) -> None:
    at = op.output.offset
    for row in range(window.h_out):
        for column in range(window.w_out):
            taps = window.taps(row, column)
            for channel in range(window.c):
                offsets = [(y * window.w_in + x) * window.c + channel for _, _, y, x in taps]
                values = [signed(arena[op.input.offset + offset]) for offset in offsets]
                value = _value(kind, values)
                clamped = max(op.record.activation_min, min(op.record.activation_max, value))
                arena[at] = clamped & 0xFF
                at += 1


@pytest.mark.parametrize("kind", _POOLS, ids=lambda kind: kind.name.lower())
def test_random_geometries(host: HostRunner, kind: OpKind) -> None:
    """And those with a window of padding alone are refused."""
    ran = refused = 0
    for seed in range(10_000):
        rng = random.Random(seed)
        window = random_window(rng)
        n_in = window.h_in * window.w_in * window.c
        offsets = overlapping(rng, n_in, window.h_out * window.w_out * window.c)
        limits = sorted((rng.randint(-128, 0), rng.randint(1, 127)))
        op = _op(kind, window, offsets, rng.choice([(-128, 127), (limits[0], limits[1])]))
        if _every_window_has_a_tap(window):
            ran += 1
            check(host, op, lambda arena, w=window, o=op: _pool(kind, w, o, arena), seed)
        else:
            refused += 1
            host.flash(build([op.parts()]))
            answer = refusal(host.run(0, seed))
            assert (answer.reason, answer.detail) == (Refusal.BAD_RECORD, _GEOMETRY), window
        if ran == _GEOMETRIES:
            break
    assert ran == _GEOMETRIES
    assert refused > 100


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 49, 63, 1000])
def test_averages_of_extreme_values(host: HostRunner, count: int) -> None:
    """One window over a whole column of `count`, of drawn bytes and, with a second pool before it,
    of the extremes alone: 127 or -128 everywhere through the clamp."""
    for low, high in ((127, 127), (-128, -128), (-128, 127)):
        first = _op(OpKind.MAX_POOL, Window(count, 1, 1, (1, 1)), (0, count), (low, high))
        second = _op(OpKind.AVERAGE_POOL, Window(count, 1, 1, (count, 1)), (count, 2 * count))
        case = first.parts()
        case.ops.append(second.record)
        case.ops[1] = type(case.ops[1])(
            **{**vars(case.ops[1]), "inputs": (1, 0, 0, 0), "output": 2}
        )
        case.tensors.append(second.output)
        case.arena, case.outputs = 2 * count + 1, (2,)
        host.flash(build([case]))
        host.run(0, seed=count)
        values = [signed(input_byte(count, index)) for index in range(count)]
        clamped = [min(max(value, low), high) for value in values]
        expected = _value(OpKind.AVERAGE_POOL, clamped)
        assert signed(host.read(2 * count, 1)[0]) == expected


def test_every_quotient_of_small_windows(host: HostRunner) -> None:
    """Windows of 2, 3 and 4 over 30,000 drawn bytes reach nearly every sum, ties among them."""
    for count in (2, 3, 4):
        window = Window(1, 30_000 // count * count, 1, (1, count), (1, count))
        op = _op(OpKind.AVERAGE_POOL, window, (0, 0))
        host.flash(build([op.parts()]))
        host.run(0, seed=count)
        values = [signed(input_byte(count, index)) for index in range(window.w)]
        groups = [values[at : at + count] for at in range(0, window.w, count)]
        assert len({sum(group) for group in groups}) > 100 * count
        found = [signed(byte) for byte in host.read(0, window.w_out)]
        assert found == [_value(OpKind.AVERAGE_POOL, group) for group in groups]


def test_one_window_by_hand(host: HostRunner) -> None:
    """-94 / 4 is -23.5, away from zero -24."""
    values = [-112, 4, 37, -23]
    for kind, expected in ((OpKind.AVERAGE_POOL, -24), (OpKind.MAX_POOL, 37)):
        op = _op(kind, Window(2, 2, 1, (2, 2)), (0, 4))
        host.flash(build([op.parts()]))
        host.run(0, seed=10)
        assert [signed(byte) for byte in host.read(0, 5)] == [*values, expected]


@pytest.mark.parametrize("kind", _POOLS, ids=lambda kind: kind.name.lower())
def test_a_window_of_padding_alone_is_refused(host: HostRunner, kind: OpKind) -> None:
    """One row or column of padding more than the kernel can bridge; dilation over the image."""
    good = [
        Window(4, 4, 1, (3, 3), pad=(2, 2, 2, 2)),
        Window(2, 9, 1, (2, 1), d=(3, 1), pad=(2, 0, 0, 0)),
    ]
    bad = [
        Window(4, 4, 1, (3, 3), pad=(3, 0, 0, 0)),
        Window(4, 4, 1, (3, 3), pad=(0, 3, 0, 0)),
        Window(4, 4, 1, (3, 3), pad=(0, 0, 3, 0)),
        Window(4, 4, 1, (3, 3), pad=(0, 0, 0, 3)),
        Window(1, 9, 1, (2, 1), d=(3, 1), pad=(2, 0, 1, 0)),
    ]
    for window in good + bad:
        assert _every_window_has_a_tap(window) is (window in good)
        op = _op(kind, window, (0, window.h_in * window.w_in))
        if window in good:
            check(host, op, lambda arena, w=window, o=op: _pool(kind, w, o, arena), seed=1)
            continue
        host.flash(build([op.parts()]))
        answer = refusal(host.run(0, 1))
        assert (answer.reason, answer.detail) == (Refusal.BAD_RECORD, _GEOMETRY)


@pytest.mark.parametrize("kind", _POOLS, ids=lambda kind: kind.name.lower())
def test_any_rounding_is_taken(host: HostRunner, kind: OpKind) -> None:
    """Nothing is requantised."""
    outputs = set()
    for rounding in Rounding:
        op = _op(kind, Window(4, 4, 3, (2, 2)), (0, 48))
        op.fields["rounding"] = rounding
        host.flash(build([op.parts()]))
        host.run(0, seed=8)
        outputs.add(host.read(48, 27))
    assert len(outputs) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"layout": Layout.PADDED},
        {"tap_order": TapOrder.GATHER},
        {"traversal": Traversal.CHANNEL},
        {"traversal": Traversal.REVERSE},
    ],
)
def test_what_no_kernel_takes(host: HostRunner, fields: dict[str, int]) -> None:
    op = _op(OpKind.AVERAGE_POOL, Window(3, 3, 2, (2, 2)), (0, 18))
    op.fields.update(fields)
    host.flash(build([op.parts()]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL
