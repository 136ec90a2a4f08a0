# SPDX-License-Identifier: Apache-2.0
"""Random small ops, hostile in shape: one row or column, odd channels, padding beyond the kernel,
strides over it, dilation."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.schema.constants import OpKind

_CHANNELS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11)
_EXTENT = 9


def draw_geometry(kind: OpKind, seed: int) -> Iterator[Geometry]:
    """Without end, and the same sequence for the same seed."""
    rng = random.Random(f"{kind.name} {seed}")
    draw = _DRAW[kind]
    while True:
        try:
            yield draw(rng)
        except ConfigError:  # no output: the kernel is larger than the padded input
            continue


def _extent(rng: random.Random) -> int:
    return rng.randint(1, _EXTENT)


def _window(rng: random.Random, c_in: int, c_out: int) -> ConvGeometry:
    k_h, k_w = rng.randint(1, 4), rng.randint(1, 4)
    d_h, d_w = rng.choice((1, 1, 2)), rng.choice((1, 1, 2))
    return ConvGeometry(
        h_in=_extent(rng),
        w_in=_extent(rng),
        c_in=c_in,
        c_out=c_out,
        k_h=k_h,
        k_w=k_w,
        s_h=rng.randint(1, 4),
        s_w=rng.randint(1, 4),
        d_h=d_h,
        d_w=d_w,
        pad=Pad(*(rng.randint(0, 3) for _ in range(4))),
    )


def _conv(rng: random.Random) -> ConvGeometry:
    return _window(rng, rng.choice(_CHANNELS), rng.choice(_CHANNELS))


def _depthwise(rng: random.Random) -> ConvGeometry:
    c = rng.choice(_CHANNELS)
    return _window(rng, c, c * rng.choice((1, 1, 1, 2, 3)))


def _pool(rng: random.Random) -> ConvGeometry:
    """As TFLite's: no dilation, and padding less than the kernel: every window has a real tap."""
    c, k_h, k_w = rng.choice(_CHANNELS), rng.randint(1, 5), rng.randint(1, 5)
    rows = rng.randint(0, k_h - 1), rng.randint(0, k_h - 1)
    columns = rng.randint(0, k_w - 1), rng.randint(0, k_w - 1)
    return ConvGeometry(
        h_in=_extent(rng),
        w_in=_extent(rng),
        c_in=c,
        c_out=c,
        k_h=k_h,
        k_w=k_w,
        s_h=rng.randint(1, 4),
        s_w=rng.randint(1, 4),
        pad=Pad(rows[0], columns[0], rows[1], columns[1]),
    )


def _tensor(rng: random.Random) -> tuple[int, int, int]:
    """Of an op that has nothing but its tensor's shape: enough different ones."""
    return rng.randint(1, 12), rng.randint(1, 12), rng.randint(1, 40)


def _one(rng: random.Random) -> ElementwiseGeometry:
    return ElementwiseGeometry(*_tensor(rng))


def _two(rng: random.Random) -> ElementwiseGeometry:
    return ElementwiseGeometry(*_tensor(rng), 2, rng.random() < 0.3)


def _mean(rng: random.Random) -> MeanGeometry:
    return MeanGeometry(*_tensor(rng))


def _fully_connected(rng: random.Random) -> ConvGeometry:
    return ConvGeometry(1, 1, rng.randint(1, 200), rng.randint(1, 40))


def _upsample(rng: random.Random) -> UpsampleGeometry:
    return UpsampleGeometry(
        _extent(rng), _extent(rng), rng.choice(_CHANNELS), rng.randint(1, 4), rng.randint(1, 4)
    )


def _concat(rng: random.Random) -> ConcatGeometry:
    channels = tuple(rng.choice(_CHANNELS) for _ in range(rng.randint(1, 4)))
    return ConcatGeometry(_extent(rng), _extent(rng), channels)


def _pad(rng: random.Random) -> PadGeometry:
    pad = Pad(*(rng.randint(0, 4) for _ in range(4)))
    return PadGeometry(_extent(rng), _extent(rng), rng.choice(_CHANNELS), pad)


_DRAW: dict[OpKind, Callable[[random.Random], Geometry]] = {
    OpKind.CONV: _conv,
    OpKind.DEPTHWISE: _depthwise,
    OpKind.AVERAGE_POOL: _pool,
    OpKind.MAX_POOL: _pool,
    OpKind.ADD: _two,
    OpKind.MUL: _two,
    OpKind.MEAN: _mean,
    OpKind.FULLY_CONNECTED: _fully_connected,
    OpKind.UPSAMPLE: _upsample,
    OpKind.CONCAT: _concat,
    OpKind.TABLE: _one,
    OpKind.CLAMP: _one,
    OpKind.SOFTMAX: _one,
    OpKind.PAD: _pad,
}
