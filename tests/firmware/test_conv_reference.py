# SPDX-License-Identifier: Apache-2.0
"""The plain convolution in C against harness.reference, with each rounding that it does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from harness.geometry import ConvGeometry, Execution, Pad
from harness.reference import ConvParameters, convolve, convolve_in_place
from harness.schema.constants import Rounding, TapOrder
from harness.schema.records import QuantRecord
from tests.firmware.support import Conv, HostRunner, build, input_byte, parts

_ROUNDINGS = [Rounding.DOUBLE, Rounding.SINGLE]
_MODELS = 120


def _draw(seed: int, order: TapOrder, rounding: Rounding) -> Conv:
    """In half of them weights are small and scales powers of two, so that many results are ties."""
    rng = random.Random(seed)
    while True:
        k = rng.randint(1, 4), rng.randint(1, 4)
        d = rng.randint(1, 2), rng.randint(1, 2)
        pad = rng.randint(0, 3), rng.randint(0, 3), rng.randint(0, 3), rng.randint(0, 3)
        h, w = rng.randint(1, 7), rng.randint(1, 7)
        if h + pad[0] + pad[2] > d[0] * (k[0] - 1) and w + pad[1] + pad[3] > d[1] * (k[1] - 1):
            break
    distance = rng.randint(-20, 20) if rng.random() < 0.3 else None
    overlap = {} if distance is None else {
        "input_offset": max(0, distance), "output_offset": max(0, -distance)
    }  # fmt: skip
    conv = Conv(
        h, w, rng.randint(1, 9), rng.randint(1, 6), k, (rng.randint(1, 3), rng.randint(1, 3)), d,
        pad, order, rng.getrandbits(30), (-14, -7), rounding=rounding, **overlap,
    )  # fmt: skip
    if rng.random() < 0.5:
        conv.weights = [rng.randint(-2, 2) for _ in conv.weights]
        conv.quants = [
            QuantRecord(rng.randint(-99, 99), 2**30, rng.randint(-5, -1)) for _ in conv.quants
        ]
    return conv


def _parameters(conv: Conv) -> ConvParameters:
    return ConvParameters(
        weights=np.array(conv.weights, np.int8).reshape(conv.c_out, *conv.k, conv.c_in),
        bias=np.array([quant.bias for quant in conv.quants], np.int32),
        multiplier=np.array([quant.multiplier for quant in conv.quants], np.int32),
        shift=np.array([quant.shift for quant in conv.quants], np.int32),
        input_zero_point=conv.zero_in,
        output_zero_point=conv.zero_out,
        activation_min=conv.low,
        activation_max=conv.high,
        rounding=conv.rounding,
    )


def _reference(conv: Conv, seed: int) -> np.ndarray:
    g = ConvGeometry(
        conv.h_in, conv.w_in, conv.c_in, conv.c_out, *conv.k, *conv.s, *conv.d, Pad(*conv.pad)
    )
    data = bytes(input_byte(seed, index) for index in range(conv.n_in))
    x = np.frombuffer(data, np.int8).reshape(g.h_in, g.w_in, g.c_in)
    assert conv.output_offset is not None
    distance = conv.input_offset - conv.output_offset
    if distance == -conv.n_in:
        return convolve(g, _parameters(conv), x)
    return convolve_in_place(g, _parameters(conv), x, distance, Execution(tap_order=conv.order))


@pytest.mark.parametrize("rounding", _ROUNDINGS, ids=lambda rounding: rounding.name.lower())
@pytest.mark.parametrize("order", list(TapOrder), ids=lambda order: order.name.lower())
def test_random_geometries(host: HostRunner, order: TapOrder, rounding: Rounding) -> None:
    for seed in range(_MODELS):
        conv = _draw(seed, order, rounding)
        host.flash(build([parts(conv)]))
        host.run(0, seed)
        assert conv.output_offset is not None
        found = np.frombuffer(host.read(conv.output_offset, conv.n_out), np.int8)
        wrong = np.flatnonzero(found != _reference(conv, seed).ravel())
        assert wrong.size == 0, f"seed {seed}: scalar {wrong[0]} of {conv}"


def test_the_geometries_tell_the_roundings_apart() -> None:
    """In at least a tenth of them an output differs; else the test above would prove little."""
    different = [
        seed
        for seed in range(_MODELS)
        if not np.array_equal(
            *(_reference(_draw(seed, TapOrder.GATHER, rounding), seed) for rounding in _ROUNDINGS)
        )
    ]
    assert len(different) >= _MODELS // 10
