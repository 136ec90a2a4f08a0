# SPDX-License-Identifier: Apache-2.0
"""The facts of a .tflite file as the parameters of our kernels: every multiplier as LiteRT's reference
kernels make it from float32 scales."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import MeanGeometry
from harness.network import Facts, Layer, Model
from harness.reference import (
    ConvParameters,
    MeanParameters,
    MoveParameters,
    Parameters,
    PoolParameters,
    TableParameters,
    add_parameters,
    average,
    hard_swish_table,
    logistic_table,
    mean_multiplier,
    mul_parameters,
    quantize_multiplier,
    relu_range,
    relu_table,
    requantize,
    requantize_table,
    softmax_parameters,
    swish_table,
)
from harness.schema.constants import OpKind

TABLES = ("logistic", "hard_swish", "relu", "relu6", "requantize", "swish")

_MOST_SHIFT = 30  # of a multiplier; LiteRT's left shift of an int32 ends there


def quantised_parameters(model: Model) -> tuple[Parameters, ...]:
    """One for each node. Errors: ConfigError naming the op whose scales no kernel can have."""
    made = []
    for node, facts in zip(model.network.nodes, model.facts, strict=True):
        try:
            made.append(_MAKE[node.layer.kind](node.layer, facts))
        except ConfigError as error:
            message = f"{model.network.source}: {node.layer.id}: {error.message}"
            raise ConfigError(message, evidence=error.evidence, hint=error.hint) from error
    return tuple(made)


def clamp_of(activation: str, scale: float, zero_point: int) -> tuple[int, int]:
    """activation_min and activation_max of an int8 output."""
    if activation == "none":
        return -128, 127
    if activation == "relu":
        return relu_range(scale, zero_point)
    return relu_range(scale, zero_point, min(6.0, 2.0**30 * scale))  # no infinity of steps


def _conv(layer: Layer, facts: Facts) -> ConvParameters:
    assert facts.weights is not None and facts.bias is not None  # the reader has both of a filter
    assert facts.filter_scales is not None
    x, y = facts.inputs[0], facts.output
    reals = float(x.scale) * facts.filter_scales.astype(np.float64) / float(y.scale)
    multiplier, shift = multipliers(reals)
    low, high = clamp_of(layer.activation, y.scale, y.zero_point)
    return ConvParameters(
        facts.weights, facts.bias, multiplier, shift, x.zero_point, y.zero_point, low, high,
        layer.rounding,
    )  # fmt: skip


def multipliers(reals: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Errors: ConfigError for one of 2^30 or more."""
    pairs = [quantize_multiplier(float(real)) for real in reals]
    if any(shift > _MOST_SHIFT for _, shift in pairs):
        raise ConfigError(f"a multiplier of {float(np.abs(reals).max()):g}")
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int32)


def _pool(layer: Layer, facts: Facts) -> PoolParameters:
    if facts.mean_of_axis:
        _require_equal_rounding(layer.window.k_h * layer.window.k_w, facts.output.zero_point)
    return PoolParameters(*clamp_of(layer.activation, facts.output.scale, facts.output.zero_point))


def _require_equal_rounding(count: int, zero_point: int) -> None:
    """Errors: ConfigError unless for every sum of `count` values the mean is the average pool's."""
    sums = np.arange(-128 * count, 127 * count + 1, dtype=np.int64)
    multiplier, shift = (np.int64(n) for n in mean_multiplier(1.0, 1.0, count))
    means = requantize(sums - count * zero_point, np.array(multiplier), np.array(shift))
    if (np.clip(means + zero_point, -128, 127) != average(sums, np.array(count))).any():
        raise ConfigError(
            f"a MEAN over one axis of {count} values rounds as no kernel here does",
            hint="a mean over rows and columns at once is supported",
        )


def _mean(layer: Layer, facts: Facts) -> MeanParameters:
    assert isinstance(layer.geometry, MeanGeometry)
    x, y = facts.inputs[0], facts.output
    pixels = layer.geometry.h * layer.geometry.w
    multiplier, shift = mean_multiplier(x.scale, y.scale, pixels)
    if shift > _MOST_SHIFT:
        raise ConfigError(f"a mean from scale {x.scale:g} to {y.scale:g}")
    return MeanParameters(x.zero_point, y.zero_point, multiplier, shift, layer.rounding)


def _two(layer: Layer, facts: Facts) -> Parameters:
    a, b, y = *facts.inputs, facts.output
    make = add_parameters if layer.kind is OpKind.ADD else mul_parameters
    made = make(
        a.scale, a.zero_point, b.scale, b.zero_point, y.scale, y.zero_point,
        clamp_of(layer.activation, y.scale, y.zero_point), layer.rounding,
    )  # fmt: skip
    if made.output_shift > _MOST_SHIFT:
        raise ConfigError(f"operands of scale {a.scale:g} and {b.scale:g} make one of {y.scale:g}")
    return made


def _table(layer: Layer, facts: Facts) -> TableParameters:
    x, y = facts.inputs[0], facts.output
    around = x.scale, x.zero_point, y.scale, y.zero_point
    return TableParameters(table_of(layer.function, *around))


def table_of(
    function: str, in_scale: float, in_zero_point: int, out_scale: float, out_zero_point: int
) -> NDArray[np.int8]:
    """int8 [256]. Errors: ConfigError for a function without a table."""
    require_table(function)
    around = in_scale, in_zero_point, out_scale, out_zero_point
    if abs(math.log2(in_scale) - math.log2(out_scale)) > _MOST_SHIFT - 8:
        raise ConfigError(f"{function} from scale {in_scale:g} to {out_scale:g}")
    match function:
        case "logistic":
            return logistic_table(*around)
        case "hard_swish":
            return hard_swish_table(*around)
        case "relu":
            return relu_table(*around)
        case "relu6":
            return relu_table(*around, 6.0)
        case "requantize":
            return requantize_table(*around)
        case _:
            return swish_table(*around)


def require_table(function: str) -> None:
    """Errors: ConfigError for a function of graphs that are planned only."""
    if function not in TABLES:
        raise ConfigError(
            f"no kernel computes {function!r}",
            cause="the graph is a shape only: it does not hold the constants of this op",
            hint="such a graph can be planned, not run",
        )


def _softmax(_: Layer, facts: Facts) -> Parameters:
    return softmax_parameters(facts.inputs[0].scale, facts.beta)


def _move(_: Layer, facts: Facts) -> MoveParameters:
    return MoveParameters(facts.output.zero_point)


_MAKE: dict[OpKind, Callable[[Layer, Facts], Parameters]] = {
    OpKind.CONV: _conv,
    OpKind.FULLY_CONNECTED: _conv,
    OpKind.DEPTHWISE: _conv,
    OpKind.AVERAGE_POOL: _pool,
    OpKind.MAX_POOL: _pool,
    OpKind.MEAN: _mean,
    OpKind.ADD: _two,
    OpKind.MUL: _two,
    OpKind.TABLE: _table,
    OpKind.SOFTMAX: _softmax,
    OpKind.UPSAMPLE: _move,
    OpKind.CONCAT: _move,
    OpKind.PAD: _move,
}
