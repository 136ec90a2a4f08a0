# SPDX-License-Identifier: Apache-2.0
"""`ripbench boards`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tabulate import tabulate

from harness.boards import (
    BoardEntry,
    attached,
    find_board,
    is_attached,
    keys_of,
    load_boards,
    quarantine,
)
from harness.boards.backend import backend_for
from harness.boards.lock import holder_of
from harness.errors import HarnessError
from harness.report import printable

JSON_VERSION = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    parser.add_argument("--release", metavar="NAME", help="lift the quarantine of a board")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    entries = load_boards(options.boards)
    if options.release:
        return _release(find_board(options.release, entries), as_json=options.json)
    rows = [_row(entry) for entry in entries.values()]
    known = {entry.probe.lower() for entry in entries.values()}
    others = [probe for probe in attached() if probe.lower() not in known]
    if options.json:
        print(json.dumps({"version": JSON_VERSION, "boards": rows, "other_probes": others}))
        return 0
    headers = ("board", "chip", "clock", "probe", "serial", "state", "attached")
    table = [
        (
            row["name"],
            row["chip"],
            f"{row['clock_hz']} Hz",
            printable(row["probe"]),
            printable(row["serial"] or "by unique id"),
            "in quarantine" if row["quarantine"] else "in use" if row["in_use"] else "free",
            ", ".join(filter(None, ("yes" if row["attached"] else "no", str(row["status"])))),
        )
        for row in rows
    ]
    print(tabulate(table, headers=headers))
    for row in rows:
        if row["in_use"]:
            print(f"{row['name']} is in use by {printable(row['in_use'])}")
        if row["quarantine"]:
            print(f"{row['name']} is in quarantine {printable(row['quarantine'])}")
    for probe in others:
        print(f"attached, in no boards.yaml: {printable(probe)}")
    return 0


def _row(entry: BoardEntry) -> dict[str, object]:
    keys = keys_of(entry)
    holder, found = holder_of(keys), quarantine.find(keys)
    return {
        "name": entry.name,
        "chip": entry.chip,
        "clock_hz": entry.clock_hz,
        "probe": entry.probe,
        "serial": entry.serial,
        "attached": is_attached(entry),
        "status": _status(entry),
        "in_use": str(holder) if holder else None,
        "quarantine": str(found) if found else None,
        "where": entry.where,
    }


def _release(entry: BoardEntry, *, as_json: bool) -> int:
    released = quarantine.release(keys_of(entry))
    if as_json:
        print(json.dumps({"version": JSON_VERSION, "board": entry.name, "released": released}))
    else:
        print(f"{entry.name} {'is released' if released else 'was not in quarantine'}")
    return 0


def _status(entry: BoardEntry) -> str:
    """What the board's backend has to say of where it is; "" for nothing, as of hardware."""
    tell = getattr(backend_for(entry), "status", None)
    try:
        return "" if tell is None else str(tell(entry.name))
    except HarnessError as error:
        return error.message
