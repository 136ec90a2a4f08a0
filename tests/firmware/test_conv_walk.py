# SPDX-License-Identifier: Apache-2.0
"""The plain convolution in every execution: layouts, tap orders, traversals and roundings, against the
definition in one memory."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.schema import records
from harness.schema.constants import FrameType, Layout, Refusal, Rounding, TapOrder, Traversal
from tests.firmware.executions import (
    EXECUTIONS,
    STORED,
    Walk,
    make_walk,
    output_pixels,
    tap_addresses,
    walk_by_definition,
    walk_parts,
)
from tests.firmware.hostile import run_sanitized
from tests.firmware.support import Conv, HostRunner, build, refusal

_BAD_GEOMETRY = 7
_SEEDS = 36  # of each of the 14 executions


def _full_of_ties(conv: Conv, rng: random.Random) -> None:
    """Small weights, and scales that are powers of two: the roundings differ in many outputs."""
    conv.weights = [rng.randint(-1, 1) for _ in conv.weights]
    conv.quants = [
        records.QuantRecord(rng.randint(-99, 99), 2**30, rng.randint(-3, -1)) for _ in conv.quants
    ]


def _draw(layout: Layout, order: TapOrder, traversal: Traversal, seed: int, most: int = 6) -> Walk:
    """Pads beyond the kernel, strides over it, dilation, odd channels, 1 x n; half of them with
    input and output over each other, a third with scales far from 1."""
    rng = random.Random(f"{layout} {order} {traversal} {seed}")
    while True:
        h, w = rng.choice([(1, most), (most, 1), (rng.randint(1, most), rng.randint(1, most))])
        k = rng.randint(1, 4), rng.randint(1, 4)
        d = rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 3))
        pad = rng.choice([(0, 0, 0, 0), tuple(rng.randint(0, 4) for _ in range(4))])
        assert len(pad) == 4
        fits = h + pad[0] + pad[2] > d[0] * (k[0] - 1) and w + pad[1] + pad[3] > d[1] * (k[1] - 1)
        if fits:
            break
    conv = Conv(
        h, w, rng.choice((1, 2, 3, 4, 5, 7, 9)), rng.choice((1, 2, 3, 5)),
        k, (rng.choice((1, 1, 2, 5)), rng.choice((1, 1, 2, 5))), d, pad, order,
        seed=rng.getrandbits(30), shifts=rng.choice([(-12, -6), (-12, -6), (-31, 30)]),
        rounding=Rounding(seed % 3),
    )  # fmt: skip
    if rng.random() < 0.5:
        _full_of_ties(conv, rng)
    if rng.random() < 0.2:
        conv.zero_in, conv.zero_out = rng.choice((-128, 127)), rng.choice((-128, 127))
    distance = rng.randint(-20, 60) if rng.random() < 0.5 else None
    return make_walk(conv, layout, traversal, distance, rng)


def _check(host: HostRunner, walk: Walk, seed: int, complement: int = 0) -> records.RunResult:
    conv = walk.conv
    host.flash(build([walk_parts(walk)]))
    frames = host.run(0, seed, paint=complement)
    assert [f.type for f in frames] == [FrameType.CASE, FrameType.OP, FrameType.RESULT]
    result = records.RunResult.unpack(frames[2].payload)
    expected = walk_by_definition(walk, seed, complement)
    assert host.read(0, walk.arena) == expected
    output = expected[walk.output_offset : walk.output_offset + conv.n_out]
    assert result.output_crc == zlib.crc32(output)
    assert (result.outside_count, result.outside_first) == (0, 0)
    assert result.scratch_used <= (conv.field if conv.order is TapOrder.GATHER else 0)
    return result


def _name(value: Any) -> str:
    return str(value.name).lower()


@pytest.mark.parametrize(("layout", "order", "traversal"), EXECUTIONS, ids=_name)
def test_random_geometries(
    host: HostRunner, layout: Layout, order: TapOrder, traversal: Traversal
) -> None:
    """Each rounding in a third of them, every byte of the arena compared."""
    for seed in range(_SEEDS):
        _check(host, _draw(layout, order, traversal, seed), seed, complement=seed & 1)


@pytest.mark.parametrize("rounding", list(Rounding), ids=_name)
@pytest.mark.parametrize(("h", "w"), [(9, 9), (2, 13), (13, 2), (1, 7), (7, 1), (8, 5), (5, 8)])
@pytest.mark.parametrize(("layout", "order", "traversal"), EXECUTIONS, ids=_name)
def test_in_place_at_the_edge(
    host: HostRunner, layout: Layout, order: TapOrder, traversal: Traversal, h: int, w: int,
    rounding: Rounding,
) -> None:  # fmt: skip
    """Outputs of both shapes on top of the input: an order that is not this one destroys otherwise."""
    conv = Conv(
        h, w, 2, 2, (3, 3), pad=(1, 1, 1, 1), order=order, seed=h * w,
        rounding=rounding,
    )  # fmt: skip
    _full_of_ties(conv, random.Random(h))
    _check(host, make_walk(conv, layout, traversal, 0, random.Random(w)), seed=h)


def test_the_order_of_the_paper() -> None:
    """Fig. 3(b), five rows and three columns: col(5), row(2), col(4), row(1), col(3)."""
    assert list(output_pixels(5, 3, Traversal.HERRINGBONE)) == [
        (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 1), (0, 2),
        (1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (2, 2), (3, 2), (4, 2),
    ]  # fmt: skip
    for h, w in [(4, 4), (3, 7), (7, 3), (1, 5), (5, 1)]:
        order = list(output_pixels(h, w, Traversal.HERRINGBONE))
        assert sorted(order) == [(y, x) for y in range(h) for x in range(w)]
        assert (order[1][0] == 0) == (w >= h)


def test_orders_and_roundings_are_told_apart() -> None:
    """With the output on the input each of them leaves other bytes; else the tests above would prove
    little."""
    found: dict[bytes, tuple[object, ...]] = {}
    for layout, order, traversal in EXECUTIONS:
        for rounding in Rounding:
            conv = Conv(
                6, 5, 3, 4, (3, 3), pad=(1, 1, 1, 1), order=order, seed=4, rounding=rounding,
            )  # fmt: skip
            _full_of_ties(conv, random.Random(2))
            walk = make_walk(conv, layout, traversal, 0, random.Random(1))
            output = walk_by_definition(walk, 3, 0)[: conv.n_out]
            assert output not in found, (found[output], layout, order, traversal, rounding)
            found[output] = (layout, order, traversal, rounding)
    assert len(found) == 14 * 3


@pytest.mark.parametrize("order", list(TapOrder), ids=_name)
@pytest.mark.parametrize("traversal", [Traversal.COLUMN, Traversal.REVERSE], ids=_name)
def test_gather_uses_exactly_its_field_of_scratch(
    host: HostRunner, traversal: Traversal, order: TapOrder
) -> None:
    conv = Conv(4, 4, 3, 2, (3, 3), pad=(1, 1, 1, 1), order=order, seed=11)
    walk = make_walk(conv, Layout.DENSE, traversal, None, random.Random(2))
    used = max(_check(host, walk, 1, complement).scratch_used for complement in (0, 1))
    assert used == (27 if order is TapOrder.GATHER else 0)


def test_positions_have_sixteen_bits(host: HostRunner) -> None:
    """57,600 pixels, of which a few are read, many of them beyond place 32,767."""
    conv = Conv(240, 240, 1, 2, (2, 2), (60, 70), order=TapOrder.DIRECT, seed=6)
    walk = make_walk(conv, Layout.DENSE, Traversal.HERRINGBONE, None, random.Random(3))
    read = [int(a) for y in range(4) for x in range(4) for a in tap_addresses(walk, (y, x))]
    assert sum(address - walk.input_offset > 32767 for address in read) > 20
    _check(host, walk, seed=8)


def test_accumulator_wraps(host: HostRunner) -> None:
    for number, (layout, order, traversal) in enumerate(EXECUTIONS):
        rounding = Rounding(number % 3)
        conv = Conv(2, 3, 16, 2, order=order, seed=3, rounding=rounding)
        conv.quants = [
            records.QuantRecord(bias=2**31 - 1, multiplier=2**30, shift=-20),
            records.QuantRecord(bias=-(2**31), multiplier=2**30, shift=-20),
        ]
        _check(host, make_walk(conv, layout, traversal, None, random.Random(5)), seed=4)


# ---- what is refused, and what no case may do ----


@pytest.mark.parametrize(
    ("order", "traversal"),
    [
        (TapOrder.GATHER, Traversal.HERRINGBONE),
        (TapOrder.GATHER, Traversal.CHANNEL),
        (TapOrder.DIRECT, Traversal.CHANNEL),
    ],
)
def test_no_kernel(host: HostRunner, order: TapOrder, traversal: Traversal) -> None:
    conv = Conv(4, 4, 3, 2, order=order)
    like = Traversal.HERRINGBONE if traversal is Traversal.HERRINGBONE else Traversal.ROW
    case = walk_parts(make_walk(conv, Layout.DENSE, like, None, random.Random(7)))
    case.ops[0] = replace(case.ops[0], traversal=traversal)
    host.flash(build([case]))
    assert refusal(host.run(0, 1)).reason == Refusal.NO_KERNEL


@pytest.mark.parametrize("stored", list(Traversal)[:4], ids=_name)
@pytest.mark.parametrize("traversal", list(Traversal)[:4], ids=_name)
def test_the_input_is_stored_as_it_is_traversed(
    host: HostRunner, traversal: Traversal, stored: Traversal
) -> None:
    """Herringbone without a table of positions would read outside its input."""
    conv = Conv(4, 4, 3, 2, order=TapOrder.DIRECT)
    case = walk_parts(make_walk(conv, Layout.DENSE, stored, None, random.Random(7)))
    case.ops[0] = replace(case.ops[0], traversal=traversal)
    host.flash(build([case]))
    frames = host.run(0, 1)
    if STORED[stored] == STORED[traversal]:
        assert frames[-1].type is FrameType.RESULT
    else:
        answer = refusal(frames)
        assert (answer.reason, answer.detail & 0xFFFF) == (Refusal.BAD_RECORD, _BAD_GEOMETRY)


def test_random_geometries_under_sanitizers(sanitized: Path) -> None:
    packs = [
        build([walk_parts(_draw(*execution, seed)) for seed in range(first, first + 3)])
        for execution in EXECUTIONS
        for first in (100, 103, 106)
    ]
    far = Conv(4, 10, 7, 1, (1, 10), (65535, 1), (65535, 1), (65535, 0, 65535, 0))
    for order in TapOrder:  # two of three output rows lie 65,535 rows away from the input
        conv = replace(far, order=order, weights=[], quants=[])
        for traversal in (Traversal.COLUMN, Traversal.REVERSE):
            walk = make_walk(conv, Layout.DENSE, traversal, None, random.Random(1))
            packs.append(build([walk_parts(walk)] * 3))
    answers = run_sanitized(sanitized, packs)
    assert sum(answer[-1] is FrameType.RESULT for answer in answers) == 3 * len(packs)
