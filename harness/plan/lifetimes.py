# SPDX-License-Identifier: Apache-2.0
"""When each tensor is in memory, and which of them are there together."""

from __future__ import annotations

from dataclasses import dataclass

from harness.network import Network

BEFORE = -1  # the moment at which the inputs are loaded, before op 0


@dataclass(frozen=True)
class Life:
    """first: the op that makes the tensor, BEFORE for an input of the network. last: the last op that
    reads it, the number of ops for an output of the network. In both of them it is in memory."""

    first: int
    last: int


def lives_of(network: Network) -> tuple[Life | None, ...]:
    """Of each tensor; None where nothing makes it. What nobody reads lives while it is made."""
    producers, readers = network.producers, network.last_readers
    inputs = set(network.inputs)
    return tuple(
        Life(producers[tensor], max(producers[tensor], readers[tensor]))
        if producers[tensor] >= 0 or tensor in inputs
        else None
        for tensor in range(len(network.tensors))
    )


def live_during(lives: tuple[Life | None, ...], ops: int) -> list[list[int]]:
    """Entry k + 1: the tensors in memory during op k; entry 0: the inputs, as they are loaded."""
    during: list[list[int]] = [[] for _ in range(ops + 1)]
    for tensor, life in enumerate(lives):
        if life is not None:
            for op in range(life.first, min(life.last, ops - 1) + 1):
                during[op + 1].append(tensor)
    return during


def neighbours_of(lives: tuple[Life | None, ...], ops: int) -> list[list[int]]:
    """Of each tensor those that are in memory together with it at any time."""
    found: list[set[int]] = [set() for _ in lives]
    starting: list[list[int]] = [[] for _ in range(ops + 1)]
    for tensor, life in enumerate(lives):
        if life is not None:
            starting[life.first + 1].append(tensor)
    alive: list[int] = []
    for moment, starts in enumerate(starting):
        op = moment - 1
        alive = [t for t in alive if (life := lives[t]) is not None and life.last >= op]
        for tensor in starts:
            found[tensor].update(alive)
            for other in alive:
                found[other].add(tensor)
            alive.append(tensor)
    return [sorted(others) for others in found]
