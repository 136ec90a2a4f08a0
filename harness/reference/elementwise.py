# SPDX-License-Identifier: Apache-2.0
"""Exact int8 addition and multiplication of two tensors, as TFLite's reference kernels compute them.

The second operand has the shape of the first, or is 1 x 1 x c (ElementwiseGeometry.broadcast).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import ElementwiseGeometry
from harness.reference.requantize import quantize_multiplier, requantize, to_int32
from harness.schema.constants import Rounding

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]

ADD_LEFT_SHIFT = 20  # operands of an addition are scaled with so many more bits


@dataclass(frozen=True)
class AddParameters:
    """y = z + R((R((a - z_1) << 20, m_1, s_1) + R((b - z_2) << 20, m_2, s_2)), m, s), clamped, where R
    is the requantisation by a real multiplier m * 2^(s - 31), in `rounding`."""

    zero_point_1: int
    zero_point_2: int
    output_zero_point: int
    multiplier_1: int
    shift_1: int
    multiplier_2: int
    shift_2: int
    output_multiplier: int
    output_shift: int
    activation_min: int = -128
    activation_max: int = 127
    rounding: Rounding = Rounding.DOUBLE


@dataclass(frozen=True)
class MulParameters:
    """y = z + R((a - z_1) * (b - z_2), m, s), clamped."""

    zero_point_1: int
    zero_point_2: int
    output_zero_point: int
    output_multiplier: int
    output_shift: int
    activation_min: int = -128
    activation_max: int = 127
    rounding: Rounding = Rounding.DOUBLE


def add_parameters(
    scale_1: float,
    zero_point_1: int,
    scale_2: float,
    zero_point_2: int,
    output_scale: float,
    output_zero_point: int,
    activation: tuple[int, int] = (-128, 127),
    rounding: Rounding = Rounding.DOUBLE,
) -> AddParameters:
    """Scales are float32. Both operands are brought to twice the larger scale, in double.

    Errors: ConfigError when the output's scale is under 2^-19 of the larger one: its multiplier would
    be 1 or more, where LiteRT stops."""
    first, second, out = (float(np.float32(s)) for s in (scale_1, scale_2, output_scale))
    common = 2 * max(first, second)
    real = common / (2.0**ADD_LEFT_SHIFT * out)
    if real >= 1:
        raise ConfigError(
            f"an addition's output scale {out:g} is too small for its operands' {common / 2:g}",
            hint=f"it must be more than 2^-{ADD_LEFT_SHIFT - 1} of the larger one",
        )
    multiplier_1, shift_1 = quantize_multiplier(first / common)
    multiplier_2, shift_2 = quantize_multiplier(second / common)
    output_multiplier, output_shift = quantize_multiplier(real)
    return AddParameters(
        zero_point_1, zero_point_2, output_zero_point,
        multiplier_1, shift_1, multiplier_2, shift_2, output_multiplier, output_shift,
        *activation, rounding,
    )  # fmt: skip


def mul_parameters(
    scale_1: float,
    zero_point_1: int,
    scale_2: float,
    zero_point_2: int,
    output_scale: float,
    output_zero_point: int,
    activation: tuple[int, int] = (-128, 127),
    rounding: Rounding = Rounding.DOUBLE,
) -> MulParameters:
    """scale_1 * scale_2 / output_scale, each step in float32 as LiteRT has it."""
    real = float(np.float32(scale_1) * np.float32(scale_2) / np.float32(output_scale))
    multiplier, shift = quantize_multiplier(real)
    return MulParameters(
        zero_point_1, zero_point_2, output_zero_point, multiplier, shift, *activation, rounding
    )


def relu_range(scale: float, zero_point: int, ceiling: float = math.inf) -> tuple[int, int]:
    """The int8 clamp of RELU, or with ceiling 6 of RELU6, on an output of this scale (float32)."""
    high = 127
    if ceiling != math.inf:
        steps = float(np.float32(ceiling) / np.float32(scale))
        high = min(high, zero_point + math.floor(steps + 0.5))
    return max(-128, zero_point), high


def add(g: ElementwiseGeometry, p: AddParameters, a: Int8s, b: Int8s) -> Int8s:
    """a int8 [h, w, c], b int8 [h, w, c] or [1, 1, c] -> int8 [h, w, c]. Errors: ValueError for
    operands of another size."""
    first, second = _operands(g, p, a, b)
    scaled_1 = _scale(first << ADD_LEFT_SHIFT, p.multiplier_1, p.shift_1, p.rounding)
    scaled_2 = _scale(second << ADD_LEFT_SHIFT, p.multiplier_2, p.shift_2, p.rounding)
    return _finish(p, to_int32(scaled_1 + scaled_2))


def multiply(g: ElementwiseGeometry, p: MulParameters, a: Int8s, b: Int8s) -> Int8s:
    """a int8 [h, w, c], b int8 [h, w, c] or [1, 1, c] -> int8 [h, w, c]. Errors: ValueError for
    operands of another size."""
    first, second = _operands(g, p, a, b)
    return _finish(p, first * second)


def _operands(
    g: ElementwiseGeometry, p: AddParameters | MulParameters, a: Int8s, b: Int8s
) -> tuple[Int64s, Int64s]:
    """Both less their zero points, in the shapes of the geometry."""
    shape_1, shape_2 = g.inputs
    first = a.reshape(shape_1.h, shape_1.w, shape_1.c).astype(np.int64) - p.zero_point_1
    second = b.reshape(shape_2.h, shape_2.w, shape_2.c).astype(np.int64) - p.zero_point_2
    return first, second


def _finish(p: AddParameters | MulParameters, values: Int64s) -> Int8s:
    scaled = _scale(values, p.output_multiplier, p.output_shift, p.rounding)
    clamped = np.clip(scaled + p.output_zero_point, p.activation_min, p.activation_max)
    return clamped.astype(np.int8)


def _scale(values: Int64s, multiplier: int, shift: int, rounding: Rounding) -> Int64s:
    return requantize(
        values, np.asarray(multiplier, np.int64), np.asarray(shift, np.int64), rounding
    )
