# SPDX-License-Identifier: Apache-2.0
"""Exact int8 softmax over the channels of each pixel, in integers, as TFLite's reference kernel.

The host computes e^(-d) for each of the 256 differences d between a pixel's largest channel and
another (`softmax_parameters`): a table T of int32 with 31 fraction bits, T[0] = 2^31 - 1. What is left
needs 32 bits and one product, P(a, b) = (a b + 2^30) >> 31 in 64 bits, the shift arithmetic (to nearest,
ties up): requantize.h's doubling_high_mul. For each pixel x[0..c):

1. top = max x[i];  t[i] = T[top - x[i]].
2. sum = sum of (t[i] + 2^11) >> 12, unsigned, with 19 fraction bits; 2^19 <= sum < 2^31 as c <= 4095.
3. zeros = leading zeros of sum in 32 bits, 1 to 12;  half = (sum << zeros) >> 1, unsigned: the sum
   brought to [1/2, 1) with 31 fraction bits.
4. r = 1515870810 + P(half, -1010580540), a first guess of 1 / half with 29 fraction bits
   (48/17 - 32/17 half). Three times: r = r + 4 P(r, 2^29 - P(half, r)); the factor may be negative.
5. inverse = min(2 r, 2^31 - 1), 1 / (2 half) with 31 fraction bits; 2 r is 2^31 for half = 2^30.
6. e = 35 - zeros.  y[i] = min(255, (P(inverse, t[i]) + 2^(e-1)) >> e) - 128, unsigned in 32 bits; for
   e >= 32, where the sum is 512 or more and no probability is over half a step, y[i] = -128.

The output's scale is 1/256, its zero point -128.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import ElementwiseGeometry
from harness.reference.requantize import quantize_multiplier

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]

SOFTMAX_CHANNELS_MAX = 4095  # more equal channels would overflow the sum
_DIFFERENCE_BITS = 5  # integer bits of a scaled difference, 26 fraction bits
_SUM_BITS = 12  # integer bits of the sum, 19 fraction bits
_ONE = 2**31 - 1
_QUARTER = 1 << 24  # 1/4 with 26 fraction bits
# e^-(2^n) for n from -2, with 31 fraction bits
_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_EXP_MINUS_EIGHTH = 1895147668
_THIRD = 715827883
_GUESS_48_17 = 1515870810  # with 29 fraction bits, as the next
_GUESS_32_17 = 1010580540


@dataclass(frozen=True, eq=False)
class SoftmaxParameters:
    """table: int32 [256], e^(-d scale beta) with 31 fraction bits for d = 0 to 255."""

    table: NDArray[np.int32]


def softmax_parameters(in_scale: float, beta: float = 1.0) -> SoftmaxParameters:
    """in_scale and beta are float32. Real differences over 31 m, where in_scale * beta is m times a
    power of two, 1/2 <= m < 1, have the entry 0: TFLite leaves them out of the sum.

    Errors: ConfigError when in_scale * beta is 2^-26 or less, where LiteRT stops."""
    fraction = 31 - _DIFFERENCE_BITS
    real = float(np.float32(beta)) * float(np.float32(in_scale)) * 2.0**fraction
    if real <= 1:
        raise ConfigError(
            f"softmax of a scale of {in_scale:g} with beta {beta:g}",
            hint="their product must be more than 2^-26",
        )
    multiplier, shift = quantize_multiplier(min(real, float(_ONE)))
    last = math.floor((2**_DIFFERENCE_BITS - 1) * 2.0 ** (fraction - shift))
    table = np.zeros(256, np.int32)
    for difference in range(min(last, 255) + 1):
        table[difference] = _exp(_product(difference << shift, multiplier))
    return SoftmaxParameters(table)


def softmax(g: ElementwiseGeometry, p: SoftmaxParameters, x: Int8s) -> Int8s:
    """x int8 [h, w, c] -> int8 [h, w, c] of scale 1/256 and zero point -128. Errors: ConfigError for
    more than 4095 channels."""
    if g.c > SOFTMAX_CHANNELS_MAX:
        raise ConfigError(
            f"softmax over {g.c} channels", hint=f"at most {SOFTMAX_CHANNELS_MAX} are possible"
        )
    pixels = x.reshape(g.h * g.w, g.c)
    return probabilities(p, pixels, pixels).reshape(g.h, g.w, g.c)


def probabilities(p: SoftmaxParameters, pixels: Int8s, some: Int8s) -> Int8s:
    """pixels int8 [n, c], by which largest channel and sum are found; some int8 [n, m], the values whose
    probabilities are wanted -> int8 [n, m]. A value over the largest channel, which only an overwritten
    input can hold, takes the table's entry modulo 256, as the kernel does."""
    table, found = p.table.astype(np.int64), pixels.astype(np.int64)
    top = found.max(axis=1, keepdims=True)
    sums = ((table[top - found] + (1 << (_SUM_BITS - 1))) >> _SUM_BITS).sum(axis=1, keepdims=True)
    zeros = 32 - np.frexp(sums.astype(np.float64))[1].astype(np.int64)
    inverse = _inverse((sums << zeros) >> 1)
    exponent = 35 - zeros
    powers = table[(top - some) & 0xFF]
    steps = (_wide(inverse, powers) + (np.int64(1) << (exponent - 1))) >> exponent
    y: Int8s = (np.minimum(steps, 255) - 128).astype(np.int8)
    return y


def _inverse(half: Int64s) -> Int64s:
    """1 / (2 half), both with 31 fraction bits, half from 2^30: three steps of Newton's method."""
    r = _GUESS_48_17 + _wide(half, np.int64(-_GUESS_32_17))
    for _ in range(3):
        r = r + 4 * _wide(r, (1 << 29) - _wide(half, r))
    return np.minimum(2 * r, _ONE)


def _wide(a: Int64s, b: Int64s | np.int64) -> Int64s:
    """a b / 2^31 to nearest, ties up."""
    result: Int64s = (a * b + (1 << 30)) >> 31
    return result


# ---- the table ----


def _exp(x: int) -> int:
    """e^-x with 31 fraction bits, of x with 26: a polynomial for what is over a multiple of a quarter,
    times e^-(1/4), e^-(1/2), e^-1 ... e^-16 for the bits of the rest."""
    if x == 0:
        return _ONE
    below = (-x & (_QUARTER - 1)) - _QUARTER  # in [-1/4, 0)
    quarters = (x + below) // _QUARTER
    result = _exp_of_quarter(below << _DIFFERENCE_BITS)
    for bit, power in enumerate(_POWERS):
        if quarters >> bit & 1:
            result = _product(result, power)
    return result


def _exp_of_quarter(a: int) -> int:
    """e^a for a in [-1/4, 0), both with 31 fraction bits: Taylor's to x^4 around -1/8."""
    x = a + (1 << 28)
    x2 = _product(x, x)
    x3 = _product(x2, x)
    x4 = _product(x2, x2)
    terms = (_product(((x4 + 2) >> 2) + x3, _THIRD) + x2 + 1) >> 1
    return _EXP_MINUS_EIGHTH + _product(_EXP_MINUS_EIGHTH, x + terms)


def _product(a: int, b: int) -> int:
    """a b / 2^31 to nearest, ties up."""
    return (a * b + (1 << 30)) >> 31
