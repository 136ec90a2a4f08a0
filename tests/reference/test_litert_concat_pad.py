# SPDX-License-Identifier: Apache-2.0
"""Concatenation along the channels and borders, against LiteRT and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from harness.geometry import ConcatGeometry, Pad, PadGeometry, Shape
from harness.reference import concat, pad
from harness.schema.constants import OPERANDS_MAX
from tests.reference import litert_elementwise as models
from tests.reference.litert import Int8s, Kernels
from tests.reference.litert_elementwise import Tensor

_MODELS = 80
_LEAST_OUTPUTS = 60_000


def _draw_concat(seed: int) -> tuple[ConcatGeometry, list[Int8s]]:
    rng = np.random.default_rng(seed)
    h, w = (int(n) for n in rng.integers(1, 18, 2))
    count = seed % OPERANDS_MAX + 1
    g = ConcatGeometry(h, w, tuple(int(n) for n in rng.integers(1, 12, count)))
    return g, [models.int8s(rng, shape) for shape in g.inputs]


def _draw_pad(seed: int) -> tuple[PadGeometry, Int8s, int]:
    """With the zero point, which the border is filled with."""
    rng = np.random.default_rng(seed)
    h, w, c = (int(n) for n in rng.integers(1, 14, 3))
    g = PadGeometry(h, w, c, Pad(*(int(n) for n in rng.integers(0, 5, 4))))
    return g, models.int8s(rng, g.inputs[0]), models.zero_point(rng)


def test_concatenation_equals_the_reference_kernels() -> None:
    outputs = 0
    for seed in range(_MODELS):
        g, xs = _draw_concat(seed)
        model = models.concat(tuple(Tensor(shape, 0.1, 7) for shape in g.inputs))
        expected = models.run(model, Kernels.REFERENCE, *xs)
        assert np.array_equal(concat(g, *xs), expected), f"seed {seed}: {g}"
        outputs += expected.size
    assert outputs >= _LEAST_OUTPUTS


def test_concatenation_equals_the_definition() -> None:
    for seed in range(12):
        g, xs = _draw_concat(seed)
        y = concat(g, *xs)
        for r in range(g.h):
            for c in range(g.w):
                pixel = [int(value) for x in xs for value in x[r, c]]
                assert y[r, c].tolist() == pixel


def test_litert_does_not_requantise_an_operand() -> None:
    """It refuses int8 operands of another quantisation than the output's."""
    shape = Shape(1, 1, 2)
    model = models.concat((Tensor(shape, 0.1, 0), Tensor(shape, 0.1, 1)))
    x = np.zeros((1, 1, 2), np.int8)
    with pytest.raises(RuntimeError, match="zero_point"):
        models.run(model, Kernels.REFERENCE, x, x)


def test_concatenation_refuses_other_operands() -> None:
    g = ConcatGeometry(1, 2, (1, 2))
    x, y = np.zeros((1, 2, 1), np.int8), np.zeros((1, 2, 2), np.int8)
    with pytest.raises(ValueError, match="zip"):
        concat(g, x)
    with pytest.raises(ValueError, match="reshape"):
        concat(g, y, x)


def test_border_equals_the_reference_kernels() -> None:
    outputs = 0
    for seed in range(_MODELS):
        g, x, zero_point = _draw_pad(seed)
        model = models.pad(Tensor(g.inputs[0], 0.1, zero_point), g.pad)
        expected = models.run(model, Kernels.REFERENCE, x)
        assert np.array_equal(pad(g, x, zero_point), expected), f"seed {seed}: {g}"
        value = int(np.random.default_rng(seed).integers(-128, 128))
        model = models.pad(Tensor(g.inputs[0], 0.1, zero_point), g.pad, value)
        expected = models.run(model, Kernels.REFERENCE, x)
        assert np.array_equal(pad(g, x, value), expected), f"seed {seed}: {g}, value {value}"
        outputs += expected.size
    assert outputs >= _LEAST_OUTPUTS


def test_border_equals_the_definition() -> None:
    for seed in range(12):
        g, x, value = _draw_pad(seed)
        y = pad(g, x, value)
        assert y.shape == (g.output.h, g.output.w, g.output.c)
        for r, c, channel in np.ndindex(y.shape):
            above, left = r - g.pad.top, c - g.pad.left
            inside = 0 <= above < g.h and 0 <= left < g.w
            assert y[r, c, channel] == (x[above, left, channel] if inside else value)
