# SPDX-License-Identifier: Apache-2.0
"""Packed constants: what a kernel computes from them, in Python's integers, is what TFLite computes."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest

from harness.geometry import ElementwiseGeometry
from harness.kernels.packers.addition import FRACTION, linear_sum
from harness.kernels.packers.guarded import (
    ALWAYS_EXACT,
    RECORD,
    Channel,
    Scale,
    guard_channel,
    reach,
    records,
    wrap,
)
from harness.kernels.packers.m0plus import (
    GROUP_MAX,
    LANE,
    Addition,
    Quantisation,
    group_sizes,
    pack_add,
    pack_conv,
    pack_depthwise,
)
from harness.reference import add, add_parameters, quantize_multiplier, requantize
from harness.reference.elementwise import AddParameters

EXACT = None  # an output that the kernel leaves to the exact function
HOSTILE = {
    "all 127": lambda n: np.full(n, 127),
    "all -128": lambda n: np.full(n, -128),
    "zeros": np.zeros,
    "a spike": lambda n: np.eye(1, n, n // 2)[0] * -128,
    "in turn": lambda n: np.resize([127, -128], n),
    "small": lambda n: np.resize([1, -1, 0, 2], n),
    "normal": lambda n: np.random.default_rng(n).normal(size=n) * 40,
}


def _weights(name: str, taps: int) -> np.ndarray:
    return np.clip(np.round(HOSTILE[name](taps)), -128, 127).astype(np.int8)


def _exact(scale: Scale, accumulators: np.ndarray) -> np.ndarray:
    """By the reference, which has nothing of the packer's."""
    wide = np.asarray(accumulators, np.int64)
    scaled = requantize(wide, np.int64(scale.multiplier), np.int64(scale.shift))
    return np.clip(scaled + scale.zero_point, scale.low, scale.high)


def _kernel(channel: Channel, raw: int) -> int | None:
    """As guarded.h says it, on the fields that the kernel reads."""
    x = wrap(raw - channel.first)
    if x % 2**32 >= channel.range:
        return channel.low_value if x < 0 else channel.high_value
    p = wrap(x * channel.multiplier + channel.offset)
    if (p << 8) % 2**32 < channel.guard:
        return EXACT
    return p >> 24


def _raws(rng: np.random.Generator, lowest: int, highest: int, channel: Channel) -> list[int]:
    """All of a small range; of a large one random ones, and those around every edge."""
    if highest - lowest < 3000:
        return list(range(lowest, highest + 1))
    edges = (lowest, highest, channel.first, channel.first + channel.range)
    near = {e + d for e in edges for d in range(-40, 41)}
    return [
        r for r in {*near, *map(int, rng.integers(lowest, highest, 800))} if lowest <= r <= highest
    ]


def _scales(rng: np.random.Generator, count: int) -> list[Scale]:
    """Usual ones, and of every kind that breaks a kernel: negative, 1 and more, 0, tiny, any clamp."""
    made = []
    for _ in range(count):
        multiplier = int(rng.integers(1 << 30, 1 << 31))
        shift = int(rng.choice([-14, -12, -10, -9, -8, -7, -6, -5, -3, -1, 0, 1, 4, -31, 12]))
        if rng.random() < 0.3:
            multiplier = -multiplier
        if rng.random() < 0.05:
            multiplier = 0
        low, high = (-128, 127) if rng.random() < 0.5 else sorted(rng.integers(-128, 128, 2))
        made.append(Scale(multiplier, shift, int(rng.integers(-128, 128)), int(low), int(high)))
    return made


@pytest.mark.parametrize("seed", range(4))
def test_what_is_not_left_to_the_exact_function_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    proved = 0
    for scale in _scales(rng, 150):
        taps = int(rng.integers(1, 60))
        weights = rng.integers(-128, 128, (1, taps)).astype(np.int8)
        (lowest,), (highest,) = reach(weights)
        constant = int(rng.choice([0, 1, -1, 12345, -99999, 2**31 - 1, -(2**31), 2**30]))
        constant = wrap(constant - int(rng.integers(-128, 128)) * int(weights.sum()))
        channel = guard_channel(int(lowest), int(highest), constant, scale)
        raws = _raws(rng, int(lowest), int(highest), channel)
        accumulators = [wrap(raw + constant) for raw in raws]
        right = _exact(scale, np.array(accumulators))
        for raw, accumulator, expected in zip(raws, accumulators, right, strict=True):
            found = _kernel(channel, raw)
            assert found == (EXACT if found is EXACT else expected), (scale, raw, channel)
            if found is EXACT:
                assert wrap(raw - channel.first + channel.base) == accumulator
        proved += channel.proved
    assert proved > 60


