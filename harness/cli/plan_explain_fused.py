# SPDX-License-Identifier: Apache-2.0
"""What each segment of a fused plan bought: what its ops need together, and what one by one."""

from __future__ import annotations

from tabulate import tabulate

from harness.plan import NetworkPlan, needs_one_by_one, parts_of
from harness.plan.fused_kernel import weights_bytes
from harness.plan.parts import Part


def fusions(plan: NetworkPlan) -> str:
    """A line for each segment, and what all of them bring."""
    parts = parts_of(plan)
    segments = [part for part in parts if part.fused is not None]
    if not segments:
        return "Nothing is fused: no segment would lower the peak."
    single = needs_one_by_one(plan)
    rows = [_row(part, max(single[op] for op in part.ops), parts) for part in segments]
    table = tabulate(
        rows,
        headers=(
            *("ops", "needs", "its ops one by one", "rings", "scratch", "gap", "weights"),
            "peak without it",
        ),
        disable_numparse=True,
        colalign=("left", *["right"] * 7),
    )
    ops = sum(len(part.ops) for part in segments)
    return (
        f"{ops} of {len(plan.network.nodes)} ops are fused, as few as bring the need from "
        f"{max(single):,} bytes, every op by itself, to {max(part.need for part in parts):,}. What each "
        f"segment bought, in bytes of arena, rings and scratch:\n\n{table}"
    )


def _row(part: Part, alone: int, parts: tuple[Part, ...]) -> tuple[str, ...]:
    """alone: what its ops need at most, one by one."""
    assert part.fused is not None
    rings = sum(room.size for room in part.rooms if room.ring is not None)
    scratch = sum(room.size for room in part.rooms if room.ring is None)
    others = max((other.need for other in parts if other is not part), default=0)
    gap = max((edge.gap for edge in part.edges), default=None)
    return (
        f"{part.ops[0]}-{part.ops[-1]}",
        f"{part.need:,}",
        f"{alone:,}",
        f"{rings:,}",
        f"{scratch:,}",
        "input kept" if gap is None else f"{gap:,}",
        f"{weights_bytes(part.fused.segment):,}",
        f"{max(alone, others):,}",
    )
