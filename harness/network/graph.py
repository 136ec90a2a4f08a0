# SPDX-License-Identifier: Apache-2.0
"""The graph. So far a layer: one op with a stable name."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from harness.geometry import ConvGeometry, Geometry, Shape
from harness.network.budget import Ceiling
from harness.schema.constants import OpKind, Rounding


@dataclass(frozen=True)
class Layer:
    """One op. id: a slug that never changes, the key of its history. function: of kind TABLE, what is
    tabulated. activation: none, relu or relu6, fused into the op's clamp. source: where the geometry is
    from. slow: takes seconds on an emulated board. budget: ceilings in cycles, under every plan."""

    id: str
    geometry: Geometry
    kind: OpKind = OpKind.CONV
    function: str = ""
    rounding: Rounding = Rounding.DOUBLE
    activation: str = "none"
    source: str = ""
    slow: bool = False
    budget: tuple[Ceiling, ...] = ()

    @property
    def weight_seed(self) -> int:
        """What the drawn weights depend on: the id alone, so they never change with a run's seed."""
        return zlib.crc32(self.id.encode())

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """All operands, without padding."""
        return self.geometry.inputs

    @property
    def output(self) -> Shape:
        return self.geometry.output

    @property
    def n_in(self) -> int:
        """Scalars of all operands."""
        return sum(shape.size for shape in self.inputs)

    @property
    def n_out(self) -> int:
        return self.output.size

    @property
    def window(self) -> ConvGeometry:
        """The geometry of an op that is a window over an image. Errors: TypeError for another."""
        if not isinstance(self.geometry, ConvGeometry):
            raise TypeError(f"{self.id} is no window over an image")
        return self.geometry

    @property
    def macs(self) -> int:
        """Multiply-accumulates, taps on padding included, as the literature counts them. Ops without:
        a window's taps, or else values read or written, whichever are more."""
        if self.kind in (OpKind.CONV, OpKind.FULLY_CONNECTED):
            return self.window.macs
        if isinstance(self.geometry, ConvGeometry):
            return self.n_out * self.geometry.k_h * self.geometry.k_w
        return max(self.n_in, self.n_out)
