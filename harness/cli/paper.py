# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper table2|table3|table5|table6|table7|section43|fig1|fits|fused|cost|ledger|html`.

`table3 --cycles` and `table6 --cost` are what was measured in place of what is computed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence

from tabulate import tabulate

from harness.paper.compare import Comparison, Row

JSON_VERSION = 1
_MEASURED = {"cycles": "table3", "cost": "table6"}  # an option, and the table that has it
_TABLES = ("table2", "table3", "table5", "table6", "table7", "section43", "fig1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="?",
        choices=(*_TABLES, "fits", "fused", "cost", "ledger", "html"),
        help="a table of ours beside the paper's; which of Table 6's layers fit the boards; arenas "
        "with segments beside others'; what the layers cost in place, as measured; every number that "
        "the paper states, and what became of it; or all of that on one page",
    )
    parser.add_argument(
        "--cycles",
        action="store_true",
        help="of table3: cycles on emulated boards, beside the paper's",
    )
    parser.add_argument(
        "--cost", action="store_true", help="of table6: what in place costs, as measured; as `cost`"
    )
    parser.add_argument(
        "--kernels",
        metavar="LIST",
        help="of --cycles and cost: kernel sets (fast: each chip's own; default fast, of cost plain)",
    )
    parser.add_argument(
        "--model", metavar="LIST", help="of --cycles: some of the eleven (default all)"
    )
    parser.add_argument(
        "--measure", action="store_true", help="of --cycles: now, instead of from the record"
    )
    parser.add_argument("--write", action="store_true", help="and put it into the record")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--select",
        metavar="CHIP:STRATEGY",
        help="of fits: print those layers as pytest's --layers takes them, as rp2350:rip",
    )
    parser.add_argument(
        "--history",
        metavar="FILE",
        help="of cost and html: measurements of your own instead of the record",
    )
    parser.add_argument("--out", metavar="FILE", help="of html: the page")
    parser.add_argument("--html", metavar="FILE", help="the page again: `html --out FILE`")
    parser.add_argument(
        "--markdown", action="store_true", help="of ledger: as docs/ledger.md has it"
    )


def run(options: argparse.Namespace) -> int:
    """0 when every cell of ours equals the paper's; 1 when one does not; 2 for an option of another
    table."""
    if options.html:
        options.what, options.out = options.what or "html", options.html
    if options.what is None or (options.html and options.what != "html"):
        print("ConfigError: which table?\n  try: ripbench paper --help", file=sys.stderr)
        return 2
    measured = [name for name in _MEASURED if getattr(options, name)]
    for name in measured:
        if options.what != _MEASURED[name]:
            hint = f"ripbench paper {_MEASURED[name]} --{name}"
            print(f"ConfigError: {options.what} has no --{name}\n  try: {hint}", file=sys.stderr)
            return 2
    options.what = measured[0] if measured else options.what
    if options.what in _TABLES:
        table = importlib.import_module(f"harness.paper.{options.what}")
        found: Comparison = getattr(table, options.what)()
        print(_comparison_json(found) if options.json else _comparison_text(found))
        return 1 if found.differences else 0
    room = importlib.import_module(f"harness.cli.paper_{options.what}")
    status: int = room.run(options)
    return status


def _comparison_json(found: Comparison) -> str:
    def rows(of: Sequence[Row]) -> list[dict[str, object]]:
        return [
            {
                "name": r.name,
                "ours": dict(r.ours),
                "paper": dict(r.stated),
                "equal": not r.differences,
            }
            for r in of
        ]

    return json.dumps(
        {
            "version": JSON_VERSION,
            "title": found.title,
            "rows": rows(found.rows),
            "facts": rows(found.facts),
            "equal": not found.differences,
        }
    )


def _comparison_text(found: Comparison) -> str:
    """Cells that differ read `ours (paper: theirs)`."""

    def cell(row: Row, column: str) -> str:
        ours = row.ours[column]
        stated = row.stated.get(column, ours)
        if ours == stated:
            return ours
        return f"{ours} (paper: {stated}{', wrongly' if column in row.corrected else ''})"

    columns = list(found.rows[0].ours)
    table = [[row.name, *(cell(row, column) for column in columns)] for row in found.rows]
    sides = ("left", *["right"] * len(columns))
    lines = [
        found.title,
        "",
        tabulate(table, headers=["", *columns], disable_numparse=True, colalign=sides),
        "",
        *(f"{row.name}: {cell(row, 'value')}" for row in found.facts),
        "",
    ]
    differences = found.differences
    count = sum(len(row.stated) for row in (*found.rows, *found.facts))
    if differences:
        lines += [f"{len(differences)} of {count} cells differ:", *differences]
    else:
        wrong = found.corrected
        lines.append(f"all {count - wrong} cells equal the paper's")
        if wrong:
            lines.append(f"{wrong} more are wrong in the paper (docs/errata.md)")
    return "\n".join(lines)
