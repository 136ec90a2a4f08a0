# SPDX-License-Identifier: Apache-2.0
"""The table in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from harness.report.text import printable
from harness.results import Verdict

HEADERS = (
    "layer",
    "board",
    "kind",
    "plan",
    "workspace bound",
    "reached",
    "debt proof",
    "cycles",
    "c/MAC",
    "to dual",
    "output CRC",
    "verdict",
)


def table(verdicts: Sequence[Verdict]) -> str:
    """One row a verdict. A `*` at the cycles: interrupts were on and their cycles are taken off."""
    rows = [_row(verdict) for verdict in verdicts]
    alignment = ("left",) * 4 + ("right",) * 6 + ("left",) * 2
    text = tabulate(rows, headers=HEADERS, disable_numparse=True, colalign=alignment)
    if any(verdict.interrupts_on for verdict in verdicts):
        text += (
            "\n* a window over 1 s: the USB interrupt stayed on, its counted cycles are taken off"
        )
    return text


def _row(v: Verdict) -> list[str]:
    return [
        printable(v.layer),
        printable(v.provenance.board),
        v.provenance.kind,
        v.plan,
        str(v.workspace_bound),
        str(v.workspace_reached),
        v.debt or "-",
        f"{v.cycles}{'*' if v.interrupts_on else ''}",
        f"{v.cycles_per_mac:.2f}",
        "-" if v.ratio is None else f"{v.ratio:.4f}",
        v.output_crc,
        "pass" if v.ok else "FAIL",
    ]
