# SPDX-License-Identifier: Apache-2.0
"""Average and max pools against their definitions and against LiteRT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad
from harness.reference import PoolParameters, average_pool, max_pool
from tests.reference.by_definition import (
    clamped,
    half_away,
    hostile_zero_point,
    int8,
    pixels,
    real_taps,
)
from tests.reference.litert_ops import (
    Activation,
    Int8s,
    Kernels,
    Operator,
    Tensor,
    clamp,
    one_op_model,
    run_model,
    same_pads,
)
from tests.strategies import conv_geometries

Pool = Callable[[ConvGeometry, PoolParameters, Int8s], Int8s]
_MODELS = 200
_LEAST_OUTPUTS = 50_000
_VERSION = 2  # of both operators: signed int8
_BUILTINS = {
    average_pool: schema.BuiltinOperator.AVERAGE_POOL_2D,
    max_pool: schema.BuiltinOperator.MAX_POOL_2D,
}
_EXTRA = pytest.mark.extra
_BOTH = pytest.mark.parametrize("pool", [average_pool, max_pool])


def _by_definition(pool: Pool, g: ConvGeometry, p: PoolParameters, x: Int8s) -> Int8s:
    out = np.empty((g.h_out, g.w_out, g.c_out), np.int8)
    for row, column in pixels(g):
        for c in range(g.c_out):
            window = [int(x[y, z, c]) for _, _, y, z in real_taps(g, row, column)]
            value = max(window) if pool is max_pool else half_away(sum(window), len(window))
            out[row, column, c] = clamped(value, p.activation_min, p.activation_max)
    return out


def _has_an_empty_window(g: ConvGeometry) -> bool:
    return not all(any(True for _ in real_taps(g, *pixel)) for pixel in pixels(g))


@_BOTH
@settings(max_examples=80, deadline=None)
@given(conv_geometries(extent=6, channels=3), st.integers(0, 2**32 - 1))
def test_equals_the_definition(pool: Pool, g: ConvGeometry, seed: int) -> None:
    g = replace(g, c_out=g.c_in)
    rng = np.random.default_rng(seed)
    p = PoolParameters(int(rng.integers(-128, 0)), int(rng.integers(0, 128)))
    x = int8(rng, g.h_in, g.w_in, g.c_in)
    if _has_an_empty_window(g):
        with pytest.raises(ConfigError, match="padding only"):
            pool(g, p, x)
        return
    assert np.array_equal(pool(g, p, x), _by_definition(pool, g, p, x))


@pytest.mark.parametrize(
    ("values", "average"),
    [
        ((1, 2), 2),  # 1.5 away from zero
        ((-1, -2), -2),
        ((0, 1), 1),
        ((0, -1), -1),
        ((1, 0, 0), 0),
        ((-2, 0, 0), -1),
        ((127, 127), 127),
        ((-128, -128), -128),
    ],
)
def test_averages_round_halves_away_from_zero(values: tuple[int, ...], average: int) -> None:
    g = ConvGeometry(1, len(values), 1, 1, k_w=len(values))
    x = np.array(values, np.int8).reshape(1, -1, 1)
    assert average_pool(g, PoolParameters(), x).item() == average


def test_padding_is_no_part_of_a_window() -> None:
    """3 wide, SAME: the outer averages are of two values; a maximum of negatives stays negative."""
    g = ConvGeometry(1, 3, 1, 1, k_w=3, pad=Pad(0, 1, 0, 1))
    x = np.array([-10, -20, -40], np.int8).reshape(1, 3, 1)
    assert average_pool(g, PoolParameters(), x).ravel().tolist() == [-15, -23, -30]
    assert max_pool(g, PoolParameters(), x).ravel().tolist() == [-10, -10, -20]


@_BOTH
def test_a_pool_that_cannot_be(pool: Pool) -> None:
    x = np.zeros((2, 2, 1), np.int8)
    with pytest.raises(ConfigError, match="channels"):
        pool(ConvGeometry(2, 2, 1, 2), PoolParameters(), x)
    with pytest.raises(ConfigError, match="padding only"):
        pool(ConvGeometry(2, 2, 1, 1, pad=Pad(1, 0, 0, 0)), PoolParameters(), x)


# ---- LiteRT ----


@dataclass(frozen=True)
class PoolModel:
    """output_scale: None for the input's."""

    h_in: int
    w_in: int
    c: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    same: bool
    activation: Activation
    scale: np.float32
    zero_point: int
    output_scale: np.float32 | None = None

    def geometry(self) -> ConvGeometry:
        pad = Pad()
        if self.same:
            top, bottom = same_pads(self.h_in, self.kernel[0], self.strides[0], 1)
            left, right = same_pads(self.w_in, self.kernel[1], self.strides[1], 1)
            pad = Pad(top, left, bottom, right)
        return ConvGeometry(
            self.h_in, self.w_in, self.c, self.c, *self.kernel, *self.strides, pad=pad
        )

    def parameters(self) -> PoolParameters:
        return PoolParameters(*clamp(self.activation, self.scale, self.zero_point))

    def flatbuffer(self, pool: Pool) -> bytes:
        options = schema.Pool2DOptionsT()
        options.padding = schema.Padding.SAME if self.same else schema.Padding.VALID
        options.filterHeight, options.filterWidth = self.kernel
        options.strideH, options.strideW = self.strides
        options.fusedActivationFunction = self.activation.value
        g = self.geometry()
        return one_op_model(
            Operator(_BUILTINS[pool], _VERSION, options),
            [Tensor((1, g.h_in, g.w_in, g.c_in), [self.scale], self.zero_point)],
            Tensor(
                (1, g.h_out, g.w_out, g.c_out), [self.output_scale or self.scale], self.zero_point
            ),
        )


