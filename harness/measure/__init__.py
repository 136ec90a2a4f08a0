# SPDX-License-Identifier: Apache-2.0
"""Runs cases on a board, dual and RiP in turn, and brings back what was measured."""

from typing import TypeVar

from harness.measure.kernel import SpeedRuns, TrialRuns, measure_speeds, measure_trials
from harness.measure.layer import UNORDERED_TELLING, PlanRuns, measure_layer
from harness.measure.network import NetworkRuns, measure_network

Runs = TypeVar("Runs", PlanRuns, NetworkRuns, TrialRuns, SpeedRuns)  # `failed`: attempts before

__all__ = [
    "UNORDERED_TELLING",
    "NetworkRuns",
    "PlanRuns",
    "Runs",
    "SpeedRuns",
    "TrialRuns",
    "measure_layer",
    "measure_network",
    "measure_speeds",
    "measure_trials",
]
