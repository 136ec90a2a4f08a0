# SPDX-License-Identifier: Apache-2.0
"""Generators, printed forms of many layers, and the sweep's verdicts."""

from __future__ import annotations

import itertools
from collections import Counter
from functools import lru_cache

import numpy as np
import pytest

from harness.bounds import batch, published
from harness.geometry import ConvGeometry, Pad
from harness.network.draw import draw_geometry
from harness.paper import sweep as sweep_module
from harness.paper.generators import GENERATORS, MAX_EXTENT, draw_layers, ranges
from harness.paper.printed import outside_13, printed_forms, theorem_4, theorem_13
from harness.paper.stated import TABLE5
from harness.paper.sweep import sweep
from harness.paper.table6 import restricted
from harness.schema.constants import OpKind


def _hostile(count: int) -> list[ConvGeometry]:
    found = itertools.islice(draw_geometry(OpKind.CONV, 21), count)
    return [g for g in found if isinstance(g, ConvGeometry)]


@pytest.mark.parametrize("direct", [False, True])
def test_printed_forms_equal_the_single_ones(direct: bool) -> None:
    layers = _hostile(1500) + [g for _, g in draw_layers(200, 3)]
    arrays = batch.layers_of(layers)
    assert theorem_13(arrays, direct).tolist() == [
        published.theorem_13(g, direct=direct) for g in layers
    ]
    assert theorem_4(arrays, direct).tolist() == [
        published.theorem_4(g, direct=direct) for g in layers
    ]
    herringbone = printed_forms(arrays)["herringbone"]["gap"]
    assert herringbone.tolist() == [published.theorem_11(g) for g in layers]


def test_precondition() -> None:
    layers = _hostile(1500)
    outside = outside_13(batch.layers_of(layers))
    assert outside.tolist() == [not published.precondition_13(g) for g in layers]
    assert outside.any()


def test_generators_by_share() -> None:
    counts = Counter(name for name, _ in draw_layers(1000, 5))
    assert counts == {row.generator: 10 * row.share for row in TABLE5}


def test_generators_are_seeded() -> None:
    assert draw_layers(300, 5)[:200] == draw_layers(200, 5)
    assert draw_layers(200, 5) != draw_layers(200, 6)


@lru_cache(maxsize=1)
def _many() -> list[tuple[str, ConvGeometry]]:
    return draw_layers(3000, 7)


def _drawn(name: str) -> list[ConvGeometry]:
    return [g for each, g in _many() if each == name][:60]


def test_extents() -> None:
    for name in GENERATORS:
        layers = _drawn(name)
        assert len(layers) == 60
        assert all(1 <= min(g.h_in, g.w_in) <= max(g.h_in, g.w_in) <= MAX_EXTENT for g in layers)
        assert len(ranges(name)) > 20


def test_generators_are_what_they_say() -> None:
    """One property each of those that Table 5 describes by one."""
    for g in _drawn("same padding"):
        assert g.pad == Pad.same(g.k_h // 2, g.k_w // 2)
    for g in _drawn("projection"):
        assert g.c_out <= g.c_in
    for g in _drawn("collapsed minor axis"):
        assert 1 <= min(g.h_out, g.w_out) <= 3
    for g in _drawn("small herringbone grid"):
        assert max(g.h_out, g.w_out) <= 6
    for g in _drawn("thin axis"):
        assert min(g.h_out, g.w_out) == 1
    for g in _drawn("restricted regime, integer x*"):
        assert restricted(g)
        assert published.critical_leg(g)[1] == 0
    for g in _drawn("non-integer x*"):
        assert restricted(g)
        assert published.critical_leg(g)[1] > 0
    for g in _drawn("random symmetric axes"):
        assert (g.h_in, g.k_h, g.s_h, g.d_h, g.pad.top) == (g.w_in, g.k_w, g.s_w, g.d_w, g.pad.left)
    for g in _drawn("rectangular kernel"):
        assert g.k_h != g.k_w
    for g in _drawn("asymmetric stride"):
        assert g.s_h != g.s_w
    for g in _drawn("asymmetric dilation"):
        assert g.d_h != g.d_w
    for g in _drawn("asymmetric padding"):
        assert g.pad.top != g.pad.left
    for g in _drawn("maximal padding"):
        assert g.pad.top >= g.k_h_eff - 1
        assert g.pad.left >= g.k_w_eff - 1
    wide = {g.pad.top >= g.k_h_eff for g in _drawn("maximal padding")}
    assert wide == {False, True}, "on both sides of Theorem 13's precondition"


def test_a_later_output_reads_lower_addresses() -> None:
    """What `non-monotone tap order` is for: the first real tap goes back."""
    back = 0
    for g in _drawn("non-monotone tap order"):
        firsts = [
            min(x for t in range(g.k_w) if 0 <= (x := c * g.s_w + t * g.d_w - g.pad.left) < g.w_in)
            if any(0 <= c * g.s_w + t * g.d_w - g.pad.left < g.w_in for t in range(g.k_w))
            else g.w_in
            for c in range(g.w_out)
        ]
        back += any(later < earlier for earlier, later in itertools.pairwise(firsts))
    assert back > 15


def test_sweep_holds_for_any_number_of_processes() -> None:
    told: list[int] = []
    alone = sweep(600, 2, 1, told.append)
    assert alone.holds
    assert told == [250, 500, 600]
    assert alone == sweep(600, 2, 2)
    for verdict in alone.verdicts:
        if verdict.form == "exact":
            assert (verdict.unsafe, verdict.tight, verdict.loose) == (0, 600, 0)
    assert alone.generators["plain convolution"] == 66


def test_what_the_sweep_reports() -> None:
    """On 2,000 layers: dense direct loose on some, literal herringbone on a third, and no more."""
    by = {(v.configuration, v.form): v for v in sweep(2000, 1, 1).verdicts}
    direct = by["rip_dense_direct", "Theorem 13, p < k_eff"]
    assert direct.unsafe == 0
    assert 0 < direct.loose < 40
    assert by["rip_dense_gather", "Theorem 13, p < k_eff"].loose == 0
    literal = by["herringbone_literal", "Theorem 11"]
    assert literal.unsafe == 0
    assert 400 < literal.loose < 1000
    assert not literal.must_hold


def test_a_gap_of_one_less_is_unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sweep_module.closed_forms

    def short(layers: batch.Layers) -> dict[str, dict[str, batch.Int64s]]:
        found = honest(layers)
        gap = found["rip_dense_gather"]["gap"]
        found["rip_dense_gather"]["gap"] = np.where(gap > 0, gap - 1, gap)
        return found

    monkeypatch.setattr(sweep_module, "closed_forms", short)
    found = sweep(200, 1, 1)
    verdict = next(
        v for v in found.verdicts if (v.configuration, v.form) == ("rip_dense_gather", "exact")
    )
    assert verdict.unsafe > 50
    assert not verdict.holds
    assert not found.holds
    assert verdict.example is not None
    assert ", truth " in verdict.example
