# SPDX-License-Identifier: Apache-2.0
"""Kernels and the gap that each of them needs."""

from __future__ import annotations

from dataclasses import dataclass

from harness.bounds import Bound, dense, dense_scalar_direct
from harness.geometry import ConvGeometry
from harness.schema.constants import TapOrder


@dataclass(frozen=True)
class KernelTraits:
    """A kernel that makes `pixels` output pixels by `channels` output channels a step.

    alignment: input and output base must be multiples of it, in bytes.
    """

    name: str
    pixels: int
    channels: int
    alignment: int

    def bound(self, geometry: ConvGeometry, tap_order: TapOrder) -> Bound:
        """Gap, debt and workspace for this kernel's own order of reads and writes."""
        if tap_order is TapOrder.GATHER:
            return dense(geometry, direct=False)
        if (self.pixels, self.channels) == (1, 1):
            return dense_scalar_direct(geometry)
        return dense(geometry, direct=True)

    def scratch_bytes(self, geometry: ConvGeometry, tap_order: TapOrder) -> int:
        """gather copies one receptive field, padding included; direct needs nothing."""
        return geometry.field * self.pixels if tap_order is TapOrder.GATHER else 0


# V of the design: everything is placed on 4 bytes, though this kernel reads and writes single bytes.
PLAIN_CONV = KernelTraits("plain", pixels=1, channels=1, alignment=4)
