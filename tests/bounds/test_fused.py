# SPDX-License-Identifier: Apache-2.0
"""Theorem F1 against the enumeration of its definition, and worked examples by hand."""

from __future__ import annotations

import itertools

import pytest

from harness.bounds.fused import rings, segment_bound
from harness.bounds.pixel_pull import pixel_pull_bound, pixel_pull_scalars
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad
from harness.geometry.segment import Ring, Segment, Stage
from harness.schema.constants import OpKind
from tests.drawn_segments import draw_bottlenecks, draw_segments

CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD


def enumerated(segment: Segment, operand: int) -> int | None:
    """The debt, row of Y by row: what is made by then, and what of the operand is read later on."""
    y, x = segment.shape(segment.last), segment.shape(operand)
    made = [_made(segment, r) for r in range(y.h)]
    debts = []
    for r in range(y.h):
        live = []
        if operand == 0 and made[r][1] < made[-1][1]:
            g = segment.stages[0].window
            live.append(max(0, made[r][1] * g.s_h - g.pad.top))
        for number, stage in enumerate(segment.stages, 1):
            if stage.other == operand and made[r][number] < made[-1][number]:
                live.append(made[r][number])
        debts += [(r + 1) * y.w * y.c - row * x.w * x.c for row in live]
    return max(debts, default=None)


def _made(segment: Segment, row: int) -> dict[int, int]:
    """Of each tensor the rows that must be made before row `row` of Y is stored."""
    rows = {segment.last: row + 1}
    for number in range(segment.last, 1, -1):
        g = segment.stage(number).window
        wanted = (rows[number] - 1) * g.s_h - g.pad.top + g.k_h_eff
        rows[number - 1] = max(0, min(g.h_in, wanted)) if rows[number] else 0
    return rows


def check(segment: Segment) -> int:
    """How many operands were compared."""
    y = segment.shape(segment.last)
    for operand in segment.operands:
        bound, debt = segment_bound(segment, operand), enumerated(segment, operand)
        n_in = segment.shape(operand).size
        assert bound.debt == debt, (segment, operand)
        assert bound.gap == max(0, y.size - n_in, 0 if debt is None else debt)
        assert bound.workspace == bound.gap + n_in
    return len(segment.operands)


def test_the_closed_form_is_the_enumeration() -> None:
    compared = sum(check(s) for s in itertools.islice(draw_segments(seed=1), 800))
    assert compared > 800


@pytest.mark.extra
def test_the_closed_form_is_the_enumeration_of_many() -> None:
    segments = list(itertools.islice(draw_segments(seed=2, most=12), 5_000))
    assert sum(check(segment) for segment in segments) > 5_000
    positive = [s for s in segments if (segment_bound(s).debt or 0) > 0]
    several = [s for s in segments if [t.kind for t in s.stages].count(DEPTHWISE) > 1]
    adding = [s for s in segments if any(t.kind is ADD for t in s.stages)]
    assert min(len(positive), len(several), len(adding)) > 500


