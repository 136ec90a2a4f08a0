# SPDX-License-Identifier: Apache-2.0
"""Cases and packs: what one run executes, and the flash image that carries it."""

from harness.case.case import Case, make_case
from harness.case.inputs import generate_input
from harness.case.network_weights import draw_network_parameters
from harness.case.pack import Pack, build_pack
from harness.case.quantised import quantised_parameters
from harness.case.weights import draw_parameters

__all__ = [
    "Case",
    "Pack",
    "build_pack",
    "draw_network_parameters",
    "draw_parameters",
    "generate_input",
    "make_case",
    "quantised_parameters",
]
