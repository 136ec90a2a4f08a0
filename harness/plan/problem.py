# SPDX-License-Identifier: Apache-2.0
"""What is to be placed: tensors with their sizes, who is in memory with whom, and what may overlap."""

from __future__ import annotations

from dataclasses import dataclass

from harness.bounds import round_up
from harness.network import Network
from harness.plan.edges import Edge
from harness.plan.lifetimes import Life, live_during, lives_of, neighbours_of


@dataclass(frozen=True)
class Problem:
    """sizes: in bytes. padded: the same rounded up to V, the room that a tensor takes below another
    one. lives: None for a tensor that nothing makes, which takes no room. neighbours: see
    `neighbours_of`. during: see `live_during`. edges: by (output, operand), and by op."""

    alignment: int
    sizes: tuple[int, ...]
    padded: tuple[int, ...]
    lives: tuple[Life | None, ...]
    neighbours: list[list[int]]
    during: list[list[int]]
    edges: dict[tuple[int, int], tuple[Edge, ...]]
    edges_at: list[list[Edge]]

    @property
    def tensors(self) -> list[int]:
        """All that are ever in memory."""
        return [tensor for tensor, life in enumerate(self.lives) if life is not None]

    def between(self, a: int, b: int) -> tuple[Edge, ...]:
        """Of whichever of the two is laid onto the other one."""
        return self.edges.get((a, b)) or self.edges.get((b, a)) or ()

    def edge_used(self, op: int, offsets: dict[int, int]) -> Edge | None:
        """The edge by which the op's output overlaps an operand; None where it overlaps none."""
        for edge in self.edges_at[op]:
            distance = offsets[edge.source] - offsets[edge.output]
            apart = distance >= self.sizes[edge.output] or -distance >= self.sizes[edge.source]
            if not apart and edge.allows(distance):
                return edge
        return None

    def end(self, offsets: dict[int, int]) -> int:
        """One past the highest byte."""
        return max((at + self.sizes[tensor] for tensor, at in offsets.items()), default=0)


def problem_of(network: Network, edges: tuple[Edge, ...], alignment: int) -> Problem:
    ops = len(network.nodes)
    lives = lives_of(network)
    sizes = tuple(shape.size for shape in network.tensors)
    pairs: dict[tuple[int, int], tuple[Edge, ...]] = {}
    at: list[list[Edge]] = [[] for _ in range(ops)]
    for edge in edges:
        pair = (edge.output, edge.source)
        pairs[pair] = (*pairs.get(pair, ()), edge)
        at[edge.op].append(edge)
    return Problem(
        alignment=alignment,
        sizes=sizes,
        padded=tuple(round_up(size, alignment) for size in sizes),
        lives=lives,
        neighbours=neighbours_of(lives, ops),
        during=live_during(lives, ops),
        edges=pairs,
        edges_at=at,
    )
