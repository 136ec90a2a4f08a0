# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers against their definition and against LiteRT, whose reference kernels do not
compute them as they compute convolutions (docs/arithmetic.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.reference import (
    FULLY_CONNECTED_ROUNDING,
    ConvParameters,
    fully_connected,
    quantize_multiplier,
)
from harness.schema.constants import Rounding
from tests.reference.by_definition import clamped, hostile_zero_point, int8, requantized
from tests.reference.litert_ops import (
    Activation,
    Int8s,
    Kernels,
    Operator,
    Tensor,
    clamp,
    one_op_model,
    run_model,
)

_MODELS = 900
_LEAST_OUTPUTS = 50_000
_VERSION = 4  # of the operator: signed int8
_DEVIATION = 73  # of a drawn int8 value
_MOST_BIAS = 20_000
_ONE = np.float32(1)
_XNNPACK = pytest.mark.extra  # picks its kernels by the processor
_HOW_MANY = pytest.mark.parametrize("per_channel", [False, True])


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 20),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
    st.sampled_from([Rounding.DOUBLE, Rounding.SINGLE]),
)
def test_equals_the_definition(n_in: int, c_out: int, seed: int, rounding: Rounding) -> None:
    rng = np.random.default_rng(seed)
    scales = [quantize_multiplier(s) for s in np.exp(rng.uniform(-7, 1, c_out))]
    p = ConvParameters(
        weights=int8(rng, c_out, n_in),
        bias=rng.integers(-2000, 2000, c_out).astype(np.int32),
        multiplier=np.array([m for m, _ in scales], np.int32),
        shift=np.array([s for _, s in scales], np.int32),
        input_zero_point=hostile_zero_point(rng),
        output_zero_point=hostile_zero_point(rng),
        activation_min=int(rng.integers(-128, 0)),
        activation_max=int(rng.integers(0, 128)),
        rounding=rounding,
    )
    x = int8(rng, n_in)
    out = []
    for o, (multiplier, shift) in enumerate(scales):
        total = int(p.bias[o])
        for n in range(n_in):
            total += (int(x[n]) - p.input_zero_point) * int(p.weights[o, n])
        value = requantized(total, multiplier, shift, rounding) + p.output_zero_point
        out.append(clamped(value, p.activation_min, p.activation_max))
    got = fully_connected(p, x)
    assert got.shape == (1, 1, c_out)
    assert got.ravel().tolist() == out


# ---- LiteRT ----


@dataclass(frozen=True, eq=False)
class FullyConnectedModel:
    """filter_scales: one, or one for each output."""

    weights: Int8s
    bias: np.ndarray
    filter_scales: np.ndarray
    input_scale: np.float32 = _ONE
    output_scale: np.float32 = _ONE
    input_zero_point: int = 0
    output_zero_point: int = 0
    activation: Activation = Activation.NONE

    def real_multipliers(self) -> np.ndarray:
        """Of each output, in double."""
        reals = np.float64(self.input_scale) * self.filter_scales.astype(np.float64)
        return np.broadcast_to(reals / np.float64(self.output_scale), len(self.bias))

    def clamp(self) -> tuple[int, int]:
        return clamp(self.activation, self.output_scale, self.output_zero_point)

    def parameters(self, rounding: Rounding = FULLY_CONNECTED_ROUNDING) -> ConvParameters:
        quantized = [quantize_multiplier(float(real)) for real in self.real_multipliers()]
        low, high = self.clamp()
        return ConvParameters(
            weights=self.weights,
            bias=self.bias,
            multiplier=np.array([m for m, _ in quantized], np.int32),
            shift=np.array([s for _, s in quantized], np.int32),
            input_zero_point=self.input_zero_point,
            output_zero_point=self.output_zero_point,
            activation_min=low,
            activation_max=high,
            rounding=rounding,
        )

    def run(self, kernels: Kernels, x: Int8s) -> Int8s:
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction = self.activation.value
        c_out, n_in = self.weights.shape
        content = one_op_model(
            Operator(schema.BuiltinOperator.FULLY_CONNECTED, _VERSION, options),
            [
                Tensor((1, n_in), [self.input_scale], self.input_zero_point),
                Tensor((c_out, n_in), self.filter_scales, data=self.weights),
                Tensor((c_out,), self.filter_scales * self.input_scale, data=self.bias),
            ],
            Tensor((1, c_out), [self.output_scale], self.output_zero_point),
        )
        return run_model(content, kernels, x)[None, None]

    def in_double(self, x: Int8s) -> Int8s:
        """The accumulator times the real multiplier in float64, to the nearest whole number, ties away
        from zero; beyond int32 what x86's conversion gives, -2^31."""
        sums = self.weights.astype(np.int64) @ (x.astype(np.int64) - self.input_zero_point)
        accumulators = (sums + self.bias).astype(np.int32)  # wraps
        scaled = accumulators.astype(np.float64) * self.real_multipliers()
        nearest = np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)
        fits = (nearest >= -(2.0**31)) & (nearest < 2.0**31)
        values = np.where(fits, nearest, -(2.0**31)) + self.output_zero_point
        return np.clip(values, *self.clamp()).astype(np.int8)[None, None]


