# SPDX-License-Identifier: Apache-2.0
"""The table in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from harness.report.text import printable
from harness.results import Verdict

_RATIO = "to dual"
HEADERS = (
    "layer",
    "board",
    "kind",
    "plan",
    "kernel",
    "workspace bound",
    "reached",
    "debt proof",
    "cycles",
    "c/MAC",
    _RATIO,
    "output CRC",
    "witness",
    "verdict",
)


def table(verdicts: Sequence[Verdict]) -> str:
    """One row a verdict; layers and networks apart, and numbers of each kind: no column has two kinds.
    A `*` at the cycles: interrupts were on and their cycles are taken off."""
    parts: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        parts.setdefault((verdict.ratio_to, verdict.provenance.kind), []).append(verdict)
    text = "\n\n".join(_part(rows, ratio_to) for (ratio_to, _), rows in parts.items())
    if any(verdict.cycles_by_model for verdict in verdicts):
        text += (
            "\na..b: cycles by the optimistic and the conservative model of a core without a table"
        )
    retried = {
        f"\n{printable(v.layer)} on {printable(v.provenance.board)}: measured anew, attempt "
        f"{v.attempts}; before, {printable('; '.join(v.recovered))}": None
        for v in verdicts
        if v.recovered
    }
    text += "".join(retried)
    if any(verdict.interrupts_on for verdict in verdicts):
        text += (
            "\n* a window over 1 s: the USB interrupt stayed on, its counted cycles are taken off"
        )
    return text


def _part(verdicts: Sequence[Verdict], ratio_to: str) -> str:
    headers = [f"to {printable(ratio_to)}" if header == _RATIO else header for header in HEADERS]
    alignment = ("left",) * 5 + ("right",) * 6 + ("left", "right", "left")
    rows = [_row(verdict) for verdict in verdicts]
    return tabulate(rows, headers=headers, disable_numparse=True, colalign=alignment)


def _bracket(v: Verdict) -> list[int]:
    """The cycles, or lowest and highest over the timing models of the core."""
    counts = {cycles for _, cycles in v.cycles_by_model} or {v.cycles}
    return sorted({min(counts), max(counts)})


def _row(v: Verdict) -> list[str]:
    return [
        printable(v.layer),
        printable(v.provenance.board),
        v.provenance.kind,
        v.plan,
        printable(v.kernel) or "-",
        str(v.workspace_bound),
        str(v.workspace_reached),
        v.debt or "-",
        "..".join(str(count) for count in _bracket(v)) + ("*" if v.interrupts_on else ""),
        "..".join(f"{count / v.cycles * v.cycles_per_mac:.2f}" for count in _bracket(v)),
        "-" if v.ratio is None else f"{v.ratio:.4f}",
        v.output_crc,
        v.witness or "-",
        "pass" if v.ok else "FAIL",
    ]
