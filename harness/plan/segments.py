# SPDX-License-Identifier: Apache-2.0
"""Runs of ops of a network that can be one segment: what geometry and readers allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry
from harness.geometry.segment import WINDOWS, Segment, Stage
from harness.network import Network, Node
from harness.schema.constants import OpKind


@dataclass(frozen=True)
class Fused:
    """Ops as a segment. tensors: the network's number of each of the segment's tensors."""

    segment: Segment
    tensors: dict[int, int]

    @property
    def operands(self) -> tuple[int, ...]:
        """The network's numbers of X and of what is added from outside: what the step reads."""
        return tuple(self.tensors[tensor] for tensor in self.segment.operands)

    @property
    def inner(self) -> frozenset[int]:
        """The network's numbers of the tensors that are never whole."""
        return frozenset(self.tensors[n] for n in range(1, self.segment.last))


def fuse(network: Network, ops: Sequence[int]) -> Fused | None:
    """Consecutive ops as one segment; None where they are none: an op of another kind, a tensor inside
    that anybody outside reads or that is an output, a chain that is broken."""
    nodes = [network.nodes[op] for op in ops]
    readers = network.last_readers
    inner = [node.output for node in nodes[:-1]]
    if len(nodes) < 2 or any(readers[tensor] > ops[-1] for tensor in inner):
        return None
    numbers = {nodes[0].inputs[0]: 0}
    outside = 0
    stages = []
    for number, node in enumerate(nodes, 1):
        source = nodes[number - 2].output if number > 1 else nodes[0].inputs[0]
        window = _window(node)
        if window is None or source not in node.inputs:
            return None
        others = [tensor for tensor in node.inputs if tensor != source]
        for tensor in others:
            if tensor not in numbers:
                outside -= 1
                numbers[tensor] = outside
        stages.append(Stage(node.layer.kind, window, numbers[others[0]] if others else None))
        numbers[node.output] = number
    try:
        segment = Segment(tuple(stages))
    except ConfigError:  # a skip that comes too late
        return None
    return Fused(segment, {number: tensor for tensor, number in numbers.items()})


def _window(node: Node) -> ConvGeometry | None:
    geometry = node.layer.geometry
    if node.layer.kind in WINDOWS and isinstance(geometry, ConvGeometry):
        return geometry
    if node.layer.kind is OpKind.ADD and isinstance(geometry, ElementwiseGeometry):
        if geometry.broadcast:
            return None
        return ConvGeometry(geometry.h, geometry.w, geometry.c, geometry.c)
    return None
