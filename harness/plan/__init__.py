# SPDX-License-Identifier: Apache-2.0
"""Plans: which byte of the arena each tensor starts at."""

from harness.plan.layer import (
    Mode,
    Place,
    Plan,
    Strategy,
    find_mode,
    in_place,
    mode_name,
    modes,
    plan_at_distance,
    plan_layer,
    proof_distances,
)

__all__ = [
    "Mode",
    "Place",
    "Plan",
    "Strategy",
    "find_mode",
    "in_place",
    "mode_name",
    "modes",
    "plan_at_distance",
    "plan_layer",
    "proof_distances",
]
