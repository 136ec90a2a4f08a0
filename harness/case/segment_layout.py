# SPDX-License-Identifier: Apache-2.0
"""A whole segment as the only step of a network, laid out as tightly as its gap and its rings allow, or
more tightly than they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from harness.bounds import round_up
from harness.bounds.fused import segment_bound
from harness.errors import ConfigError
from harness.geometry import GATHER, ElementwiseGeometry
from harness.geometry.segment import Ring, Segment
from harness.kernels import PLAIN, KernelTraits
from harness.network import Layer, Network, Node
from harness.plan import NetworkPlan, Step, Strategy
from harness.plan.fused_kernel import SetFused
from harness.plan.network import Buffer
from harness.plan.segments import Fused, fuse
from harness.schema.constants import OpKind

_SCRATCH_ALIGNMENT = 4  # of the runner, whatever the kernel


class Order(Enum):
    """Of blocks in the arena, upwards: what is written past the last one, or below the first one, hits
    the guards, where it shows."""

    SCRATCH_LAST = "tensors, rings, bytes of scratch"
    RINGS_LAST = "tensors, bytes of scratch, rings"
    TENSORS_LAST = "rings, bytes of scratch, tensors"


@dataclass(frozen=True)
class Tightness:
    """How a segment lies. onto: the operand (Segment.operands) that the output Y is laid onto, at its
    gap; None: apart from all. nearer: bytes of that gap that are left out, so many that Y begins above
    the operand, too. rows: added to each ring in turn, in order of their tensors; none to those beyond.
    spare: bytes of scratch beyond what it needs. base: bytes below everything."""

    onto: int | None = 0
    nearer: int = 0
    rows: tuple[int, ...] = ()
    spare: int = 0
    base: int = 0
    order: Order = Order.SCRATCH_LAST


AT_THE_GAP = Tightness()


def network_of_segment(segment: Segment, name: str = "drawn") -> Network:
    """Its stages as ops, its operands as inputs."""
    number = {tensor: n for n, tensor in enumerate(segment.operands)}
    shapes = [segment.shape(tensor) for tensor in segment.operands]
    nodes = []
    for made, stage in enumerate(segment.stages, 1):
        g = stage.window
        adds = stage.kind is OpKind.ADD
        geometry = ElementwiseGeometry(g.h_in, g.w_in, g.c_in, 2) if adds else g
        inputs = (number[made - 1], *(() if stage.other is None else (number[stage.other],)))
        number[made] = len(shapes)
        shapes.append(stage.output)
        nodes.append(Node(Layer(f"op{made}", geometry, stage.kind), inputs, number[made]))
    outside = tuple(range(len(segment.operands)))
    return Network(name, tuple(shapes), tuple(nodes), outside, (len(shapes) - 1,))


def fused_whole(network: Network) -> Fused:
    """All ops of a network as one segment. Errors: ConfigError where they are none."""
    found = fuse(network, range(len(network.nodes)))
    if found is None:
        raise ConfigError(f"the ops of {network.name} are no segment")
    return found


def gap_of(segment: Segment, operand: int = 0) -> int:
    """Of Y onto an operand, to the byte."""
    return max(0, segment_bound(segment, operand).debt or 0)


def rings_of(network: Network, kernel: KernelTraits) -> tuple[Ring, ...]:
    """Of the segment that it is. Errors: as fused_whole."""
    return SetFused(kernel).rings(fused_whole(network).segment)


def lay_out(
    network: Network, kernel: KernelTraits = PLAIN, how: Tightness = AT_THE_GAP
) -> NetworkPlan:
    """Its ops as one segment by the set's kernel, nothing rounded up beyond what that one declares: the
    peak is the sum of what there is. Errors: ConfigError for ops that are no segment, or that no kernel
    takes."""
    found = fused_whole(network)
    choice = kernel.choose_segment(found.segment, [node.layer.rounding for node in network.nodes])
    rings = _with_rows(SetFused(kernel).rings(found.segment), how.rows)
    heap = _Heap(how.base, choice.kernel.alignment)
    offsets = [0] * len(network.tensors)
    buffers: list[Buffer] = []
    scratch = Buffer(0, 0)
    if how.order is Order.TENSORS_LAST:
        buffers = heap.rings(rings)
        scratch = heap.scratch(choice.scratch_bytes + how.spare)
    _place_tensors(network, found, how, heap, offsets)
    if how.order is Order.SCRATCH_LAST:
        buffers = heap.rings(rings)
    if how.order is not Order.TENSORS_LAST:
        scratch = heap.scratch(choice.scratch_bytes + how.spare)
    if how.order is Order.RINGS_LAST:
        buffers = heap.rings(rings)
    onto = None if how.onto is None else found.segment.operands.index(how.onto)
    gap = 0 if how.onto is None else gap_of(found.segment, how.onto)
    step = Step(tuple(range(len(network.nodes))), GATHER, onto, gap, None, (*buffers, scratch))
    peak, whole = heap.end, tuple(offsets)
    return NetworkPlan(network, Strategy.FUSED, (step,), whole, peak, 0, None, 0, 1, kernel)


class _Heap:
    """Grows upwards."""

    def __init__(self, base: int, alignment: int) -> None:
        self.end = base
        self.alignment = alignment

    def take(self, size: int, alignment: int | None = None) -> int:
        """Where so many bytes begin."""
        offset = round_up(self.end, alignment or self.alignment)
        self.end = offset + size
        return offset

    def rings(self, rings: Sequence[Ring]) -> list[Buffer]:
        return [Buffer(self.take(ring.size), ring.size, ring) for ring in rings]

    def scratch(self, size: int) -> Buffer:
        return Buffer(self.take(size, _SCRATCH_ALIGNMENT), size)

    def pair(self, distance: int, lower: int, upper: int) -> tuple[int, int]:
        """Of two tensors of so many bytes, the second `distance` above the first; below 0: below it."""
        above, below = max(0, distance), max(0, -distance)
        offset = self.take(max(below + lower, above + upper))
        return offset + below, offset + above


def _place_tensors(
    network: Network, found: Fused, how: Tightness, heap: _Heap, offsets: list[int]
) -> None:
    """Y on its operand first, then the other operands; or all operands, and then Y apart."""
    segment = found.segment
    y = found.tensors[segment.last]
    if how.onto is not None:
        x = found.tensors[how.onto]
        distance = round_up(gap_of(segment, how.onto), heap.alignment) - how.nearer
        sizes = network.tensors[y].size, network.tensors[x].size
        offsets[y], offsets[x] = heap.pair(distance, *sizes)
    for operand in segment.operands:
        if operand != how.onto:
            tensor = found.tensors[operand]
            offsets[tensor] = heap.take(network.tensors[tensor].size)
    if how.onto is None:
        offsets[y] = heap.take(network.tensors[y].size)


def _with_rows(rings: Sequence[Ring], more: Sequence[int]) -> tuple[Ring, ...]:
    added = (*more, *[0] * (len(rings) - len(more)))
    return tuple(
        replace(ring, rows=ring.rows + rows) for ring, rows in zip(rings, added, strict=True)
    )
