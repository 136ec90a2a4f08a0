# SPDX-License-Identifier: Apache-2.0
"""Table 5: what the sweep is made of, counted in the layers that it draws."""

from __future__ import annotations

from collections import Counter

from harness.paper.compare import Comparison, Row, cells
from harness.paper.generators import MAX_EXTENT, draw_layers
from harness.paper.stated import TABLE5

COUNT = 10_000


def table5(seed: int = 1) -> Comparison:
    """Shares in per cent, and the facts of G.2."""
    drawn = draw_layers(COUNT, seed)
    counts = Counter(name for name, _ in drawn)
    tiers: Counter[int] = Counter()
    rows = []
    for stated in TABLE5:
        share = 100 * counts[stated.generator] / COUNT
        tiers[stated.tier] += counts[stated.generator]
        name = f"{stated.tier}, {stated.generator}"
        rows.append(Row(name, cells(Share=f"{share:g}"), cells(Share=stated.share)))
    extent = max(max(g.h_in, g.w_in) for _, g in drawn)
    found: list[tuple[str, object, object]] = [
        ("generators", len(counts), 20),
        ("layers", sum(counts.values()), 10_000),
        ("largest extent", extent, MAX_EXTENT),
        *((f"tier {tier}, %", f"{100 * tiers[tier] / COUNT:g}", s) for tier, s in _TIERS.items()),
    ]
    facts = tuple(Row(name, cells(value=ours), cells(value=theirs)) for name, ours, theirs in found)
    return Comparison("Table 5: shares of the sweep", tuple(rows), facts)


_TIERS = {1: 35, 2: 45, 3: 20}
