# SPDX-License-Identifier: Apache-2.0
"""Exact int8 pools in NumPy. Nothing is requantised: input and output have one scale and zero point.

Padded taps are no part of a window: an average divides by the number of the others. A window with
padded taps only has neither average nor maximum; TFLite's SAME never makes one, and here it is an
error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import ConvGeometry
from harness.reference.windows import taps, windows
from harness.schema.constants import OpKind

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class PoolParameters:
    """activation_min, activation_max: clamp of the output, int8."""

    activation_min: int = -128
    activation_max: int = 127


def average_pool(g: ConvGeometry, p: PoolParameters, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_in]: sum / taps, halves away from zero.

    Errors: ConfigError when c_out is not c_in or a window has no tap on the image."""
    return _clamped(p, average(windows(g, x, padding=0).sum(axis=(3, 4)), _taps(g)))


def max_pool(g: ConvGeometry, p: PoolParameters, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_in].

    Errors: ConfigError when c_out is not c_in or a window has no tap on the image."""
    _taps(g)
    return _clamped(p, windows(g, x, padding=-128).max(axis=(3, 4)))


def pool_of_windows(
    kind: OpKind, p: PoolParameters, values: Int8s, real: NDArray[np.bool_]
) -> Int8s:
    """values int8 [n, taps, c] of n windows, real [n, taps]: which taps are on the image -> [n, c]."""
    on_image = real[:, :, None]
    if kind is OpKind.MAX_POOL:
        return _clamped(p, np.where(on_image, values, -128).max(axis=1).astype(np.int64))
    total = np.where(on_image, values, 0).sum(axis=1, dtype=np.int64)
    return _clamped(p, average(total, real.sum(axis=1)[:, None]))


def average(total: Int64s, count: Int64s) -> Int64s:
    """total / count, halves away from zero."""
    quotient: Int64s = np.sign(total) * ((np.abs(total) + count // 2) // count)
    return quotient


def _taps(g: ConvGeometry) -> Int64s:
    if g.c_out != g.c_in:
        raise ConfigError(f"a pool of {g.c_in} channels has {g.c_out}")
    count = taps(g)
    if not count.all():
        row, column, _ = (int(n) for n in np.argwhere(count == 0)[0])
        raise ConfigError(
            "this pool has a window with padding only",
            cause="neither an average nor a maximum of no value is defined",
            evidence={"pool": str(g), "output row and column": f"{row}, {column}"},
            hint="use less padding",
        )
    return count


def _clamped(p: PoolParameters, values: Int64s) -> Int8s:
    return np.clip(values, p.activation_min, p.activation_max).astype(np.int8)
