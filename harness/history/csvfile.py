# SPDX-License-Identifier: Apache-2.0
"""Verdicts as CSV, one row each, for spreadsheets: none of which will take a name for a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet compute a cell
_FIRST = ("run", "started", "ended", "commit", "dirty", "time", "test", "layer", "plan", "kernels")
_APART = ("version", "uid", "provenance", "samples", "run")


def csv_text(lines: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """From harness.history.lines.verdict_lines, a header first. `samples`: cycles of each; lists are
    JSON."""
    names: list[str] | None = None
    for line in lines:
        row = _row(line)
        if names is None:
            names = list(row)
            yield _text(names)
        yield _text([row.get(name, "") for name in names])


def _row(line: Mapping[str, Any]) -> dict[str, Any]:
    run = line["run"]
    flat = {
        **{name: run[name] for name in ("started", "ended", "commit", "dirty")},
        "run": run["token"],
        **line["provenance"],
        **{name: value for name, value in line.items() if name not in _APART},
        "samples": [sample["cycles"] for sample in line["samples"]],
    }
    return {name: flat[name] for name in (*_FIRST, *(n for n in flat if n not in _FIRST))}


def _text(values: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([_cell(value) for value in values])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Numbers as they are; text that could be a formula with an apostrophe before it, and without
    characters that a terminal obeys."""
    if value is None or isinstance(value, (int, float)):
        return value
    text = json.dumps(value) if isinstance(value, (list, dict)) else str(value)
    if text.startswith(_FORMULA):
        text = "'" + text
    return "".join(c if c.isprintable() else "?" for c in text)
