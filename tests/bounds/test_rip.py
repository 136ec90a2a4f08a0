# SPDX-License-Identifier: Apache-2.0
"""The closed form against the paper's worked examples, measured traps, and the literal simulator."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from harness.bounds import dense, dense_scalar_direct, round_up
from harness.geometry import DIRECT, GATHER, ConvGeometry, Execution, Pad
from harness.liveness import literal
from harness.schema.constants import OpKind
from tests.strategies import conv_geometries


@pytest.mark.parametrize(
    ("geometry", "direct", "gap", "debt"),
    [
        # MCUNet-in0's stem: the gap is set by the debt, not by the sizes
        (ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1)), False, 7185, 7185),
        # a 1x1 layer that shrinks: no gap needed, right at -48
        (ConvGeometry(12, 12, 64, 16), False, 0, -48),
        # bounds.md: 3x3 s2 p1 80x80 3->16 and 3x3 s1 p1 32x32 16->32, gather
        (ConvGeometry(80, 80, 3, 16, 3, 3, 2, 2, pad=Pad.same(1, 1)), False, 6873, 6873),
        (ConvGeometry(32, 32, 16, 32, 3, 3, pad=Pad.same(1, 1)), False, 16896, 16896),
        # p >= k_eff, where Theorem 13 is unsafe: printed 4 and 23, truth 5 and 24
        (ConvGeometry(5, 6, 1, 3, 1, 1, 3, 2, pad=Pad.same(0, 2)), False, 5, 5),
        (ConvGeometry(2, 6, 1, 7, 1, 1, 4, 2, pad=Pad.same(0, 2)), True, 24, 24),
        # F.4: the first real pixel is never read, printed 1, truth 0
        (ConvGeometry(1, 1, 1, 1, 1, 2, d_w=2, pad=Pad.same(0, 1)), True, 0, None),
    ],
)
def test_known_layers(geometry: ConvGeometry, direct: bool, gap: int, debt: int | None) -> None:
    bound = dense(geometry, direct=direct)
    assert (bound.gap, bound.debt) == (gap, debt)
    assert bound.workspace == gap + geometry.n_in


def test_the_paper_worked_examples() -> None:
    """Appendix I: VGG-16 conv1_2 and the Inception-v3 stem, sigma 0."""
    vgg = ConvGeometry(224, 224, 64, 64, 3, 3, pad=Pad.same(1, 1))
    assert dense(vgg, direct=False).workspace == 3_225_664
    inception = ConvGeometry(147, 147, 32, 64, 3, 3, pad=Pad.same(1, 1))
    assert dense(inception, direct=False).workspace == 1_387_680


def test_direct_kernel_lies_one_scalar_below_the_paper() -> None:
    geometry = ConvGeometry(20, 20, 144, 24)
    assert dense(geometry, direct=True).debt == 24
    assert dense_scalar_direct(geometry).debt == 23


def _simulated(g: ConvGeometry, execution: Execution) -> int | None:
    happened = literal.events(OpKind.CONV, g, execution)
    return literal.debt(happened, g.n_in, g.n_out, execution.traversal)


@settings(max_examples=300, deadline=None)
@given(conv_geometries())
def test_gather_equals_the_literal_simulator(geometry: ConvGeometry) -> None:
    assert dense(geometry, direct=False).debt == _simulated(geometry, GATHER)


@settings(max_examples=300, deadline=None)
@given(conv_geometries())
def test_scalar_direct_equals_the_literal_simulator(geometry: ConvGeometry) -> None:
    assert dense_scalar_direct(geometry).debt == _simulated(geometry, DIRECT)


@pytest.mark.parametrize(
    ("value", "rounded"), [(0, 0), (1, 4), (7185, 7188), (-48, -48), (-47, -44)]
)
def test_round_up(value: int, rounded: int) -> None:
    assert round_up(value, 4) == rounded
