# SPDX-License-Identifier: Apache-2.0
"""What published int8 models hold that a kernel is easily wrong about, against LiteRT's reference
kernels: convolutions and depthwise ones of 1 x 1 x c_in, and drawn ones with negative scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.reference import convolve, depthwise, quantize_multiplier, requantize
from harness.schema.constants import Rounding
from tests.reference.litert import ConvModel, DepthwiseModel, Int8s, Kernels, WindowModel, run
from tests.reference.litert_models import negative_model

_MOST, _LEAST = 2**31 - 1, -(2**31)
_FLUSH = -31  # the last shift that QuantizeMultiplier keeps
_BOTH = pytest.mark.parametrize("kind", [ConvModel, DepthwiseModel])
_ZERO_POINTS = pytest.mark.parametrize("zero_point", [-128, 127, 0])


def _expected(model: WindowModel, x: Int8s) -> Int8s:
    function = convolve if isinstance(model, ConvModel) else depthwise
    return function(model.geometry(), model.parameters(Rounding.DOUBLE), x)


def _check(model: WindowModel, x: Int8s) -> Int8s:
    """The output, which is LiteRT's too."""
    expected = _expected(model, x)
    got = run(model, Kernels.REFERENCE, x)
    wrong = np.argwhere(got != expected)
    assert len(wrong) == 0, f"{len(wrong)} differ, first {wrong[0]}"
    return expected


def _one_pixel(
    kind: type[WindowModel], weights: list[int], bias: list[int], scales: list[float], zero: int
) -> WindowModel:
    """A channel of each weight, bias and multiplier; all read one input of zero point 0."""
    c_out = len(weights)
    shape = (c_out, 1, 1, 1) if kind is ConvModel else (1, 1, c_out)
    more = {} if kind is ConvModel else {"depth_multiplier": c_out}
    return kind(
        h_in=1,
        w_in=1,
        weights=np.array(weights, np.int8).reshape(shape),
        bias=np.array(bias, np.int32),
        filter_scales=np.array(scales, np.float32),
        output_zero_point=zero,
        **more,
    )


def _input(value: int) -> Int8s:
    return np.full((1, 1, 1), value, np.int8)


# ---- dead channels: no weights, a saturated bias, a scale far too small ----


@_BOTH
@_ZERO_POINTS
@pytest.mark.parametrize("x", [-128, 127])
@pytest.mark.parametrize("bias", [_MOST, _LEAST])
def test_dead_channels(kind: type[WindowModel], zero_point: int, x: int, bias: int) -> None:
    """One of each shift from 1 to -75. Those below -31 are flushed; the bias's sign is all that an
    output of the others next to it can show."""
    shifts = list(range(1, -76, -1))
    scales = [1.3 * 2.0 ** (shift - 1) for shift in shifts]
    model = _one_pixel(kind, [0] * len(shifts), [bias] * len(shifts), scales, zero_point)
    p = model.parameters(Rounding.DOUBLE)
    for shift, m, s in zip(shifts, p.multiplier, p.shift, strict=True):
        assert (m > 0 and s == shift) if shift >= _FLUSH else (m == s == 0)
    outputs = _check(model, _input(x)).ravel()
    flushed = np.array(shifts) < _FLUSH
    assert (outputs[flushed] == zero_point).all()
    # 2^31 * 1.3 * 2^-32 is 0.65: a multiplier of shift -31 is not zero yet
    at_the_edge = int(outputs[shifts.index(_FLUSH)])
    assert at_the_edge == np.clip(zero_point + np.sign(bias), -128, 127)


@_BOTH
def test_a_flushed_multiplier_silences_a_living_channel(kind: type[WindowModel]) -> None:
    model = _one_pixel(kind, [127, 127], [_MOST - 127 * 127, 0], [2.0**-33, 2.0**-40], 5)
    assert _check(model, _input(127)).ravel().tolist() == [5, 5]
    assert (model.parameters(Rounding.DOUBLE).multiplier == 0).all()


@_BOTH
@pytest.mark.parametrize(
    ("x", "weight", "bias"), [(127, 127, _MOST), (-128, 127, _LEAST), (-128, -128, _MOST)]
)
def test_a_saturated_bias_wraps(kind: type[WindowModel], x: int, weight: int, bias: int) -> None:
    """A channel that is not quite dead: the accumulator leaves int32 and changes its sign."""
    scales = [2.0**-25 * 1.1, 2.0**-31 * 1.1]
    model = _one_pixel(kind, [weight] * 2, [bias] * 2, scales, 0)
    outputs = _check(model, _input(x)).ravel().astype(int)
    assert np.sign(outputs[0]) == -np.sign(bias)
    function = convolve if kind is ConvModel else depthwise
    for rounding in (Rounding.SINGLE, Rounding.TRUNCATE):
        other = function(model.geometry(), model.parameters(rounding), _input(x)).ravel()
        assert np.sign(int(other[0])) == -np.sign(bias)


