# SPDX-License-Identifier: Apache-2.0
"""Outputs that well-known mistakes would give, worked out by hand."""

from __future__ import annotations

import zlib

import numpy as np

from harness.case import Case, make_case
from harness.geometry import ConvGeometry, Pad
from harness.measure.suspects import mistakes
from harness.network import Layer
from harness.plan import Strategy, plan_layer
from harness.reference import ConvParameters

SEED = 5


def _case(pad: Pad, input_zero_point: int, bias: int = 0, relu: bool = False) -> Case:
    """One channel, a kernel of three columns with weights 1, a scale of 2^30 * 2^(-1 - 31) = 1/4, an
    output zero point of 10."""
    layer = Layer("three", ConvGeometry(1, 6, 1, 1, 1, 3, pad=pad))
    parameters = ConvParameters(
        weights=np.ones((1, 1, 3, 1), np.int8),
        bias=np.array([bias], np.int32),
        multiplier=np.array([2**30], np.int32),
        shift=np.array([-1], np.int32),
        input_zero_point=input_zero_point,
        output_zero_point=10,
        activation_min=10 if relu else -128,
    )
    return make_case(plan_layer(layer, Strategy.DUAL), parameters)


def _quarter(total: int) -> int:
    """Rounded twice: a half to nearest, up; then the half of that to nearest, away from zero."""
    half = (total + 1) // 2
    return (abs(half) + 1) // 2 * (1 if half > 0 else -1)


def _crc(values: list[int]) -> int:
    return zlib.crc32(np.array(values, np.int8).tobytes())


def _found(case: Case) -> dict[str, int]:
    return {name.removeprefix("this is the output "): crc for name, crc in mistakes(case, SEED)}


def _sums(case: Case, padding: list[int]) -> list[int]:
    """Of three columns each, before the input's zero point is taken off."""
    (x,) = case.inputs(SEED)
    values = [*padding, *(int(v) for v in x.ravel()), *padding]
    return [sum(values[at : at + 3]) for at in range(len(values) - 2)]


def test_padding_of_zero() -> None:
    case = _case(Pad(left=1, right=1), 40)
    right = [_quarter(s - 120) + 10 for s in _sums(case, [40])]
    assert _crc(right) == zlib.crc32(case.expected(SEED).tobytes())
    wrong = [_quarter(s - 120) + 10 for s in _sums(case, [0])]
    assert _found(case)["with padding of 0 instead of the input's zero point"] == _crc(wrong)


def test_a_clamp_before_the_zero_point() -> None:
    case = _case(Pad(), 0, relu=True)
    right = [max(10, _quarter(s) + 10) for s in _sums(case, [])]
    assert _crc(right) == zlib.crc32(case.expected(SEED).tobytes())
    wrong = [max(10, _quarter(s)) + 10 for s in _sums(case, [])]
    assert _found(case)["clamped before its zero point is added"] == _crc(wrong)


def test_single_rounding() -> None:
    """They part at sums of 1 modulo 4 above 0: twice rounded a quarter more, once a quarter less."""
    (first, *_) = _sums(_case(Pad(), 0), [])
    case = _case(Pad(), 0, bias=1 - first)
    sums = [s + 1 - first for s in _sums(case, [])]
    assert (_quarter(1), (1 + 2) // 4) == (1, 0)
    once = [(s + 2) // 4 + 10 for s in sums]
    assert _found(case)["with single rounding instead of double"] == _crc(once)


def test_where_nothing_would_differ_nothing_is_said() -> None:
    """A zero point of 0, or no padding; no activation that could come too early."""
    for case in (_case(Pad(left=1), 0), _case(Pad(), 40)):
        assert not any("padding" in name for name in _found(case))
