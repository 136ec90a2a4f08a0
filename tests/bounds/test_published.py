# SPDX-License-Identifier: Apache-2.0
"""The printed forms: the paper's own numbers, where they hold, and small layers where they fail."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from harness.bounds import bound_of, dense, published
from harness.bounds.batch import geometries_of
from harness.bounds.herringbone import block_debt
from harness.errors import ConfigError
from harness.geometry import DIRECT, GATHER, ConvGeometry, Execution, Pad, UpsampleGeometry
from harness.geometry.traversal import output_pixels
from harness.liveness import Schedule, collides, debt, schedule
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from tests.bounds.judge import draw_layers

ORDERS = (False, True)


@cache
def _hostile(count: int, seed: int) -> list[ConvGeometry]:
    return geometries_of(draw_layers(count, seed))


def _stored(g: ConvGeometry) -> int:
    p = g.pad
    return (g.h_in + p.top + p.bottom) * (g.w_in + p.left + p.right) * g.c_in


def _truth(
    g: ConvGeometry,
    *,
    direct: bool,
    layout: Layout = Layout.DENSE,
    traversal: Traversal = Traversal.ROW,
) -> int:
    """The paper's truth: the least gap that is not negative and lets the output fit."""
    order = TapOrder.DIRECT if direct else TapOrder.GATHER
    steps = schedule(OpKind.CONV, g, Execution(layout, order, traversal), release="pixel")
    return max(0, steps.n_out - steps.n_in, debt(steps) or 0)


def _herringbone(g: ConvGeometry) -> int:
    return _truth(g, direct=True, layout=Layout.PADDED, traversal=Traversal.HERRINGBONE)


def _square(c_in: int, c_out: int, k: int, size: int) -> ConvGeometry:
    return ConvGeometry(size, size, c_in, c_out, k, k)


# ---- Eq. 1 and Corollary 1 ----

TABLE_2 = [
    (1, 5, 3, 14, 531, 533),
    (5, 8, 3, 12, 148, 149),
    (8, 11, 3, 10, 45, 46),
    (3, 4, 5, 8, 79, 7),
    (8, 9, 7, 9, 2_081, 11),
    (16, 17, 9, 12, 15_520, 20),
    (16, 17, 15, 18, 48_640, 20),
]


@pytest.mark.parametrize(("c_in", "c_out", "k", "size", "printed", "truth"), TABLE_2)
def test_table_2(c_in: int, c_out: int, k: int, size: int, printed: int, truth: int) -> None:
    g = _square(c_in, c_out, k, size)
    assert published.gural_murmann(g) == printed
    assert published.corollary_1(g) == published.theorem_11(g) == _herringbone(g) == truth


def test_the_16_to_64_layer_loses_32() -> None:
    g = _square(16, 64, 3, 10)
    assert published.shortfall(g) == 32 == _herringbone(g) - published.gural_murmann(g)


def test_lemma_9_is_the_shortfall_of_eq_1() -> None:
    seen = 0
    for c_in, c_out, k, size in product(range(1, 6), range(2, 9), range(1, 6), range(5, 11)):
        g = _square(c_in, c_out, k, size)
        if c_out > c_in and published.critical_leg(g)[0] < g.w_out:
            short = published.corollary_1(g) - published.gural_murmann(g)
            assert short == published.shortfall(g), g
            seen += short > 0
    assert seen > 200


def test_eq_1_is_right_again_at_x_equal_to_the_width() -> None:
    """floor(x*) >= w_out is loose unless x* = w_out: 1 -> 2 channels, k=3, so x* = 2."""
    g = _square(1, 2, 3, 4)
    assert published.critical_leg(g) == (2, 0) and g.w_out == 2
    assert published.gural_murmann(g) == _herringbone(g)
    g = _square(1, 2, 3, 3)
    assert published.critical_leg(g)[0] > g.w_out
    assert published.gural_murmann(g) > _herringbone(g)


def test_corollary_1_on_squares_and_its_lemmas() -> None:
    """Even kernels too. Eq. 15 at floor(x*) + 1 is the peak (Lemma 6)."""
    for c_in, c_out, k, size in product((1, 2, 3, 5), (1, 2, 4, 5, 8), range(1, 5), range(4, 8)):
        g = _square(c_in, c_out, k, size)
        assert published.corollary_1(g) == _herringbone(g) == published.theorem_11(g), g
        if c_out > c_in:
            peak = min(published.critical_leg(g)[0] + 1, g.w_out)
            assert published.running_debt(g, peak) == published.corollary_1(g), g


