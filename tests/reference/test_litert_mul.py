# SPDX-License-Identifier: Apache-2.0
"""Multiplication against LiteRT and against its definition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from harness.geometry import ElementwiseGeometry, Shape
from harness.reference import MulParameters, mul_parameters, multiply
from harness.schema.constants import Rounding
from tests.reference import litert_elementwise as models
from tests.reference.litert import Activation, Int8s, Kernels
from tests.reference.litert_elementwise import OpModel, Tensor, scaled

_MODELS = 160
_LEAST_OUTPUTS = 150_000
_XNNPACK = pytest.mark.extra  # picks its kernels by the processor


@dataclass(frozen=True, eq=False)
class Multiplication:
    a: Tensor
    b: Tensor
    y: Tensor
    activation: Activation = Activation.NONE

    @property
    def geometry(self) -> ElementwiseGeometry:
        s = self.a.shape
        return ElementwiseGeometry(s.h, s.w, s.c, 2, broadcast=self.b.shape != s)

    def model(self) -> OpModel:
        return models.multiply(self.a, self.b, self.y, self.activation)

    def parameters(self, rounding: Rounding = Rounding.DOUBLE) -> MulParameters:
        return mul_parameters(
            self.a.scale, self.a.zero_point, self.b.scale, self.b.zero_point,
            self.y.scale, self.y.zero_point,
            models.activation_range(self.activation, self.y), rounding,
        )  # fmt: skip

    def real_multiplier(self) -> np.float32:
        product = np.float32(self.a.scale) * np.float32(self.b.scale)
        return np.float32(product / np.float32(self.y.scale))

    def wrong(self, kernels: Kernels, a: Int8s, b: Int8s) -> int:
        expected = multiply(self.geometry, self.parameters(), a, b)
        return int(np.count_nonzero(models.run(self.model(), kernels, a, b) != expected))

    def by_floats(self, a: Int8s, b: Int8s) -> Int8s:
        """The product of integers times the multiplier in float32, to nearest even."""
        product = (a.astype(int) - self.a.zero_point) * (b.astype(int) - self.b.zero_point)
        steps = np.rint(product.astype(np.float32) * self.real_multiplier()).astype(int)
        limits = models.activation_range(self.activation, self.y)
        return np.clip(steps + self.y.zero_point, *limits).astype(np.int8)


def _draw(seed: int) -> tuple[Multiplication, Int8s, Int8s]:
    """Every third has a broadcast operand; multipliers from 2^-14 to 2^5."""
    rng = np.random.default_rng(seed)
    shape = Shape(*(int(n) for n in rng.integers(1, 22, 3)))
    second = Shape(1, 1, shape.c) if seed % 3 == 0 else shape
    scale, other = (float(np.exp(rng.uniform(-9, 1))) for _ in range(2))
    output = scale * other * float(2.0 ** rng.uniform(-5, 14))
    one = Multiplication(
        Tensor(shape, scale, models.zero_point(rng)),
        Tensor(second, other, models.zero_point(rng)),
        Tensor(shape, output, models.zero_point(rng)),
        list(Activation)[int(rng.integers(3))],
    )
    return one, models.int8s(rng, shape), models.int8s(rng, second)


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Multiplication, Int8s, Int8s]]:
    return [_draw(seed) for seed in range(_MODELS)]


def test_equals_the_reference_kernels(drawn: list[tuple[Multiplication, Int8s, Int8s]]) -> None:
    outputs = 0
    for seed, (one, a, b) in enumerate(drawn):
        wrong = one.wrong(Kernels.REFERENCE, a, b)
        assert wrong == 0, f"seed {seed}: {wrong} differ"
        outputs += a.size
    assert outputs >= _LEAST_OUTPUTS


def test_the_models_cover_what_they_should(
    drawn: list[tuple[Multiplication, Int8s, Int8s]],
) -> None:
    ones = [one for one, _, _ in drawn]
    for tensors in ([one.a for one in ones], [one.b for one in ones]):
        for zero_point in (-128, 127):
            assert sum(tensor.zero_point == zero_point for tensor in tensors) >= 20
    for activation in Activation:
        for broadcast in (True, False):
            assert any(
                one.activation is activation and one.geometry.broadcast is broadcast for one in ones
            )
    multipliers = [one.real_multiplier() for one in ones]
    assert min(multipliers) < 2.0**-12 and sum(real >= 1 for real in multipliers) >= 20
    assert sum(one.a.shape.c % 2 for one in ones) >= 50


@pytest.mark.parametrize("scales", [(1, 1, 4), (1, 1, 3), (0.3, 0.1, 0.4), (1, 1, 2.0**-14)])
@pytest.mark.parametrize("zero_points", [(0, 0, 0), (-128, 127, -128), (127, 127, 127)])
def test_every_pair_of_values(
    scales: tuple[float, float, float], zero_points: tuple[int, int, int]
) -> None:
    """Ratios full of ties, where two roundings show, some that are not, and a left shift of 15."""
    tensors = (Tensor(Shape(256, 256, 1), *of) for of in zip(scales, zero_points, strict=True))
    assert Multiplication(*tensors).wrong(Kernels.REFERENCE, *models.all_pairs()) == 0


def test_equals_the_definition(drawn: list[tuple[Multiplication, Int8s, Int8s]]) -> None:
    checked = 0
    for one, a, b in drawn[:60]:
        g, p = one.geometry, one.parameters()
        y = multiply(g, p, a, b)
        for index in list(np.ndindex(a.shape))[:40]:
            other = b[0, 0, index[2]] if g.broadcast else b[index]
            product = (int(a[index]) - p.zero_point_1) * (int(other) - p.zero_point_2)
            value = scaled(product, p.output_multiplier, p.output_shift) + p.output_zero_point
            assert y[index] == max(p.activation_min, min(p.activation_max, value))
            checked += 1
    assert checked >= 1000


def test_operands_of_another_size_are_refused() -> None:
    p = mul_parameters(1.0, 0, 1.0, 0, 1.0, 0)
    x = np.zeros((2, 2, 3), np.int8)
    with pytest.raises(ValueError, match="reshape"):
        multiply(ElementwiseGeometry(2, 2, 3, 2, broadcast=True), p, x, x)


# ---- where LiteRT's kernels part ----


@_XNNPACK
@pytest.mark.parametrize(
    ("output_scale", "a", "double", "single", "xnnpack"),
    [
        (4.0, 1, 1, 0, 0),  # two roundings take 0.25 to 0.5 and to 1
        (2.0, 1, 1, 1, 0),  # a tie: up, and to even
        (2.0, 3, 2, 2, 2),
        (2.0, -3, -1, -1, -2),
    ],
)
def test_smallest_differences(
    output_scale: float, a: int, double: int, single: int, xnnpack: int
) -> None:
    tensor = Tensor(Shape(1, 1, 1))
    one = Multiplication(tensor, tensor, Tensor(tensor.shape, output_scale))
    xs = np.full((1, 1, 1), a, np.int8), np.ones((1, 1, 1), np.int8)
    assert multiply(one.geometry, one.parameters(), *xs).item() == double
    assert multiply(one.geometry, one.parameters(Rounding.SINGLE), *xs).item() == single
    assert models.run(one.model(), Kernels.REFERENCE, *xs).item() == double
    assert models.run(one.model(), Kernels.XNNPACK, *xs).item() == xnnpack


@_XNNPACK
def test_xnnpack_multiplies_floats(drawn: list[tuple[Multiplication, Int8s, Int8s]]) -> None:
    for seed, (one, a, b) in enumerate(drawn):
        output = models.run(one.model(), Kernels.XNNPACK, a, b)
        assert np.array_equal(output, one.by_floats(a, b)), f"seed {seed}"
