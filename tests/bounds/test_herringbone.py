# SPDX-License-Identifier: Apache-2.0
"""Herringbone's closed forms on grids of many legs, against the simulator that looks at every pixel."""

from __future__ import annotations

import contextlib
import random

import pytest

from harness.bounds.batch import geometries_of
from harness.bounds.herringbone import block_debt, literal_debt
from harness.bounds.published import theorem_11
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, Pad
from harness.liveness.pixels import conv_debt
from harness.schema.constants import Layout, TapOrder, Traversal
from tests.bounds.judge import draw_layers

DIRECT = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.HERRINGBONE)


def _same(g: ConvGeometry) -> int:
    """How many of the four ways have a debt."""
    known = 0
    for layout in Layout:
        for order in TapOrder:
            direct = order is TapOrder.DIRECT
            truth = conv_debt(g, Execution(layout, order, Traversal.HERRINGBONE))
            closed = literal_debt(g, layout, g.c_out if direct else 0, first=direct)
            assert closed == truth, (g, layout, order)
            known += truth is not None
    assert block_debt(g, g.c_out) == conv_debt(g, DIRECT, release="block"), g
    return known


def _check(count: int, extent: int, channels: int) -> None:
    drawn = geometries_of(draw_layers(count, seed=77, extent=extent, channels=channels))
    assert sum(_same(g) for g in drawn) > 2 * count


def _far_out(count: int) -> int:
    """Padding far beyond the kernel, on any side: whole legs release nothing. Steps of up to 9."""
    rng = random.Random(78)
    found = 0
    while found < count:
        h, w, c_in, c_out = (rng.randint(1, 60) for _ in range(4))
        k_h, k_w = (rng.randint(1, 5) for _ in range(2))
        s_h, s_w, d_h, d_w = (rng.randint(1, 9) for _ in range(4))
        pad = Pad(*(rng.choice((0, rng.randint(1, 60))) for _ in range(4)))
        with contextlib.suppress(ConfigError):  # no output
            g = ConvGeometry(h, w, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, pad)
            if g.pixels_out <= 2_500:
                _same(g)
                found += 1
    return found


def test_equals_the_simulator() -> None:
    _check(400, extent=60, channels=40)


def test_padding_far_beyond_the_kernel() -> None:
    assert _far_out(300) == 300


@pytest.mark.extra
def test_equals_the_simulator_at_length() -> None:
    _check(20_000, extent=60, channels=40)
    _check(2_000, extent=200, channels=300)
    assert _far_out(20_000) == 20_000


@pytest.mark.parametrize(
    "g",
    [
        # taps that end, along an axis, at outputs of their own, with legs of both kinds behind them
        ConvGeometry(38, 11, 18, 29, 3, 2, 9, 2, 1, 9, Pad(0, 0, 0, 59)),
        ConvGeometry(4, 58, 14, 35, 3, 4, 5, 3, 9, 2, Pad(39, 1, 20, 0)),
        ConvGeometry(17, 2, 40, 27, 5, 5, 1, 8, 4, 2, Pad(0, 56, 7, 21)),
        # and the worst of a run of legs is its last one
        ConvGeometry(37, 8, 2, 2, 3, 3, 1, 1, 2, 1, Pad(0, 0, 7, 0)),
    ],
)
def test_taps_that_end_early(g: ConvGeometry) -> None:
    assert _same(g) == 4


@pytest.mark.parametrize(
    ("g", "literal", "blocks"),
    [
        # where the two accounts part: a stride over the kernel, a ragged edge, dilation
        (ConvGeometry(1, 1, 1, 1, 2, 1, 3, 1, 2, 1, Pad.same(2, 0)), 0, 1),
        (ConvGeometry(2, 2, 1, 2, 1, 2, 2, 1), 0, 2),
        # ResNet-50's stem
        (ConvGeometry(224, 224, 3, 64, 7, 7, 2, 2, pad=Pad.same(3, 3)), 644_263, 644_308),
        # the paper's Table 2: 12 x 12, 16 to 17 channels, kernel 9
        (ConvGeometry(12, 12, 16, 17, 9, 9), 20, 20),
    ],
)
def test_known_gaps(g: ConvGeometry, literal: int, blocks: int) -> None:
    debt = literal_debt(g, Layout.PADDED, g.c_out, first=True)
    n_in = (g.h_in + 2 * g.pad.top) * (g.w_in + 2 * g.pad.left) * g.c_in
    assert max(0, g.n_out - n_in, debt if debt is not None else 0) == literal
    assert block_debt(g, g.c_out) == blocks


@pytest.mark.parametrize("channels", [(1, 1), (3, 64), (5, 7), (64, 3), (16, 17)])
def test_a_grid_that_nobody_could_walk(channels: tuple[int, int]) -> None:
    """Without padding, stride, dilation or a ragged edge both accounts are the theorem's."""
    for h, w in ((30_000, 20_000), (20_000, 30_000), (25_000, 25_000)):
        g = ConvGeometry(h, w, *channels, 3, 3)
        printed = theorem_11(g)
        assert literal_debt(g, Layout.PADDED, g.c_out, first=True) == printed
        assert block_debt(g, g.c_out) == printed
