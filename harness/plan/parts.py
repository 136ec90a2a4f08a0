# SPDX-License-Identifier: Apache-2.0
"""Every step that a fused plan may have, with what it needs: single ops, and runs that fuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.bounds import round_up
from harness.bounds.fused import segment_bound
from harness.errors import ConfigError
from harness.geometry import GATHER, ConvGeometry
from harness.geometry.segment import Ring
from harness.kernels import KernelTraits
from harness.network import Network
from harness.plan.bound import need_of
from harness.plan.edges import Edge, edges_of, usual_execution
from harness.plan.fused_kernel import RunsSegments
from harness.plan.layer import Strategy
from harness.plan.lifetimes import Life, lives_of
from harness.plan.segments import Fused, fuse
from harness.schema.constants import STAGES_MAX


@dataclass(frozen=True)
class Room:
    """What a step has to itself: a ring, or scratch."""

    size: int
    ring: Ring | None = None


@dataclass(frozen=True)
class Part:
    """ops: consecutive ones. fused: None of a single op. rooms: its rings, then its scratch, if any.
    edges: ways of laying its output; need: bytes that are in memory while it runs, at least, rooms
    included. kernel: that runs a single op; None of a segment. slower: the place of these kernels among
    those that might, the first being the quickest."""

    ops: tuple[int, ...]
    fused: Fused | None
    rooms: tuple[Room, ...]
    edges: tuple[Edge, ...]
    need: int
    kernel: KernelTraits | None = None
    slower: int = 0


class Parts:
    """Of a network. fused: the kernel that runs segments.

    streamed: the network's one input is never in memory; the first op has a ring of the rows of its
    window instead, which somebody refills. Errors: ConfigError where another op reads it, too.
    """

    def __init__(
        self, network: Network, fused: RunsSegments, alignment: int, *, streamed: bool = False
    ) -> None:
        self.network = network
        self.alignment = alignment
        self._fused = fused
        self._lives = list(lives_of(network))
        self._streamed = _streamed_rows(network) if streamed else ()
        if streamed:
            self._lives[network.inputs[0]] = None
        self._sizes = tuple(shape.size for shape in network.tensors)

    def singles(self, kernel: KernelTraits, slower: int = 0) -> tuple[Part, ...]:
        """Every op as a step of its own, by a kernel of this set."""
        edges: list[list[Edge]] = [[] for _ in self.network.nodes]
        for edge in edges_of(self.network, Strategy.FUSED, kernel, self.alignment):
            if self._lives[edge.source] is not None:
                edges[edge.op].append(edge)
        found = []
        for op, node in enumerate(self.network.nodes):
            kind, geometry, rounding = node.layer.kind, node.layer.geometry, node.layer.rounding
            way = usual_execution(node.layer)
            rooms = _rooms((), kernel.scratch_bytes(kind, geometry, way, rounding))
            part = self._part((op,), None, rooms, tuple(edges[op]))
            found.append(replace(part, kernel=kernel, slower=slower))
        return tuple(found)

    def segments(self) -> tuple[Part, ...]:
        """All that the fused kernel takes."""
        ops = range(len(self.network.nodes))
        return tuple(part for op in ops for part in self._segments_from(op))

    @property
    def loaded(self) -> int:
        """Bytes of the inputs before anything runs."""
        return sum(
            self._sizes[tensor] for tensor in self.network.inputs if self._lives[tensor] is not None
        )

    def _segments_from(self, op: int) -> Iterator[Part]:
        """All that start there, the shortest first. What the fused kernel does not take it does not take
        with more ops either."""
        for end in range(op + 2, min(op + STAGES_MAX, len(self.network.nodes)) + 1):
            ops = tuple(range(op, end))
            fused = fuse(self.network, ops)
            if fused is not None:
                roundings = [self.network.nodes[op].layer.rounding for op in ops]
                if not self._fused.takes(fused.segment, roundings):
                    break
                rings = self._fused.rings(fused.segment)
                rooms = _rooms(rings, self._fused.scratch_bytes(fused.segment, roundings))
                yield self.segment(ops, fused, rooms)

    def grown(self, part: Part, most: int) -> Part:
        """The same with what it can use of scratch, as far as it then needs at most so many bytes."""
        if part.fused is None or part.rooms[-1].ring is not None:
            return part
        roundings = [self.network.nodes[op].layer.rounding for op in part.ops]
        spare = min(self._fused.spare_bytes(part.fused.segment, roundings), most - part.need)
        *others, scratch = part.rooms
        more = Room(scratch.size + spare // self.alignment * self.alignment)
        return (
            part if spare < self.alignment else self.segment(part.ops, part.fused, (*others, more))
        )

    def segment(self, ops: tuple[int, ...], fused: Fused, rooms: tuple[Room, ...]) -> Part:
        """With these rings and this scratch, whatever the fused kernel says."""
        return self._part(ops, fused, rooms, tuple(self._edges(ops, fused)))

    def _edges(self, ops: tuple[int, ...], fused: Fused) -> Iterator[Edge]:
        """Y onto an operand that nobody reads later."""
        output = fused.tensors[fused.segment.last]
        for onto, tensor in enumerate(fused.segment.operands):
            source = fused.tensors[tensor]
            life = self._lives[source]
            if life is not None and life.last <= ops[-1]:
                debt = segment_bound(fused.segment, tensor).debt
                gap = max(0, debt or 0)
                low = round_up(gap, self.alignment)
                yield Edge(ops[0], onto, source, output, GATHER, gap, low, None)

    def _part(
        self,
        ops: tuple[int, ...],
        fused: Fused | None,
        rooms: tuple[Room, ...],
        edges: tuple[Edge, ...],
    ) -> Part:
        output = self.network.nodes[ops[-1]].output
        if ops[0] == 0:
            rooms = (*self._streamed, *rooms)
        here = [t for t, life in enumerate(self._lives) if _there(life, ops[0])]
        count = len(self._sizes)
        sizes = (*self._sizes, *(room.size for room in rooms))
        tensors = {*here, output, *range(count, count + len(rooms))}
        need = need_of(tensors, edges, sizes, self.alignment)
        return Part(ops, fused, rooms, edges, need)


def _streamed_rows(network: Network) -> tuple[Room, ...]:
    (source, *others), window = network.inputs, network.nodes[0].layer.geometry
    readers = [op for op, node in enumerate(network.nodes) if source in node.inputs]
    if others or readers != [0] or not isinstance(window, ConvGeometry):
        raise ConfigError(f"{network.name}: an input that is no image of a stem is not streamed")
    shape = network.tensors[source]
    return (Room(min(window.k_h_eff, shape.h) * shape.w * shape.c),)


def renumbered(part: Part, step: int) -> tuple[Edge, ...]:
    """Its edges, as of step `step`."""
    return tuple(replace(edge, op=step) for edge in part.edges)


def _rooms(rings: tuple[Ring, ...], scratch: int) -> tuple[Room, ...]:
    found = [Room(ring.size, ring) for ring in rings]
    return tuple(found + [Room(scratch)] * (scratch > 0))


def _there(life: Life | None, op: int) -> bool:
    """Made before op, and read by it or later."""
    return life is not None and life.first < op <= life.last
