# SPDX-License-Identifier: Apache-2.0
"""Plans: which byte of the arena each tensor starts at."""

from harness.plan.layer import Plan, Strategy, plan_at_distance, plan_layer

__all__ = ["Plan", "Strategy", "plan_at_distance", "plan_layer"]