def _draw(seed: int, per_channel: bool, powers_of_two: bool = False) -> tuple:
    """Every fifth has an output with a multiplier of 1 or more, every fourth a dead one."""
    rng = np.random.default_rng(seed)
    n_in, c_out = int(rng.integers(1, 200)), int(rng.integers(1, 150))
    multipliers = rng.uniform(0.3, 1.3) / (_DEVIATION * np.sqrt(n_in))
    multipliers = multipliers * np.exp(rng.uniform(-1, 1, c_out if per_channel else 1))
    input_scale, output_scale = rng.uniform(1e-3, 1e-1, 2).astype(np.float32)
    if powers_of_two:
        multipliers = np.exp2(np.round(np.log2(multipliers)))
        input_scale = output_scale = _ONE
    model = FullyConnectedModel(
        weights=rng.integers(-127, 128, (c_out, n_in)).astype(np.int8),
        bias=rng.integers(-_MOST_BIAS, _MOST_BIAS, c_out).astype(np.int32),
        filter_scales=(multipliers * output_scale / input_scale).astype(np.float32),
        input_scale=input_scale,
        output_scale=output_scale,
        input_zero_point=hostile_zero_point(rng),
        output_zero_point=hostile_zero_point(rng),
        activation=list(Activation)[int(rng.integers(len(Activation)))],
    )
    ratio = output_scale / input_scale
    if seed % 5 == 0 and not powers_of_two:
        model.filter_scales[-1] = ratio * np.float32(rng.uniform(1.01, 9))
    if seed % 4 == 0:
        model.weights[0] = 0
        if per_channel:
            model.bias[0] = 2**31 - 1
            model.filter_scales[0] = ratio * np.float32(2.0 ** int(rng.integers(-40, -10)) * 1.3)
    return model, int8(rng, n_in)


def _check(per_channel: bool, kernels: Kernels) -> int:
    """Outputs compared, all of them equal."""
    outputs = 0
    for seed in range(_MODELS):
        model, x = _draw(seed, per_channel)
        expected = fully_connected(model.parameters(), x)
        wrong = np.argwhere(model.run(kernels, x) != expected)
        assert len(wrong) == 0, f"seed {seed}: {len(wrong)} differ, first {wrong[0]}"
        outputs += expected.size
    return outputs


@_HOW_MANY
def test_single_is_what_the_reference_kernels_compute(per_channel: bool) -> None:
    assert _check(per_channel, Kernels.REFERENCE) >= _LEAST_OUTPUTS


@_XNNPACK
@_HOW_MANY
def test_single_is_what_xnnpack_computes(per_channel: bool) -> None:
    assert _check(per_channel, Kernels.XNNPACK) >= _LEAST_OUTPUTS


@_HOW_MANY
def test_the_models_tell_the_roundings_apart(per_channel: bool) -> None:
    different = 0
    for seed in range(_MODELS):
        model, x = _draw(seed, per_channel)
        double = fully_connected(model.parameters(Rounding.DOUBLE), x)
        different += int(np.count_nonzero(double != fully_connected(model.parameters(), x)))
    assert different >= 10


