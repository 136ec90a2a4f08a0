# SPDX-License-Identifier: Apache-2.0
"""Softmax against LiteRT, against the algorithm in whole numbers one at a time, and against real
numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.errors import ConfigError
from harness.geometry import ElementwiseGeometry, Shape
from harness.reference import softmax, softmax_parameters
from tests.reference import litert_elementwise as models
from tests.reference.litert import Int8s, Kernels
from tests.reference.litert_elementwise import Tensor

_MODELS = 160
_LEAST_OUTPUTS = 150_000
_MOST_CHANNELS = 511  # LiteRT's reference kernel ends the process when a sum reaches 512


def _draw(seed: int) -> tuple[Tensor, float, Int8s]:
    """Channels from 1 to 511, values all over int8 or near its end, in some many equal ones."""
    rng = np.random.default_rng(seed)
    c = int(rng.choice([1, 2, 3, 10, 33, 100, _MOST_CHANNELS]))
    shape = Shape(int(rng.integers(1, 40)), int(rng.integers(1, 3)) if c > 99 else 7, c)
    x = rng.integers(int(rng.integers(-128, 128)), 128, (shape.h, shape.w, c)).astype(np.int8)
    if seed % 3 == 0:
        x = np.where(rng.random(x.shape) < 0.5, x.max(axis=2, keepdims=True), x)
    beta = float(np.float32(rng.uniform(0.1, 3))) if seed % 4 == 0 else 1.0
    return Tensor(shape, float(np.exp(rng.uniform(-12, 2))), models.zero_point(rng)), beta, x


def _litert(
    x: Tensor, values: Int8s, beta: float = 1.0, kernels: Kernels = Kernels.REFERENCE
) -> Int8s:
    return models.run(models.softmax(x, Tensor(x.shape, 1 / 256, -128), beta), kernels, values)


def _ours(x: Tensor, values: Int8s, beta: float = 1.0) -> Int8s:
    g = ElementwiseGeometry(x.shape.h, x.shape.w, x.shape.c)
    return softmax(g, softmax_parameters(float(np.float32(x.scale)), beta), values)


def test_equals_the_reference_kernels() -> None:
    outputs = 0
    for seed in range(_MODELS):
        x, beta, values = _draw(seed)
        wrong = np.argwhere(_ours(x, values, beta) != _litert(x, values, beta))
        assert len(wrong) == 0, f"seed {seed}: {len(wrong)} differ, first {wrong[0]}"
        outputs += values.size
    assert outputs >= _LEAST_OUTPUTS


def test_every_difference_of_two_channels() -> None:
    """511 pixels of two channels, each difference from -255 to 255, at scales that need each shift."""
    first = np.minimum(127, np.arange(-255, 256) + 127)
    second = np.minimum(127, 127 - np.arange(-255, 256))
    values = np.stack([first, second], axis=1).astype(np.int8).reshape(511, 1, 2)
    for exponent in range(-25, 8):
        for part in (1.0, 1.3, 1.9999):
            x = Tensor(Shape(511, 1, 2), part * 2.0**exponent)
            assert np.array_equal(_ours(x, values), _litert(x, values)), x.scale


# where a table of floats, summed in order, gives another result
_APART = [
    (0.006571740377694368, (36, 115), (-33, 32), (-32, 32)),
    (0.125, (114, 69, 117), (-24, -128, 23), (-24, -128, 24)),
    (0.015625, (121, 122, 121, 122), (-65, -64, -65, -64), (-64, -64, -64, -64)),
]


@pytest.mark.parametrize(("scale", "row", "expected", "_by_floats"), _APART)
def test_is_the_fixed_point_algorithm(
    scale: float, row: tuple[int, ...], expected: tuple[int, ...], _by_floats: tuple[int, ...]
) -> None:
    x, values = Tensor(Shape(1, 1, len(row)), scale), np.array(row, np.int8).reshape(1, 1, -1)
    assert tuple(_ours(x, values).ravel()) == expected
    assert tuple(_litert(x, values).ravel()) == expected


@pytest.mark.extra
@pytest.mark.parametrize(("scale", "row", "_expected", "by_floats"), _APART)
def test_the_optimized_kernel_is_not(
    scale: float, row: tuple[int, ...], _expected: tuple[int, ...], by_floats: tuple[int, ...]
) -> None:
    """XNNPACK has no int8 softmax, so that this is what LiteRT runs by default."""
    x, values = Tensor(Shape(1, 1, len(row)), scale), np.array(row, np.int8).reshape(1, 1, -1)
    assert tuple(_litert(x, values, kernels=Kernels.OPTIMIZED).ravel()) == by_floats


# ---- without LiteRT ----


def _product(a: int, b: int) -> int:
    return (a * b + 2**30) // 2**31


def _by_definition(table: list[int], row: list[int]) -> list[int]:
    """The steps of the module's docstring."""
    powers = [table[max(row) - value] for value in row]
    total = sum((power + 2**11) // 2**12 for power in powers)
    zeros = 32 - total.bit_length()
    half = total * 2**zeros // 2
    r = 1515870810 + _product(half, -1010580540)
    for _ in range(3):
        r += 4 * _product(r, 2**29 - _product(half, r))
        assert 0 < r <= 2**30 + 2**10  # nothing on the way needs more than 32 bits
    inverse = min(2 * r, 2**31 - 1)
    e = 35 - zeros
    return [min(255, (_product(inverse, power) + 2 ** (e - 1)) // 2**e) - 128 for power in powers]


def test_equals_the_definition() -> None:
    rng = np.random.default_rng(2)
    for _ in range(150):
        c = int(rng.choice([1, 2, 3, 4, 5, 17, 600]))
        row = rng.integers(int(rng.integers(-128, 128)), 128, c)
        p = softmax_parameters(float(np.exp(rng.uniform(-12, 2))))
        y = softmax(ElementwiseGeometry(1, 1, c), p, row.astype(np.int8))
        assert y.ravel().tolist() == _by_definition(p.table.tolist(), row.tolist())


def _exp_by_definition(x: int) -> int:
    """e^-x, x with 26 fraction bits: x = n / 4 + 1 / 8 - y, and e^y to y^4 in the order of gemmlowp."""
    n = -(-x // 2**24)  # rounded up, less one quarter below
    y = (n * 2**24 - x) * 32 - 2**29 + 2**28
    y2 = _product(y, y)
    quartic = (_product(y2, y2) + 2) // 4
    tail = (_product(quartic + _product(y2, y), round(2**31 / 3)) + y2 + 1) // 2
    eighth = round(2**31 * math.exp(-1 / 8))
    result = eighth + _product(eighth, y + tail)
    for bit in range(7):
        if (n - 1) & 2**bit:
            result = _product(result, round(2**31 * math.exp(-(2.0 ** (bit - 2)))))
    return result


@pytest.mark.parametrize("exponent", [-25, -9, -4, -1, 0, 3, 4])
def test_the_table_equals_the_definition(exponent: int) -> None:
    """For scales that are powers of two the scaled difference is exact, and the last one 15.5."""
    table = softmax_parameters(2.0**exponent).table
    for difference in range(1, 256):
        x = difference * 2 ** (26 + exponent)
        if x <= 31 * 2**25:
            assert table[difference] == _exp_by_definition(x), difference
        else:
            assert table[difference] == 0


@pytest.mark.parametrize("scale", [1e-7, 0.001, 0.0625, 0.3, 1.0, 1.9, 31.0, 1e6])
def test_the_table_is_the_real_function(scale: float) -> None:
    """To the error of a polynomial of degree 4."""
    scale = float(np.float32(scale))
    table = softmax_parameters(scale).table
    assert table.dtype == np.int32 and table[0] == 2**31 - 1
    for difference in range(256):
        real = math.exp(-difference * scale)
        assert abs(int(table[difference]) / 2**31 - real) <= 2.0**-22


def test_is_near_the_real_function() -> None:
    for seed in range(_MODELS):
        x, beta, values = _draw(seed)
        scale = float(np.float32(x.scale)) * beta
        powers = np.exp(scale * (values.astype(float) - values.max(axis=2, keepdims=True)))
        real = powers / powers.sum(axis=2, keepdims=True)
        steps = np.minimum(255, 256 * real) - 128
        assert np.abs(_ours(x, values, beta) - steps).max() <= 0.501


def test_many_channels() -> None:
    """From a sum of 512 on no probability reaches half a step but in theory; 4096 is refused."""
    for c, expected in ((511, -127), (512, -128), (4095, -128)):
        y = _ours(Tensor(Shape(1, 1, c), 0.1), np.full((1, 1, c), 7, np.int8))
        assert (y == expected).all()
    with pytest.raises(ConfigError, match="4096 channels"):
        _ours(Tensor(Shape(1, 1, 4096), 0.1), np.zeros((1, 1, 4096), np.int8))


def test_scales_that_are_too_small() -> None:
    with pytest.raises(ConfigError, match="softmax"):
        softmax_parameters(2.0**-26)
    x = Tensor(Shape(1, 2, 2), 2.0**-26 * 1.01)
    values = np.array([-128, 127, 0, 0], np.int8).reshape(1, 2, 2)
    assert np.array_equal(_ours(x, values), _litert(x, values))
