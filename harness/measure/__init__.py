# SPDX-License-Identifier: Apache-2.0
"""Runs cases on a board, dual and RiP in turn, and brings back what was measured."""

from harness.measure.layer import UNORDERED_TELLING, PlanRuns, measure_layer
from harness.measure.network import NetworkRuns, measure_network

__all__ = ["UNORDERED_TELLING", "NetworkRuns", "PlanRuns", "measure_layer", "measure_network"]
