# SPDX-License-Identifier: Apache-2.0
"""The exact host reference: what must come out, and what a too small gap must corrupt."""

from harness.reference.conv import ConvParameters, convolve, convolve_in_place
from harness.reference.requantize import quantize_multiplier, requantize

__all__ = [
    "ConvParameters",
    "convolve",
    "convolve_in_place",
    "quantize_multiplier",
    "requantize",
]
