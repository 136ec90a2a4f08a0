# SPDX-License-Identifier: Apache-2.0
"""Tables of one int8 value - logistic, hard-swish, RELU and RELU6 - against LiteRT and against real
numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.errors import ConfigError
from harness.geometry import Shape
from harness.reference import (
    apply_table,
    clamp,
    hard_swish_table,
    logistic_table,
    relu_range,
    relu_table,
)
from tests.reference import litert_elementwise as models
from tests.reference.litert import Activation, Int8s, Kernels
from tests.reference.litert_elementwise import OpModel, Tensor, scaled

_PAIRS = 220  # of a scale and a zero point
_SHAPE = Shape(16, 16, 1)
_RELUS = {Activation.RELU: math.inf, Activation.RELU6: 6.0}
_XNNPACK = pytest.mark.extra  # picks its kernels by the processor


def _input(rng: np.random.Generator) -> Tensor:
    return Tensor(_SHAPE, float(np.exp(rng.uniform(-9, 1.5))), models.zero_point(rng))


def _output(rng: np.random.Generator, scale: float) -> Tensor:
    return Tensor(_SHAPE, scale * float(np.exp(rng.uniform(-4, 4))), models.zero_point(rng))


def _two(seed: int) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    x = _input(rng)
    return x, _output(rng, x.scale)


def _table_of(model: OpModel, kernels: Kernels = Kernels.REFERENCE) -> Int8s:
    return models.run(model, kernels, models.every_value()).ravel()


# ---- logistic ----

_PROBABILITY = Tensor(_SHAPE, 1 / 256, -128)


def test_logistic_equals_the_reference_kernels() -> None:
    for seed in range(_PAIRS):
        x = _input(np.random.default_rng(seed))
        expected = _table_of(models.logistic(x, _PROBABILITY))
        assert np.array_equal(logistic_table(x.scale, x.zero_point), expected), f"seed {seed}"


def test_logistic_is_near_the_real_function() -> None:
    for seed in range(_PAIRS):
        x = _input(np.random.default_rng(seed))
        y = Tensor(_SHAPE, 1 / 150, -20) if seed % 2 else _PROBABILITY
        table = logistic_table(x.scale, x.zero_point, y.scale, y.zero_point)
        for value in range(-128, 128):
            real = 1 / (1 + math.exp(min(700.0, -x.scale * (value - x.zero_point))))
            steps = max(-128, min(127, real / y.scale + y.zero_point))
            assert abs(int(table[value + 128]) - steps) <= 0.5001


@pytest.mark.parametrize(("scale", "zero_point"), [(1e30, 0), (3.0, 127), (3.0, -128), (1e-30, 5)])
def test_logistic_of_extreme_scales(scale: float, zero_point: int) -> None:
    expected = _table_of(models.logistic(Tensor(_SHAPE, scale, zero_point), _PROBABILITY))
    assert np.array_equal(logistic_table(scale, zero_point), expected)


@_XNNPACK
def test_logistic_of_xnnpack_differs_next_to_ties_only() -> None:
    wrong = 0
    for seed in range(_PAIRS):
        x = _input(np.random.default_rng(seed))
        y = _table_of(models.logistic(x, _PROBABILITY), Kernels.XNNPACK).astype(int)
        found = np.flatnonzero(y != logistic_table(x.scale, x.zero_point))
        real = 256 / (1 + np.exp(-x.scale * (found - 128.0 - x.zero_point)))
        assert (np.abs(real % 1 - 0.5) < 1e-4).all()
        wrong += len(found)
    assert wrong <= 20


# ---- hard-swish ----


def test_hard_swish_equals_the_reference_kernels() -> None:
    for seed in range(_PAIRS):
        x, y = _two(seed)
        table = hard_swish_table(x.scale, x.zero_point, y.scale, y.zero_point)
        assert np.array_equal(table, _table_of(models.hard_swish(x, y))), f"seed {seed}"


def test_hard_swish_is_near_the_real_function() -> None:
    """Half a step, and what 16 bits cannot tell."""
    for seed in range(_PAIRS):
        x, y = _two(seed)
        table = hard_swish_table(x.scale, x.zero_point, y.scale, y.zero_point)
        for value in range(-128, 128):
            real = x.scale * (value - x.zero_point)
            exact = real * min(6.0, max(0.0, real + 3)) / 6
            steps = exact / y.scale + y.zero_point
            assert abs(int(table[value + 128]) - max(-128, min(127, steps))) <= 0.65


def test_hard_swish_refuses_what_litert_refuses() -> None:
    x = Tensor(_SHAPE, 1.0, 0)
    with pytest.raises(ConfigError, match="hard-swish"):
        hard_swish_table(1.0, 0, 1 / 128, 0)
    with pytest.raises(RuntimeError, match="output_multiplier_exponent"):
        _table_of(models.hard_swish(x, Tensor(_SHAPE, 1 / 128, 0)))
    just = Tensor(_SHAPE, 1 / 127.9, 127)
    table = hard_swish_table(1.0, 0, just.scale, just.zero_point)
    assert np.array_equal(table, _table_of(models.hard_swish(x, just)))


@pytest.mark.parametrize("scale", [1e-6, 0.0117, 0.01172, 0.0235, 40.0, 3000.0])
@pytest.mark.parametrize("zero_point", [-128, 127])
def test_hard_swish_around_its_shifts(scale: float, zero_point: int) -> None:
    """Both sides of a shift of 0, and scales at which all but a few values saturate 16 bits."""
    x = Tensor(_SHAPE, scale, zero_point)
    for ratio in (1 / 127, 1 / 64, 1.0, 200.0):
        y = Tensor(_SHAPE, scale * ratio, -zero_point - 1)
        table = hard_swish_table(x.scale, x.zero_point, y.scale, y.zero_point)
        assert np.array_equal(table, _table_of(models.hard_swish(x, y))), ratio


@pytest.mark.parametrize(
    ("scale", "zero_point", "output_scale"),
    [
        (0.00024414061044808477, -128, 0.000244140625),  # the output's multiplier
        (0.011718749068677425, -128, 0.015625),  # the gate's
    ],
)
def test_hard_swish_of_a_multiplier_that_rounds_to_one(
    scale: float, zero_point: int, output_scale: float
) -> None:
    """16 bits have no 2^15: it becomes 2^15 - 1."""
    x, y = Tensor(_SHAPE, scale, zero_point), Tensor(_SHAPE, output_scale, -128)
    table = hard_swish_table(scale, zero_point, output_scale, -128)
    assert np.array_equal(table, _table_of(models.hard_swish(x, y)))


# ---- RELU and RELU6 ----


@pytest.mark.parametrize("activation", _RELUS)
def test_relu_equals_the_reference_kernels(activation: Activation) -> None:
    for seed in range(_PAIRS):
        x, y = _two(seed)
        table = relu_table(x.scale, x.zero_point, y.scale, y.zero_point, _RELUS[activation])
        assert np.array_equal(table, _table_of(models.relu(x, y, activation))), f"seed {seed}"


@pytest.mark.parametrize("activation", _RELUS)
def test_relu_of_one_quantisation_is_a_clamp(activation: Activation) -> None:
    for seed in range(60):
        x = _input(np.random.default_rng(seed))
        low, high = relu_range(x.scale, x.zero_point, _RELUS[activation])
        expected = _table_of(models.relu(x, x, activation))
        assert np.array_equal(clamp(models.every_value(), low, high).ravel(), expected)


def test_relu_equals_the_definition() -> None:
    """Scales that are powers of two, so that the multiplier is 2^30 and the shift the exponent + 1."""
    for exponent in range(-6, 4):
        for zero_in, zero_out in ((-128, -128), (127, -128), (-128, 5), (3, 100)):
            table = relu_table(2.0**exponent, zero_in, 1.0, zero_out, 6.0)
            for value in range(-128, 128):
                steps = scaled(value - zero_in, 2**30, exponent + 1)
                expected = min(127, max(0, min(6, steps)) + zero_out)
                assert table[value + 128] == expected


def test_smallest_double_rounding_of_relu() -> None:
    """0.25 becomes 1 in LiteRT's reference kernels, for RELU too."""
    x, y = Tensor(_SHAPE, 1.0, 0), Tensor(_SHAPE, 4.0, 0)
    assert relu_table(1.0, 0, 4.0, 0)[1 + 128] == 1
    assert _table_of(models.relu(x, y, Activation.RELU))[1 + 128] == 1


def test_relu_range() -> None:
    assert relu_range(0.1, -128) == (-128, 127)
    assert relu_range(0.1, 3, 6.0) == (3, 63)
    assert relu_range(4.0, 3, 6.0) == (3, 5)  # 1.5 steps round up
    assert relu_range(1e-6, 100, 6.0) == (100, 127)


# ---- a table's use ----


def test_apply_table_is_a_lookup() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(-128, 128, 256).astype(np.int8)
    x = models.int8s(rng, Shape(5, 4, 3))
    y = apply_table(table, x)
    assert y.dtype == np.int8 and y.shape == x.shape
    for index in np.ndindex(x.shape):
        assert y[index] == table[int(x[index]) + 128]
