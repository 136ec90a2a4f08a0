# SPDX-License-Identifier: Apache-2.0
"""Addition against LiteRT and against its definition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from harness.errors import ConfigError
from harness.geometry import ElementwiseGeometry, Shape
from harness.reference import AddParameters, add, add_parameters
from harness.schema.constants import Rounding
from tests.reference import litert_elementwise as models
from tests.reference.litert import Activation, Int8s, Kernels
from tests.reference.litert_elementwise import OpModel, Tensor, scaled

_MODELS = 160
_LEAST_OUTPUTS = 150_000
_MOST_APART = 14  # powers of two between the operands' scales, of which XNNPACK takes 10
_XNNPACK = pytest.mark.extra  # picks its kernels by the processor


@dataclass(frozen=True, eq=False)
class Addition:
    a: Tensor
    b: Tensor
    y: Tensor
    activation: Activation = Activation.NONE

    @property
    def geometry(self) -> ElementwiseGeometry:
        s = self.a.shape
        return ElementwiseGeometry(s.h, s.w, s.c, 2, broadcast=self.b.shape != s)

    def model(self) -> OpModel:
        return models.add(self.a, self.b, self.y, self.activation)

    def parameters(self, rounding: Rounding = Rounding.DOUBLE) -> AddParameters:
        return add_parameters(
            self.a.scale, self.a.zero_point, self.b.scale, self.b.zero_point,
            self.y.scale, self.y.zero_point,
            models.activation_range(self.activation, self.y), rounding,
        )  # fmt: skip

    def wrong(self, kernels: Kernels, a: Int8s, b: Int8s, rounding: Rounding) -> int:
        expected = add(self.geometry, self.parameters(rounding), a, b)
        return int(np.count_nonzero(models.run(self.model(), kernels, a, b) != expected))


def _draw(seed: int) -> tuple[Addition, Int8s, Int8s]:
    """Every third has a broadcast operand, every second scales far apart."""
    rng = np.random.default_rng(seed)
    shape = Shape(*(int(n) for n in rng.integers(1, 22, 3)))
    second = Shape(1, 1, shape.c) if seed % 3 == 0 else shape
    scale = float(np.exp(rng.uniform(-9, 1)))
    apart = rng.uniform(-_MOST_APART, _MOST_APART) if seed % 2 else rng.uniform(-1, 1)
    other = scale * float(2.0**apart)
    if seed % 4 < 2:
        scale, other = other, scale
    output = max(scale, other) * float(np.exp(rng.uniform(-3, 2)))
    one = Addition(
        Tensor(shape, scale, models.zero_point(rng)),
        Tensor(second, other, models.zero_point(rng)),
        Tensor(shape, output, models.zero_point(rng)),
        list(Activation)[int(rng.integers(3))],
    )
    return one, models.int8s(rng, shape), models.int8s(rng, second)


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Addition, Int8s, Int8s]]:
    return [_draw(seed) for seed in range(_MODELS)]


def test_equals_the_reference_kernels(drawn: list[tuple[Addition, Int8s, Int8s]]) -> None:
    outputs = 0
    for seed, (one, a, b) in enumerate(drawn):
        wrong = one.wrong(Kernels.REFERENCE, a, b, Rounding.DOUBLE)
        assert wrong == 0, f"seed {seed}: {wrong} differ"
        outputs += a.size
    assert outputs >= _LEAST_OUTPUTS


def test_the_models_cover_what_they_should(drawn: list[tuple[Addition, Int8s, Int8s]]) -> None:
    additions = [one for one, _, _ in drawn]
    for tensors in ([one.a for one in additions], [one.b for one in additions]):
        for zero_point in (-128, 127):
            assert sum(tensor.zero_point == zero_point for tensor in tensors) >= 20
    for activation in Activation:
        for broadcast in (True, False):
            assert any(
                one.activation is activation and one.geometry.broadcast is broadcast
                for one in additions
            )
    ratios = [one.a.scale / one.b.scale for one in additions]
    assert min(ratios) < 2.0**-10 and max(ratios) > 2.0**10
    assert sum(one.a.shape.c % 2 for one in additions) >= 50


@pytest.mark.parametrize("scales", [(1, 1, 2), (1, 0.5, 1), (0.75, 0.5, 1), (0.1, 0.0003, 0.001)])
@pytest.mark.parametrize("zero_points", [(0, 0, 0), (-128, 127, -128), (127, 127, 127)])
def test_every_pair_of_values(
    scales: tuple[float, float, float], zero_points: tuple[int, int, int]
) -> None:
    """Ratios full of ties, where two roundings show, and one that isn't."""
    one = Addition(
        *(Tensor(Shape(256, 256, 1), *of) for of in zip(scales, zero_points, strict=True))
    )
    assert one.wrong(Kernels.REFERENCE, *models.all_pairs(), Rounding.DOUBLE) == 0


