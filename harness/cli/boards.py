# SPDX-License-Identifier: Apache-2.0
"""`ripbench boards`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tabulate import tabulate

from harness.boards import attached, is_attached, load_boards
from harness.report import printable

JSON_VERSION = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    entries = load_boards(options.boards)
    rows = [
        {
            "name": entry.name,
            "chip": entry.chip,
            "clock_hz": entry.clock_hz,
            "probe": entry.probe,
            "serial": entry.serial,
            "attached": is_attached(entry),
            "where": entry.where,
        }
        for entry in entries.values()
    ]
    known = {entry.probe.lower() for entry in entries.values()}
    others = [probe for probe in attached() if probe.lower() not in known]
    if options.json:
        print(json.dumps({"version": JSON_VERSION, "boards": rows, "other_probes": others}))
        return 0
    headers = ("board", "chip", "clock", "probe", "serial", "attached")
    table = [
        (
            row["name"],
            row["chip"],
            f"{row['clock_hz']} Hz",
            printable(row["probe"]),
            printable(row["serial"] or "by unique id"),
            "yes" if row["attached"] else "no",
        )
        for row in rows
    ]
    print(tabulate(table, headers=headers))
    for probe in others:
        print(f"attached, in no boards.yaml: {printable(probe)}")
    return 0