@pytest.mark.parametrize(("h", "w", "printed"), [(4, 3, 1), (3, 4, 3)])
def test_corollary_1_fails_without_a_square_output(h: int, w: int, printed: int) -> None:
    g = ConvGeometry(h, w, 1, 2, 3, 3)
    assert published.corollary_1(g) == printed
    assert published.theorem_11(g) == _herringbone(g) == 2


def test_refuses_what_eq_1_is_not_for() -> None:
    for g in (
        ConvGeometry(4, 4, 1, 2, 3, 2),
        ConvGeometry(4, 4, 1, 2, 3, 3, 2, 1),
        ConvGeometry(9, 9, 1, 2, 3, 3, d_w=2),
        ConvGeometry(4, 4, 1, 2, 3, 3, pad=Pad(right=1)),
    ):
        for form in (published.gural_murmann, published.corollary_1):
            with pytest.raises(ConfigError):
                form(g)
    with pytest.raises(ConfigError):
        published.gural_murmann(_square(2, 2, 3, 5))
    assert published.corollary_1(_square(2, 2, 3, 5)) == 2


def test_lemma_10_and_the_papers_own_sequence() -> None:
    assert published.legs(5, 3) == [
        ("column", 5), ("row", 2), ("column", 4), ("row", 1), ("column", 3),
    ]  # fmt: skip
    for h, w in product(range(1, 9), repeat=2):
        assert sum(length for _, length in published.legs(h, w)) == h * w


# ---- Theorem 11 ----


