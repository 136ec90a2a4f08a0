# SPDX-License-Identifier: Apache-2.0
"""The fast simulator against the literal one and known gaps, and on collisions found by hand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.bounds import dense, dense_scalar_direct
from harness.errors import ConfigError
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
from harness.liveness import Release, Schedule, collides, debt, first_collision, literal, schedule
from harness.results import Collision
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from tests.drawn import WAYS, Way, draw_geometry
from tests.strategies import conv_geometries

REVERSED = Execution(traversal=Traversal.REVERSE)
BY_CHANNEL = Execution(traversal=Traversal.CHANNEL)
INCEPTION_POOL = ConvGeometry(35, 35, 192, 192, 3, 3, pad=Pad.same(1, 1))


def _check(fast: Schedule, happened: list[literal.Event], distances: list[int]) -> int | None:
    """Debt, and the first collision at these distances and around the debt."""
    writes = [step for what, _, step in happened if what == "write"]
    assert writes == [number // fast.unit for number in range(fast.n_out)]
    least = literal.debt(happened, fast.n_in, fast.n_out, fast.traversal)
    assert debt(fast) == least
    around = [] if least is None else [fast.distance(least), fast.distance(least - 1)]
    for distance in (*distances, *around):
        found = first_collision(fast, distance)
        by_hand = literal.collisions(happened, distance)
        assert (found is not None) == bool(by_hand) == collides(fast, distance)
        if found is not None:
            assert (found.writer, found.address, found.last_reader) == by_hand[0]
            assert found.live == found.address - distance
    return least


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_equals_the_literal_simulator(way: Way) -> None:
    rng = random.Random(str(way))
    debts = 0
    for _ in range(150):
        g = draw_geometry(way, rng)
        fast = schedule(way.kind, g, way.execution, way.onto)
        happened = literal.events(way.kind, g, way.execution, way.onto)
        distances = [0, *(rng.randint(-fast.n_in, fast.n_out) for _ in range(3))]
        debts += _check(fast, happened, distances) is not None
    never = way.kind in (OpKind.MEAN, OpKind.FULLY_CONNECTED)
    assert (debts == 0 if way.kind is OpKind.MEAN else debts > 0) if never else debts > 75


@settings(max_examples=200, deadline=None)
@given(conv_geometries(extent=5, channels=4), st.sampled_from(list(Traversal)[:4]), st.booleans())
def test_release_of_whole_pixels_equals_the_literal_simulator(
    g: ConvGeometry, traversal: Traversal, depthwise: bool
) -> None:
    kind = OpKind.DEPTHWISE if depthwise else OpKind.CONV
    if depthwise:
        g = replace(g, c_out=2 * g.c_in)
    execution = Execution(tap_order=TapOrder.DIRECT, traversal=traversal)
    fast = schedule(kind, g, execution, release="pixel")
    _check(fast, literal.events(kind, g, execution, release="pixel"), [0, 3])


def test_names_the_victim() -> None:
    """4x1, 1 -> 2 channels, 1x1: pixel 0 writes scalars 0 and 1; at distance 1 the second one lands on
    input scalar 0, which is read already, so the first harm is pixel 1 writing 3 onto scalar 2."""
    steps = schedule(OpKind.CONV, ConvGeometry(4, 1, 1, 2), GATHER)
    assert debt(steps) == 3
    assert first_collision(steps, 3) is None
    assert first_collision(steps, 1) == Collision(1, 3, 2, 2)


def test_names_the_victim_in_reverse() -> None:
    """The same from the last pixel. At distance 2 the input is at 2 to 5: steps 0 and 1 write 7 to 4,
    onto scalars 3 and 2, which are read; step 2 writes 3 onto its own scalar 1, and 2 onto scalar 0,
    which step 3 reads. One scalar lower nothing happens, and that is 8 - 4 - 1 from the ends."""
    steps = schedule(OpKind.CONV, ConvGeometry(4, 1, 1, 2), REVERSED)
    assert debt(steps) == 3
    assert (steps.distance(3), steps.distance(1)) == (1, 3)
    assert first_collision(steps, 1) is None
    assert first_collision(steps, 2) == Collision(2, 2, 0, 3)


def test_no_collision_is_possible_with_one_output() -> None:
    for traversal in (Traversal.ROW, Traversal.REVERSE):
        execution = Execution(traversal=traversal)
        assert debt(schedule(OpKind.CONV, ConvGeometry(3, 3, 2, 1, 3, 3), execution)) is None


@pytest.mark.parametrize("execution", [GATHER, DIRECT])
def test_a_real_layer(execution: Execution) -> None:
    stem = ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1))
    steps = schedule(OpKind.CONV, stem, execution)
    least = debt(steps)
    assert least == (7208 if execution.direct else 7185)
    assert first_collision(steps, least) is None
    assert first_collision(steps, least - 1) is not None


# ---- convolutions against closed forms, and traversals against each other ----


def _debt(g: ConvGeometry, execution: Execution, release: Release = "scalar") -> int | None:
    return debt(schedule(OpKind.CONV, g, execution, release=release))


@settings(max_examples=300, deadline=None)
@given(conv_geometries())
def test_dense_rows_equal_the_bounds(g: ConvGeometry) -> None:
    assert _debt(g, GATHER) == dense(g, direct=False).debt
    assert _debt(g, DIRECT) == dense_scalar_direct(g).debt
    assert _debt(g, DIRECT, "pixel") == dense(g, direct=True).debt


@settings(max_examples=300, deadline=None)
@given(conv_geometries(), st.sampled_from(list(TapOrder)))
def test_padded_rows_equal_the_paper(g: ConvGeometry, order: TapOrder) -> None:
    """Theorem 4 as sigma + (w_out - 1) max(0, alpha) + (h_out - 1) max(0, beta)."""
    steps = schedule(OpKind.CONV, g, Execution(Layout.PADDED, order), release="pixel")
    w_p = g.w_in + g.pad.left + g.pad.right
    alpha = g.c_out - g.s_w * g.c_in
    beta = g.w_out * g.c_out - g.s_h * w_p * g.c_in
    sigma = g.c_out if order is TapOrder.DIRECT else 0
    paper = sigma + (g.w_out - 1) * max(0, alpha) + (g.h_out - 1) * max(0, beta)
    least = debt(steps)
    needed = 0 if least is None else least
    assert max(0, needed, steps.n_out - steps.n_in) == max(paper, steps.n_out - steps.n_in)


def _transposed(g: ConvGeometry) -> ConvGeometry:
    p = g.pad
    return ConvGeometry(
        g.w_in, g.h_in, g.c_in, g.c_out, g.k_w, g.k_h, g.s_w, g.s_h, g.d_w, g.d_h,
        Pad(p.left, p.top, p.right, p.bottom),
    )  # fmt: skip


def _flipped(g: ConvGeometry) -> ConvGeometry:
    """From the last pixel on: leading pads become what the last outputs read beyond the image. What
    they leave unread counts as a negative pad, so it is cut off."""
    bottom = (g.h_out - 1) * g.s_h + g.k_h_eff - g.pad.top - g.h_in
    right = (g.w_out - 1) * g.s_w + g.k_w_eff - g.pad.left - g.w_in
    assume(bottom >= 0 and right >= 0)
    return replace(g, pad=Pad(bottom, right, g.pad.top, g.pad.left))


@settings(max_examples=300, deadline=None)
@given(conv_geometries(), st.sampled_from(list(Layout)), st.sampled_from(list(TapOrder)))
def test_columns_are_rows_of_the_transposed(
    g: ConvGeometry, layout: Layout, order: TapOrder
) -> None:
    columns = _debt(g, Execution(layout, order, Traversal.COLUMN))
    assert columns == _debt(_transposed(g), Execution(layout, order))


@settings(max_examples=300, deadline=None)
@given(conv_geometries(), st.sampled_from(list(TapOrder)))
def test_reverse_is_the_flipped_image(g: ConvGeometry, order: TapOrder) -> None:
    flipped = _flipped(g)
    assert _debt(g, Execution(Layout.DENSE, order, Traversal.REVERSE)) == _debt(
        flipped, Execution(tap_order=order)
    )


@pytest.mark.parametrize(
    ("traversal", "padded", "unpadded"),
    [
        (Traversal.ROW, 18_624, 25_152),
        (Traversal.COLUMN, 6_336, 19_008),
        (Traversal.HERRINGBONE, 8_640, 19_584),
    ],
)
def test_a_7x1_of_inception_in_each_order(traversal: Traversal, padded: int, unpadded: int) -> None:
    """In direct order with the taps of a pixel released together. By columns it needs less than in
    herringbone order."""
    g = ConvGeometry(17, 17, 128, 192, 7, 1, pad=Pad.same(3, 0))
    for layout, gap in ((Layout.PADDED, padded), (Layout.DENSE, unpadded)):
        execution = Execution(layout, TapOrder.DIRECT, traversal)
        steps = schedule(OpKind.CONV, g, execution, release="pixel")
        least = debt(steps)
        assert least is not None
        assert max(0, least, steps.n_out - steps.n_in) == gap


# ---- the other operators ----


@pytest.mark.parametrize(
    ("kind", "geometry", "onto", "forward", "reverse"),
    [
        (OpKind.ADD, ElementwiseGeometry(4, 5, 6, 2), 0, 0, 0),
        (OpKind.MUL, ElementwiseGeometry(4, 5, 6, 2), 1, 0, 0),
        (OpKind.TABLE, ElementwiseGeometry(4, 5, 6), 0, 0, 0),
        (OpKind.TABLE, ElementwiseGeometry(1, 1, 1), 0, None, None),
        (OpKind.SOFTMAX, ElementwiseGeometry(4, 5, 6), 0, 0, 0),
        (OpKind.SOFTMAX, ElementwiseGeometry(1, 1, 6), 0, 0, 0),
        (OpKind.MEAN, MeanGeometry(4, 5, 6), 0, None, None),
        # (pixels - 1) (c_out - c_operand), both ways
        (OpKind.CONCAT, ConcatGeometry(3, 4, (2, 5)), 0, 11 * 5, 11 * 5),
        (OpKind.CONCAT, ConcatGeometry(3, 4, (2, 5)), 1, 11 * 2, 11 * 2),
        (OpKind.CONCAT, ConcatGeometry(1, 1, (2, 5)), 0, None, None),
        # n_out - n_in: forwards the ends meet, in reverse the bases do
        (OpKind.UPSAMPLE, UpsampleGeometry(3, 4, 5, 2, 2), 0, 36 * 5, 36 * 5),
        # input pixels 0 and 11 are copied to 7 and 22 of 0 to 35
        (OpKind.PAD, PadGeometry(3, 4, 2, Pad(1, 1, 2, 1)), 0, (22 - 11) * 2, (35 - 7 - 11) * 2),
        # Inception-v3's same average pool: (w + 1) c
        (OpKind.AVERAGE_POOL, INCEPTION_POOL, 0, 36 * 192, 36 * 192),
    ],
)
def test_known_debts(
    kind: OpKind, geometry: Geometry, onto: int, forward: int | None, reverse: int | None
) -> None:
    assert debt(schedule(kind, geometry, GATHER, onto)) == forward
    assert debt(schedule(kind, geometry, REVERSED, onto)) == reverse


def test_channel_by_channel_is_right_at_distance_0_and_only_there() -> None:
    """With w_out <= w_in and less padding above than the kernel is high, whatever the stride."""
    rng = random.Random(0)
    way = Way(OpKind.DEPTHWISE, BY_CHANNEL)
    tried = 0
    while tried < 500:
        g = draw_geometry(way, rng)
        assert isinstance(g, ConvGeometry)
        if g.w_out <= g.w_in and g.pad.top < g.k_h_eff:
            steps = schedule(OpKind.DEPTHWISE, g, BY_CHANNEL)
            assert not collides(steps, 0)
            assert debt(steps) in (0, None)
            if g.c_in > 1 and g.pixels_out > 1:
                assert collides(steps, 1)
                tried += 1


def test_channel_by_channel_with_a_wider_output_collides_at_distance_0() -> None:
    """1x2 to 1x4: nothing. 2x1 to 2x3: row 0 writes pixels 0 to 2, and row 1's input is pixel 1."""
    one_row = ConvGeometry(1, 2, 2, 2, pad=Pad.same(0, 1))
    assert not collides(schedule(OpKind.DEPTHWISE, one_row, BY_CHANNEL), 0)
    steps = schedule(OpKind.DEPTHWISE, ConvGeometry(2, 1, 2, 2, pad=Pad.same(0, 1)), BY_CHANNEL)
    assert first_collision(steps, 0) == Collision(writer=0, address=2, live=2, last_reader=1)
    least = debt(steps)
    assert least is not None
    assert not any(collides(steps, distance) for distance in range(least, steps.n_out))
    assert collides(steps, least - 1)


