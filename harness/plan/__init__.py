# SPDX-License-Identifier: Apache-2.0
"""Plans: which byte of the arena each tensor starts at."""

from harness.plan.layer import (
    LAYER_STRATEGIES,
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
from harness.plan.network import NetworkPlan, Step

__all__ = [
    "LAYER_STRATEGIES",
    "Mode",
    "NetworkPlan",
    "Place",
    "Plan",
    "Step",
    "Strategy",
    "find_mode",
    "in_place",
    "mode_name",
    "modes",
    "plan_at_distance",
    "plan_layer",
    "proof_distances",
]
