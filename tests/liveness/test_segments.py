# SPDX-License-Identifier: Apache-2.0
"""Segments on values: exact at the gap and with the rings that the formulas say, wrong with less."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from harness.bounds.fused import rings, segment_bound
from harness.bounds.pixel_pull import pixel_pull_bound
from harness.geometry import ConvGeometry, Pad
from harness.geometry.segment import Ring, Segment, Stage
from harness.liveness import collides, debt
from harness.liveness.segment_pixels import run_pixels
from harness.liveness.segment_values import (
    Values,
    draw_values,
    lay_out,
    layer_by_layer,
    run_rows,
)
from harness.liveness.segments import RowMade, first_lost, segment_schedule, walk
from harness.schema.constants import OpKind
from tests.drawn_segments import draw_bottlenecks, draw_segments

MARGINS = (0, 1, 2, 5)  # above the gap


def exact(
    segment: Segment, values: Values, kept: Sequence[Ring], gap: int, onto: int = 0, up: int = 0
) -> bool:
    layout = lay_out(segment, gap, kept, onto, up)
    return np.array_equal(run_rows(segment, values, kept, layout), layer_by_layer(segment, values))


def clean(segment: Segment) -> bool:
    """No dilation, no padding of a kernel or more, no stride beyond it: every pixel is read as F1
    counts it."""
    return all(
        g.d_h == g.d_w == 1 and max(g.pad.top, g.pad.bottom) < g.k_h and g.s_h <= g.k_h
        and max(g.pad.left, g.pad.right) < g.k_w and g.s_w <= g.k_w
        for g in (stage.window for stage in segment.stages)
    )  # fmt: skip


@dataclass
class Bites:
    """Controls that were tried, and those that came out wrong."""

    tried: int = 0
    wrong: int = 0

    def count(self, right: bool) -> None:
        self.tried += 1
        self.wrong += not right


def _check(segments: Sequence[Segment]) -> tuple[Bites, Bites, Bites]:
    """0 unsafe; and what a gap one less, one ring row less, and Y a pixel higher do."""
    gap_less, row_less, raised = Bites(), Bites(), Bites()
    for segment in segments:
        values, kept = draw_values(segment, 3), rings(segment)
        for onto in segment.operands:
            gap = segment_bound(segment, onto).gap
            for margin in MARGINS:
                assert exact(segment, values, kept, gap + margin, onto), (segment, onto, margin)
        bound = segment_bound(segment)
        if clean(segment) and bound.debt is not None and 0 < bound.debt == bound.gap:
            gap_less.count(exact(segment, values, kept, bound.gap - 1))
        if clean(segment) and bound.debt == 0 == bound.gap:
            c = segment.shape(segment.last).c
            raised.count(exact(segment, values, kept, 0, up=c))
        for number, ring in enumerate(kept):
            if ring.rows > 1:
                fewer = [*kept]
                fewer[number] = replace(ring, rows=ring.rows - 1)
                right = exact(segment, values, fewer, bound.gap)
                lost = first_lost(segment, fewer)
                assert right or lost is not None, (segment, ring)
                assert not (right and lost is not None and clean(segment)), (segment, ring)
                row_less.count(right)
    return gap_less, row_less, raised


def test_random_segments() -> None:
    segments = list(itertools.islice(draw_segments(seed=1, most=6), 100))
    gap_less, row_less, raised = _check(segments)
    assert gap_less.wrong == gap_less.tried > 5
    assert raised.wrong == raised.tried > 5
    assert row_less.wrong > 0.7 * row_less.tried > 50


@pytest.mark.extra
def test_many_random_segments() -> None:
    segments = list(itertools.islice(draw_segments(seed=2), 5_000))
    gap_less, row_less, raised = _check(segments)
    assert gap_less.wrong == gap_less.tried > 200
    assert raised.wrong == raised.tried > 200
    assert row_less.wrong > 0.7 * row_less.tried > 2_000
    adding = sum(any(t.kind is OpKind.ADD for t in s.stages) for s in segments)
    assert adding > 1_000


def _check_pixels(segments: Sequence[Segment]) -> tuple[Bites, Bites]:
    gap_less, narrow = Bites(), Bites()
    for segment in segments:
        values, bound = draw_values(segment, 3), pixel_pull_bound(segment)
        wanted = layer_by_layer(segment, values)
        for margin in (0, 1, 3):
            made = run_pixels(segment, values, bound.gap + margin)
            assert np.array_equal(made, wanted), (segment, margin)
        if _tight(segment):
            gap_less.count(np.array_equal(run_pixels(segment, values, bound.gap - 1), wanted))
        g = segment.stages[1].window
        if clean(segment) and _fills(g):
            made = run_pixels(segment, values, bound.gap, narrower=1)
            narrow.count(np.array_equal(made, wanted))
    return gap_less, narrow


def _tight(segment: Segment) -> bool:
    bound = pixel_pull_bound(segment)
    return clean(segment) and bound.debt is not None and 0 < bound.debt == bound.gap


def _fills(g: ConvGeometry) -> bool:
    """Is there a window that lies inside the tensor with all of its columns, more than one, and with
    any of its s newest rows?"""
    starts = [c * g.s_w - g.pad.left for c in range(g.w_out)]
    newest = [r * g.s_h - g.pad.top + g.k_h - g.s_h for r in range(g.h_out)]
    columns = any(0 <= x <= g.w_in - g.k_w for x in starts)
    return g.k_w > 1 and columns and any(-g.s_h < y < g.h_in for y in newest)


def test_pixel_pull() -> None:
    drawn = draw_bottlenecks(seed=1)
    segments = [*itertools.islice(drawn, 80), *itertools.islice(filter(_tight, drawn), 10)]
    gap_less, narrow = _check_pixels(segments)
    assert gap_less.wrong == gap_less.tried > 5
    assert narrow.wrong == narrow.tried > 30


@pytest.mark.extra
def test_pixel_pull_of_many() -> None:
    gap_less, narrow = _check_pixels(list(itertools.islice(draw_bottlenecks(seed=2), 4_000)))
    assert gap_less.wrong == gap_less.tried > 50
    assert narrow.wrong == narrow.tried > 1_000


def test_the_schedule_agrees_with_the_formula() -> None:
    """The schedule knows each tap, F1 rows: of clean segments the debts are the same, but for rows
    that only padding hides; of none is the formula's less."""
    same = 0
    for segment in itertools.islice(draw_segments(seed=5), 400):
        for operand in segment.operands:
            schedule, bound = segment_schedule(segment, operand), segment_bound(segment, operand)
            exactly = debt(schedule)
            assert not collides(schedule, bound.gap)
            if exactly is not None:
                assert exactly <= max(0, bound.debt or 0)
                same += exactly == bound.debt
    assert same > 100


