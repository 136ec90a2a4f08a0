# SPDX-License-Identifier: Apache-2.0
"""Which board, firmware and packs stand behind a table."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.text import printable
from harness.results import Verdict


def identities(verdicts: Sequence[Verdict]) -> str:
    """One line a board and firmware, then one a layer and mode with pack and nonce."""
    lines: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        p = verdict.provenance
        head = (
            f"{printable(p.board)}, {p.kind}: {p.chip} {p.unique_id} at {p.clk_sys_hz} Hz, "
            f"ELF {p.elf_hash[:16]}, {printable(p.compiler)}"
        )
        mode = verdict.plan.partition("-")[2] or "usual mode"
        line = f"  {printable(verdict.layer)}, {mode}: pack {p.pack_id}, nonce {p.nonce}"
        lines.setdefault(head, {})[line] = None
    return "\n".join(part for head, packs in lines.items() for part in (head, *packs))
