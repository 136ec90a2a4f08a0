# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper table2|table3|table5|table6|table7|section43|fig1|fits|fused|cost|ledger`."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Sequence

from tabulate import tabulate

from harness.paper.compare import Comparison, Row

JSON_VERSION = 1
_TABLES = ("table2", "table3", "table5", "table6", "table7", "section43", "fig1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        choices=(*_TABLES, "fits", "fused", "cost", "ledger"),
        help="a table of ours beside the paper's; which of Table 6's layers fit the boards; arenas "
        "with segments beside others'; what the layers cost in place, as measured; or every number "
        "that the paper states, and what became of it",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--select",
        metavar="CHIP:STRATEGY",
        help="of fits: print those layers as pytest's --layers takes them, as rp2350:rip",
    )
    parser.add_argument(
        "--history", metavar="FILE", help="of cost: measurements of your own instead of the record"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="of ledger: as docs/ledger.md has it"
    )


def run(options: argparse.Namespace) -> int:
    """0 when every cell of ours equals the paper's; 1 when one does not."""
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
