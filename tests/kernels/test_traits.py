# SPDX-License-Identifier: Apache-2.0
"""What is known of the plain kernels beforehand: bounds, scratch, and what a runner must contain."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from harness.bounds import dense, dense_scalar_direct
from harness.geometry import (
    DIRECT,
    GATHER,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.kernels import (
    PLAIN,
    closed_form,
    executions,
    kernel_set,
    operands_to_share,
    schedule_of,
)
from harness.liveness import debt
from harness.network import Layer
from harness.schema.constants import Layout, OpKind, Rounding, TapOrder, Traversal
from tests.layers import SHARING, layers

CHANNEL = Execution(traversal=Traversal.CHANNEL)
REVERSE = Execution(traversal=Traversal.REVERSE)
CONV = ConvGeometry(5, 6, 3, 4, 3, 2, d_h=2, pad=Pad(1, 1, 1, 1))


@pytest.mark.parametrize(
    ("kind", "geometry", "execution", "scratch"),
    [
        (OpKind.CONV, CONV, GATHER, 18),  # a field, 3 * 2 * 3
        (OpKind.CONV, CONV, REVERSE, 18),
        (OpKind.CONV, CONV, DIRECT, 0),
        (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 2), GATHER, 18),
        (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 2), DIRECT, 0),
        (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 2), CHANNEL, 18),  # 3 rows of 6
        (OpKind.DEPTHWISE, ConvGeometry(5, 6, 3, 3, 3, 2, d_h=2), CHANNEL, 30),
        (OpKind.MAX_POOL, ConvGeometry(5, 6, 3, 3, 3, 2), DIRECT, 0),
        (OpKind.FULLY_CONNECTED, ConvGeometry(1, 1, 30, 4), DIRECT, 0),
        (OpKind.ADD, ElementwiseGeometry(5, 6, 3, 2), GATHER, 0),
        (OpKind.SOFTMAX, ElementwiseGeometry(5, 6, 3), GATHER, 0),
        (OpKind.MEAN, MeanGeometry(5, 6, 3), GATHER, 12),
        (OpKind.UPSAMPLE, UpsampleGeometry(5, 6, 3), REVERSE, 3),
        (OpKind.CONCAT, ConcatGeometry(5, 6, (3, 4)), GATHER, 7),
        (OpKind.PAD, PadGeometry(5, 6, 3, Pad(1, 1, 1, 1)), GATHER, 3),
    ],
)
def test_scratch(kind: OpKind, geometry: Geometry, execution: Execution, scratch: int) -> None:
    assert PLAIN.scratch_bytes(kind, geometry, execution) == scratch


def test_closed_forms_are_all_but_herringbone() -> None:
    for layout in Layout:
        for order in TapOrder:
            for traversal in Traversal:
                way = Execution(layout, order, traversal)
                assert closed_form(way) == (traversal is not Traversal.HERRINGBONE)
    assert PLAIN.bound(OpKind.CONV, CONV, GATHER) == dense(CONV, direct=False)
    assert PLAIN.bound(OpKind.CONV, CONV, DIRECT) == dense_scalar_direct(CONV)


@given(layer=layers(SHARING))
@settings(max_examples=150, deadline=None)
def test_bounds_are_the_simulators(layer: Layer) -> None:
    """Whatever they are made of; the workspace holds both tensors."""
    kind, geometry = layer.kind, layer.geometry
    for way in executions(kind, geometry):
        for onto in operands_to_share(kind, geometry):
            bound, steps = (
                PLAIN.bound(kind, geometry, way, onto),
                schedule_of(kind, geometry, way, onto),
            )
            assert bound.debt == debt(steps)
            assert bound.gap == max(0, steps.n_out - steps.n_in, bound.debt or 0)
            assert bound.workspace == bound.gap + steps.n_in >= steps.n_out
            assert 0 <= bound.sigma < steps.unit


def test_operands_of_full_size() -> None:
    assert operands_to_share(OpKind.ADD, ElementwiseGeometry(2, 2, 3, 2)) == (0, 1)
    assert operands_to_share(OpKind.MUL, ElementwiseGeometry(2, 2, 3, 2, True)) == (0,)
    assert operands_to_share(OpKind.MUL, ElementwiseGeometry(1, 1, 3, 2, True)) == (0,)
    assert operands_to_share(OpKind.CONCAT, ConcatGeometry(2, 2, (1, 2, 3))) == (0, 1, 2)


def test_kernel_sets() -> None:
    """What is made of the same sources, and the memmove: every runner can shift an operand."""
    for kind in (OpKind.ADD, OpKind.MUL):
        names = {f"plain_{kind.name.lower()}_{rounding}" for rounding in ("double", "single")}
        for way in (GATHER, REVERSE):
            assert kernel_set(kind, way, Rounding.SINGLE).names == {*names, "plain_move"}
    rows = {f"plain_conv_{o}_{r}" for o in ("gather", "direct") for r in ("double", "single")}
    walk = {"plain_conv_walk_gather", "plain_conv_walk_direct", "plain_move"}
    rows |= {"plain_move"}
    for way, rounding, names in (
        (GATHER, Rounding.DOUBLE, rows),
        (DIRECT, Rounding.SINGLE, rows),
        (Execution(Layout.PADDED), Rounding.DOUBLE, rows),
        (GATHER, Rounding.TRUNCATE, walk),
        (REVERSE, Rounding.DOUBLE, walk),
        (CHANNEL, Rounding.DOUBLE, {"plain_move"}),
    ):
        assert kernel_set(OpKind.CONV, way, rounding).names == names
