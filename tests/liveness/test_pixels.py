# SPDX-License-Identifier: Apache-2.0
"""The per-pixel simulator against those of single scalars, and block release by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from harness.geometry import ConvGeometry, Execution, Pad
from harness.geometry.traversal import output_pixels
from harness.liveness import debt, literal, schedule
from harness.liveness.pixels import Debts, conv_debt, row_and_herringbone
from harness.network.draw import draw_geometry
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

TRAVERSALS = (Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE, Traversal.HERRINGBONE)
BLOCKS = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.HERRINGBONE)


def _drawn(count: int, seed: int) -> list[ConvGeometry]:
    found = itertools.islice(draw_geometry(OpKind.CONV, seed), count)
    return [g for g in found if isinstance(g, ConvGeometry)]


@pytest.mark.parametrize("traversal", TRAVERSALS, ids=lambda t: t.name.lower())
@pytest.mark.parametrize("layout", Layout, ids=lambda part: part.name.lower())
def test_equals_the_simulator_of_scalars(layout: Layout, traversal: Traversal) -> None:
    compared = 0
    for g in _drawn(200, seed=11):
        for order in TapOrder:
            execution = Execution(layout, order, traversal)
            assert conv_debt(g, execution, release="scalar") == debt(
                schedule(OpKind.CONV, g, execution)
            )
            whole = schedule(OpKind.CONV, g, execution, release="pixel")
            assert conv_debt(g, execution) == debt(whole)
            compared += debt(whole) is not None
    assert compared > 200


def test_equals_the_literal_simulator() -> None:
    """Which shares no code with either but the geometry."""
    for g in _drawn(60, seed=12):
        if g.n_in + g.n_out > 800:
            continue
        happened = literal.events(OpKind.CONV, g, Execution(), release="pixel")
        assert conv_debt(g, Execution()) == literal.debt(happened, g.n_in, g.n_out, Traversal.ROW)


def test_the_five_configurations_at_once() -> None:
    row, herringbone = Traversal.ROW, Traversal.HERRINGBONE
    for g in _drawn(200, seed=13):
        padded, dense = Layout.PADDED, Layout.DENSE
        assert row_and_herringbone(g) == Debts(
            padded_gather=conv_debt(g, Execution(padded, TapOrder.GATHER, row)),
            padded_direct=conv_debt(g, Execution(padded, TapOrder.DIRECT, row)),
            dense_gather=conv_debt(g, Execution(dense, TapOrder.GATHER, row)),
            dense_direct=conv_debt(g, Execution(dense, TapOrder.DIRECT, row)),
            herringbone=conv_debt(g, BLOCKS, release="block"),
            herringbone_literal=conv_debt(g, Execution(padded, TapOrder.DIRECT, herringbone)),
        )


def _blocks_by_hand(g: ConvGeometry) -> int:
    """Walks the traversal and takes each output's corner off a picture of the padded input."""
    p = g.pad
    stored = np.ones((g.h_in + p.top + p.bottom, g.w_in + p.left + p.right), dtype=bool)
    freed, worst = 0, -(10**9)
    for turn, pixel in enumerate(output_pixels(g, Traversal.HERRINGBONE).tolist()):
        r, c = divmod(pixel, g.w_out)
        worst = max(worst, (turn + 1) * g.c_out - freed * g.c_in)
        bottom = None if r == g.h_out - 1 else (r + 1) * g.s_h
        right = None if c == g.w_out - 1 else (c + 1) * g.s_w
        corner = stored[r * g.s_h : bottom, c * g.s_w : right]
        assert corner.all(), "nothing is freed twice"
        freed += corner.size
        corner[:] = False
    assert not stored.any()
    return worst


def test_block_release() -> None:
    for g in _drawn(300, seed=14):
        assert conv_debt(g, BLOCKS, release="block") == _blocks_by_hand(g), g


def test_block_release_is_never_earlier_than_the_last_read() -> None:
    """So what is safe by blocks is safe."""
    later = 0
    for g in _drawn(300, seed=15):
        by_blocks, by_reads = conv_debt(g, BLOCKS, release="block"), conv_debt(g, BLOCKS)
        assert by_blocks is not None
        assert by_reads is None or by_blocks >= by_reads
        later += by_reads is None or by_blocks > by_reads
    assert later > 50


def test_what_does_not_exist() -> None:
    g = ConvGeometry(4, 4, 1, 2, 3, 3, pad=Pad.same(1, 1))
    with pytest.raises(ValueError, match="channel by channel"):
        conv_debt(g, Execution(traversal=Traversal.CHANNEL))
    for wrong in (
        replace(BLOCKS, layout=Layout.DENSE),
        replace(BLOCKS, tap_order=TapOrder.GATHER),
        replace(BLOCKS, traversal=Traversal.REVERSE),
    ):
        with pytest.raises(ValueError, match="blocks"):
            conv_debt(g, wrong, release="block")
