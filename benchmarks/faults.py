# SPDX-License-Identifier: Apache-2.0
"""Every cause of a failure on an emulated board, and what the bench made of it: `python -m
benchmarks.faults` prints the table of docs/faults.md, `--write` puts it there.

The causes are those of tests/device/fault_causes.py. Each row is one run of this command; nothing in it
is remembered from a run before.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from harness.errors import HarnessError
from tests.device.fault_bed import Cause, Outcome, attempt, clean
from tests.device.fault_causes import CAUSES

DOC = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"
CHIPS = ("rp2040", "rp2350")
HEADERS = ("cause", "plan", "what the user sees", "what the bench does", "ladder", "s", "test id")


def row(cause: Cause, outcomes: dict[str, Outcome], ladder: str) -> str:
    """Of Markdown. ladder: what the recovery ladder makes of it. s: emulated seconds of the first
    attempt, the longest of both chips."""
    shown = []
    for chip, outcome in outcomes.items():
        if outcome.error is None:
            right = outcome.numbers == clean(chip)
            text = "the right numbers" if right else "**other numbers**"
        else:
            text = _first_line(outcome.error)
        if text not in shown:
            shown.append(text)
    longest = max(outcome.emulated_s for outcome in outcomes.values())
    cells = (
        cause.id.replace("-", " "),
        f"`{cause.faults}`" if cause.faults else "by the test",
        "; ".join(shown),
        cause.does,
        ladder,
        f"{longest:.2f}",
        f"`test_a_cause[*-{cause.id}]`",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def by_ladder(cause: Cause) -> str:
    """On both chips: `right` or the class of the error; "" for what a test does by hand."""
    if cause.act is not None:
        return ""
    found = {}
    for chip in CHIPS:
        outcome = attempt(cause, chip, recovery=True)
        wrong = outcome.error is None and outcome.numbers != clean(chip)
        found["**wrong**" if wrong else _class(outcome)] = None
    return ", ".join(found)


def _class(outcome: Outcome) -> str:
    return "right" if outcome.error is None else type(outcome.error).__name__


def _first_line(error: HarnessError) -> str:
    """Class and message, and the cause where that is stated; CRCs are of no use to a reader."""
    cause = f" ({error.cause.splitlines()[0]})" if error.cause else ""
    return re.sub(r"\b[0-9a-f]{8}\b", "...", f"{type(error).__name__}: {error.message}{cause}")


def table() -> str:
    """All causes on both chips, as Markdown, and the counts and worst times below it."""
    lines = ["| " + " | ".join(HEADERS) + " |", "|" + "---|" * len(HEADERS)]
    classes: Counter[str] = Counter()
    worst: list[tuple[float, float, str]] = []
    recovered = tried = 0
    for cause in CAUSES:
        outcomes = {chip: attempt(cause, chip) for chip in CHIPS}
        ladder = by_ladder(cause)
        lines.append(row(cause, outcomes, ladder))
        recovered += ladder == "right" and cause.error is not None
        tried += ladder != "" and cause.error is not None
        for chip, outcome in outcomes.items():
            classes[_class(outcome)] += 1
            worst.append((outcome.wall_s, outcome.emulated_s, f"{cause.id} on {chip}"))
    slowest, longest = max(worst), max(worst, key=lambda one: one[1])
    usual = sorted(emulated for _, emulated, _ in worst)[len(worst) * 9 // 10]
    counts = ", ".join(f"{count} {name}" for name, count in sorted(classes.items()))
    lines += [
        "",
        f"{len(CAUSES)} causes on {len(CHIPS)} chips: {counts}. "
        f"Worst: {longest[1]:.0f} emulated seconds ({longest[2]}), nine in ten below {usual:.1f}; "
        f"{slowest[0]:.1f} s of the host ({slowest[2]}). "
        f"With the ladder {recovered} of the {tried} that fail and need no test's hand come out right.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("--write", action="store_true", help=f"into {DOC.name}, between its marks")
    options = parser.parse_args()
    text = table()
    print(text)
    if options.write:
        before, rest = DOC.read_text(encoding="utf-8").split(BEGIN)
        _, after = rest.split(END)
        DOC.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
