# SPDX-License-Identifier: Apache-2.0
"""Random convolutions, depthwise or not, for LiteRT, hostile where LiteRT's kernels differ."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from harness.errors import ConfigError
from tests.reference.litert import Activation, ConvModel, DepthwiseModel, Int8s, WindowModel

_DEVIATION = 73  # of a drawn int8 value
_MOST_BIAS = 20_000
_DEAD_SCALES = (2.0**-40, 2.0**-33, 2.0**-31, 2.0**-25, 2.0**-10)


Model = TypeVar("Model", ConvModel, DepthwiseModel)


def random_model(seed: int, kind: type[Model] = ConvModel) -> tuple[Model, Int8s]:
    """A convolution and its input. Every fourth has a dead channel, with bias 2^31 - 1; every fifth a
    channel with a multiplier of 1 or more."""
    rng = np.random.default_rng(seed)
    model = _draw(rng, kind)
    ratio = model.output_scale / model.input_scale
    channel = int(rng.integers(len(model.bias)))
    if seed % 5 == 0:
        model.filter_scales[channel] = ratio * np.float32(rng.uniform(1.01, 9))
    if seed % 4 == 0:
        model.channel(channel)[...] = 0
        model.bias[channel] = 2**31 - 1
        scale = rng.choice(_DEAD_SCALES) * rng.uniform(1.01, 1.99)
        model.filter_scales[channel] = ratio * np.float32(scale)
    return model, _input(rng, model)


def tie_model(seed: int, kind: type[Model] = ConvModel) -> tuple[Model, Int8s]:
    """One with multipliers that are powers of two: half of the way between two results is common."""
    rng = np.random.default_rng(seed)
    model = _draw(rng, kind, powers_of_two=True)
    return model, _input(rng, model)


def negative_model(seed: int, kind: type[Model] = ConvModel) -> tuple[Model, Int8s]:
    """One with negative filter scales in half of the channels."""
    rng = np.random.default_rng(seed)
    model = _draw(rng, kind)
    model.filter_scales[::2] *= -1
    return model, _input(rng, model)


def _draw(rng: np.random.Generator, kind: type[Model], powers_of_two: bool = False) -> Model:
    while True:
        k_h, k_w = (int(n) for n in rng.integers(1, 6, 2))
        c_in, c_out = (int(n) for n in rng.integers(1, 10, 2))
        shape, taps, more = (c_out, k_h, k_w, c_in), k_h * k_w * c_in, {}
        if kind is DepthwiseModel:
            more = {"depth_multiplier": 1 + c_out // 3}
            c_out = c_in * more["depth_multiplier"]
            shape, taps = (k_h, k_w, c_out), k_h * k_w
        multipliers = rng.uniform(0.3, 1.3) / (_DEVIATION * np.sqrt(taps))
        multipliers = multipliers * np.exp(rng.uniform(-1, 1, c_out))
        input_scale, output_scale = rng.uniform(1e-3, 1e-1, 2).astype(np.float32)
        if powers_of_two:
            multipliers = np.exp2(np.round(np.log2(multipliers)))
            input_scale = output_scale = np.float32(1)
        model = kind(
            h_in=int(rng.integers(1, 17)),
            w_in=int(rng.integers(1, 17)),
            weights=rng.integers(-127, 128, shape).astype(np.int8),
            bias=rng.integers(-_MOST_BIAS, _MOST_BIAS, c_out).astype(np.int32),
            filter_scales=(multipliers * output_scale / input_scale).astype(np.float32),
            input_scale=input_scale,
            output_scale=output_scale,
            input_zero_point=_zero_point(rng),
            output_zero_point=_zero_point(rng),
            strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
            dilations=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
            same=bool(rng.random() < 0.5),
            activation=list(Activation)[int(rng.integers(len(Activation)))],
            **more,
        )
        try:
            model.geometry()
        except ConfigError:  # VALID, and the kernel is larger than the input
            continue
        return model


def _zero_point(rng: np.random.Generator) -> int:
    return int(rng.choice([-128, 127, 0, rng.integers(-128, 128)]))


def _input(rng: np.random.Generator, model: WindowModel) -> Int8s:
    return rng.integers(-128, 128, (model.h_in, model.w_in, model.c_in)).astype(np.int8)
