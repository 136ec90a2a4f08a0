# SPDX-License-Identifier: Apache-2.0
"""A network: ops in the order in which they run, and the tensors between them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry import Shape
from harness.network.budget import Ceiling
from harness.network.graph import Layer
from harness.schema.constants import OpKind


@dataclass(frozen=True)
class Node:
    """One op of a network. inputs: the tensor of each operand, in the layer's order."""

    layer: Layer
    inputs: tuple[int, ...]
    output: int


@dataclass(frozen=True)
class Network:
    """Tensors by index, int8 HWC. inputs: loaded before the first op, and dead after their last reader
    like any other. outputs: alive to the end. budget: ceilings in cycles, under every plan. Errors:
    ConfigError for a graph that cannot run."""

    name: str
    tensors: tuple[Shape, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    source: str = ""
    budget: tuple[Ceiling, ...] = ()

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ConfigError(f"{self.name}: a network without ops")
        self._check_range("input", self.inputs)
        made = set(self.inputs)
        for number, node in enumerate(self.nodes):
            self._check_node(number, node, made)
            made.add(node.output)
        self._check_range("output", self.outputs)
        for tensor in self.outputs:
            if tensor not in made:
                raise ConfigError(f"{self.name}: nothing makes output tensor {tensor}")

    @property
    def macs(self) -> int:
        """Of all ops, as Layer.macs counts them."""
        return sum(node.layer.macs for node in self.nodes)

    @property
    def last_readers(self) -> tuple[int, ...]:
        """Of each tensor, the last op that reads it; the number of ops for an output of the network, -1
        where nobody does."""
        last = [-1] * len(self.tensors)
        for number, node in enumerate(self.nodes):
            for tensor in node.inputs:
                last[tensor] = number
        for tensor in self.outputs:
            last[tensor] = len(self.nodes)
        return tuple(last)

    @property
    def producers(self) -> tuple[int, ...]:
        """Of each tensor, the op that makes it; -1 for an input, and for a tensor that nothing makes."""
        made = [-1] * len(self.tensors)
        for number, node in enumerate(self.nodes):
            made[node.output] = number
        return tuple(made)

    def _check_range(self, what: str, tensors: tuple[int, ...]) -> None:
        if not tensors or len(set(tensors)) != len(tensors):
            raise ConfigError(f"{self.name}: no {what}, or one twice: {list(tensors)}")
        for tensor in tensors:
            if not 0 <= tensor < len(self.tensors):
                raise ConfigError(f"{self.name}: {what} {tensor} of {len(self.tensors)} tensors")

    def _check_node(self, number: int, node: Node, made: set[int]) -> None:
        where = f"{self.name}: op {number} ({node.layer.kind.name.lower()})"
        for tensor in (*node.inputs, node.output):
            if not 0 <= tensor < len(self.tensors):
                raise ConfigError(f"{where} names tensor {tensor} of {len(self.tensors)}")
        for tensor in node.inputs:
            if tensor not in made:
                raise ConfigError(f"{where} reads tensor {tensor} before anything makes it")
        if node.output in made:
            raise ConfigError(f"{where} makes tensor {node.output} a second time")
        wanted = (*node.layer.inputs, node.layer.output)
        seen = tuple(self.tensors[tensor] for tensor in (*node.inputs, node.output))
        if node.layer.kind is OpKind.FULLY_CONNECTED and len(seen) == 2:
            # reads its operand as a row of scalars: any shape of as many
            right = (seen[0].size, seen[1]) == (wanted[0].size, wanted[1])
        else:
            right = wanted == seen
        if not right:
            raise ConfigError(
                f"{where}: its shapes are not its tensors'",
                evidence={
                    "shapes": " ".join(str(shape) for shape in wanted),
                    "tensors": " ".join(str(shape) for shape in seen),
                },
            )


def network_of(layer: Layer) -> Network:
    """The network of one op."""
    operands = tuple(range(len(layer.inputs)))
    return Network(
        name=layer.id,
        tensors=(*layer.inputs, layer.output),
        nodes=(Node(layer, operands, len(operands)),),
        inputs=operands,
        outputs=(len(operands),),
        source=layer.source,
        budget=layer.budget,
    )
