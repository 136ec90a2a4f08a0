# SPDX-License-Identifier: Apache-2.0
"""What of the arena each step of a plan takes: for readers and figures, not for planning."""

from __future__ import annotations

from dataclasses import dataclass

from harness.plan.network import Buffer, NetworkPlan


@dataclass(frozen=True)
class Extent:
    """A tensor in the arena, in bytes; moved: the copy that a shift makes. buffer: a step's own ring or
    scratch, which is no tensor (-1)."""

    tensor: int
    offset: int
    size: int
    moved: bool = False
    buffer: Buffer | None = None

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True)
class Occupancy:
    """While one step runs: every tensor that it reads, makes, or leaves alone for a later one."""

    step: int
    extents: tuple[Extent, ...]

    @property
    def top(self) -> int:
        """One past the highest byte in use."""
        return max(extent.end for extent in self.extents)

    @property
    def used(self) -> int:
        """Bytes in use, those that two tensors share counted once."""
        total, reached = 0, 0
        for extent in sorted(self.extents, key=lambda extent: extent.offset):
            total += max(0, extent.end - max(extent.offset, reached))
            reached = max(reached, extent.end)
        return total


def occupancies(plan: NetworkPlan) -> list[Occupancy]:
    """One for each step, in order."""
    network = plan.network
    last, made = network.last_readers, network.producers
    inner = {network.nodes[op].output for step in plan.steps for op in step.ops[:-1]}
    known = [
        tensor
        for tensor in range(len(network.tensors))
        if made[tensor] >= 0 and tensor not in inner
    ]
    known += [tensor for tensor in network.inputs if made[tensor] < 0]
    found = []
    for number, step in enumerate(plan.steps):
        first, final = step.ops[0], step.ops[-1]
        extents = [
            Extent(tensor, plan.offsets[tensor], network.tensors[tensor].size)
            for tensor in sorted(known)
            if made[tensor] <= final and max(last[tensor], made[tensor]) >= first
        ]
        if step.onto is not None and step.moved_to is not None:
            source = plan.operands(step)[step.onto]
            size = network.tensors[source].size
            extents.append(Extent(source, step.moved_to, size, moved=True))
        extents += [Extent(-1, own.offset, own.size, buffer=own) for own in step.buffers]
        found.append(Occupancy(number, tuple(extents)))
    return found


def busiest(plan: NetworkPlan) -> Occupancy:
    """The step that sets the peak, the first of several."""
    return max(occupancies(plan), key=lambda occupancy: occupancy.top)