@pytest.mark.parametrize(
    ("kind", "geometry", "execution", "onto"),
    [
        (OpKind.CONV, ConvGeometry(3, 3, 2, 2), BY_CHANNEL, 0),
        (OpKind.DEPTHWISE, ConvGeometry(3, 3, 2, 4), BY_CHANNEL, 0),
        (OpKind.DEPTHWISE, ConvGeometry(3, 3, 2, 3), GATHER, 0),
        (OpKind.MAX_POOL, ConvGeometry(3, 3, 2, 4), DIRECT, 0),
        (OpKind.MAX_POOL, ConvGeometry(3, 3, 2, 2), Execution(Layout.PADDED), 0),
        (OpKind.CONV, ConvGeometry(3, 3, 2, 2), GATHER, 1),
        (OpKind.ADD, ElementwiseGeometry(3, 3, 2, 2, broadcast=True), GATHER, 1),
        (OpKind.TABLE, ElementwiseGeometry(3, 3, 2), GATHER, 1),
        (OpKind.TABLE, ElementwiseGeometry(3, 3, 2), Execution(traversal=Traversal.COLUMN), 0),
        (OpKind.PAD, PadGeometry(3, 3, 2, Pad(1)), Execution(Layout.PADDED), 0),
        (OpKind.CONCAT, ConcatGeometry(3, 3, (1, 1)), GATHER, 2),
        (OpKind.MOVE, ElementwiseGeometry(3, 3, 2), GATHER, 0),
        (OpKind.ADD, ConvGeometry(3, 3, 2, 2), GATHER, 0),
    ],
)
def test_refuses_what_does_not_exist(
    kind: OpKind, geometry: Geometry, execution: Execution, onto: int
) -> None:
    with pytest.raises(ConfigError):
        schedule(kind, geometry, execution, onto)