def bottleneck(
    h: int, c: int, wide: int, c_out: int, k: int, s: int, *, adds: bool = False
) -> Segment:
    window = ConvGeometry(h, h, wide, wide, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    inner = window.output
    stages = [
        Stage(CONV, ConvGeometry(h, h, c, wide)),
        Stage(DEPTHWISE, window),
        Stage(CONV, ConvGeometry(inner.h, inner.w, wide, c_out)),
    ]
    if adds:
        stages.append(Stage(ADD, ConvGeometry(inner.h, inner.w, c_out, c_out), 0))
    return Segment(tuple(stages))


def test_a_residual_block_needs_no_gap() -> None:
    """Corollary (b), for any kernel."""
    for k, c in itertools.product((1, 3, 5, 7), (1, 8, 24)):
        bound = segment_bound(bottleneck(20, c, 6 * c, c, k, 1, adds=True))
        assert (bound.gap, bound.debt) == (0, 0)


def test_a_block_without_the_add_lies_below_its_input() -> None:
    """Row r of Y ends at (r + 1) 480, and rows from r + 2 on are live: at most 480 - 960, but for the
    last rows, after which nothing is read."""
    assert segment_bound(bottleneck(20, 24, 96, 24, 3, 1)).debt == -480


def test_a_block_that_grows() -> None:
    """8x8x2 to 4x4x16 by 3x3, stride 2: row 0 of Y ends at 64, and rows of X from 2 on are live, 16
    scalars each; row 1: 128 - 4 * 16; row 2: 192 - 6 * 16. Then all is read."""
    bound = segment_bound(bottleneck(8, 2, 4, 16, 3, 2))
    assert (bound.debt, bound.gap) == (96, 8 * 8 * 16 // 4 - 8 * 8 * 2)
    assert bound.gap == 128 > 96


def stem_with_a_kink() -> Segment:
    """7x4 pad 3, then a depthwise stage of stride 2: at row 0 of Y the padding still hides the stem's
    rows, at row 1 no more."""
    stem = ConvGeometry(24, 6, 1, 4, 7, 4, pad=Pad.same(3, 2))
    down = ConvGeometry(24, 7, 4, 4, 3, 3, 2, 2, pad=Pad.same(1, 1))
    return Segment((Stage(CONV, stem), Stage(DEPTHWISE, down)))


def test_the_kink_of_a_stem_is_not_at_an_end() -> None:
    """T_1(r) = 2 r + 2, lambda = 0 at row 0 (T_1 = 2), 1 at row 1 (4 - 3), and 2 more a row: the slope
    of the debt is 4 * 4 - 2 * 6 = 4 from there on."""
    segment = stem_with_a_kink()
    debts = [(r + 1) * 16 - max(0, 2 * r + 2 - 3) * 6 for r in range(11)]
    assert segment_bound(segment).debt == max(debts) == enumerated(segment, 0)


def test_rings_of_a_bottleneck() -> None:
    """k rows; the depthwise row is parked in them. An add reads its source row from a ring of one."""
    assert rings(bottleneck(20, 24, 96, 24, 5, 1, adds=True)) == (
        Ring(1, 5, 20, 96, guest=2),
        Ring(3, 1, 20, 24),
    )
    # shorter than the kernel: none retires, so there is one more
    assert rings(bottleneck(4, 8, 16, 8, 7, 1)) == (Ring(1, 5, 4, 16, guest=2),)
    # the last stage stores to Y, and parks nothing
    expand_only = Segment(bottleneck(4, 8, 16, 8, 7, 1).stages[:2])
    assert rings(expand_only) == (Ring(1, 4, 4, 16),)


def test_rings_of_mcunet_in4s_longest_segment() -> None:
    """Ops 0 to 4: 35,840 bytes, as measured beside the image of 76,800."""
    stem = ConvGeometry(160, 160, 3, 32, 3, 3, 2, 2, pad=Pad.same(1, 1))
    first = ConvGeometry(80, 80, 32, 32, 3, 3, pad=Pad.same(1, 1))
    down = ConvGeometry(80, 80, 48, 48, 7, 7, 2, 2, pad=Pad.same(3, 3))
    segment = Segment(
        (
            Stage(CONV, stem),
            Stage(DEPTHWISE, first),
            Stage(CONV, ConvGeometry(80, 80, 32, 16)),
            Stage(CONV, ConvGeometry(80, 80, 16, 48)),
            Stage(DEPTHWISE, down),
        )
    )
    assert [ring.size for ring in rings(segment)] == [7_680, 1_280, 26_880]
    assert segment_bound(segment).gap == 0


def test_a_skip_that_ends_inside_is_kept_for_as_long_as_the_main_path_is_ahead() -> None:
    """Expand, depthwise k 5 p 2, project, add of tensor 1, expand: tensor 1 stays for 3 rows."""
    shape = (12, 12)
    wide = ConvGeometry(*shape, 16, 16, 5, 5, pad=Pad.same(2, 2))
    segment = Segment(
        (
            Stage(CONV, ConvGeometry(*shape, 3, 4)),
            Stage(CONV, ConvGeometry(*shape, 4, 16)),
            Stage(DEPTHWISE, wide),
            Stage(CONV, ConvGeometry(*shape, 16, 4)),
            Stage(ADD, ConvGeometry(*shape, 4, 4), 1),
            Stage(CONV, ConvGeometry(*shape, 4, 2)),
        )
    )
    assert [(ring.tensor, ring.rows) for ring in rings(segment)] == [
        (1, 3), (2, 5), (4, 1), (5, 1),
    ]  # fmt: skip


def test_pixel_pull_takes_less() -> None:
    """3x3, stride 1: 2 W + 3 pixels instead of 3 W; stride 2: W + 6; and one depthwise pixel."""
    assert pixel_pull_scalars(bottleneck(20, 4, 8, 4, 3, 1)) == (2 * 20 + 3) * 8 + 8
    assert pixel_pull_scalars(bottleneck(20, 4, 8, 4, 3, 2)) == (20 + 6) * 8 + 8
    assert pixel_pull_scalars(bottleneck(20, 4, 8, 4, 7, 2)) == (5 * 20 + 14) * 8 + 8
    assert pixel_pull_bound(bottleneck(20, 24, 144, 24, 3, 1, adds=True)).debt == 0
    for segment in itertools.islice(draw_bottlenecks(seed=4), 300):
        assert pixel_pull_bound(segment).gap >= 0


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ((Stage(CONV, ConvGeometry(4, 4, 1, 2)),), "at least two"),
        (
            (Stage(CONV, ConvGeometry(4, 4, 1, 2)), Stage(CONV, ConvGeometry(4, 4, 3, 2))),
            "the stage before makes 4x4x2",
        ),
        (
            (Stage(CONV, ConvGeometry(4, 4, 2, 2)), Stage(CONV, ConvGeometry(4, 4, 2, 2), 0)),
            "no op of a segment",
        ),
        (
            (Stage(CONV, ConvGeometry(4, 4, 2, 3)), Stage(ADD, ConvGeometry(4, 4, 3, 3), 0)),
            "adds 4x4x2 to 4x4x3",
        ),
        (
            (Stage(CONV, ConvGeometry(4, 4, 2, 2)), Stage(ADD, ConvGeometry(4, 4, 2, 2), 1)),
            "its source or later",
        ),
    ],
)
def test_what_is_no_segment(stages: tuple[Stage, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Segment(stages)


def test_a_skip_must_not_come_too_late() -> None:
    """Three rows of padding on top of a kernel of 4: row 0 of the add wants row 0 of the skip before
    any window has one, but for the last tap."""
    early = ConvGeometry(6, 6, 2, 2, 4, 1, pad=Pad(3, 0, 0, 0))
    late = ConvGeometry(6, 6, 2, 2, 4, 1, s_h=2, pad=Pad(6, 0, 3, 0))
    one = Stage(CONV, ConvGeometry(6, 6, 2, 2))
    add = Stage(ADD, ConvGeometry(6, 6, 2, 2), 1)
    assert Segment((one, Stage(DEPTHWISE, early), add)).last == 3
    with pytest.raises(ConfigError, match="before the ops between have pulled it"):
        Segment((one, Stage(DEPTHWISE, late), add))


def test_where_an_output_cannot_be_laid() -> None:
    with pytest.raises(ConfigError, match="tensor 1"):
        segment_bound(bottleneck(4, 1, 2, 1, 3, 1), 1)
    with pytest.raises(ConfigError, match="no other segment"):
        pixel_pull_bound(stem_with_a_kink())
