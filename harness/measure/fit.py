# SPDX-License-Identifier: Apache-2.0
"""Does a plan fit the board's SRAM? Asked before anything is flashed."""

from __future__ import annotations

from harness.bounds import round_up
from harness.build import RunnerImage
from harness.errors import ConfigError
from harness.plan import NetworkPlan, Plan
from harness.schema.constants import ARENA_LEAD, GUARD_BYTES, SLICE_ALIGNMENT


def scratch_offset(plan: Plan | NetworkPlan) -> int:
    """Where runner/case.c puts the scratch, in bytes from the pool's start: behind ARENA_LEAD, the arena
    and a guard, on the next 8 bytes."""
    return round_up(ARENA_LEAD + plan.arena_bytes + GUARD_BYTES, SLICE_ALIGNMENT)


def bytes_needed(plan: Plan | NetworkPlan) -> int:
    """Bytes of the pool that a case takes: up to its scratch, the scratch, and a guard."""
    return scratch_offset(plan) + plan.scratch_bytes + GUARD_BYTES


def check_fit(plan: Plan | NetworkPlan, image: RunnerImage) -> None:
    """Errors: ConfigError says by how many bytes the case is too large."""
    missing = bytes_needed(plan) - image.pool_bytes
    if missing > 0:
        raise ConfigError(
            f"{plan.name} does not fit under {plan.label}: {missing} bytes too large",
            evidence={
                "arena": plan.arena_bytes,
                "scratch": plan.scratch_bytes,
                "needed with guards": bytes_needed(plan),
                "SRAM pool of the runner": image.pool_bytes,
            },
            hint="a smaller one, another strategy, or a board with more SRAM",
        )


def fits(plan: Plan | NetworkPlan, image: RunnerImage) -> bool:
    return bytes_needed(plan) <= image.pool_bytes
