# SPDX-License-Identifier: Apache-2.0
"""Plans for a network of one op."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.bounds import Bound, round_up
from harness.kernels import KernelTraits
from harness.network import Layer
from harness.schema.constants import TapOrder


class Strategy(StrEnum):
    """dual: every tensor its own place. rip: the input right-aligned at its gap, the output on it."""

    DUAL = "dual"
    RIP = "rip"


@dataclass(frozen=True)
class Plan:
    """Where things are, in bytes from the arena's base.

    arena_bytes: all that input and output may touch (the workspace W). distance: input base above
    output base; for rip it is the gap rounded up. bound: of the kernel that really runs.
    """

    layer: Layer
    strategy: Strategy
    tap_order: TapOrder
    kernel: KernelTraits
    input_offset: int
    output_offset: int
    arena_bytes: int
    scratch_bytes: int
    bound: Bound

    @property
    def distance(self) -> int:
        return self.input_offset - self.output_offset

    @property
    def label(self) -> str:
        """As in test ids: `rip`, `dual`, `rip-direct`."""
        suffix = "" if self.tap_order is TapOrder.GATHER else f"-{self.tap_order.name.lower()}"
        return f"{self.strategy}{suffix}"


def plan_layer(layer: Layer, strategy: Strategy, tap_order: TapOrder, kernel: KernelTraits) -> Plan:
    """dual: output at 0, input behind it. rip: output at 0, input at the gap rounded up to V."""
    geometry = layer.geometry
    if strategy is Strategy.DUAL:
        distance = round_up(geometry.n_out, kernel.alignment)
    else:
        distance = round_up(kernel.bound(geometry, tap_order).gap, kernel.alignment)
    return _plan(layer, strategy, tap_order, kernel, distance, 0)


def plan_at_distance(
    layer: Layer, distance: int, tap_order: TapOrder, kernel: KernelTraits
) -> Plan:
    """Input at any `distance` above the output (below it when negative), in an arena large enough."""
    below = max(0, -distance)
    return _plan(
        layer, Strategy.RIP, tap_order, kernel, distance, round_up(below, kernel.alignment)
    )


def _plan(
    layer: Layer,
    strategy: Strategy,
    tap_order: TapOrder,
    kernel: KernelTraits,
    distance: int,
    output_offset: int,
) -> Plan:
    geometry = layer.geometry
    input_offset = output_offset + distance
    return Plan(
        layer=layer,
        strategy=strategy,
        tap_order=tap_order,
        kernel=kernel,
        input_offset=input_offset,
        output_offset=output_offset,
        arena_bytes=max(input_offset + geometry.n_in, output_offset + geometry.n_out),
        scratch_bytes=kernel.scratch_bytes(geometry, tap_order),
        bound=kernel.bound(geometry, tap_order),
    )
