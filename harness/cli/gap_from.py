# SPDX-License-Identifier: Apache-2.0
"""`ripbench gap --from FILE`: all layers of a list at once."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from tabulate import tabulate

from harness.bounds import batch
from harness.cli.listing import BadEntry, Listing, read_listing
from harness.errors import ConfigError
from harness.paper.printed import Found, closed_forms, printed_forms

JSON_VERSION = 1
_SHOWN = 50  # rows of the text table


def run_listing(options: argparse.Namespace) -> int:
    """Exit status 2, and nothing on stdout, for a wrong file; with --keep-going 1 for wrong entries."""
    unused = [name for name in ("explain", "figure") if getattr(options, name)]
    try:
        if unused:
            raise ConfigError(f"--{unused[0]} is of one layer", hint="use --conv")
        listing = read_listing(options.listing)
        if listing.bad and not options.keep_going:
            raise _complaint(options.listing, listing.bad)
    except ConfigError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    exact, printed = closed_forms(listing.columns), printed_forms(listing.columns)
    dual = batch.dual(listing.columns, stores_padding=False)
    if options.json:
        layers = _merged(options.listing, listing, _objects(exact, printed, dual))
        print(json.dumps({"version": JSON_VERSION, "layers": layers}))
    else:
        print(_table(listing, exact, printed, dual))
        for bad in listing.bad:
            print(f"{bad.where(str(options.listing))}: {bad.problem}")
    return 1 if listing.bad else 0


def _complaint(path: Path, bad: list[BadEntry]) -> ConfigError:
    first = bad[0]
    more = {"other wrong entries": len(bad) - 1} if len(bad) > 1 else {}
    return ConfigError(f"{first.where(str(path))}: {first.problem}", evidence=more, hint=first.hint)


def _objects(exact: dict[str, Found], printed: dict[str, Found], dual: Found) -> list[object]:
    ours = {name: _rows(found) for name, found in exact.items()}
    theirs = {name: _rows(found) for name, found in printed.items()}
    both = _rows(dual)
    return [
        {
            **{name: rows[n] for name, rows in ours.items()},
            "dual": both[n],
            "published": {name: rows[n] for name, rows in theirs.items()},
        }
        for n in range(len(both))
    ]


def _rows(found: Found) -> list[dict[str, int | None]]:
    """A mapping for each layer; None where there is no debt."""
    names = list(found)
    columns = [found[name].tolist() for name in names]
    rows: list[dict[str, int | None]] = [
        dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)
    ]
    if "debt" in found:
        for n in np.flatnonzero(found["debt"] == batch.NO_DEBT).tolist():
            rows[n]["debt"] = None
    return rows


def _merged(path: Path, listing: Listing, answers: list[object]) -> list[object]:
    """In the file's order, with the errors in their places."""
    merged: list[object] = [None] * listing.count
    for index, answer in zip(listing.rows, answers, strict=True):
        merged[index] = answer
    for bad in listing.bad:
        merged[bad.index] = {
            "error": {
                "where": bad.where(str(path)),
                "field": bad.field,
                "message": bad.problem,
                "hint": bad.hint,
            }
        }
    return merged


def _table(
    listing: Listing, exact: dict[str, Found], printed: dict[str, Found], dual: Found
) -> str:
    names = list(exact)
    rows = []
    for n, index in enumerate(listing.rows[:_SHOWN]):
        gaps = []
        for name in names:
            gap, theirs = int(exact[name]["gap"][n]), int(printed[name]["gap"][n])
            gaps.append(str(gap) if gap == theirs else f"{gap} (printed {theirs})")
        rows.append([index, str(listing.geometry(n)), *gaps, int(dual["workspace"][n])])
    headers = ["entry", "layer", *(name.replace("_", " ") for name in names), "two buffers"]
    text = tabulate(rows, headers=headers, disable_numparse=True)
    rest = len(listing.rows) - len(rows)
    return f"gaps in scalars\n\n{text}" + (
        f"\n... and {rest} more; --json has all" if rest > 0 else ""
    )
