# SPDX-License-Identifier: Apache-2.0
"""A plan run byte by byte on tags, by the simulator of single scalars: slow, and obviously right."""

from __future__ import annotations

from harness.liveness.literal import events
from harness.network import Node
from harness.plan import NetworkPlan, Step

Memory = list[tuple[int, int] | None]  # of each byte: tensor and scalar


def runs_clean(plan: NetworkPlan) -> bool:
    """Does every op read what it is to read, and are the outputs there at the end?"""
    network = plan.network
    memory: Memory = [None] * plan.peak
    for tensor in network.inputs:
        _store(plan, memory, tensor, plan.offsets[tensor])
    for step in plan.steps:
        (op,) = step.ops
        node = network.nodes[op]
        places = [plan.offsets[tensor] for tensor in node.inputs]
        if step.moved_to is not None:
            assert step.onto is not None
            moved = node.inputs[step.onto]
            if not _is_there(plan, memory, moved, places[step.onto]):
                return False
            _store(plan, memory, moved, step.moved_to)
            places[step.onto] = step.moved_to
        if not all(
            _is_there(plan, memory, tensor, place)
            and _survives(plan, memory, step, node, operand, place)
            for operand, (tensor, place) in enumerate(zip(node.inputs, places, strict=True))
        ):
            return False
        _store(plan, memory, node.output, plan.offsets[node.output])
    return all(_is_there(plan, memory, tensor, plan.offsets[tensor]) for tensor in network.outputs)


def _survives(
    plan: NetworkPlan, before: Memory, step: Step, node: Node, operand: int, place: int
) -> bool:
    """Is each scalar of the operand still there when the op reads it?"""
    start, tensor = plan.offsets[node.output], node.inputs[operand]
    size = plan.network.tensors[tensor].size
    if start + node.layer.n_out <= place or place + size <= start:
        return True
    memory = list(before)
    layer = node.layer
    for what, scalar, _ in events(layer.kind, layer.geometry, step.execution, operand):
        if what == "write":
            memory[start + scalar] = node.output, scalar
        elif memory[place + scalar] != (tensor, scalar):
            return False
    return True


def _store(plan: NetworkPlan, memory: Memory, tensor: int, start: int) -> None:
    for scalar in range(plan.network.tensors[tensor].size):
        memory[start + scalar] = tensor, scalar


def _is_there(plan: NetworkPlan, memory: Memory, tensor: int, start: int) -> bool:
    size = plan.network.tensors[tensor].size
    return memory[start : start + size] == [(tensor, scalar) for scalar in range(size)]
