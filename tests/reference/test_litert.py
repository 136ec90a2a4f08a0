# SPDX-License-Identifier: Apache-2.0
"""The reference against LiteRT: `double` is what its reference kernels compute and `single` what
XNNPACK computes, but for ties and overflows, of which the smallest are here (docs/arithmetic.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from harness.reference import convolve
from harness.schema.constants import Rounding
from tests.reference.litert import Activation, ConvModel, Int8s, Kernels, run
from tests.reference.litert_models import negative_model, random_model, tie_model

_MODELS = 480
_TIE_MODELS = 120
_LEAST_OUTPUTS = 50_000
# XNNPACK picks its kernels by the processor: what it computes is looked at in make test-all only.
_XNNPACK = pytest.mark.extra


@dataclass(frozen=True)
class Drawn:
    seed: int
    model: ConvModel
    x: Int8s

    def expected(self, rounding: Rounding) -> Int8s:
        return convolve(self.model.geometry(), self.model.parameters(rounding), self.x)


@pytest.fixture(scope="module")
def drawn() -> list[Drawn]:
    return [Drawn(seed, *random_model(seed)) for seed in range(_MODELS)]


def _check(drawn: list[Drawn], kernels: Kernels, rounding: Rounding) -> int:
    """Outputs compared, all of them equal."""
    outputs = 0
    for one in drawn:
        expected = one.expected(rounding)
        wrong = np.argwhere(run(one.model, kernels, one.x) != expected)
        assert len(wrong) == 0, f"seed {one.seed}: {len(wrong)} differ, first {wrong[0]}"
        outputs += expected.size
    return outputs


def test_double_is_what_the_reference_kernels_compute(drawn: list[Drawn]) -> None:
    assert _check(drawn, Kernels.REFERENCE, Rounding.DOUBLE) >= _LEAST_OUTPUTS


@_XNNPACK
def test_single_is_what_xnnpack_computes(drawn: list[Drawn]) -> None:
    assert _check(drawn, Kernels.XNNPACK, Rounding.SINGLE) >= _LEAST_OUTPUTS


def test_the_models_tell_the_roundings_apart(drawn: list[Drawn]) -> None:
    different = sum(
        int(np.count_nonzero(one.expected(Rounding.DOUBLE) != one.expected(Rounding.SINGLE)))
        for one in drawn
    )
    assert different >= 10


def test_the_models_cover_what_they_should(drawn: list[Drawn]) -> None:
    models = [one.model for one in drawn]
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
    assert sum(bool((model.real_multipliers() >= 1).any()) for model in models) >= 50
    dead = [model for model in models if (model.bias == 2**31 - 1).any()]
    assert len(dead) >= 100
    assert any((model.parameters(Rounding.DOUBLE).multiplier == 0).any() for model in dead)
    assert any(model.weights.shape[0] % 2 and model.weights.shape[3] % 2 for model in models)


def test_negative_filter_scales() -> None:
    models = [Drawn(seed, *negative_model(seed)) for seed in range(40)]
    assert _check(models, Kernels.REFERENCE, Rounding.DOUBLE) > 0


# ---- where LiteRT's kernels part ----


def _one_output(accumulator: int, scale: float, zero_point: int = 0) -> ConvModel:
    """1 x 1, one channel; the input is zero, so that the bias is the accumulator."""
    return ConvModel(
        h_in=1,
        w_in=1,
        weights=np.ones((1, 1, 1, 1), np.int8),
        bias=np.array([accumulator], np.int32),
        filter_scales=np.array([scale], np.float32),
        output_zero_point=zero_point,
    )


_ZERO = np.zeros((1, 1, 1), np.int8)


@_XNNPACK
@pytest.mark.parametrize(
    ("accumulator", "scale", "reference", "xnnpack", "single"),
    [
        (1, 0.25, 1, 0, 0),  # two roundings, 0.25 to 0.5 to 1; one rounds to 0
        (-6, 0.25, -2, -2, -1),
        (1, 0.5, 1, 0, 1),  # a tie: up, and to even
        (-3, 0.5, -1, -2, -1),
        (3, 1.5, 5, 4, 5),
        (3, 0.5, 2, 2, 2),
        (2**31 - 1, 1.0, -1, 127, 127),  # x << 1 wraps in 32 bits
        (2**31 - 1, 1.5, -1, 127, -128),  # and the result in the cast of 64 bits to 32
        (2**31 - 1, 0.9, 127, 127, 127),
        (2**31 - 1, 2.0**-25, 64, 64, 64),
        (2**31 - 1, 2.0**-40, 0, 0, 0),
        (-(2**31), 0.9, -128, -128, -128),
    ],
)
def test_smallest_differences(
    accumulator: int, scale: float, reference: int, xnnpack: int, single: int
) -> None:
    model = _one_output(accumulator, scale)
    assert run(model, Kernels.REFERENCE, _ZERO).item() == reference
    assert run(model, Kernels.XNNPACK, _ZERO).item() == xnnpack
    for rounding, expected in ((Rounding.DOUBLE, reference), (Rounding.SINGLE, single)):
        assert convolve(model.geometry(), model.parameters(rounding), _ZERO).item() == expected


@pytest.mark.parametrize("zero_point", [-128, 127])
@pytest.mark.parametrize("scale", [2.0**-32, 2.0**-31, 2.0**-24, 0.75, 1 - 2.0**-24, 1.0, 3.0])
@pytest.mark.parametrize("accumulator", [2**31 - 1, -(2**31), 2**30, -(2**30)])
def test_overflows_as_the_reference_kernels_do(
    accumulator: int, scale: float, zero_point: int
) -> None:
    model = _one_output(accumulator, scale, zero_point)
    expected = convolve(model.geometry(), model.parameters(Rounding.DOUBLE), _ZERO)
    assert run(model, Kernels.REFERENCE, _ZERO).item() == expected.item()


@_XNNPACK
def test_ties_are_all_that_xnnpack_rounds_otherwise() -> None:
    """Models full of ties: the reference kernels are `double` to the last; XNNPACK takes ties to even
    where `single` takes them up, and differs in nothing else."""
    models = [Drawn(seed, *tie_model(seed)) for seed in range(_TIE_MODELS)]
    _check(models, Kernels.REFERENCE, Rounding.DOUBLE)
    different = 0
    for one in models:
        single = one.expected(Rounding.SINGLE).astype(int)
        xnnpack = run(one.model, Kernels.XNNPACK, one.x).astype(int)
        wrong = xnnpack != single
        different += int(np.count_nonzero(wrong))
        # half up against half to even: one less, where half up gave an odd number
        assert ((single - xnnpack)[wrong] == 1).all()
        assert ((single - one.model.output_zero_point)[wrong] % 2 == 1).all()
    assert different > 0
