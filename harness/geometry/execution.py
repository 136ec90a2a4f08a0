# SPDX-License-Identifier: Apache-2.0
"""How a kernel goes through an op: what decides its reads, its writes and so its gap."""

from __future__ import annotations

from dataclasses import dataclass

from harness.schema.constants import Layout, TapOrder, Traversal


@dataclass(frozen=True)
class Execution:
    """layout: is the padding stored with the input. tap_order: is a pixel's receptive field copied
    before its first write (gather), or read again for each channel (direct). traversal: the order of
    the output pixels, which is also the order in which tensors are stored, but for `reverse`, which
    stores by rows and goes from the last pixel, and last channel, to the first.
    Traversal.CHANNEL is a depthwise convolution's: one channel of all pixels after the other.
    """

    layout: Layout = Layout.DENSE
    tap_order: TapOrder = TapOrder.GATHER
    traversal: Traversal = Traversal.ROW

    @property
    def direct(self) -> bool:
        return self.tap_order is TapOrder.DIRECT

    @property
    def label(self) -> str:
        """The parts that are not the usual ones, each with a hyphen before it: ``, `-direct`,
        `-padded-column-direct`."""
        usual = Execution()
        parts = [
            part.name.lower()
            for part, default in (
                (self.layout, usual.layout),
                (self.traversal, usual.traversal),
                (self.tap_order, usual.tap_order),
            )
            if part is not default
        ]
        return "".join(f"-{part}" for part in parts)


GATHER = Execution()
DIRECT = Execution(tap_order=TapOrder.DIRECT)
