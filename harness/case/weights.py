# SPDX-License-Identifier: Apache-2.0
"""Weights and scales for layers that are only a shape: drawn once for each layer's id, never from a
run's seed. Inputs are uniform int8; scales spread the output over int8 without saturating it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from harness.case.quantised import require_table
from harness.geometry import MeanGeometry
from harness.network import Layer
from harness.reference import (
    ConvParameters,
    MeanParameters,
    PoolParameters,
    add_parameters,
    hard_swish_table,
    logistic_table,
    mean_multiplier,
    mul_parameters,
    quantize_multiplier,
    relu_table,
    softmax_parameters,
    swish_table,
)
from harness.reference.operators import (
    ClampParameters,
    MoveParameters,
    Parameters,
    TableParameters,
)
from harness.schema.constants import OpKind

_INPUT_DEVIATION = 73.9  # of a uniform int8
_OUTPUT_DEVIATION = 45.0  # keeps some 99 % of a normal output strictly inside int8
_PRODUCT_DEVIATION = 30.0  # the product of two uniform values has longer tails
_ZERO_POINT = 30
_SIX = 100  # RELU6's ceiling in steps of a drawn output


def draw_parameters(layer: Layer) -> Parameters:
    """A test holds for every shipped layer that its outputs are not saturated."""
    return _DRAW[layer.kind](layer, np.random.default_rng(layer.weight_seed))


def _conv(layer: Layer, rng: np.random.Generator) -> ConvParameters:
    """Normal weights with the largest of each output channel at 127."""
    g = layer.window
    p = _filters(layer, rng, g.c_out, g.field)
    shape = (g.c_out, g.k_h, g.k_w, g.c_in)
    if layer.kind is OpKind.FULLY_CONNECTED:
        shape = (g.c_out, g.c_in)  # type: ignore[assignment]
    return _with_weights(p, p.weights.reshape(shape))


def _depthwise(layer: Layer, rng: np.random.Generator) -> ConvParameters:
    g = layer.window
    p = _filters(layer, rng, g.c_out, g.k_h * g.k_w)
    return _with_weights(p, np.ascontiguousarray(p.weights.T).reshape(g.k_h, g.k_w, g.c_out))


def _with_weights(p: ConvParameters, weights: NDArray[np.int8]) -> ConvParameters:
    return ConvParameters(**{**vars(p), "weights": weights})


def _filters(layer: Layer, rng: np.random.Generator, c_out: int, taps: int) -> ConvParameters:
    """weights [c_out, taps]"""
    drawn = rng.normal(size=(c_out, taps))
    weights = np.round(drawn / np.abs(drawn).max(axis=1, keepdims=True) * 127)
    input_zero_point = int(rng.integers(-_ZERO_POINT, _ZERO_POINT + 1))
    output_zero_point = int(rng.integers(-_ZERO_POINT // 3, _ZERO_POINT // 3 + 1))
    deviation = _INPUT_DEVIATION * np.sqrt((weights**2).sum(axis=1))
    mean = (-0.5 - input_zero_point) * weights.sum(axis=1)
    bias = np.round(rng.normal(size=c_out) * deviation / 4 - mean)
    scales = [quantize_multiplier(_OUTPUT_DEVIATION / d) for d in deviation]
    low, high = _clamp(layer, output_zero_point)
    return ConvParameters(
        weights=weights.astype(np.int8),
        bias=bias.astype(np.int32),
        multiplier=np.array([m for m, _ in scales], dtype=np.int32),
        shift=np.array([s for _, s in scales], dtype=np.int32),
        input_zero_point=input_zero_point,
        output_zero_point=output_zero_point,
        activation_min=low,
        activation_max=high,
        rounding=layer.rounding,
    )


def _clamp(layer: Layer, zero_point: int) -> tuple[int, int]:
    if layer.activation == "none":
        return -128, 127
    return zero_point, min(127, zero_point + _SIX) if layer.activation == "relu6" else 127


def _pool(layer: Layer, _: np.random.Generator) -> PoolParameters:
    return PoolParameters(*_clamp(layer, 0))


def _zero_points(rng: np.random.Generator, count: int) -> list[int]:
    return [int(z) for z in rng.integers(-_ZERO_POINT, _ZERO_POINT + 1, count)]


def _mean(layer: Layer, rng: np.random.Generator) -> MeanParameters:
    assert isinstance(layer.geometry, MeanGeometry)
    pixels = layer.geometry.h * layer.geometry.w
    zero_in, zero_out = _zero_points(rng, 2)
    # the means of many pixels differ less than they lie beside the zero point
    spread = math.hypot(_INPUT_DEVIATION / math.sqrt(pixels), zero_in + 0.5)
    scale = spread / _OUTPUT_DEVIATION
    return MeanParameters(
        zero_in, zero_out // 3, *mean_multiplier(1.0, scale, pixels), layer.rounding
    )


def _add(layer: Layer, rng: np.random.Generator) -> Parameters:
    scales = np.exp(rng.uniform(-1, 1, 2))
    out = _INPUT_DEVIATION * float(np.hypot(*scales)) / _OUTPUT_DEVIATION
    zeros = _zero_points(rng, 3)
    return add_parameters(
        float(scales[0]), zeros[0], float(scales[1]), zeros[1], out, zeros[2] // 3,
        _clamp(layer, zeros[2] // 3), layer.rounding,
    )  # fmt: skip


def _mul(layer: Layer, rng: np.random.Generator) -> Parameters:
    scales = np.exp(rng.uniform(-1, 1, 2))
    zeros = _zero_points(rng, 3)
    spread = [math.hypot(_INPUT_DEVIATION, zero) for zero in zeros[:2]]
    out = float(scales[0] * scales[1]) * spread[0] * spread[1] / _PRODUCT_DEVIATION
    return mul_parameters(
        float(scales[0]), zeros[0], float(scales[1]), zeros[1], out, zeros[2] // 3,
        _clamp(layer, zeros[2] // 3), layer.rounding,
    )  # fmt: skip


def _table(layer: Layer, rng: np.random.Generator) -> TableParameters:
    scale = float(np.float32(rng.uniform(0.02, 0.06)))
    zero_in, zero_out = _zero_points(rng, 2)
    if layer.function == "logistic":
        return TableParameters(logistic_table(scale, zero_in))
    if layer.function == "hard_swish":
        return TableParameters(hard_swish_table(scale, zero_in, scale / 2, -100))
    if layer.function == "swish":
        return TableParameters(swish_table(scale, zero_in, scale / 2, -100))
    require_table(layer.function)
    ceiling = 6.0 if layer.function == "relu6" else math.inf
    return TableParameters(relu_table(scale, zero_in, scale * 0.9, zero_out, ceiling))


def _clamped(layer: Layer, rng: np.random.Generator) -> ClampParameters:
    (zero,) = _zero_points(rng, 1)
    low, high = _clamp(layer, zero)
    return ClampParameters(low, high) if layer.activation != "none" else ClampParameters(-99, 98)


def _softmax(_: Layer, rng: np.random.Generator) -> Parameters:
    return softmax_parameters(float(np.float32(rng.uniform(0.005, 0.03))))


def _move(_: Layer, rng: np.random.Generator) -> MoveParameters:
    return MoveParameters(*_zero_points(rng, 1))


_DRAW: dict[OpKind, Callable[[Layer, np.random.Generator], Parameters]] = {
    OpKind.CONV: _conv,
    OpKind.FULLY_CONNECTED: _conv,
    OpKind.DEPTHWISE: _depthwise,
    OpKind.AVERAGE_POOL: _pool,
    OpKind.MAX_POOL: _pool,
    OpKind.MEAN: _mean,
    OpKind.ADD: _add,
    OpKind.MUL: _mul,
    OpKind.TABLE: _table,
    OpKind.CLAMP: _clamped,
    OpKind.SOFTMAX: _softmax,
    OpKind.UPSAMPLE: _move,
    OpKind.CONCAT: _move,
    OpKind.PAD: _move,
}