def test_few_outputs_of_a_usual_channel_take_the_exact_way() -> None:
    weights = _weights("normal", 144)[None]
    (lowest,), (highest,) = reach(weights)
    multiplier, shift = quantize_multiplier(45 / (73.9 * float(np.sqrt((weights**2.0).sum()))))
    channel = guard_channel(int(lowest), int(highest), 0, Scale(multiplier, shift, 3, -128, 127))
    window = range(channel.first, channel.first + channel.range, 7)
    near = sum(_kernel(channel, raw) is EXACT for raw in window)
    assert channel.proved
    assert 0 < near < 0.02 * len(window)


@pytest.mark.parametrize(
    ("constant", "scale", "value"),
    [
        (2**31 - 1, Scale(1 << 30, -31, -5, -128, 127), -4),  # a dead channel with a full bias
        (2**31 - 1, Scale(0, 0, 7, -128, 127), 7),
        (100, Scale(1 << 30, -28, 127, -128, 127), 127),  # zero point << 28 would overflow
        (-(2**31), Scale((1 << 31) - 1, -1, 0, -128, 127), -128),
        (2**20, Scale(1 << 30, 0, 0, 0, 6), 6),
    ],
)
def test_a_dead_channel_is_a_constant(constant: int, scale: Scale, value: int) -> None:
    channel = guard_channel(0, 0, constant, scale)
    if _kernel(channel, 0) is EXACT:
        assert wrap(0 - channel.first + channel.base) == wrap(constant)
    assert _kernel(channel, 0) in (EXACT, value)
    assert _exact(scale, np.array([constant]))[0] == value
    inside = constant - 5 if constant > 0 else constant + 5  # no accumulator wraps
    live = guard_channel(-5, 5, inside, scale)
    for raw in range(-5, 6):
        assert _kernel(live, raw) in (EXACT, _exact(scale, np.array([raw + inside]))[0])


def test_a_saturated_bias_costs_no_exact_way() -> None:
    channel = guard_channel(0, 0, 2**31 - 1, Scale(1 << 30, -31, -5, -128, 127))
    assert _kernel(channel, 0) == -4


@pytest.mark.parametrize("shift", [1, 5, 30])
def test_a_left_shift_that_may_wrap_takes_the_exact_way(shift: int) -> None:
    channel = guard_channel(-(2**30), 2**30, 0, Scale(1 << 30, shift, 0, -128, 127))
    assert channel.guard == ALWAYS_EXACT
    assert {_kernel(channel, raw) for raw in (-(2**30), -1, 0, 1, 2**30)} == {EXACT}


def test_a_negative_multiplier_turns_the_ends_round() -> None:
    channel = guard_channel(-100_000, 100_000, 0, Scale(-(1 << 30), -7, 0, -128, 127))
    assert (channel.low_value, channel.high_value) == (127, -128)
    assert channel.proved


def test_records_are_as_the_kernels_read_them() -> None:
    channel = Channel(-7, -3, 5, 2**32 - 1, 2**31, -128, 127, -9)
    assert RECORD.itemsize == 28
    assert records([channel]) == struct.pack(
        "<iiiiIIbbh", 7, -9, -3, 5, 2**32 - 1, 2**31, -128, 127, 0
    )


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("taps", [1, 2, 3, 16, 17, 33, 144])
def test_no_carry_is_lost(name: str, taps: int) -> None:
    """Two pixels in a word, by groups, with the largest activations of either sign."""
    weights = _weights(name, taps)
    (sizes,) = group_sizes(weights[None])
    assert sum(sizes) == taps
    rng = np.random.default_rng(taps)
    ends = np.where(weights > 0, 127, -128), np.where(weights > 0, -128, 127)
    some = rng.integers(-128, 128, (2, taps))
    for first, second in itertools.product((*ends, np.full(taps, -128), *some), repeat=2):
        low = high = at = 0
        for size in sizes:
            group = slice(at, at + size)
            words = first[group] + second[group].astype(np.int64) * 65536
            total = wrap(int((words * weights[group].astype(np.int64)).sum()))
            low, high, at = wrap(low + total), high + (wrap(total) + 0x8000 >> 16), at + size
        assert high == int((second * weights.astype(np.int64)).sum())
        assert wrap(low - (high << 16)) == int((first * weights.astype(np.int64)).sum())


def _cheapest(weights: list[int]) -> int:
    """Of all ways to split, by trying them."""
    if not weights:
        return 0
    costs = []
    for size in range(1, min(GROUP_MAX, len(weights)) + 1):
        if sum(map(abs, weights[:size])) <= LANE:
            costs.append(15 + 8 * size + size % 2 + _cheapest(weights[size:]))
    return min(costs)


def test_groups_are_the_cheapest() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        weights = rng.integers(-128, 128, int(rng.integers(1, 12))).astype(np.int8)
        (sizes,) = group_sizes(weights[None])
        assert max(sizes) <= GROUP_MAX
        found = sum(15 + 8 * size + size % 2 for size in sizes)
        assert found == _cheapest(weights.tolist())