@_HOW_MANY
def test_ties_are_all_that_the_reference_kernels_round_otherwise(per_channel: bool) -> None:
    """They compute in float64 and take ties away from zero, where `single` takes them up."""
    different = 0
    for seed in range(200):
        model, x = _draw(seed, per_channel, powers_of_two=True)
        got = model.run(Kernels.REFERENCE, x)
        assert np.array_equal(got, model.in_double(x))
        single = fully_connected(model.parameters(), x)
        wrong = got != single
        different += int(np.count_nonzero(wrong))
        assert (single.astype(int) - got == wrong).all()  # one less, below zero
        assert (got[wrong] < model.output_zero_point).all()
    assert different > 0


@_HOW_MANY
@pytest.mark.parametrize(
    ("accumulator", "scale", "litert", "single"),
    [
        (1, 0.5, 1, 1),
        (-1, 0.5, -1, 0),  # a tie: away from zero, and up
        (-3, 0.5, -2, -1),
        (1, 0.25, 0, 0),  # `double` gives 1
        (-6, 0.25, -2, -1),
        (2**31 - 1, 1.0, 127, 127),
        (2**31 - 1, 1.5, -128, -128),  # what does not fit int32 becomes -2^31, or loses bits
        (-(2**31), 1.5, -128, 127),
        (2**31 - 1, 3.0, -128, 127),
        (2**31 - 1, 2.0**-32, 0, 0),
        (-(2**31), 2.0**-32, -1, 0),
        (2**31 - 1, 2.0**-40, 0, 0),
    ],
)
def test_smallest_differences(
    per_channel: bool, accumulator: int, scale: float, litert: int, single: int
) -> None:
    model = FullyConnectedModel(
        weights=np.ones((2, 1), np.int8),
        bias=np.full(2, accumulator, np.int32),
        filter_scales=np.full(2 if per_channel else 1, scale, np.float32),
    )
    x = np.zeros(1, np.int8)
    assert model.run(Kernels.REFERENCE, x).ravel().tolist() == [litert] * 2
    assert model.in_double(x).ravel().tolist() == [litert] * 2
    assert fully_connected(model.parameters(), x).ravel().tolist() == [single] * 2


@_HOW_MANY
def test_a_saturated_bias_wraps(per_channel: bool) -> None:
    scale = np.float32(2.0**-25 * 1.1)
    model = FullyConnectedModel(
        weights=np.full((2, 1), 127, np.int8),
        bias=np.full(2, 2**31 - 1, np.int32),
        filter_scales=np.full(2 if per_channel else 1, scale),
    )
    x = np.full(1, 127, np.int8)
    assert model.run(Kernels.REFERENCE, x).ravel().tolist() == [-70, -70]
    assert fully_connected(model.parameters(), x).ravel().tolist() == [-70, -70]


@_HOW_MANY
def test_next_to_a_tie_the_31_bits_of_a_multiplier_can_show(per_channel: bool) -> None:
    """Accumulators of 2^29 next to a tie: the reference kernels' float64 multiplier has 53 bits."""
    rng = np.random.default_rng(0)
    outputs = different = 0
    for _ in range(60):
        input_scale, output_scale = rng.uniform(1e-3, 1e-1, 2).astype(np.float32)
        scale = np.float32(output_scale / input_scale * 2.0**-23 * rng.uniform(1, 2))
        real = float(input_scale) * float(scale) / float(output_scale)
        ties = (np.arange(-100, 100)[:, None] + 0.5) / real + np.arange(-10, 11)
        bias = np.round(ties).clip(-(2**31), 2**31 - 1).astype(np.int32).ravel()
        model = FullyConnectedModel(
            weights=np.ones((len(bias), 1), np.int8),
            bias=bias,
            filter_scales=np.full(len(bias) if per_channel else 1, scale),
            input_scale=input_scale,
            output_scale=output_scale,
        )
        x = np.zeros(1, np.int8)
        got = model.run(Kernels.REFERENCE, x)
        assert np.array_equal(got, model.in_double(x))
        outputs += got.size
        different += int(np.count_nonzero(got != fully_connected(model.parameters(), x)))
    assert 0 < different < outputs // 100
