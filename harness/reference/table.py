# SPDX-License-Identifier: Apache-2.0
"""Functions of one int8 value as tables of 256 int8, made on the host as LiteRT's reference kernels
compute them. On the device a table is a lookup and nothing else, so all arithmetic is here."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import ElementwiseGeometry
from harness.reference.elementwise import mul_parameters, multiply, relu_range
from harness.reference.requantize import quantize_multiplier, requantize

Int8s = NDArray[np.int8]

_VALUES = range(-128, 128)
_LARGEST_EXPONENT = 88.0  # e^88 is still a float32
_INT16_MIN, _INT16_MAX = -(2**15), 2**15 - 1


def apply_table(table: Int8s, x: Int8s) -> Int8s:
    """table int8 [256], of which entry x + 128 belongs to x; any shape of x."""
    y: Int8s = table[x.astype(np.int64) + 128]
    return y


def clamp(x: Int8s, low: int, high: int) -> Int8s:
    """RELU and RELU6 where input and output have one quantisation: low and high of `relu_range`."""
    return np.clip(x, low, high).astype(np.int8)


def logistic_table(
    in_scale: float, in_zero_point: int, out_scale: float = 1 / 256, out_zero_point: int = -128
) -> Int8s:
    """1 / (1 + e^-x) in float32: LiteRT, too, fills a table for int8 in its reference kernels, and it
    takes no output scale but 1/256 with zero point -128.

    Each step is rounded to float32: s (x - z), e^, 1 +, 1 /, times 1 / output scale; then to nearest,
    ties away from zero."""
    one = np.float32(1)
    scale, inverse = np.float32(in_scale), one / np.float32(out_scale)
    table = np.empty(256, np.int8)
    for value in _VALUES:
        x = scale * np.float32(value - in_zero_point)
        # beyond e^88 the result rounds to 0 as well
        power = np.float32(math.exp(min(-float(x), _LARGEST_EXPONENT)))
        steps = float((one / (one + power)) * inverse)
        table[value + 128] = min(127, math.floor(steps + 0.5) + out_zero_point)
    return table


def hard_swish_table(
    in_scale: float, in_zero_point: int, out_scale: float, out_zero_point: int
) -> Int8s:
    """x * relu6(x + 3) / 6 in 16-bit fixed point.

    h = 128 (x - z) is the input on a scale 128 times finer. p = h * m_out brings it to the output's
    scale but for a right shift; r is relu6(x + 3) / 6 as 15 fraction bits: h / (3 / 2^15), saturated
    to 16 bits, plus 1, halved. The output is p r >> 15, towards zero, shifted right.

    Errors: ConfigError when the output's scale is 1/128 of the input's or less, which LiteRT refuses.
    """
    fine = np.float32(1 / 128) * np.float32(in_scale)
    out_multiplier, out_shift = _multiplier_16(float(fine / np.float32(out_scale)))
    relu_scale = np.float32(3) / np.float32(2**15)
    relu_multiplier, relu_shift = _multiplier_16(float(fine / relu_scale))
    if out_shift > 0:
        raise ConfigError(
            f"hard-swish from scale {in_scale:g} to {out_scale:g}",
            hint="the output's scale must be more than 1/128 of the input's",
        )
    table = np.empty(256, np.int8)
    for value in _VALUES:
        high = 128 * (value - in_zero_point)
        scaled = _high_16(high, out_multiplier)
        gate = _gate(high, relu_multiplier, relu_shift)
        product = abs(scaled * gate) >> 15
        shifted = _divide(product if scaled >= 0 else -product, -out_shift)
        table[value + 128] = max(-128, min(127, shifted + out_zero_point))
    return table


def relu_table(
    in_scale: float,
    in_zero_point: int,
    out_scale: float,
    out_zero_point: int,
    ceiling: float = math.inf,
) -> Int8s:
    """max(x, 0), or with ceiling 6 RELU6, between two quantisations: x - z is requantised by
    in_scale / out_scale (a float32 quotient) and clamped to `relu_range`."""
    real = float(np.float32(in_scale) / np.float32(out_scale))
    multiplier, shift = quantize_multiplier(real)
    x = np.array(_VALUES, np.int64) - in_zero_point
    scaled = requantize(x, np.asarray(multiplier, np.int64), np.asarray(shift, np.int64))
    low, high = relu_range(out_scale, out_zero_point, ceiling)
    return np.clip(scaled + out_zero_point, low, high).astype(np.int8)


def requantize_table(
    in_scale: float, in_zero_point: int, out_scale: float, out_zero_point: int
) -> Int8s:
    """x on another scale: TFLite's QUANTIZE between two int8 tensors, the quotient in double."""
    multiplier, shift = quantize_multiplier(float(in_scale) / float(out_scale))
    x = np.array(_VALUES, np.int64) - in_zero_point
    scaled = requantize(x, np.asarray(multiplier, np.int64), np.asarray(shift, np.int64))
    return np.clip(scaled + out_zero_point, -128, 127).astype(np.int8)


def swish_table(
    in_scale: float, in_zero_point: int, out_scale: float, out_zero_point: int
) -> Int8s:
    """x / (1 + e^-x) as the two ops of a network compute it, LOGISTIC and then MUL by x: one table of
    both, equal in every value."""
    x = np.array(_VALUES, np.int8).reshape(1, 1, 256)
    gate = logistic_table(in_scale, in_zero_point).reshape(1, 1, 256)
    p = mul_parameters(in_scale, in_zero_point, 1 / 256, -128, out_scale, out_zero_point)
    return multiply(ElementwiseGeometry(1, 1, 256, 2), p, x, gate).ravel()


# ---- 16-bit fixed point ----


def _gate(high: int, multiplier: int, shift: int) -> int:
    """relu6(x + 3) / 6 as a number of 2^-15, 0 to 2^15 - 1. The last place of a left shift is a 0 of
    its own, as in TFLite, which also saturates before the multiplication: that changes nothing."""
    if shift > 0:
        scaled = _saturate(_high_16(high << (shift - 1), multiplier) << 1)
    else:
        scaled = _divide(_high_16(high, multiplier), -shift)
    return (scaled + 2**15) >> 1


def _multiplier_16(real: float) -> tuple[int, int]:
    """real = m * 2^(shift - 15), m rounded once more from 31 bits to 15."""
    multiplier, shift = quantize_multiplier(real)
    return min(_INT16_MAX, (multiplier + 2**15) >> 16), shift


def _high_16(a: int, b: int) -> int:
    """a b / 2^15 to nearest, ties up; b is no -2^15, so that nothing saturates."""
    return (a * b + 2**14) >> 15


def _divide(x: int, exponent: int) -> int:
    """x / 2^exponent to nearest, ties away from zero."""
    half = (1 << exponent) >> 1
    return (x + half) >> exponent if x >= 0 else -((-x + half) >> exponent)


def _saturate(x: int) -> int:
    return max(_INT16_MIN, min(_INT16_MAX, x))
