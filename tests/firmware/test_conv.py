# SPDX-License-Identifier: Apache-2.0
"""The plain convolution, run by RUN and read by READ, against the definition in the same memory."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.schema import records
from harness.schema.constants import FrameType, TapOrder
from tests.firmware.support import (
    Conv,
    Frame,
    HostRunner,
    build,
    output_value,
    parts,
    run_by_definition,
    signed,
    tensor,
)

_ORDERS = [TapOrder.GATHER, TapOrder.DIRECT]


def _result(frames: list[Frame]) -> records.RunResult:
    assert [f.type for f in frames] == [FrameType.CASE, FrameType.OP, FrameType.RESULT]
    return records.RunResult.unpack(frames[2].payload)


def _check(host: HostRunner, conv: Conv, seed: int, complement: int = 0) -> records.RunResult:
    host.flash(build([parts(conv)]))
    result = _result(host.run(0, seed, paint=complement))
    expected = run_by_definition(conv, seed, complement)
    assert host.read(0, conv.arena) == expected
    assert conv.output_offset is not None
    output = expected[conv.output_offset : conv.output_offset + conv.n_out]
    assert result.output_crc == zlib.crc32(output)
    assert (result.outside_count, result.outside_first) == (0, 0)
    return result


def _random_conv(rng: random.Random, order: TapOrder) -> Conv:
    while True:
        k = (rng.randint(1, 4), rng.randint(1, 4))
        s = (rng.randint(1, 3), rng.randint(1, 3))
        d = (rng.randint(1, 2), rng.randint(1, 2))
        pad = tuple(rng.randint(0, 3) for _ in range(4))
        h, w = rng.randint(1, 6), rng.randint(1, 6)
        c_in, c_out = rng.choice([1, 2, 3, 5, 8, 9, 17]), rng.choice([1, 2, 3, 5])
        fits = h + pad[0] + pad[2] > d[0] * (k[0] - 1) and w + pad[1] + pad[3] > d[1] * (k[1] - 1)
        if fits:
            assert len(pad) == 4
            return Conv(h, w, c_in, c_out, k, s, d, pad, order, seed=rng.getrandbits(30))


@pytest.mark.parametrize("order", _ORDERS, ids=lambda order: order.name.lower())
@pytest.mark.parametrize("seed", range(60))
def test_random_geometries(host: HostRunner, order: TapOrder, seed: int) -> None:
    conv = _random_conv(random.Random(seed), order)
    result = _check(host, conv, seed=seed * 77 + 1)
    assert result.scratch_used <= (conv.field if order is TapOrder.GATHER else 0)
    assert result.low_water == 0


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(_ORDERS), st.integers(0, 2**20), st.integers(-40, 40), st.integers(0, 1))
def test_overlapping_input_and_output(
    host: HostRunner, order: TapOrder, seed: int, distance: int, complement: int
) -> None:
    """In one memory, at any distance, safe or not: the very bytes that the order of writes leaves."""
    drawn = _random_conv(random.Random(seed), order)
    conv = Conv(
        drawn.h_in, drawn.w_in, drawn.c_in, drawn.c_out, drawn.k, drawn.s, drawn.d, drawn.pad,
        order, seed, input_offset=max(0, distance), output_offset=max(0, -distance),
    )  # fmt: skip
    _check(host, conv, seed, complement)


@pytest.mark.parametrize("order", _ORDERS)
@pytest.mark.parametrize("shifts", [(-31, -31), (-31, -20), (0, 0), (1, 8), (30, 30)])
def test_extreme_scales(host: HostRunner, order: TapOrder, shifts: tuple[int, int]) -> None:
    conv = Conv(3, 3, 8, 4, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), order, seed=5, shifts=shifts)
    _check(host, conv, seed=9)


@pytest.mark.parametrize("order", _ORDERS)
def test_accumulator_wraps(host: HostRunner, order: TapOrder) -> None:
    conv = Conv(2, 2, 16, 2, order=order, seed=3)
    conv.quants = [
        records.QuantRecord(bias=2**31 - 1, multiplier=2**30, shift=-20),
        records.QuantRecord(bias=-(2**31), multiplier=2**30, shift=-20),
    ]
    _check(host, conv, seed=4)


def test_gather_uses_exactly_its_field_of_scratch(host: HostRunner) -> None:
    conv = Conv(4, 4, 3, 2, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), TapOrder.GATHER, seed=11)
    host.flash(build([parts(conv)]))
    used = [
        records.RunResult.unpack(host.run(0, 1, paint=paint)[2].payload).scratch_used
        for paint in (0, 1)
    ]
    assert max(used) == 27


def test_several_ops_share_the_arena(host: HostRunner) -> None:
    """Two ops of one case: the second reads what the first wrote."""
    first = Conv(4, 4, 3, 5, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), seed=21, input_offset=0)
    second = Conv(4, 4, 5, 2, seed=22, input_offset=first.n_in)
    both = parts(first)
    record = second.record()
    both.ops.append(
        records.OpRecord(
            **{
                **vars(record),
                "inputs": (1, 0, 0, 0),
                "output": 2,
                "weights_offset": len(first.weights),
                "quant_first": len(first.quants),
            }
        )
    )
    both.tensors.append(tensor(first.n_in + first.n_out, 4, 4, 2))
    both.quants = both.quants + second.quants
    both.weights += parts(second).weights
    both.arena = first.n_in + first.n_out + second.n_out
    both.outputs = (2,)
    host.flash(build([both]))
    frames = host.run(0, 33)
    assert [f.type for f in frames] == [
        FrameType.CASE, FrameType.OP, FrameType.OP, FrameType.RESULT,
    ]  # fmt: skip
    middle = run_by_definition(first, 33)[first.n_in :]
    found = host.read(first.n_in, first.n_out + second.n_out)
    assert found[: first.n_out] == middle
    expected = _second(second, middle)
    assert found[first.n_out :] == expected
    assert records.RunResult.unpack(frames[3].payload).output_crc == zlib.crc32(expected)


def _second(conv: Conv, x: bytes) -> bytes:
    """A 1 x 1 convolution of given bytes."""
    out = bytearray()
    for pixel in range(conv.h_out * conv.w_out):
        taps = [signed(b) for b in x[pixel * conv.c_in : (pixel + 1) * conv.c_in]]
        out += bytes(output_value(conv, taps, channel) & 0xFF for channel in range(conv.c_out))
    return bytes(out)