def _draw(seed: int) -> tuple[PoolModel, Int8s]:
    """Every eighth is 1 x N, every ninth global."""
    rng = np.random.default_rng(seed)
    while True:
        h, w = (int(n) for n in rng.integers(1, 20, 2))
        k_h, k_w = (int(n) for n in rng.integers(1, 9, 2))
        if seed % 8 == 0:
            h, k_h = 1, 1
        if seed % 9 == 0:
            k_h, k_w = h, w
        model = PoolModel(
            h_in=h,
            w_in=w,
            c=int(rng.integers(1, 40)),
            kernel=(k_h, k_w),
            strides=(int(rng.integers(1, 4)), int(rng.integers(1, 4))),
            same=bool(rng.random() < 0.5),
            activation=list(Activation)[int(rng.integers(len(Activation)))],
            scale=np.float32(rng.uniform(5e-3, 1e-1)),
            zero_point=hostile_zero_point(rng),
        )
        try:
            model.geometry()
        except ConfigError:  # VALID, and the window is larger than the input
            continue
        return model, int8(rng, h, w, model.c)


@pytest.fixture(scope="module")
def drawn() -> list[tuple[PoolModel, Int8s]]:
    return [_draw(seed) for seed in range(_MODELS)]


def _check(models: list[tuple[PoolModel, Int8s]], pool: Pool, kernels: Kernels) -> int:
    """Outputs compared, all of them equal."""
    outputs = 0
    for seed, (model, x) in enumerate(models):
        expected = pool(model.geometry(), model.parameters(), x)
        wrong = np.argwhere(run_model(model.flatbuffer(pool), kernels, x) != expected)
        assert len(wrong) == 0, f"seed {seed}: {len(wrong)} differ, first {wrong[0]}"
        outputs += expected.size
    return outputs


@_BOTH
@pytest.mark.parametrize(
    "kernels", [Kernels.REFERENCE, pytest.param(Kernels.OPTIMIZED, marks=_EXTRA)]
)
def test_equals_litert(drawn: list[tuple[PoolModel, Int8s]], pool: Pool, kernels: Kernels) -> None:
    assert _check(drawn, pool, kernels) >= _LEAST_OUTPUTS


@_BOTH
def test_litert_takes_no_notice_of_another_output_scale(pool: Pool) -> None:
    model, x = _draw(3)
    model = replace(model, activation=Activation.NONE, output_scale=model.scale * np.float32(3))
    assert _check([(model, x)], pool, Kernels.REFERENCE) > 0


@_EXTRA
def test_equals_xnnpack(drawn: list[tuple[PoolModel, Int8s]]) -> None:
    """Which takes no int8 average pool, and of maxima none with a stride over its window."""
    taken = [
        (model, x)
        for model, x in drawn
        if model.strides[0] <= model.kernel[0] and model.strides[1] <= model.kernel[1]
    ]
    assert _check(taken, max_pool, Kernels.XNNPACK) >= _LEAST_OUTPUTS


def test_the_models_cover_what_they_should(drawn: list[tuple[PoolModel, Int8s]]) -> None:
    models = [model for model, _ in drawn]
    for same in (True, False):
        for stride in ((1, 1), (2, 2), (1, 3), (3, 2)):
            assert any(model.same is same and model.strides == stride for model in models)
    for zero_point in (-128, 127):
        assert sum(model.zero_point == zero_point for model in models) >= 30
    for activation in Activation:
        assert sum(model.activation is activation for model in models) >= 30
    padded = [model for model in models if model.geometry().pad != Pad()]
    assert len(padded) >= 30
    assert sum((model.h_in, model.w_in) == model.kernel for model in models) >= 10
    assert sum(model.h_in == 1 and model.w_in > 1 for model in models) >= 10
