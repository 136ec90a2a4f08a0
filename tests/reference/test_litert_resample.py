# SPDX-License-Identifier: Apache-2.0
"""Nearest-neighbour upsampling against LiteRT and against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from harness.geometry import Shape, UpsampleGeometry
from harness.reference import upsample
from tests.reference import litert_elementwise as models
from tests.reference.litert import Int8s, Kernels
from tests.reference.litert_elementwise import Tensor

_MODELS = 80
_LEAST_OUTPUTS = 500_000


def _draw(seed: int) -> tuple[UpsampleGeometry, Int8s]:
    rng = np.random.default_rng(seed)
    h, w, c = (int(n) for n in rng.integers(1, 18, 3))
    g = UpsampleGeometry(h, w, c, *(int(n) for n in rng.integers(1, 9, 2)))
    return g, models.int8s(rng, Shape(h, w, c))


@pytest.mark.parametrize("half_pixel_centers", [False, True])
def test_equals_the_reference_kernels(half_pixel_centers: bool) -> None:
    outputs = 0
    for seed in range(_MODELS):
        g, x = _draw(seed)
        rng = np.random.default_rng(seed)
        tensor = Tensor(g.inputs[0], 0.1, models.zero_point(rng))
        model = models.upsample(tensor, g.f_h, g.f_w, half_pixel_centers)
        expected = models.run(model, Kernels.REFERENCE, x)
        assert np.array_equal(upsample(g, x), expected), f"seed {seed}: {g}"
        outputs += expected.size
    assert outputs >= _LEAST_OUTPUTS


def test_equals_the_definition() -> None:
    for seed in range(10):
        g, x = _draw(seed)
        y = upsample(g, x)
        assert y.shape == (g.output.h, g.output.w, g.output.c)
        for r, c, channel in np.ndindex(y.shape):
            assert y[r, c, channel] == x[r // g.f_h, c // g.f_w, channel]


def test_smallest_factor_at_which_litert_repeats_a_pixel_too_often() -> None:
    """41: LiteRT multiplies by 1/41 as float32, and 41 * that is below 1. With half pixel centers it
    does not."""
    g = UpsampleGeometry(2, 1, 1, 41, 1)
    x = np.array([5, 9], np.int8).reshape(2, 1, 1)
    tensor = Tensor(Shape(2, 1, 1))
    expected = [5] * 41 + [9] * 41
    assert upsample(g, x).ravel().tolist() == expected
    assert (
        models.run(models.upsample(tensor, 41, 1, True), Kernels.REFERENCE, x).ravel().tolist()
        == expected
    )
    litert = models.run(models.upsample(tensor, 41, 1), Kernels.REFERENCE, x).ravel().tolist()
    assert litert == [5] * 42 + [9] * 40
    for factor in range(1, 41):
        model = models.upsample(tensor, factor, 1)
        assert (
            models.run(model, Kernels.REFERENCE, x).ravel().tolist() == [5] * factor + [9] * factor
        )
