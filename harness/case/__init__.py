# SPDX-License-Identifier: Apache-2.0
"""Cases and packs: what one run executes, and the flash image that carries it."""

from harness.case.case import Case, make_case
from harness.case.flash import plan_that_fits, plan_within
from harness.case.inputs import generate_input
from harness.case.network import NetworkCase, make_network_case, network_case, network_cases
from harness.case.network_records import record_counts
from harness.case.network_weights import draw_network_parameters
from harness.case.pack import Pack, build_pack
from harness.case.quantised import quantised_parameters
from harness.case.weights import draw_parameters

__all__ = [
    "Case",
    "NetworkCase",
    "Pack",
    "build_pack",
    "draw_network_parameters",
    "draw_parameters",
    "generate_input",
    "make_case",
    "make_network_case",
    "network_case",
    "network_cases",
    "plan_that_fits",
    "plan_within",
    "quantised_parameters",
    "record_counts",
]
