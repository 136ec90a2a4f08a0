# SPDX-License-Identifier: Apache-2.0
"""A verdict as name and value, for JUnit."""

from __future__ import annotations

from harness.report.text import printable
from harness.results import Verdict


def properties(verdict: Verdict) -> list[tuple[str, str]]:
    """What the table shows and where it is from, every name with `ripbench.` before it."""
    v, p = verdict, verdict.provenance
    values = {
        "layer": v.layer,
        "board": p.board,
        "kind": p.kind,
        "plan": v.plan,
        "kernel": v.kernel,
        "workspace_bound": v.workspace_bound,
        "workspace_given": v.workspace_given,
        "workspace_reached": v.workspace_reached,
        "debt_proof": v.debt,
        "witness": v.witness,
        "cycles": v.cycles,
        "shift_cycles": v.shift_cycles,
        "cycles_by_model": " ".join(f"{model}={cycles}" for model, cycles in v.cycles_by_model),
        "cold_cycles": v.cold_cycles,
        "microseconds": v.microseconds,
        "cycles_per_mac": f"{v.cycles_per_mac:.4f}",
        "ratio_to_dual": "" if v.ratio is None else f"{v.ratio:.6f}",
        "xip_misses": v.xip_misses,
        "interrupts_on": v.interrupts_on,
        "stack_peak": v.stack_peak,
        "scratch_bytes": v.scratch_bytes,
        "output_crc": v.output_crc,
        "seeds": " ".join(str(seed) for seed in v.seeds),
        "verdict": "pass" if v.ok else "fail",
        "failures": "; ".join(v.failures),
        "attempts": v.attempts,
        "recovered": "; ".join(v.recovered),
        "unique_id": p.unique_id,
        "clk_sys_hz": p.clk_sys_hz,
        "elf_hash": p.elf_hash,
        "build_id": p.build_id,
        "pack_id": p.pack_id,
        "nonce": p.nonce,
        "compiler": p.compiler,
    }
    return [(f"ripbench.{name}", printable(value)) for name, value in values.items()]
