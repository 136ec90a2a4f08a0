# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper ledger`: every number of the paper, and what became of it."""

from __future__ import annotations

import argparse
import json
import textwrap
from dataclasses import asdict

from tabulate import tabulate

from harness.paper.ledger import Entry, counts, ledger

JSON_VERSION = 1
_WIDTHS = (12, 48, 22, 16, 60)


def run(options: argparse.Namespace) -> int:
    entries = ledger()
    if options.json:
        print(
            json.dumps({"version": JSON_VERSION, "entries": [asdict(entry) for entry in entries]})
        )
    elif options.markdown:
        print(markdown(entries), end="")
    else:
        rows = [
            [_wrapped(words, width) for words, width in zip(_cells(e), _WIDTHS, strict=True)]
            for e in entries
        ]
        headers = ["place", "the paper says", "value", "state", "shown by, or why not"]
        print(tabulate(rows, headers=headers, disable_numparse=True))
        print(f"\n{_summary(entries)}")
    return 0


def _cells(e: Entry) -> tuple[str, ...]:
    return e.place, e.says, e.value, e.state.value, e.command or e.why


def _wrapped(words: str, width: int) -> str:
    return "\n".join(textwrap.wrap(words, width))


def markdown(entries: tuple[Entry, ...]) -> str:
    """docs/ledger.md."""
    lines = [
        "# The ledger",
        "",
        "Every number that the paper states, and what became of it here. Made by "
        "`ripbench paper ledger --markdown` from `harness/paper/ledger.yaml`; tests run the commands.",
        "",
        _summary(entries),
        "",
        "| place | the paper says | value | state | shown by | why |",
        "|---|---|---|---|---|---|",
    ]
    for e in entries:
        command = f"`{e.command}`" if e.command else ""
        cells = (e.place, e.says, e.value, e.state.value, command, e.why)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _summary(entries: tuple[Entry, ...]) -> str:
    found = counts(entries)
    return f"{len(entries)} rows: " + ", ".join(f"{found[state]} {state.value}" for state in found)