def test_of_operands_that_are_added_inside_the_schedule_is_the_formula() -> None:
    """Clean ones: whole rows of them are read, by the main path or an add that is not the last stage."""
    compared = 0
    for segment in itertools.islice(draw_segments(seed=5), 700):
        for operand in segment.operands:
            bound = segment_bound(segment, operand).debt
            inside = any(adder < segment.last for adder in segment.adders(operand))
            if clean(segment) and inside and bound is not None and bound >= 0:
                assert debt(segment_schedule(segment, operand)) == bound
                compared += 1
    assert compared > 40


def test_rows_are_made_once_and_rings_hold_them() -> None:
    lost = 0
    for segment in itertools.islice(draw_segments(seed=6), 400):
        made = list(walk(segment))
        assert len({(m.stage, m.row) for m in made}) == len(made)
        kept = rings(segment)
        assert first_lost(segment, kept) is None
        for number, ring in enumerate(kept):
            if ring.rows > 1:
                fewer = [*kept]
                fewer[number] = replace(ring, rows=ring.rows - 1)
                lost += first_lost(segment, fewer) is not None
    assert lost > 300


def test_the_walk_of_a_block_by_hand() -> None:
    """3 rows, kernel 3, padding 1: rows 0 and 1 are expanded before the first depthwise row."""
    window = ConvGeometry(3, 2, 2, 2, 3, 3, pad=Pad.same(1, 1))
    segment = Segment(
        (Stage(OpKind.CONV, ConvGeometry(3, 2, 1, 2)), Stage(OpKind.DEPTHWISE, window))
    )
    assert list(walk(segment)) == [
        RowMade(1, 0, 0), RowMade(1, 1, 0), RowMade(2, 0, 0),
        RowMade(1, 2, 1), RowMade(2, 1, 1), RowMade(2, 2, 2),
    ]  # fmt: skip
    lost = first_lost(segment, [Ring(1, 2, 2, 2)])
    assert lost is not None
    assert (lost.stage, lost.row, lost.wants, lost.holds) == (2, 1, (1, 0), (1, 2))
    assert first_lost(segment, [Ring(1, 3, 2, 2)]) is None
    assert first_lost(segment, []) is not None


def test_a_guest_that_is_wider_than_its_host_is_lost() -> None:
    window = ConvGeometry(4, 2, 2, 2, 3, 1, pad=Pad(1, 1, 1, 1))
    segment = Segment(
        (
            Stage(OpKind.CONV, ConvGeometry(4, 2, 1, 2)),
            Stage(OpKind.DEPTHWISE, window),
            Stage(OpKind.CONV, ConvGeometry(4, 4, 2, 1)),
        )
    )
    assert first_lost(segment, rings(segment)) is None
    lost = first_lost(segment, [Ring(1, 3, 2, 2, guest=2)])
    assert lost is not None
    assert lost.stage == 2
