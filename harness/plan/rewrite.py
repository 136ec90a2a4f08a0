# SPDX-License-Identifier: Apache-2.0
"""Ops that one table does: x * logistic(x), swish, is a function of one int8 value."""

from __future__ import annotations

from dataclasses import replace

from harness.geometry import ElementwiseGeometry
from harness.network import Layer, Network, Node
from harness.schema.constants import OpKind

SWISH = "swish"


def with_tables(network: Network) -> Network:
    """The network with every LOGISTIC and MUL that are a swish as one TABLE in the MUL's place, whose
    `function` names the two steps: its 256 entries are their result, rounded twice as they are. The
    tensor between them is gone and later ones are renumbered. The same network where there is none."""
    readers = [0] * len(network.tensors)
    for node in network.nodes:
        for tensor in set(node.inputs):
            readers[tensor] += 1
    kept = set(network.outputs)
    makers = {node.output: node for node in network.nodes if _is_logistic(node.layer)}
    gone: set[int] = set()
    tables: dict[int, Node] = {}
    for number, node in enumerate(network.nodes):
        for gate, value in (node.inputs, node.inputs[::-1]) if _is_product(node.layer) else ():
            maker = makers.get(gate)
            if maker and maker.inputs == (value,) and readers[gate] == 1 and gate not in kept:
                tables[number] = Node(_table(node.layer), (value,), node.output)
                gone.add(gate)
                break
    if not gone:
        return network
    nodes = tuple(
        tables.get(number, node)
        for number, node in enumerate(network.nodes)
        if node.output not in gone
    )
    return _without(replace_nodes=nodes, network=network, gone=gone)


def _without(replace_nodes: tuple[Node, ...], network: Network, gone: set[int]) -> Network:
    left = [tensor for tensor in range(len(network.tensors)) if tensor not in gone]
    number = {tensor: n for n, tensor in enumerate(left)}
    return Network(
        name=network.name,
        tensors=tuple(network.tensors[tensor] for tensor in left),
        nodes=tuple(
            Node(node.layer, tuple(number[t] for t in node.inputs), number[node.output])
            for node in replace_nodes
        ),
        inputs=tuple(number[tensor] for tensor in network.inputs),
        outputs=tuple(number[tensor] for tensor in network.outputs),
        source=network.source,
    )


def _is_logistic(layer: Layer) -> bool:
    return layer.kind is OpKind.TABLE and layer.function == "logistic"


def _is_product(layer: Layer) -> bool:
    geometry = layer.geometry
    return (
        layer.kind is OpKind.MUL
        and layer.activation == "none"
        and isinstance(geometry, ElementwiseGeometry)
        and geometry.operands == 2
        and not geometry.broadcast
    )


def _table(product: Layer) -> Layer:
    g = product.geometry
    assert isinstance(g, ElementwiseGeometry)
    geometry = ElementwiseGeometry(g.h, g.w, g.c)
    return replace(product, geometry=geometry, kind=OpKind.TABLE, function=SWISH)
