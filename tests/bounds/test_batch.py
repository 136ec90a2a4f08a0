# SPDX-License-Identifier: Apache-2.0
"""Many layers at once: the same as one by one, and as the simulator."""

from __future__ import annotations

import numpy as np
import pytest

from harness.bounds import Bound, batch, bound_of, dense
from harness.bounds.batch import geometries_of
from harness.bounds.published import theorem_11
from harness.geometry import ConvGeometry, Execution, Pad
from harness.liveness import debt, schedule
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from tests.bounds.judge import Judge, Window, draw_layers

ORDERS = {TapOrder.GATHER: False, TapOrder.DIRECT: True}


def _rows(found: dict[str, batch.Int64s]) -> list[tuple[int, int | None, int]]:
    return [
        (gap, None if debt == batch.NO_DEBT else debt, workspace)
        for gap, debt, workspace in zip(
            *(found[name].tolist() for name in ("gap", "debt", "workspace")), strict=True
        )
    ]


def _row(bound: Bound) -> tuple[int, int | None, int]:
    return bound.gap, bound.debt, bound.workspace


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name.lower())
def test_equals_the_scalar_forms(order: TapOrder) -> None:
    layers = draw_layers(3_000, seed=11, extent=40, channels=200)
    drawn = geometries_of(layers)
    direct = ORDERS[order]
    scalar = [
        bound_of(OpKind.CONV, g, Execution(Layout.PADDED, order), release="pixel") for g in drawn
    ]
    assert _rows(batch.padded(layers, direct)) == [_row(bound) for bound in scalar]
    assert _rows(batch.dense(layers, direct)) == [_row(dense(g, direct=direct)) for g in drawn]


def test_herringbone_equals_theorem_11() -> None:
    layers = draw_layers(3_000, seed=12, extent=40, channels=200)
    found = _rows(batch.herringbone(layers))
    for g, row in zip(geometries_of(layers), found, strict=True):
        p = g.pad
        n_p = (g.h_in + p.top + p.bottom) * (g.w_in + p.left + p.right) * g.c_in
        printed = theorem_11(g)
        assert row == (printed, printed, printed + n_p), g


def test_herringbone_by_literal_liveness() -> None:
    layers = draw_layers(500, seed=14)
    execution = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.HERRINGBONE)
    found = _rows(batch.herringbone_literal(layers))
    for g, row in zip(geometries_of(layers), found, strict=True):
        steps = schedule(OpKind.CONV, g, execution, release="pixel")
        truth = debt(steps)
        gap = max(0, steps.n_out - steps.n_in, 0 if truth is None else truth)
        assert row == (gap, truth, gap + steps.n_in), g


def test_dual_and_the_way_back() -> None:
    drawn = [ConvGeometry(5, 7, 3, 4, 3, 3, 2, 1, pad=Pad(1, 0, 1, 2)), ConvGeometry(2, 2, 1, 1)]
    layers = batch.layers_of(drawn)
    assert geometries_of(layers) == drawn
    assert [array.tolist() for array in batch.outputs(layers)] == [[3, 2], [7, 2]]
    padded = batch.dual(layers, stores_padding=True)["workspace"]
    assert padded.tolist() == [7 * 9 * 3 + 3 * 7 * 4, 8]
    assert batch.dual(layers, stores_padding=False)["workspace"].tolist() == [105 + 84, 8]


def test_no_layers() -> None:
    layers = batch.layers_of([])
    for found in (
        batch.padded(layers, True),
        batch.dense(layers, False),
        batch.herringbone(layers),
    ):
        assert all(array.shape == (0,) for array in found.values())


def test_large_layers_do_not_wrap() -> None:
    g = ConvGeometry(4096, 4096, 4096, 8192, 3, 3, pad=Pad.same(1, 1))
    layers = batch.layers_of([g])
    assert _rows(batch.dense(layers, False)) == [_row(dense(g, direct=False))]
    assert batch.herringbone(layers)["gap"].tolist() == [theorem_11(g)]
    assert all(array.dtype == np.int64 for array in layers.values())


@pytest.mark.extra
@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.name.lower())
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name.lower())
def test_equals_the_simulator_at_length(judge: Judge, layout: Layout, order: TapOrder) -> None:
    layers = draw_layers(200_000, seed=13)
    form = batch.padded if layout is Layout.PADDED else batch.dense
    release = "pixel" if order is TapOrder.DIRECT else "scalar"
    truth = judge.windows(layers, Window(OpKind.CONV, Execution(layout, order), release))
    assert [debt for _, debt, _ in _rows(form(layers, ORDERS[order]))] == truth
