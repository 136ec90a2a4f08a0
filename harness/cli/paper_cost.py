# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper cost`: what running in place costs, measured, beside the paper's column."""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from harness.paper.cost import RECORD, Cost, cost, stated_medians
from harness.paper.stated import SHIFT_STATED

JSON_VERSION = 1


def run(options: argparse.Namespace) -> int:
    """0 when every layer passed within 1 % of two buffers."""
    found = cost(Path(options.history) if options.history else RECORD)
    if options.json:
        layers = [asdict(row) for row in found.layers]
        print(json.dumps({"version": JSON_VERSION, "layers": layers, "holds": found.holds}))
    else:
        print(_text(found))
    return 0 if found.holds else 1


def _text(found: Cost) -> str:
    rows = []
    for family, stated in stated_medians().items():
        median = found.median(family)
        count = sum(family in (row.family, "All") for row in found.layers)
        rows.append([family, count, "-" if median is None else f"{median:.4f}", stated])
    first, worst = found.layers[0], found.worst
    shift, longest = (f"{100 * f(found.shifts):.2f}" for f in (statistics.median, max))
    within = "all" if found.holds else "NOT all"
    lines = [
        f"cycles in place, right shift included, to two buffers: {first.board}, {first.kind}",
        "",
        tabulate(
            rows, headers=["family", "layers", "median", "paper"], disable_numparse=True,
            colalign=("left", "right", "right", "right"),
        ),
        "",
        f"within 1 % of two buffers: {within} {len(found.layers)} layers; "
        f"most {worst.ratio:.4f}, {worst.layer}",
        f"faster than two buffers: {found.faster} layers (paper: {SHIFT_STATED.faster})",
        f"right shift, % of the convolution: median {shift}, worst {longest} "
        f"(paper: {SHIFT_STATED.median}, {SHIFT_STATED.worst})",
    ]  # fmt: skip
    return "\n".join(lines)
