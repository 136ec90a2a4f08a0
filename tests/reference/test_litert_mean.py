# SPDX-License-Identifier: Apache-2.0
"""The mean over all pixels against its definition and against LiteRT."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.geometry import MeanGeometry
from harness.reference import MeanParameters, mean, mean_multiplier, quantize_multiplier, requantize
from harness.schema.constants import Rounding
from tests.reference.by_definition import clamped, hostile_zero_point, int8, requantized
from tests.reference.litert_ops import Int8s, Kernels, Operator, Tensor, one_op_model, run_model

_MODELS = 240
_LEAST_OUTPUTS = 50_000
_VERSION = 2  # of the operator: signed int8
_AXES = np.array([1, 2], np.int32)


@settings(max_examples=80, deadline=None)
@given(
    st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 4)),
    st.integers(0, 2**32 - 1),
    st.sampled_from([Rounding.DOUBLE, Rounding.SINGLE]),
)
def test_equals_the_definition(shape: tuple[int, int, int], seed: int, rounding: Rounding) -> None:
    h, w, c = shape
    rng = np.random.default_rng(seed)
    multiplier, shift = mean_multiplier(float(np.exp(rng.uniform(-3, 3))), 1.0, h * w)
    p = MeanParameters(
        input_zero_point=hostile_zero_point(rng),
        output_zero_point=hostile_zero_point(rng),
        multiplier=multiplier,
        shift=shift,
        rounding=rounding,
    )
    x = int8(rng, h, w, c)
    out = []
    for channel in range(c):
        total = sum(int(x[i, j, channel]) - p.input_zero_point for i in range(h) for j in range(w))
        out.append(clamped(requantized(total, multiplier, shift, rounding) + p.output_zero_point))
    got = mean(MeanGeometry(h, w, c), p, x)
    assert got.shape == (1, 1, c)
    assert got.ravel().tolist() == out


@given(st.floats(1e-3, 1e3), st.integers(1, 65_535))
def test_the_multiplier_is_the_scale_over_the_pixels(scale: float, pixels: int) -> None:
    """To 28 bits, in the form that the kernels want; a power of two takes nothing from m."""
    multiplier, shift = mean_multiplier(scale, 1.0, pixels)
    assert 0 <= multiplier < 2**31
    assert -31 <= shift <= 30
    assert abs(multiplier * 2.0 ** (shift - 31) * pixels / scale - 1) < 2.0**-28
    power = 2 ** (pixels.bit_length() - 1)
    m, s = quantize_multiplier(scale)
    assert mean_multiplier(scale, 1.0, power) == (m, s - power.bit_length() + 1)


@pytest.mark.parametrize(
    ("scales", "pixels", "expected"),
    [
        ((1.0, 1.0), 1, (2**30, 1)),
        ((1.0, 1.0), 3, (2**31 // 3, 0)),  # the quotient is rounded down
        ((1.0, 1.0), 49, (2**35 // 49, -4)),
        ((3.0, 2.0), 4, (3 * 2**29, -1)),
        ((2.0**-31, 1.0), 49, (2**31 // 49, -31)),  # no shift below -31
        ((2.0**-40, 1.0), 49, (0, -5)),  # flushed, as for convolutions
    ],
)
def test_multipliers(scales: tuple[float, float], pixels: int, expected: tuple[int, int]) -> None:
    assert mean_multiplier(*scales, pixels) == expected


# ---- LiteRT ----


@dataclass(frozen=True)
class MeanModel:
    """keep_dims is set, axes are 1 and 2."""

    h: int
    w: int
    c: int
    input_scale: np.float32
    output_scale: np.float32
    input_zero_point: int
    output_zero_point: int

    def expected(self, x: Int8s) -> Int8s:
        multiplier, shift = mean_multiplier(
            float(self.input_scale), float(self.output_scale), self.h * self.w
        )
        p = MeanParameters(self.input_zero_point, self.output_zero_point, multiplier, shift)
        return mean(MeanGeometry(self.h, self.w, self.c), p, x)

    def run(self, x: Int8s, kernels: Kernels = Kernels.REFERENCE) -> Int8s:
        options = schema.ReducerOptionsT()
        options.keepDims = True
        content = one_op_model(
            Operator(schema.BuiltinOperator.MEAN, _VERSION, options),
            [
                Tensor((1, self.h, self.w, self.c), [self.input_scale], self.input_zero_point),
                Tensor((2,), data=_AXES),
            ],
            Tensor((1, 1, 1, self.c), [self.output_scale], self.output_zero_point),
        )
        return run_model(content, kernels, x)


def _draw(seed: int) -> tuple[MeanModel, Int8s]:
    """Channels around 300 levels, so that their means are anywhere. Every fourth model has equal
    scales and every fourth scales apart by a power of two: ties; every eighth is 1 x N."""
    rng = np.random.default_rng(seed)
    h, w = (int(n) for n in rng.integers(1, 20, 2))
    c = int(rng.integers(200, 300))
    input_scale = np.float32(rng.uniform(1e-3, 1e-1))
    ratio = {0: 1.0, 1: 2.0 ** int(rng.integers(-4, 4))}.get(seed % 4, np.exp(rng.uniform(-3, 3)))
    model = MeanModel(
        h=1 if seed % 8 == 7 else h,
        w=w,
        c=c,
        input_scale=input_scale,
        output_scale=np.float32(input_scale * np.float32(ratio)),
        input_zero_point=hostile_zero_point(rng),
        output_zero_point=hostile_zero_point(rng),
    )
    levels = rng.integers(-150, 151, c)
    x = levels + rng.integers(-40, 41, (model.h, w, c))
    return model, np.clip(x, -128, 127).astype(np.int8)


def test_equals_the_reference_kernel() -> None:
    outputs = unclamped = 0
    for seed in range(_MODELS):
        model, x = _draw(seed)
        expected = model.expected(x)
        wrong = np.argwhere(model.run(x) != expected)
        assert len(wrong) == 0, f"seed {seed}: {len(wrong)} differ, first {wrong[0]}"
        outputs += expected.size
        unclamped += int(np.count_nonzero((expected > -128) & (expected < 127)))
    assert outputs >= _LEAST_OUTPUTS
    assert unclamped >= outputs // 2


def _with_sums(model: MeanModel, sums: np.ndarray) -> tuple[MeanModel, Int8s]:
    """A channel for each sum, of values as equal as they can be."""
    pixels = model.h * model.w
    order = np.arange(pixels)[:, None]
    x = (sums // pixels + (order < sums % pixels)).astype(np.int8)
    return replace(model, c=len(sums)), x.reshape(model.h, model.w, len(sums))


def _scaled(sums: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    scaled = requantize(sums, np.array([multiplier]), np.array([shift]))
    return np.clip(scaled, -128, 127)


@pytest.mark.parametrize("pixels", [(64, 64), (300, 301)])
def test_in_which_precision_scales_and_pixels_are_divided(pixels: tuple[int, int]) -> None:
    """Sums next to ties, of which only those that two other ways would round otherwise: a quotient of
    scales in float32, and an m divided by the pixels to the nearest whole number."""
    n = pixels[0] * pixels[1]
    rng = np.random.default_rng(0)
    floats = nearest = 0
    for _ in range(60):
        output_scale = np.float32(rng.uniform(1e-3, 1e-1))
        input_scale = np.float32(output_scale * np.float32(rng.uniform(1, 2)))
        ratio = float(input_scale) / float(output_scale)
        ties = (np.arange(-100, 100)[:, None] + 0.5) * n / ratio
        sums = np.round(ties + np.arange(-3, 4)).astype(np.int64).ravel()
        expected = _scaled(sums, *mean_multiplier(float(input_scale), float(output_scale), n))
        rough = float(input_scale / output_scale)
        by_floats = _scaled(sums, *mean_multiplier(rough, 1.0, n)) != expected
        multiplier, shift = quantize_multiplier(ratio)
        left = n.bit_length() - 1
        rounded = ((multiplier << left) + n // 2) // n
        by_nearest = _scaled(sums, rounded, shift - left) != expected
        floats += int(np.count_nonzero(by_floats))
        nearest += int(np.count_nonzero(by_nearest))
        telling = by_floats | by_nearest
        if telling.any():
            base = MeanModel(*pixels, 0, input_scale, output_scale, 0, 0)
            model, x = _with_sums(base, sums[telling])
            assert np.array_equal(model.run(x).ravel(), expected[telling])
            assert np.array_equal(model.expected(x).ravel(), expected[telling])
    assert floats > 0
    assert (nearest > 0) is (n & (n - 1) != 0)


_SMALLEST = [
    # values, reference, optimized, XNNPACK
    ((1, 0, 0, 0), 1, 1, 0),  # 0.25 is rounded twice
    ((1, 0, 0), 0, 1, 0),  # a third
    ((1, 0), 1, 1, 0),  # 0.5: up, up, to even
    ((-1, -2), -1, -1, -2),  # and -1.5
]


def _one_row(values: tuple[int, ...]) -> tuple[MeanModel, Int8s]:
    one = np.float32(1)
    model = MeanModel(1, len(values), 1, one, one, 0, 0)
    return model, np.array(values, np.int8).reshape(1, -1, 1)


@pytest.mark.parametrize(("values", "reference"), [line[:2] for line in _SMALLEST])
def test_smallest_means(values: tuple[int, ...], reference: int) -> None:
    model, x = _one_row(values)
    assert model.run(x).item() == model.expected(x).item() == reference


@pytest.mark.extra  # kernels that are picked by the processor
@pytest.mark.parametrize(("values", "reference", "optimized", "xnnpack"), _SMALLEST)
def test_smallest_differences(
    values: tuple[int, ...], reference: int, optimized: int, xnnpack: int
) -> None:
    model, x = _one_row(values)
    got = [model.run(x, kernels).item() for kernels in Kernels]
    assert got == [reference, optimized, xnnpack]


def test_the_sum_wraps() -> None:
    """4200 x 4200 pixels 255 above the zero point are more than an int32 holds."""
    side = 4200
    model = MeanModel(side, side, 1, np.float32(1), np.float32(1), -128, 0)
    x = np.full((side, side, 1), 127, np.int8)
    assert model.run(x).item() == model.expected(x).item() == 12


def test_the_sum_wraps_whatever_the_rounding() -> None:
    """2920 x 2920 pixels 255 above the zero point: 2174232000 is -2120735296 in an int32."""
    side = 2920
    x = np.full((side, side, 1), 127, np.int8)
    for rounding in Rounding:
        p = MeanParameters(-128, 0, *mean_multiplier(0.25, 1.0, side * side), rounding)
        wrapped = (side * side * 255 - 2**32) / (4 * side * side)
        assert abs(mean(MeanGeometry(side, side, 1), p, x).item() - wrapped) < 1


@pytest.mark.parametrize("exponent", [-31, -25, -9, 8, 20, 29])
def test_extreme_scales(exponent: int) -> None:
    model, x = _draw(11)
    output_scale = np.float32(model.input_scale * np.float32(2.0**-exponent * 1.3))
    for zero_point in (-128, 127):
        hostile = MeanModel(
            model.h, model.w, model.c, model.input_scale, output_scale, zero_point, -zero_point - 1
        )
        assert np.array_equal(hostile.run(x), hostile.expected(x))
