# SPDX-License-Identifier: Apache-2.0
"""Shapes of operators, in the paper's symbols, and ways to go through them. No weights, no memory."""

from harness.geometry.conv import ConvGeometry, Pad
from harness.geometry.execution import DIRECT, GATHER, Execution
from harness.geometry.shape import MAX_EXTENT, Shape
from harness.geometry.shapes import (
    ConcatGeometry,
    ElementwiseGeometry,
    MeanGeometry,
    PadGeometry,
    UpsampleGeometry,
)
from harness.geometry.step import SINGLE, Step

Geometry = (
    ConvGeometry
    | ElementwiseGeometry
    | MeanGeometry
    | UpsampleGeometry
    | ConcatGeometry
    | PadGeometry
)

__all__ = [
    "DIRECT",
    "GATHER",
    "MAX_EXTENT",
    "SINGLE",
    "ConcatGeometry",
    "ConvGeometry",
    "ElementwiseGeometry",
    "Execution",
    "Geometry",
    "MeanGeometry",
    "Pad",
    "PadGeometry",
    "Shape",
    "Step",
    "UpsampleGeometry",
]
