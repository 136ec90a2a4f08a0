# SPDX-License-Identifier: Apache-2.0
"""Where a network goes wrong first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness.boards import Board
from harness.case import NetworkCase, record_counts
from harness.measure.samples import is_long
from harness.measure.wrong import wrong_bytes
from harness.network import Network
from harness.results import WrongOp

Int8s = NDArray[np.int8]


def has_long_op(case: NetworkCase, clock_hz: int) -> bool:
    """Is one of its windows, which hold an op or a segment each, too long to mask interrupts in it?"""
    nodes = case.plan.network.nodes
    windows = [[nodes[op].layer for op in step.ops] for step in case.plan.steps]
    return any(
        is_long(sum(one.macs for one in layers), sum(one.n_out for one in layers), clock_hz)
        for layers in windows
    )


def first_wrong_op(
    board: Board,
    index: int,
    case: NetworkCase,
    expected: Sequence[Int8s],
    seed: int,
    paint: int,
    keep_interrupts: bool,
) -> WrongOp | None:
    """By halving: the first steps run alone, and every tensor that a later one reads is compared. index:
    of the case in the pack of the board. expected: every tensor, from the host. None where all steps are
    right when they are looked at one by one."""

    def wrong_after(steps: int) -> WrongOp | None:
        ops = record_counts(case.plan)[steps - 1]
        board.run(index, seed, paint=paint, keep_interrupts=keep_interrupts, ops=ops)
        return _first_of_living(board, case, expected, case.plan.steps[steps - 1].ops[-1])

    right, wrong, found = 0, len(case.plan.steps) + 1, None
    while wrong - right > 1:
        steps = (right + wrong) // 2
        seen = wrong_after(steps)
        if seen is None:
            right = steps
        else:
            wrong, found = steps, seen
    return found


def _first_of_living(
    board: Board, case: NetworkCase, expected: Sequence[Int8s], last: int
) -> WrongOp | None:
    plan, network = case.plan, case.plan.network
    for tensor in living_after(network, last):
        seen = board.read(plan.offsets[tensor], network.tensors[tensor].size)
        found = wrong_bytes(seen, expected[tensor])
        if found is not None:
            return WrongOp(last, network.nodes[last].layer.kind.name.lower(), tensor, found)
    return None


def living_after(network: Network, op: int) -> list[int]:
    """Tensors that an op after `op` reads, or that are outputs of the network, its own output first."""
    last, made = network.last_readers, network.producers
    own = network.nodes[op].output
    living = [
        tensor
        for tensor in range(len(network.tensors))
        if last[tensor] > op
        and made[tensor] <= op
        and (made[tensor] >= 0 or tensor in network.inputs)
    ]
    return sorted(living, key=lambda tensor: tensor != own)
