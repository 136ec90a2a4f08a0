# SPDX-License-Identifier: Apache-2.0
"""The order of ops of the least lower bound, over all orders that the graph allows: exact.

What is in memory while an op runs, and onto what its output may be laid, depends on the set of ops that
ran before it, not on their order. So the search goes over such sets, the cheapest first, cost being the
largest need so far; the first complete set that it takes has the least. Of equal ones it follows the
fullest, so a graph whose peak no order can lower costs hardly more than one walk.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.kernels import PLAIN, KernelTraits
from harness.network import Network, Node
from harness.plan.bound import need_of
from harness.plan.edges import Edge, edges_of
from harness.plan.layer import Strategy
from harness.plan.rewrite import with_tables

MOST_WORK = 2_000_000
"""Tensors weighed, over all needs that are worked out: seconds. No Keras graph takes a hundredth."""


@dataclass(frozen=True)
class Reordered:
    """network: its ops in the order found, as given where no order needs less. before, after: the lower
    bound of either order. states: sets of ops that were looked at. exact: no order at all has a lower
    bound; else the search ended at its limit, and the given order is kept."""

    network: Network
    before: int
    after: int
    states: int
    exact: bool

    @property
    def changed(self) -> bool:
        return self.after < self.before

    def __str__(self) -> str:
        if not self.exact:
            return (
                f"order of ops: kept; the search ended at its limit, after {self.states:,} sets of ops, "
                "so a better one is not ruled out"
            )
        if self.changed:
            return (
                f"order of ops: changed, which needs {self.after:,} bytes instead of {self.before:,}; "
                f"no order needs less ({self.states:,} sets of ops looked at)"
            )
        return f"order of ops: kept; no order needs less ({self.states:,} sets of ops looked at)"


def reorder(
    network: Network,
    strategy: Strategy,
    *,
    kernel: KernelTraits = PLAIN,
    alignment: int = 4,
    most_work: int = MOST_WORK,
) -> Reordered:
    """Of the lower bound of a plan under this strategy; of `fused` that of rip, before anything is
    fused, of `extended` of the network with its tables. Tensors keep their numbers, and layers their
    ids. most_work: tensors weighed before the search gives up."""
    if strategy is Strategy.EXTENDED:
        network = with_tables(network)
    graph = _Graph(network, strategy, kernel, alignment)
    given = graph.cost(range(len(network.nodes)))
    found, states = _search(graph, most_work)
    if found is None:
        return Reordered(network, given, given, states, exact=False)
    cost, order = found
    if cost >= given:
        return Reordered(network, given, given, states, exact=True)
    nodes = tuple(network.nodes[op] for op in order)
    return Reordered(replace(network, nodes=nodes), given, cost, states, exact=True)


def _search(graph: _Graph, most_work: int) -> tuple[tuple[int, tuple[int, ...]] | None, int]:
    """Cost and order, None where it takes more work; and the sets looked at."""
    complete = (1 << len(graph.nodes)) - 1
    heap = [(graph.loaded, 0, 0)]  # cost, less what is done, and the set: a bit for each op
    known = {0: graph.loaded}
    came: dict[int, int] = {}
    closed: set[int] = set()
    while heap:
        cost, _, done = heapq.heappop(heap)
        if done == complete:
            return (cost, _order(came, done)), len(closed)
        if done in closed:
            continue
        closed.add(done)
        live = graph.live(done)
        for op in graph.ready(done):
            after = done | 1 << op
            price = max(cost, graph.need(op, done, live))
            most_work -= len(live) + 1
            if price < known.get(after, price + 1):
                known[after] = price
                came[after] = op
                heapq.heappush(heap, (price, -after.bit_count(), after))
        if most_work < 0:
            return None, len(closed)
    raise AssertionError("every graph has an order")


def _order(came: dict[int, int], done: int) -> tuple[int, ...]:
    found = []
    while done:
        op = came[done]
        found.append(op)
        done &= ~(1 << op)
    return tuple(reversed(found))


class _Graph:
    """A network as sets of ops, bit n for op n."""

    def __init__(
        self, network: Network, strategy: Strategy, kernel: KernelTraits, alignment: int
    ) -> None:
        self.nodes = network.nodes
        self._sizes = tuple(shape.size for shape in network.tensors)
        self._alignment = alignment
        self._outputs = frozenset(network.outputs)
        self._readers = [0] * len(network.tensors)
        self._maker = [0] * len(network.tensors)
        for op, node in enumerate(network.nodes):
            self._maker[node.output] = 1 << op
            for tensor in node.inputs:
                self._readers[tensor] |= 1 << op
        self._before = [_union(self._maker[t] for t in node.inputs) for node in network.nodes]
        self._edges = [
            _edges_alone(network, node, strategy, kernel, alignment) for node in self.nodes
        ]
        self.loaded = need_of(network.inputs, (), self._sizes, alignment)
        self._made = [t for t, maker in enumerate(self._maker) if maker or t in network.inputs]

    def ready(self, done: int) -> Iterator[int]:
        for op, before in enumerate(self._before):
            if not done >> op & 1 and before & ~done == 0:
                yield op

    def live(self, done: int) -> list[int]:
        """Tensors that are made by then and read later, or outputs."""
        return [
            tensor
            for tensor in self._made
            if self._maker[tensor] & ~done == 0
            and (tensor in self._outputs or self._readers[tensor] & ~done)
        ]

    def need(self, op: int, done: int, live: list[int]) -> int:
        """Of the op as the next one after `done`."""
        after = done | 1 << op
        edges = [
            edge
            for edge in self._edges[op]
            if self._readers[edge.source] & ~after == 0 and edge.source not in self._outputs
        ]
        return need_of([*live, self.nodes[op].output], edges, self._sizes, self._alignment)

    def cost(self, order: range) -> int:
        worst, done = self.loaded, 0
        for op in order:
            worst = max(worst, self.need(op, done, self.live(done)))
            done |= 1 << op
        return worst


def _union(sets: Iterator[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


def _edges_alone(
    network: Network, node: Node, strategy: Strategy, kernel: KernelTraits, alignment: int
) -> tuple[Edge, ...]:
    """As if the op were the last to read each of its operands."""
    operands = tuple(dict.fromkeys(node.inputs))
    tensors = (*operands, node.output)
    here = {tensor: number for number, tensor in enumerate(tensors)}
    inputs = tuple(here[tensor] for tensor in node.inputs)
    alone = Network(
        network.name,
        tuple(network.tensors[tensor] for tensor in tensors),
        (Node(node.layer, inputs, here[node.output]),),
        tuple(range(len(operands))),
        (here[node.output],),
    )
    return tuple(
        replace(edge, source=tensors[edge.source], output=tensors[edge.output])
        for edge in edges_of(alone, strategy, kernel, alignment)
    )