def test_the_rounding_shows() -> None:
    one = Addition(*(Tensor(Shape(256, 256, 1), scale) for scale in (1, 1, 2)))
    double, single = (add(one.geometry, one.parameters(r), *models.all_pairs())
                      for r in (Rounding.DOUBLE, Rounding.SINGLE))  # fmt: skip
    assert np.count_nonzero(double != single) == 16512  # half of the sums that are odd and below 0


def test_equals_the_definition(drawn: list[tuple[Addition, Int8s, Int8s]]) -> None:
    checked = 0
    for one, a, b in drawn[:60]:
        g, p = one.geometry, one.parameters()
        y = add(g, p, a, b)
        for index in list(np.ndindex(a.shape))[:40]:
            other = b[0, 0, index[2]] if g.broadcast else b[index]
            total = scaled((int(a[index]) - p.zero_point_1) * 2**20, p.multiplier_1, p.shift_1)
            total += scaled((int(other) - p.zero_point_2) * 2**20, p.multiplier_2, p.shift_2)
            value = scaled(total, p.output_multiplier, p.output_shift) + p.output_zero_point
            assert y[index] == max(p.activation_min, min(p.activation_max, value))
            checked += 1
    assert checked >= 1000


def test_is_the_sum_of_real_numbers(drawn: list[tuple[Addition, Int8s, Int8s]]) -> None:
    for one, a, b in drawn:
        first = (a.astype(float) - one.a.zero_point) * one.a.scale
        second = (b.astype(float) - one.b.zero_point) * one.b.scale
        steps = (first + second) / one.y.scale + one.y.zero_point
        low, high = models.activation_range(one.activation, one.y)
        y = add(one.geometry, one.parameters(), a, b)
        assert np.abs(y - np.clip(steps, low, high)).max() <= 0.51


def test_smallest_output_scale() -> None:
    """LiteRT ends the process with an output multiplier of 1 or more; just below it computes."""
    with pytest.raises(ConfigError, match="too small"):
        add_parameters(1.0, 0, 1.0, 0, 2.0**-19, 0)
    tensor = Tensor(Shape(256, 256, 1))
    one = Addition(tensor, tensor, Tensor(tensor.shape, 2.0**-19 * (1 + 2.0**-23)))
    assert one.wrong(Kernels.REFERENCE, *models.all_pairs(), Rounding.DOUBLE) == 0


def test_operands_of_another_size_are_refused() -> None:
    p = add_parameters(1.0, 0, 1.0, 0, 1.0, 0)
    x = np.zeros((2, 2, 3), np.int8)
    with pytest.raises(ValueError, match="reshape"):
        add(ElementwiseGeometry(2, 2, 3, 2), p, x, x[:1])


# ---- where LiteRT's kernels part ----


@_XNNPACK
def test_smallest_difference() -> None:
    """-1 + 0 on an output scale of 2 is -0.5: XNNPACK takes the tie up, the others away from zero."""
    tensor = Tensor(Shape(1, 1, 1))
    one = Addition(tensor, tensor, Tensor(tensor.shape, 2.0))
    a, b = np.full((1, 1, 1), -1, np.int8), np.zeros((1, 1, 1), np.int8)
    assert add(one.geometry, one.parameters(), a, b).item() == -1
    assert add(one.geometry, one.parameters(Rounding.SINGLE), a, b).item() == 0
    assert models.run(one.model(), Kernels.REFERENCE, a, b).item() == -1
    assert models.run(one.model(), Kernels.XNNPACK, a, b).item() == 0


@_XNNPACK
@pytest.mark.parametrize("scales", [(1, 1, 2), (1, 1, 4), (1, 0.5, 2), (1, 0.25, 0.5)])
def test_xnnpack_is_single_with_powers_of_two(scales: tuple[float, float, float]) -> None:
    one = Addition(*(Tensor(Shape(256, 256, 1), scale) for scale in scales))
    assert one.wrong(Kernels.XNNPACK, *models.all_pairs(), Rounding.SINGLE) == 0
    assert one.wrong(Kernels.XNNPACK, *models.all_pairs(), Rounding.DOUBLE) >= 8000


@_XNNPACK
def test_xnnpack_is_hardly_ever_another_with_drawn_scales(
    drawn: list[tuple[Addition, Int8s, Int8s]],
) -> None:
    outputs = wrong = 0
    for one, a, b in drawn:
        ratios = (one.a.scale / one.y.scale, one.b.scale / one.y.scale)
        if not 2.0**-10 < min(ratios) <= max(ratios) < 2.0**8:
            continue  # XNNPACK leaves these to the others
        wrong += one.wrong(Kernels.XNNPACK, a, b, Rounding.DOUBLE)
        outputs += a.size
    assert outputs >= _LEAST_OUTPUTS // 2 and wrong <= outputs // 10_000
