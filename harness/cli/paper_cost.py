# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper cost`, or `table6 --cost`: what running in place costs, measured on an emulated board,
beside the paper's column of its own."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from harness.errors import ConfigError
from harness.paper.cost import RECORDS, Cost, cost, stated_medians
from harness.paper.cycles import FAST_SETS
from harness.paper.stated import SHIFT_STATED
from harness.strictyaml import nearest

JSON_VERSION = 1


def run(options: argparse.Namespace) -> int:
    """0 when every layer passed within 1 % of two buffers; 2 for a set of which there is no record."""
    kernels = _set_name(options.kernels)
    if not options.history and kernels not in RECORDS:
        error = ConfigError(
            f"there is no record of {kernels!r}",
            hint=f"{nearest(kernels, RECORDS)}; or --history FILE",
        )
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    found = cost(Path(options.history or RECORDS[kernels]))
    of = "a history of yours" if options.history else f"kernels {kernels}"
    if options.json:
        layers = [asdict(row) for row in found.layers]
        print(json.dumps({"version": JSON_VERSION, "layers": layers, "holds": found.holds}))
    else:
        print(_text(found, of))
    return 0 if found.holds else 1


def _set_name(kernels: str | None) -> str:
    """fast: of a Pico 2, on which all records are."""
    return {None: "plain", "fast": FAST_SETS["rp2350"]}.get(kernels, kernels or "")


def _text(found: Cost, of: str) -> str:
    rows = []
    for family, stated in stated_medians().items():
        median = found.median(family)
        count = sum(family in (row.family, "All") for row in found.layers)
        rows.append([family, count, "-" if median is None else f"{median:.4f}", stated])
    first, worst = found.layers[0], found.worst
    shift, longest = (f"{100 * f(found.shifts):.2f}" for f in (statistics.median, max))
    within = "all" if found.holds else "NOT all"
    lines = [
        f"cycles in place, right shift included, to two buffers: {first.board}, {first.kind}, {of}",
        "",
        tabulate(
            rows,
            headers=["family", "layers", f"median\n{first.kind}", "median\nboard (paper)"],
            disable_numparse=True,
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