# ---- negative filter scales ----


@_BOTH
def test_negative_filter_scales(kind: type[WindowModel]) -> None:
    """In half of the channels of 60 drawn models."""
    outputs = 0
    for seed in range(60):
        model, x = negative_model(seed, kind)
        assert (model.parameters(Rounding.DOUBLE).multiplier < 0).any()
        outputs += _check(model, x).size
    assert outputs >= 7_000


@_BOTH
def test_a_negative_scale_is_not_the_positive_one_negated(kind: type[WindowModel]) -> None:
    """A tie of the first rounding goes up for either sign: 3 * -0.5 is -1, and not -2. Negating
    weights, bias and multiplier together changes nothing; weight -128 has no negation in int8."""
    model = _one_pixel(kind, [3, 3, -3, -3], [0, 0, 0, 0], [0.5, -0.5, 0.5, -0.5], 0)
    assert _check(model, _input(1)).ravel().tolist() == [2, -1, -1, 2]
    model = _one_pixel(kind, [-128], [0], [-0.5], 0)
    assert _check(model, _input(1)).item() == 64


# ---- multipliers of 1 and more: a shift to the left ----


@_BOTH
@_ZERO_POINTS
def test_multipliers_of_one_and_more(kind: type[WindowModel], zero_point: int) -> None:
    """Shifts 1 to 24, with accumulators that fit after the shift and with ones that wrap."""
    scales = [2.0**exponent * 1.7 for exponent in range(24)]
    assert [quantize_multiplier(scale)[1] for scale in scales] == list(range(1, 25))
    for bias in (1, -1, 3, 100, 2**20, 2**29, -(2**29), 2**30, _MOST, _LEAST):
        model = _one_pixel(kind, [1] * 24, [bias] * 24, scales, zero_point)
        for x in (-128, 0, 1, 127):
            _check(model, _input(x))


@_BOTH
def test_one_multiplier_of_one_among_small_ones(kind: type[WindowModel]) -> None:
    model = _one_pixel(kind, [5, 5, 5], [0, 0, 0], [0.01, 1.5, 0.25], -3)
    assert _check(model, _input(9)).ravel().tolist() == [-3, 65, 9]  # 11.25, twice rounded: 12


# ---- zero points that do not fit above the fraction ----


@_BOTH
@pytest.mark.parametrize("zero_point", [-128, 127])
def test_zero_points_are_added_after_the_shift(kind: type[WindowModel], zero_point: int) -> None:
    """A kernel that adds zero_point << e before a shift right by e leaves int32 from e = 24 on. Those
    channels show at most +-64 of any accumulator, which must arrive beside the zero point."""
    scales = [1.9 * 2.0 ** (-e - 1) for e in range(20, 32)]
    assert [quantize_multiplier(scale)[1] for scale in scales] == list(range(-20, -32, -1))
    for bias in (_MOST, _LEAST, 2**30, -(2**30), 2**24 + 1, 0):
        model = _one_pixel(kind, [1] * 12, [bias] * 12, scales, zero_point)
        outputs = _check(model, _input(0)).ravel().astype(int)
        inward = outputs - zero_point
        assert (inward >= 0).all() if zero_point < 0 else (inward <= 0).all()
        if bias * zero_point < 0 and abs(bias) >= 2**30:
            assert (inward[:9] != 0).all()


# ---- and one of the oracle: in which precision scales become a multiplier ----


@_BOTH
def test_scales_are_multiplied_in_double(kind: type[WindowModel]) -> None:
    """Accumulators of 2^29 next to ties: a product of scales in float32 gives other results."""
    rng = np.random.default_rng(0)
    other = outputs = 0
    for _ in range(20):
        input_scale, output_scale = rng.uniform(1e-3, 1e-1, 2).astype(np.float32)
        scale = np.float32(output_scale / input_scale * 2.0**-23 * rng.uniform(1, 2))
        real = float(input_scale) * float(scale) / float(output_scale)
        ties = (np.arange(-100, 100)[:, None] + 0.5) / real + np.arange(-40, 41, 4)
        bias = np.round(ties).clip(_LEAST, _MOST).astype(int).ravel().tolist()
        base = _one_pixel(kind, [1] * len(bias), bias, [scale] * len(bias), 0)
        model = replace(base, input_scale=input_scale, output_scale=output_scale)
        expected = _check(model, _input(0))
        rough = float(np.float32(input_scale * scale)) / float(output_scale)
        multiplier, shift = (np.array([n], np.int64) for n in quantize_multiplier(rough))
        scaled = requantize(np.array(bias, np.int64), multiplier, shift)
        other += int(np.count_nonzero(np.clip(scaled, -128, 127) != expected.ravel()))
        outputs += expected.size
    assert outputs >= 50_000
    assert other > 0
