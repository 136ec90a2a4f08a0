# SPDX-License-Identifier: Apache-2.0
"""Ids of layers that nobody named: all that tells them apart."""

from __future__ import annotations

from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.network.graph import Layer
from harness.schema.constants import OpKind, Rounding


def name_of(layer: Layer) -> str:
    """`conv-5x6x3-5-k3x3-s1x1-p1.1.1.1`: kind or function, shapes, what is not 1 or 0, and labels."""
    kind = layer.function or layer.kind.name.lower()
    parts = [kind, *_shape(layer)]
    usual = Rounding.SINGLE if layer.kind is OpKind.FULLY_CONNECTED else Rounding.DOUBLE
    if layer.rounding is not usual:
        parts.append(layer.rounding.name.lower())
    if layer.activation != "none":
        parts.append(layer.activation)
    return "-".join(parts)


def _shape(layer: Layer) -> list[str]:
    g = layer.geometry
    if layer.kind is OpKind.FULLY_CONNECTED:
        return [str(g.inputs[0].c), str(g.output.c)]
    if isinstance(g, ConvGeometry):
        return [f"{g.h_in}x{g.w_in}x{g.c_in}", str(g.c_out), *_window(g)]
    if isinstance(g, ConcatGeometry):
        return [f"{g.h}x{g.w}", ".".join(str(c) for c in g.channels)]
    parts = [f"{g.h}x{g.w}x{g.c}"]
    if isinstance(g, UpsampleGeometry):
        parts.append(f"f{g.f_h}x{g.f_w}")
    if isinstance(g, PadGeometry):
        parts += _pads(g.pad)
    if isinstance(g, ElementwiseGeometry) and g.broadcast:
        parts.append("broadcast")
    return parts


def _window(g: ConvGeometry) -> list[str]:
    parts = [f"k{g.k_h}x{g.k_w}"]
    if (g.s_h, g.s_w) != (1, 1):
        parts.append(f"s{g.s_h}x{g.s_w}")
    if (g.d_h, g.d_w) != (1, 1):
        parts.append(f"d{g.d_h}x{g.d_w}")
    return parts + _pads(g.pad)


def _pads(pad: Pad) -> list[str]:
    if pad == Pad():
        return []
    return [f"p{pad.top}.{pad.left}.{pad.bottom}.{pad.right}"]
