# SPDX-License-Identifier: Apache-2.0
"""Geometries and quantisations for the tests of set m33, systematic and random."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from harness.case import draw_parameters
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Geometry, Pad
from harness.network import Layer
from harness.reference import AddParameters, ConvParameters, Parameters
from harness.schema.constants import OpKind

_ACTIVATIONS = ("none", "relu", "relu6")


def _layer(name: str, number: int, geometry: Geometry, kind: OpKind) -> Layer:
    return Layer(f"{name}-{number}", geometry, kind, activation=_ACTIVATIONS[number % 3])


def conv_layers(count: int, seed: int = 1) -> list[Layer]:
    """Pointwise ones through every remainder of channels and pixels, then random ones."""
    found = [
        ConvGeometry(h, w, c_in, c_out)
        for c_in, c_out, (h, w) in itertools.product(
            (1, 2, 3, 4, 5, 8, 18, 33),
            (1, 2, 3, 4, 5, 8),
            ((1, 1), (1, 2), (3, 1), (3, 5), (2, 16)),
        )
    ]
    random.Random(seed).shuffle(found)
    found[count // 4 :] = []
    found += itertools.islice(_random_convs(random.Random(seed)), count - len(found))
    return [_layer("m33-conv", number, g, OpKind.CONV) for number, g in enumerate(found)]


def _random_convs(rng: random.Random) -> Iterator[ConvGeometry]:
    while True:
        k_h, k_w = rng.choice((1, 1, 2, 3, 3, 4, 5)), rng.choice((1, 1, 2, 3, 3, 4, 5))
        d_h, d_w = rng.choice((1, 1, 2)), rng.choice((1, 1, 2))
        eff_h, eff_w = (k_h - 1) * d_h, (k_w - 1) * d_w
        pad = Pad(*(rng.choice((0, rng.randint(0, eff))) for eff in (eff_h, eff_w, eff_h, eff_w)))
        h, w = rng.randint(1, 11), rng.randint(1, 13)
        c_in, c_out = rng.choice((rng.randint(1, 20), 4, 8, 16)), rng.randint(1, 18)
        s_h, s_w = rng.randint(1, 3), rng.randint(1, 3)
        try:
            yield ConvGeometry(h, w, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, pad)
        except ConfigError:  # no output
            continue


def depthwise_layers(count: int, seed: int = 1) -> list[Layer]:
    """Every kernel and stride with every width up to 12, then random ones."""
    found: list[ConvGeometry] = []
    for k, s, w in itertools.product((3, 5, 7), (1, 2), range(1, 13)):
        found.append(
            ConvGeometry(w, w, 1 + w % 6, 1 + w % 6, k, k, s, s, pad=Pad.same(k // 2, k // 2))
        )
    random.Random(seed).shuffle(found)
    found[count // 4 :] = []
    found += itertools.islice(_random_depthwise(random.Random(seed)), count - len(found))
    return [_layer("m33-depthwise", number, g, OpKind.DEPTHWISE) for number, g in enumerate(found)]


def _random_depthwise(rng: random.Random) -> Iterator[ConvGeometry]:
    while True:
        k, s, c = rng.choice((3, 5, 7)), rng.choice((1, 2)), rng.randint(1, 10)
        pad = Pad(*(rng.choice((0, k // 2, rng.randint(0, k - 1))) for _ in range(4)))
        h, w = rng.choice((rng.randint(1, 16), rng.randint(1, 60))), rng.randint(1, 24)
        try:
            yield ConvGeometry(h, w, c, c, k, k, s, s, pad=pad)
        except ConfigError:
            continue


def add_layers(count: int, seed: int = 1) -> list[Layer]:
    rng = random.Random(seed)
    return [
        _layer(
            "m33-add",
            number,
            ElementwiseGeometry(
                rng.randint(1, 8), rng.randint(1, 8), rng.randint(1, 9), 2, number % 4 == 0
            ),
            OpKind.ADD,
        )
        for number in range(count)
    ]


def fully_connected_layers(count: int, seed: int = 1) -> list[Layer]:
    rng = random.Random(seed)
    return [
        _layer(
            "m33-fully-connected",
            number,
            ConvGeometry(1, 1, rng.choice((rng.randint(1, 130), 4 * rng.randint(1, 40))), outputs),
            OpKind.FULLY_CONNECTED,
        )
        for number in range(count)
        for outputs in [rng.randint(1, 20)]
    ]


def unusual(layer: Layer, seed: int) -> Parameters:
    """The drawn parameters of a layer with records as published models have them, and worse ones:
    negative multipliers and 0, every shift, biases at the ends of int32, weights of -128 and none."""
    drawn = draw_parameters(layer)
    rng = random.Random(seed)
    if isinstance(drawn, AddParameters):
        return replace(
            drawn,
            multiplier_1=_multiplier(rng),
            shift_1=rng.choice((drawn.shift_1, 0, 1, 2, -31, rng.randint(-31, 30))),
            output_multiplier=_multiplier(rng),
            output_shift=rng.choice((drawn.output_shift, rng.randint(-31, 30))),
            zero_point_1=rng.choice((-128, 127, 3)),
            output_zero_point=rng.choice((-128, 127, -5)),
        )
    assert isinstance(drawn, ConvParameters)
    weights = drawn.weights.copy()
    channels = len(drawn.bias)
    bias, multiplier, shift = (v.copy() for v in (drawn.bias, drawn.multiplier, drawn.shift))
    of_channel = np.moveaxis(weights, -1, 0) if layer.kind is OpKind.DEPTHWISE else weights
    for channel in range(channels):
        kind = rng.randrange(8)
        if kind == 0:
            multiplier[channel] = -multiplier[channel]
        elif kind == 1:
            multiplier[channel] = 0
        elif kind == 2:
            shift[channel] = rng.choice((0, 1, 5, 30, -1, -22, -23, -31))
        elif kind == 3:
            of_channel[channel] = 0
            bias[channel] = rng.choice((2**31 - 1, -(2**31), 12345))
            shift[channel] = -31
        elif kind == 4:
            of_channel[channel] = -128
            multiplier[channel] *= rng.choice((1, -1))
        elif kind == 5:  # twice the sum may just not fit
            near = 2**30 - rng.randint(-2, 10_000)
            bias[channel] = rng.choice((2**31 - 1, -(2**31), near, -near, near))
        elif kind == 6:
            shift[channel] = rng.randint(-12, -1)
            multiplier[channel] = _multiplier(rng)
    return replace(
        drawn,
        weights=weights,
        bias=bias,
        multiplier=multiplier,
        shift=shift,
        input_zero_point=rng.choice((-128, 127, drawn.input_zero_point)),
        output_zero_point=rng.choice((-128, 127, drawn.output_zero_point)),
        activation_min=rng.choice((-128, drawn.activation_min)),
        activation_max=rng.choice((127, drawn.activation_max)),
    )


def _multiplier(rng: random.Random) -> int:
    return rng.choice((0, 2**31 - 1, -(2**31) + 1, 2**30, rng.randint(-(2**31) + 1, 2**31 - 1)))