def _block_release(g: ConvGeometry) -> Schedule:
    """Each output releases the s_h x s_w inputs that it steps over, the last ones of a row or column all
    that is left. Stored in order of release."""
    turn = np.empty(g.pixels_out, dtype=np.int64)
    turn[output_pixels(g, Traversal.HERRINGBONE)] = np.arange(g.pixels_out)
    h, w = g.h_in + g.pad.top + g.pad.bottom, g.w_in + g.pad.left + g.pad.right
    rows = np.minimum(np.arange(h) // g.s_h, g.h_out - 1)
    columns = np.minimum(np.arange(w) // g.s_w, g.w_out - 1)
    last = np.sort((turn.reshape(g.h_out, g.w_out)[rows[:, None], columns]).ravel())
    return Schedule(
        traversal=Traversal.HERRINGBONE,
        unit=g.c_out,
        addresses=np.arange(g.n_out, dtype=np.int64),
        released=np.repeat((last + 1) * g.c_out, g.c_in),
        last_reader=np.repeat(last, g.c_in),
    )


def test_theorem_11_is_block_release() -> None:
    above = 0
    for g in _hostile(3_000, seed=21):
        printed = published.theorem_11(g)
        simulated = debt(_block_release(g))
        assert printed == simulated == block_debt(g, g.c_out), g
        literal = _herringbone(g)
        assert printed >= literal
        above += printed > literal
    assert above > 300


@pytest.mark.parametrize(
    ("g", "printed", "truth"),
    [
        (ConvGeometry(1, 1, 1, 1, 2, 1, 3, 1, 2, 1, Pad.same(2, 0)), 1, 0),
        (ConvGeometry(2, 2, 1, 2, 1, 2, 2, 1), 2, 0),
        # ResNet-50's first layer, stride 2: nothing reads its last row and column of padding
        (ConvGeometry(224, 224, 3, 64, 7, 7, 2, 2, pad=Pad.same(3, 3)), 644_308, 644_263),
    ],
)
def test_theorem_11_is_loose_by_the_texts_liveness(
    g: ConvGeometry, printed: int, truth: int
) -> None:
    assert published.theorem_11(g) == printed
    assert _herringbone(g) == truth


# ---- Theorem 4 ----


@pytest.mark.parametrize("direct", ORDERS)
def test_theorem_4_is_exact(direct: bool) -> None:
    for g in _hostile(3_000, seed=22):
        truth = _truth(g, direct=direct, layout=Layout.PADDED)
        assert published.theorem_4(g, direct=direct) == truth, g


def _named(g: ConvGeometry) -> dict[str, tuple[int, int]]:
    """The four breakpoints that matter, where the grid has them."""
    h, w = g.h_out, g.w_out
    named = {
        "(0, w-2)": (0, w - 2),
        "(h-2, w-1)": (h - 2, w - 1),
        "(h-1, w-2)": (h - 1, w - 2),
        "(h-1, w-1)": (h - 1, w - 1),
    }
    return {name: at for name, at in named.items() if min(at) >= 0}


@pytest.mark.parametrize("direct", ORDERS)
def test_five_of_theorem_4s_nine_breakpoints_are_redundant(direct: bool) -> None:
    for g in _hostile(3_000, seed=22):
        kept = [published.debt_4(g, r, c, direct=direct) for r, c in _named(g).values()]
        assert max(*kept, g.n_out - _stored(g)) == published.theorem_4(g, direct=direct), g


@pytest.mark.parametrize(
    ("name", "g", "direct"),
    [
        ("(0, w-2)", ConvGeometry(5, 1, 1, 2, 2, 1, 3, 1, pad=Pad.same(2, 1)), False),
        ("(h-2, w-1)", ConvGeometry(1, 3, 3, 5, 4, 1, 1, 2, 2, 2, Pad.same(4, 0)), False),
        ("(h-1, w-2)", ConvGeometry(2, 3, 1, 2), True),
        ("(h-1, w-1)", ConvGeometry(3, 1, 1, 1, 1, 1, 2, 2), True),
    ],
)
def test_each_of_the_other_four_is_needed(name: str, g: ConvGeometry, direct: bool) -> None:
    points = [at for at in published.breakpoints_4(g) if at != _named(g)[name]]
    without = max([published.debt_4(g, r, c, direct=direct) for r, c in points])
    lower = max(without, g.n_out - _stored(g))
    assert lower < _truth(g, direct=direct, layout=Layout.PADDED)


# ---- Theorem 13 ----


def test_theorem_13_inside_its_precondition() -> None:
    """Never unsafe, exact in gather; in direct order loose only where the first real pixels are never
    read and sigma binds, and then by no more than sigma."""
    loose = seen = 0
    for g in _hostile(6_000, seed=23):
        if not published.precondition_13(g):
            continue
        seen += 1
        assert published.theorem_13(g, direct=False) == dense(g, direct=False).gap, g
        over = published.theorem_13(g, direct=True) - dense(g, direct=True).gap
        assert over >= 0, g
        if over:
            loose += 1
            dead = _dead_leading_pixels(g)
            assert 0 < over <= min(g.c_out, dead * g.c_in), g
            assert published.theorem_13(g, direct=True) == g.c_out, g
            assert max(g.d_h, g.d_w) > 1, g
    assert seen > 1_000
    assert loose > 5


def _dead_leading_pixels(g: ConvGeometry) -> int:
    read = schedule(OpKind.CONV, g, GATHER).last_reader >= 0
    return int(read.argmax() if read.any() else read.size) // g.c_in


@pytest.mark.parametrize(
    ("g", "direct", "printed", "truth"),
    [
        # loose
        (ConvGeometry(1, 1, 1, 1, 1, 2, d_w=2, pad=Pad.same(0, 1)), True, 1, 0),
        (ConvGeometry(1, 1, 2, 2, 1, 2, d_w=2, pad=Pad.same(0, 1)), True, 2, 0),
        # unsafe: p >= k_eff
        (ConvGeometry(5, 6, 1, 3, 1, 1, 3, 2, pad=Pad.same(0, 2)), False, 4, 5),
        (ConvGeometry(2, 6, 1, 7, 1, 1, 4, 2, pad=Pad.same(0, 2)), True, 23, 24),
        (ConvGeometry(85, 32, 22, 63, 1, 1, 2, 2, pad=Pad.same(2, 2)), False, 1_216, 1_482),
    ],
)
def test_theorem_13_where_it_fails(g: ConvGeometry, direct: bool, printed: int, truth: int) -> None:
    assert published.theorem_13(g, direct=direct) == printed
    assert _truth(g, direct=direct) == dense(g, direct=direct).gap == truth
    assert published.precondition_13(g) == (printed > truth)


def test_theorem_13_looks_at_no_more_than_it_says() -> None:
    for g in _hostile(300, seed=25):
        most = (4 * g.k_h + 3) * (4 * g.k_w + 3)
        points = published.breakpoints_13(g)
        assert set(published.breakpoints_4(g)) <= set(points)
        assert len(points) == len(set(points)) <= min(most, g.pixels_out)


def test_lemma_12_with_the_crossing_of_its_proof_is_unsafe() -> None:
    g = ConvGeometry(4, 3, 2, 17, 2, 3, 3, 1, 1, 4, Pad.same(0, 5))
    assert published.precondition_13(g)
    assert published.theorem_13(g, direct=True, as_proved=True) == 61
    assert published.theorem_13(g, direct=True) == _truth(g, direct=True) == 64


def test_the_precondition_does_not_give_each_output_a_real_input() -> None:
    g = ConvGeometry(1, 2, 1, 3, 2, 1, 2, 1, 2, 1, Pad.same(1, 0))
    assert published.precondition_13(g)
    assert (schedule(OpKind.CONV, g, GATHER).last_reader < 0).all()


def test_dropping_the_padding_can_lower_the_gap() -> None:
    """F.3 says it raises it; printed 4 and exact, against 5."""
    g = ConvGeometry(1, 2, 1, 3, 2, 1, 2, 1, 2, 1, Pad.same(1, 0))
    assert published.theorem_13(g, direct=True) == 4 == _truth(g, direct=True)
    assert published.theorem_4(g, direct=True) == 5


def test_eq_42_can_be_zero_with_padding() -> None:
    g = ConvGeometry(1, 1, 1, 5, 2, 2, pad=Pad.same(1, 1))
    assert published.padding_saving(g, direct=False) == 0
    assert dense(g, direct=False).workspace == 20
    assert all(
        published.padding_saving(g, direct=d) >= 0 for g in _hostile(300, 24) for d in ORDERS
    )


@pytest.mark.parametrize(
    ("g", "workspace"),
    [
        (ConvGeometry(224, 224, 64, 64, 3, 3, pad=Pad.same(1, 1)), 3_225_664),
        (ConvGeometry(147, 147, 32, 64, 3, 3, pad=Pad.same(1, 1)), 1_387_680),
    ],
    ids=["vgg16-conv1_2", "inception-stem"],
)
def test_appendix_i(g: ConvGeometry, workspace: int) -> None:
    """By Theorem 13, the exact form and the simulator; sigma 0."""
    assert published.theorem_13(g, direct=False) + g.n_in == workspace
    assert dense(g, direct=False).workspace == workspace
    assert _truth(g, direct=False) + g.n_in == workspace


# ---- pooling, upsampling, and what the text says of herringbone ----


@pytest.mark.parametrize(
    ("g", "extra"),
    [
        (ConvGeometry(1, 2, 2, 2, 3, 3, pad=Pad.same(1, 1)), 2),
        (ConvGeometry(35, 35, 192, 192, 3, 3, pad=Pad.same(1, 1)), 6_912),
        (ConvGeometry(20, 20, 128, 128, 5, 5, pad=Pad.same(2, 2)), 5_376),
        (ConvGeometry(35, 35, 192, 192, 3, 3), 0),
        (ConvGeometry(35, 35, 192, 192, 3, 3, 2, 2, pad=Pad.same(1, 1)), 0),
    ],
)
def test_the_pooling_remark_lacks_the_border(g: ConvGeometry, extra: int) -> None:
    """(p_h w_out + p_w) c at stride 1, except on a grid of one row."""
    steps = schedule(OpKind.MAX_POOL, g, DIRECT)
    workspace = max(0, steps.n_out - steps.n_in, debt(steps) or 0) + g.n_in
    assert workspace == bound_of(OpKind.MAX_POOL, g, DIRECT).workspace
    assert workspace == published.pooling_workspace(g) + extra


@pytest.mark.parametrize("traversal", [Traversal.ROW, Traversal.REVERSE])
def test_theorem_14_and_that_it_need_not_go_backwards(traversal: Traversal) -> None:
    """In reverse from equal bases, forwards from equal ends."""
    for h, w, c, f_h, f_w in product(range(1, 5), range(1, 5), (1, 3), range(1, 5), range(1, 5)):
        g = UpsampleGeometry(h, w, c, f_h, f_w)
        execution = Execution(traversal=traversal)
        steps = schedule(OpKind.UPSAMPLE, g, execution)
        ends_meet = g.output.size - g.inputs[0].size
        assert not collides(steps, 0 if traversal is Traversal.REVERSE else ends_meet)
        bound = bound_of(OpKind.UPSAMPLE, g, execution)
        assert bound.workspace == published.theorem_14(g)


def test_rip_and_herringbone_need_not_agree_where_the_output_is_no_larger() -> None:
    """Sec. 5.3: "without exception". 7x7, k=5, 1 -> 3: 27 scalars out of 49, and 60 against 56."""
    g = ConvGeometry(7, 7, 1, 3, 5, 5)
    assert g.n_out <= g.n_in
    assert published.theorem_4(g, direct=True) + g.n_in == 60
    assert published.theorem_11(g) + g.n_in == 56


def test_herringbone_is_no_lower_bound() -> None:
    """Inception-v3's 1x7, 128 -> 192; and by columns its 7x1 needs less than in herringbone order."""
    g = ConvGeometry(17, 17, 128, 192, 1, 7, pad=Pad.same(0, 3))
    assert (published.theorem_4(g, direct=True), published.theorem_11(g)) == (6_336, 8_256)
    g = ConvGeometry(17, 17, 128, 192, 7, 1, pad=Pad.same(3, 0))
    columns = Execution(Layout.PADDED, TapOrder.DIRECT, Traversal.COLUMN)
    assert bound_of(OpKind.CONV, g, columns, release="pixel").gap == 6_336
    assert (published.theorem_4(g, direct=True), published.theorem_11(g)) == (18_624, 8_640)
