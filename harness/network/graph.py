# SPDX-License-Identifier: Apache-2.0
"""The graph. So far a layer: one convolution with a stable name."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from harness.geometry import ConvGeometry


@dataclass(frozen=True)
class Layer:
    """One convolution. id: a slug that never changes, the key of its history. source: where the
    geometry is from. slow: takes seconds on an emulated board."""

    id: str
    geometry: ConvGeometry
    source: str = ""
    slow: bool = False

    @property
    def weight_seed(self) -> int:
        """What the drawn weights depend on: the id alone, so they never change with a run's seed."""
        return zlib.crc32(self.id.encode())
