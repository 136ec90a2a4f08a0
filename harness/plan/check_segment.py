# SPDX-License-Identifier: Apache-2.0
"""What of a segment can be judged without the arena: its rings, and the order of its reads and writes.

It is asked of the segment's own walk (harness.liveness.segments) and of no formula.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.geometry.segment import Ring, Segment
from harness.liveness import first_collision
from harness.liveness.segments import first_lost, segment_schedule
from harness.plan.replay import Harm


@dataclass(frozen=True)
class Fault:
    """what: a sentence. evidence: name to value."""

    what: str
    evidence: dict[str, object]


def ring_fault(segment: Segment, rings: tuple[Ring, ...], sizes: tuple[int, ...]) -> Fault | None:
    """The rings' shapes against the tensors they hold rows of, their sizes, and every row of the walk
    against what its slot holds by then."""
    held = [tensor for ring in rings for tensor in (ring.tensor, ring.guest) if tensor is not None]
    if len(set(held)) != len(held) or not set(held) <= set(range(1, segment.last)):
        return Fault("its rings are not of its inner tensors, each once", {"rings of": held})
    for ring, size in zip(rings, sizes, strict=True):
        shape, pad = segment.shape(ring.tensor), segment.stage(ring.tensor + 1).window.pad
        w = shape.w + (pad.left + pad.right if ring.planar else 0)
        if ring.rows < 1 or ring.w < w or ring.c != shape.c or ring.size != size:
            evidence = {"ring": str(ring), "tensor": str(shape), "bytes": size}
            return Fault(f"the ring of tensor {ring.tensor} does not hold its rows", evidence)
    lost = first_lost(segment, rings)
    if lost is None:
        return None
    tensor, row = lost.wants
    holds = "nothing" if lost.holds is None else f"row {lost.holds[1]} of {lost.holds[0]}"
    evidence = {"stage": lost.stage, "its row": lost.row, "wants": f"row {row} of {tensor}"}
    return Fault("a row is lost before it is read", {**evidence, "the slot holds": holds})


def segment_harm(segment: Segment, operand: int, distance: int) -> Harm | None:
    """The first store of Y that destroys a scalar of an operand that is still to be read, with the
    operand's base `distance` bytes above Y's."""
    y, size = segment.shape(segment.last).size, segment.shape(operand).size
    if distance >= y or -distance >= size:
        return None
    found = first_collision(segment_schedule(segment, operand), distance)
    return None if found is None else Harm(found.address, found.live)
