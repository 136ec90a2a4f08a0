# SPDX-License-Identifier: Apache-2.0
"""The reference against loops that are nothing but the definition, and against known roundings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.geometry import GATHER, ConvGeometry, Execution
from harness.kernels import PLAIN
from harness.reference import (
    ConvParameters,
    convolve,
    convolve_in_place,
    quantize_multiplier,
    requantize,
)
from harness.schema.constants import OpKind, Rounding, TapOrder
from tests.strategies import conv_geometries


def _draw(g: ConvGeometry, seed: int) -> tuple[ConvParameters, np.ndarray]:
    rng = np.random.default_rng(seed)
    scales = [quantize_multiplier(s) for s in rng.uniform(1e-3, 2e-1, g.c_out)]
    p = ConvParameters(
        weights=rng.integers(-127, 128, (g.c_out, g.k_h, g.k_w, g.c_in)).astype(np.int8),
        bias=rng.integers(-2000, 2000, g.c_out).astype(np.int32),
        multiplier=np.array([m for m, _ in scales], np.int32),
        shift=np.array([s for _, s in scales], np.int32),
        input_zero_point=int(rng.integers(-128, 128)),
        output_zero_point=int(rng.integers(-128, 128)),
    )
    return p, rng.integers(-128, 128, (g.h_in, g.w_in, g.c_in)).astype(np.int8)


def _by_definition(g: ConvGeometry, p: ConvParameters, x: np.ndarray) -> np.ndarray:
    out = np.empty((g.h_out, g.w_out, g.c_out), np.int8)
    for r in range(g.h_out):
        for c in range(g.w_out):
            for o in range(g.c_out):
                total = int(p.bias[o])
                for i in range(g.k_h):
                    for j in range(g.k_w):
                        y = r * g.s_h + i * g.d_h - g.pad.top
                        z = c * g.s_w + j * g.d_w - g.pad.left
                        if 0 <= y < g.h_in and 0 <= z < g.w_in:
                            for n in range(g.c_in):
                                real = int(x[y, z, n]) - p.input_zero_point
                                total += real * int(p.weights[o, i, j, n])
                m, s = int(p.multiplier[o]), int(p.shift[o])
                high = math.floor((total * m + 2**30) / 2**31) if s <= 0 else None
                assert high is not None
                value = high
                if s < 0:  # half away from zero
                    value = (abs(high) + (1 << (-s - 1))) >> -s
                    value = -value if high < 0 else value
                out[r, c, o] = max(-128, min(127, value + p.output_zero_point))
    return out


@settings(max_examples=60, deadline=None)
@given(conv_geometries(extent=5, channels=4), st.integers(0, 2**32 - 1))
def test_equals_the_definition(g: ConvGeometry, seed: int) -> None:
    p, x = _draw(g, seed)
    assert np.array_equal(convolve(g, p, x), _by_definition(g, p, x))


@settings(max_examples=100, deadline=None)
@given(
    conv_geometries(), st.integers(0, 2**32 - 1), st.sampled_from(list(TapOrder)), st.integers(0, 9)
)
def test_in_place_is_clean_from_the_debt_on(
    g: ConvGeometry, seed: int, tap_order: TapOrder, more: int
) -> None:
    p, x = _draw(g, seed)
    debt = PLAIN.bound(OpKind.CONV, g, Execution(tap_order=tap_order)).debt
    distance = more + (debt if debt is not None else -g.n_in)
    assert np.array_equal(
        convolve_in_place(g, p, x, distance, Execution(tap_order=tap_order)), convolve(g, p, x)
    )


def test_one_scalar_below_the_debt_shows() -> None:
    """4x1, 1 -> 2 channels, identity weights: at distance 2 pixel 1 overwrites scalar 1 + 1."""
    g = ConvGeometry(4, 1, 1, 2)
    one = quantize_multiplier(1.0)
    p = ConvParameters(
        weights=np.ones((2, 1, 1, 1), np.int8),
        bias=np.zeros(2, np.int32),
        multiplier=np.full(2, one[0], np.int32),
        shift=np.full(2, one[1], np.int32),
        input_zero_point=0,
        output_zero_point=0,
    )
    x = np.array([1, 2, 3, 4], np.int8).reshape(4, 1, 1)
    clean = convolve_in_place(g, p, x, 3, GATHER).ravel()
    assert clean.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    wrong = convolve_in_place(g, p, x, 2, GATHER).ravel()
    assert wrong.tolist() == [1, 1, 2, 2, 3, 3, 3, 3]


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "result"),
    [
        (1000, 2**30, 0, 500),
        (3, 2**30, 0, 2),  # 1.5 rounds up
        (-3, 2**30, 0, -1),  # -1.5 rounds up too: ties are broken once, upwards
        (6, 2**30, -1, 2),  # 3, then 1.5 away from zero
        (-6, 2**30, -1, -2),  # -3, then -1.5 away from zero
        (-7, 2**30, -1, -2),  # -3.5 -> -3, then -1.5 -> -2: two roundings
        (2**31 - 1, 2**31 - 1, -31, 1),
        (-(2**31), 2**31 - 1, -31, -1),
        (5, 2**30, 1, 5),
    ],
)
def test_roundings(x: int, multiplier: int, shift: int, result: int) -> None:
    got = requantize(np.array([x], np.int64), np.array([multiplier]), np.array([shift]))
    assert got.tolist() == [result]


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "result"),
    [
        (3, 2**30, 0, 2),  # 1.5 rounds up
        (-3, 2**30, 0, -1),  # and so does -1.5
        (1, 2**30, -1, 0),  # 0.25, which two roundings take to 1
        (-6, 2**30, -1, -1),  # -1.5, which two roundings take to -2
        (-7, 2**30, -1, -2),
        (2**30, 2**30, 1, 2**30),
        (2**31 - 1, 2**30, 2, -2),  # 2^32 - 2: int32 keeps the low bits
        (-(2**31), 2**31 - 1, -31, -1),
    ],
)
def test_single_rounding(x: int, multiplier: int, shift: int, result: int) -> None:
    arrays = np.array([x], np.int64), np.array([multiplier]), np.array([shift])
    assert requantize(*arrays, Rounding.SINGLE).tolist() == [result]


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "result"),
    [
        (3, 2**30, 0, 1),  # 1.5 towards zero
        (-3, 2**30, 0, -1),
        (-7, 2**30, -1, -1),  # -1.75
        (2**24 + 1, 2**30, 1, 2**24),  # the accumulator becomes a float: ties to even
        (2**24 + 3, 2**30, 1, 2**24 + 4),
        (3, 1431655765, 0, 2),  # m / 2^31 is below 2/3, its float above it: 2.0 and not 1.99...
        (2**31 - 1, 2**30, 1, 2**31 - 1),  # 2^31 as a float saturates
        (-(2**31), 2**30, 2, -(2**31)),
        (5, 0, 0, 0),
    ],
)
def test_truncation(x: int, multiplier: int, shift: int, result: int) -> None:
    arrays = np.array([x], np.int64), np.array([multiplier]), np.array([shift])
    assert requantize(*arrays, Rounding.TRUNCATE).tolist() == [result]


def test_parameters_choose_the_rounding() -> None:
    """-1.5 and 0.25, by each rounding, before a zero point of 10."""
    g = ConvGeometry(1, 1, 1, 2)
    outputs = {}
    for rounding in Rounding:
        p = ConvParameters(
            weights=np.ones((2, 1, 1, 1), np.int8),
            bias=np.array([-6, 1], np.int32),
            multiplier=np.full(2, 2**30, np.int32),
            shift=np.full(2, -1, np.int32),
            input_zero_point=0,
            output_zero_point=10,
            rounding=rounding,
        )
        x = np.zeros((1, 1, 1), np.int8)
        outputs[rounding] = convolve(g, p, x).ravel().tolist()
        assert convolve_in_place(g, p, x, 1, GATHER).ravel().tolist() == outputs[rounding]
    assert outputs == {
        Rounding.DOUBLE: [8, 11],
        Rounding.SINGLE: [9, 10],
        Rounding.TRUNCATE: [9, 10],
    }


@pytest.mark.parametrize(
    ("real", "expected"),
    [
        (1.0, (2**30, 1)),
        (0.5, (2**30, 0)),
        (0.0, (0, 0)),
        (2.0**-40, (0, 0)),
        (-0.25, (-(2**30), -1)),
    ],
)
def test_quantize_multiplier(real: float, expected: tuple[int, int]) -> None:
    assert quantize_multiplier(real) == expected
