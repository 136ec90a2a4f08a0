# SPDX-License-Identifier: Apache-2.0
"""Plans: which byte of the arena each tensor starts at."""

from harness.plan.baseline import tinyengine_peak
from harness.plan.check import check_plan
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
from harness.plan.milp import Limits
from harness.plan.network import NetworkPlan, Step
from harness.plan.occupancy import Extent, Occupancy, busiest, occupancies
from harness.plan.planner import SHIFT_COST, Placer, needs_by_op, plan_network, slow_steps
from harness.plan.quicker import Slow
from harness.plan.rewrite import with_tables
from harness.plan.solve import Budget

__all__ = [
    "LAYER_STRATEGIES",
    "SHIFT_COST",
    "Budget",
    "Extent",
    "Limits",
    "Mode",
    "NetworkPlan",
    "Occupancy",
    "Place",
    "Placer",
    "Plan",
    "Slow",
    "Step",
    "Strategy",
    "busiest",
    "check_plan",
    "find_mode",
    "in_place",
    "mode_name",
    "modes",
    "needs_by_op",
    "occupancies",
    "plan_at_distance",
    "plan_layer",
    "plan_network",
    "proof_distances",
    "slow_steps",
    "tinyengine_peak",
    "with_tables",
]
