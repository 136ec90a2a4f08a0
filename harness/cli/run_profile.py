# SPDX-License-Identifier: Apache-2.0
"""The profile of `ripbench run --profile` as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from harness.build import RunnerImage
from harness.build.lines import Line, Lines, Source
from harness.measure.profile import Entry, Profile, Spent, by_line
from harness.report import printable

_TEXT_WIDTH = 60


def lines_of(found: Profile, image: RunnerImage, folder: Path | None) -> list[Entry]:
    """folder: of the user's own kernels. Errors: BuildError where the ELF has no line table."""
    source = Source(folder)
    return by_line(
        found, image, Lines(image.elf), lambda file, number: source.text(Line(file, number))
    )


def as_text(found: Profile, lines: Sequence[Entry], functions: Sequence[Entry], top: int) -> str:
    total = found.total
    bracket = found.windows * found.bracket
    return "\n".join(
        (
            _table("line", lines, total, top, with_text=True),
            "",
            _table("function", functions, total, top, with_text=False),
            "",
            f"{total.cycles:,} cycles in {found.windows} windows: {found.reported:,} that the firmware "
            f"counted, {bracket:,} of brackets; {total.stalls:,} of them stalls for {total.misses:,} "
            "misses of the flash cache",
        )
    )


def _table(what: str, entries: Sequence[Entry], total: Spent, top: int, *, with_text: bool) -> str:
    shown, rest = entries[:top], entries[top:]
    rows = [_row(entry, total, with_text) for entry in shown]
    if rest:
        left = sum((entry.spent for entry in rest), Spent())
        rows.append(_row(Entry(f"{len(rest)} more", "", "", left), total, with_text))
    headers = ["cycles", "%", "times", "misses", "stalls", what]
    return tabulate(
        rows,
        headers=[*headers, "in", "text"] if with_text else headers,
        disable_numparse=True,
        colalign=("right",) * 5 + ("left",) * (3 if with_text else 1),
    )


def _row(entry: Entry, total: Spent, with_text: bool) -> list[str]:
    spent = entry.spent
    share = 100 * spent.cycles / total.cycles if total.cycles else 0.0
    numbers = [f"{spent.cycles:,}", f"{share:.1f}", f"{spent.instructions:,}",
               f"{spent.misses:,}", f"{spent.stalls:,}"]  # fmt: skip
    text = [printable(entry.function), printable(entry.text)[:_TEXT_WIDTH]] if with_text else []
    return [*numbers, printable(entry.where), *text]


def as_json(
    found: Profile, lines: Sequence[Entry], functions: Sequence[Entry]
) -> dict[str, object]:
    return {
        "cycles": found.total.cycles,
        "reported": found.reported,
        "windows": found.windows,
        "bracket": found.bracket,
        "misses": found.total.misses,
        "stalls": found.total.stalls,
        "lines": [{**_entry(e), "function": e.function, "text": e.text} for e in lines],
        "functions": [_entry(e) for e in functions],
    }


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "where": entry.where,
        "cycles": entry.spent.cycles,
        "instructions": entry.spent.instructions,
        "misses": entry.spent.misses,
        "stalls": entry.spent.stalls,
    }
