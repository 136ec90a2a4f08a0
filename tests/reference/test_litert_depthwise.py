# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolution against its definition and against LiteRT."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.geometry import ConvGeometry
from harness.reference import ConvParameters, depthwise, quantize_multiplier
from harness.schema.constants import Rounding
from tests.reference.by_definition import clamped, int8, pixels, real_taps, requantized
from tests.reference.litert import Activation, DepthwiseModel, Int8s, Kernels, run
from tests.reference.litert_models import random_model, tie_model
from tests.strategies import conv_geometries

_MODELS = 480
_TIE_MODELS = 120
_LEAST_OUTPUTS = 50_000
_XNNPACK = pytest.mark.extra  # picks its kernels by the processor


def _by_definition(g: ConvGeometry, p: ConvParameters, x: Int8s) -> Int8s:
    out = np.empty((g.h_out, g.w_out, g.c_out), np.int8)
    for row, column in pixels(g):
        for o in range(g.c_out):
            source = o // (g.c_out // g.c_in)
            total = int(p.bias[o])
            for i, j, y, z in real_taps(g, row, column):
                total += (int(x[y, z, source]) - p.input_zero_point) * int(p.weights[i, j, o])
            value = requantized(total, int(p.multiplier[o]), int(p.shift[o]), p.rounding)
            value = clamped(value + p.output_zero_point, p.activation_min, p.activation_max)
            out[row, column, o] = value
    return out


@settings(max_examples=60, deadline=None)
@given(
    conv_geometries(extent=5, channels=4),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    st.sampled_from([Rounding.DOUBLE, Rounding.SINGLE]),
)
def test_equals_the_definition(
    g: ConvGeometry, multiplier: int, seed: int, rounding: Rounding
) -> None:
    g = replace(g, c_out=g.c_in * multiplier)
    rng = np.random.default_rng(seed)
    scales = [quantize_multiplier(s) for s in np.exp(rng.uniform(-7, 1, g.c_out))]
    p = ConvParameters(
        weights=int8(rng, g.k_h, g.k_w, g.c_out),
        bias=rng.integers(-2000, 2000, g.c_out).astype(np.int32),
        multiplier=np.array([m for m, _ in scales], np.int32),
        shift=np.array([s for _, s in scales], np.int32),
        input_zero_point=int(rng.integers(-128, 128)),
        output_zero_point=int(rng.integers(-128, 128)),
        activation_min=int(rng.integers(-128, 0)),
        activation_max=int(rng.integers(0, 128)),
        rounding=rounding,
    )
    x = int8(rng, g.h_in, g.w_in, g.c_in)
    assert np.array_equal(depthwise(g, p, x), _by_definition(g, p, x))


def test_which_channel_reads_which() -> None:
    """Two input channels, multiplier 3: the outputs are 3 of the first, then 3 of the second."""
    one = quantize_multiplier(1.0)
    p = ConvParameters(
        weights=np.array([1, 2, 3, 4, 5, 6], np.int8).reshape(1, 1, 6),
        bias=np.zeros(6, np.int32),
        multiplier=np.full(6, one[0], np.int32),
        shift=np.full(6, one[1], np.int32),
        input_zero_point=0,
        output_zero_point=0,
    )
    x = np.array([10, 1], np.int8).reshape(1, 1, 2)
    assert depthwise(ConvGeometry(1, 1, 2, 6), p, x).ravel().tolist() == [10, 20, 30, 4, 5, 6]
    for g in (ConvGeometry(1, 1, 4, 6), ConvGeometry(1, 1, 2, 4), ConvGeometry(3, 3, 2, 6, 3, 3)):
        with pytest.raises(ValueError, match="for a depthwise"):
            depthwise(g, p, x)


# ---- LiteRT ----

Drawn = tuple[DepthwiseModel, Int8s]


@pytest.fixture(scope="module")
def drawn() -> list[Drawn]:
    return [random_model(seed, DepthwiseModel) for seed in range(_MODELS)]


@pytest.fixture(scope="module")
def ties() -> list[Drawn]:
    return [tie_model(seed, DepthwiseModel) for seed in range(_TIE_MODELS)]


def _expected(model: DepthwiseModel, x: Int8s, rounding: Rounding) -> Int8s:
    return depthwise(model.geometry(), model.parameters(rounding), x)


def _check(drawn: list[Drawn], kernels: Kernels, rounding: Rounding) -> int:
    """Outputs compared, all of them equal."""
    outputs = 0
    for seed, (model, x) in enumerate(drawn):
        expected = _expected(model, x, rounding)
        wrong = np.argwhere(run(model, kernels, x) != expected)
        assert len(wrong) == 0, f"seed {seed}: {len(wrong)} differ, first {wrong[0]}"
        outputs += expected.size
    return outputs


def test_double_is_what_the_reference_kernels_compute(drawn: list[Drawn]) -> None:
    assert _check(drawn, Kernels.REFERENCE, Rounding.DOUBLE) >= _LEAST_OUTPUTS


def test_double_holds_in_ties_too(ties: list[Drawn]) -> None:
    assert _check(ties, Kernels.REFERENCE, Rounding.DOUBLE) >= 30_000


@_XNNPACK
def test_single_is_what_xnnpack_computes(drawn: list[Drawn]) -> None:
    assert _check(drawn, Kernels.XNNPACK, Rounding.SINGLE) >= _LEAST_OUTPUTS


@_XNNPACK
def test_ties_are_all_that_xnnpack_rounds_otherwise(ties: list[Drawn]) -> None:
    """It takes them to even, where `single` takes them up."""
    different = 0
    for model, x in ties:
        single = _expected(model, x, Rounding.SINGLE).astype(int)
        xnnpack = run(model, Kernels.XNNPACK, x).astype(int)
        wrong = xnnpack != single
        different += int(np.count_nonzero(wrong))
        assert ((single - xnnpack)[wrong] == 1).all()
        assert ((single - model.output_zero_point)[wrong] % 2 == 1).all()
    assert different > 0


def test_the_models_tell_the_roundings_apart(drawn: list[Drawn]) -> None:
    different = sum(
        int(np.count_nonzero(_expected(*one, Rounding.DOUBLE) != _expected(*one, Rounding.SINGLE)))
        for one in drawn
    )
    assert different >= 50


def test_the_models_cover_what_they_should(drawn: list[Drawn]) -> None:
    models = [model for model, _ in drawn]
    for same in (True, False):
        for stride in ((1, 1), (2, 2), (1, 3), (3, 2)):
            for dilated in (True, False):
                assert any(
                    model.same is same
                    and model.strides == stride
                    and (model.dilations != (1, 1)) is dilated
                    for model in models
                ), (same, stride, dilated)
    for zero_point in (-128, 127):
        assert sum(model.input_zero_point == zero_point for model in models) >= 50
        assert sum(model.output_zero_point == zero_point for model in models) >= 50
    for activation in Activation:
        assert sum(model.activation is activation for model in models) >= 50
    for multiplier in (1, 2, 3, 4):
        assert sum(model.depth_multiplier == multiplier for model in models) >= 30
    assert sum(model.depth_multiplier > 1 and model.c_in > 1 for model in models) >= 100
    assert sum(1 in model.kernel and model.kernel != (1, 1) for model in models) >= 50
    assert sum(len(model.bias) % 2 == 1 for model in models) >= 50