def _quantisation(channels: int) -> Quantisation:
    return Quantisation(
        np.arange(channels, dtype=np.int32),
        np.full(channels, 1 << 30, np.int32),
        np.full(channels, -8, np.int32),
        5,
        -3,
    )


def test_a_packed_convolution_has_every_weight_in_order() -> None:
    weights = np.random.default_rng(1).integers(-128, 128, (5, 3, 2, 7)).astype(np.int8)
    packed = pack_conv(weights, _quantisation(5))
    made = np.frombuffer(packed[: 5 * RECORD.itemsize], RECORD)
    sums = weights.reshape(5, -1).astype(np.int64).sum(axis=1)
    assert ((made["base"] + made["start"]) == np.arange(5) - 5 * sums).all()
    at, found = 5 * RECORD.itemsize, []
    for _ in range(5):
        row = b""
        while packed[at]:
            group = packed[at + 1 : at + 1 + packed[at]]
            assert np.abs(np.frombuffer(group, np.int8).astype(int)).sum() <= LANE
            row, at = row + group, at + 1 + len(group)
        found.append(row)
        at += 1
    assert at == len(packed)
    assert b"".join(found) == weights.tobytes()


def test_a_packed_depthwise_has_its_channels_apart() -> None:
    weights = np.arange(3 * 3 * 2, dtype=np.int8).reshape(3, 3, 2)
    packed = pack_depthwise(weights, _quantisation(2))
    assert packed[2 * RECORD.itemsize :] == bytes([*range(0, 18, 2), *range(1, 18, 2)])


_EVERY = np.arange(-128, 128, dtype=np.int8)
_PAIRS = ElementwiseGeometry(256, 256, 1, 2)


def _sum_by_words(p: AddParameters) -> tuple[np.ndarray, np.ndarray]:
    """Of every pair: the kernel's byte, and where it asks the exact function."""
    zero_points = (p.zero_point_1, p.zero_point_2, p.output_zero_point)
    multipliers = (p.multiplier_1, p.multiplier_2, p.output_multiplier)
    shifts = (p.shift_1, p.shift_2, p.output_shift)
    words = linear_sum(zero_points, multipliers, shifts)
    assert pack_add(Addition(zero_points, multipliers, shifts)) == struct.pack("<iiiI", *words)
    factor_a, factor_b, offset, guard = words
    a, b = np.meshgrid(_EVERY.astype(np.int64), _EVERY.astype(np.int64), indexing="ij")
    total = (a * factor_a + b * factor_b + offset + 2**31) % 2**32 - 2**31
    near = (total << (32 - FRACTION)) % 2**32 < guard
    return np.clip(total >> FRACTION, p.activation_min, p.activation_max), near


@pytest.mark.parametrize("seed", range(25))
def test_every_sum_of_two_bytes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scales = np.exp(rng.uniform(-0.6, 0.6, 3))
    zeros = rng.integers(-128, 128, 3)
    clamp = (-128, 127) if seed % 2 else (int(zeros[2]), 127)
    p = add_parameters(
        float(scales[0]), int(zeros[0]), float(scales[1]), int(zeros[1]), float(scales[2]),
        int(zeros[2]), clamp,
    )  # fmt: skip
    found, near = _sum_by_words(p)
    a, b = np.meshgrid(_EVERY, _EVERY, indexing="ij")
    right = add(_PAIRS, p, a, b).reshape(256, 256)
    assert (found == right)[~near].all()
    assert near.mean() < 0.02


def test_a_sum_whose_factors_are_whole_is_still_rounded_thrice() -> None:
    """The factors cost nothing here, and p is as near to a boundary as the operands' own rounding."""
    rng = np.random.default_rng(0)
    a, b = np.meshgrid(_EVERY, _EVERY, indexing="ij")
    for _ in range(60):
        first, second = (int(rng.integers(2**19, 2**20)) << 11 | 1 for _ in range(2))
        zeros = (int(z) for z in rng.integers(-128, 128, 3))
        p = AddParameters(*zeros, first, -1, second, -1, 1 << 30, -18)
        found, near = _sum_by_words(p)
        assert (found == add(_PAIRS, p, a, b).reshape(256, 256))[~near].all()
        assert near.mean() < 0.001


@pytest.mark.parametrize(
    "p",
    [
        AddParameters(0, 0, 0, 1 << 30, 4, 1 << 30, 0, 1 << 30, -18),  # the first may wrap
        AddParameters(0, 0, 0, 1 << 30, 0, 1 << 30, 0, 1 << 30, 8),  # the sum does
        AddParameters(0, 0, 0, 1 << 30, 0, 1 << 30, 0, 1 << 30, -5),  # far beyond int8
    ],
)
def test_a_sum_that_may_wrap_takes_the_exact_way(p: AddParameters) -> None:
    _, near = _sum_by_words(p)
    assert near.all()
