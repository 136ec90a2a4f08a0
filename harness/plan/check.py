# SPDX-License-Identifier: Apache-2.0
"""The judge of a plan: it runs the plan on tags, and knows no gap, no lifetime and no strategy.

Each byte of the arena is tagged with the tensor and the scalar that it holds. Op by op the operands have
to be there, whole; where the output meets an operand, the kernel's own order of reads and writes is
replayed, and a write onto a scalar that is still to be read is a violation.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import BoundViolation
from harness.geometry import DIRECT
from harness.kernels import executions
from harness.network import Network, Node
from harness.plan.memory import Tag, Tags
from harness.plan.network import NetworkPlan, Step
from harness.plan.replay import Replay
from harness.schema.constants import Layout, OpKind, Traversal

_BY_ROWS = (Traversal.ROW, Traversal.REVERSE, Traversal.CHANNEL)  # how tensors are stored


def check_plan(plan: NetworkPlan) -> None:
    """Errors: BoundViolation, with both tensors, the op and the byte, if a kernel would read anything
    but what it is to read, or leave the arena; or with what the plan says and what is so."""
    _check_form(plan)
    network = plan.network
    tags = Tags()
    for tensor in network.inputs:
        _write(plan, tags, tensor, plan.offsets[tensor], "the input as it is loaded")
    replay = Replay()
    for step in plan.steps:
        (op,) = step.ops
        _run(plan, tags, replay, step, op)
    for tensor in network.outputs:
        _read(plan, tags, tensor, plan.offsets[tensor], "the network's output at the end")


def _check_form(plan: NetworkPlan) -> None:
    network = plan.network
    if [op for step in plan.steps for op in step.ops] != list(range(len(network.nodes))) or any(
        len(step.ops) != 1 for step in plan.steps
    ):
        raise _violation(plan, "its steps are not the ops in their order", {})
    if len(plan.offsets) != len(network.tensors):
        raise _violation(plan, "it does not place every tensor", {"offsets": len(plan.offsets)})
    there = {*network.inputs, *(node.output for node in network.nodes)}
    places = [(tensor, plan.offsets[tensor]) for tensor in sorted(there)]
    for step in plan.steps:
        node = network.nodes[step.ops[0]]
        if step.moved_to is not None:
            if step.onto is None:
                raise _violation(plan, "it shifts what is not shared", {"op": step.ops[0]})
            places.append((node.inputs[step.onto], step.moved_to))
        _check_execution(plan, step, node)
    for tensor, offset in places:
        if offset < 0 or offset % plan.alignment:
            evidence = {"tensor": tensor, "offset": offset, "alignment": plan.alignment}
            raise _violation(plan, f"tensor {tensor} starts at byte {offset}", evidence)
    peak = max(offset + network.tensors[tensor].size for tensor, offset in places)
    if peak != plan.peak:
        raise _violation(plan, "its peak is not so", {"stated": plan.peak, "highest byte": peak})


def _check_execution(plan: NetworkPlan, step: Step, node: Node) -> None:
    layer, way = node.layer, step.execution
    offered = executions(layer.kind, layer.geometry) or (DIRECT,)
    by_rows = way.layout is Layout.DENSE and way.traversal in _BY_ROWS
    if way not in offered or not by_rows:
        evidence = {"op": _name(plan.network, step.ops[0]), "execution": way.label or "-gather"}
        raise _violation(plan, "no kernel runs an op of a network so", evidence)
    if step.onto is not None and not 0 <= step.onto < len(node.inputs):
        raise _violation(plan, f"it shares operand {step.onto}", {"op": step.ops[0]})


def _run(plan: NetworkPlan, tags: Tags, replay: Replay, step: Step, op: int) -> None:
    node = plan.network.nodes[op]
    who = _name(plan.network, op)
    places = [plan.offsets[tensor] for tensor in node.inputs]
    if step.moved_to is not None and step.onto is not None:
        moved = node.inputs[step.onto]
        _read(plan, tags, moved, places[step.onto], f"the shift before {who}")
        _write(plan, tags, moved, step.moved_to, f"the shift before {who}")
        places[step.onto] = step.moved_to
    for tensor, place in zip(node.inputs, places, strict=True):
        _read(plan, tags, tensor, place, who)
    start = plan.offsets[node.output]
    layer = node.layer
    made = plan.kernel.choose(layer.kind, layer.geometry, step.execution, layer.rounding).step
    for operand, (tensor, place) in enumerate(zip(node.inputs, places, strict=True)):
        harm = replay.harm(layer, step.execution, operand, place - start, made)
        if harm is not None:
            evidence = {
                "op": who,
                "writes": f"tensor {node.output}, scalar {harm.written}",
                "onto": f"tensor {tensor}, scalar {harm.lost}",
                "byte": start + harm.written,
            }
            what = f"{who} destroys tensor {tensor} while it still reads it"
            raise _violation(plan, what, evidence)
    _write(plan, tags, node.output, start, who)


def _read(plan: NetworkPlan, tags: Tags, tensor: int, start: int, who: str) -> None:
    end = start + plan.network.tensors[tensor].size
    found = tags.find_other(start, end, Tag(tensor, start))
    if found is None:
        return
    byte, other = found
    holds = "nothing" if other is None else f"tensor {other.tensor}, scalar {byte - other.base}"
    evidence = {"op": who, "reads": f"tensor {tensor}, scalar {byte - start}", "byte": byte}
    raise _violation(plan, f"tensor {tensor} is not there any more", {**evidence, "holds": holds})


def _write(plan: NetworkPlan, tags: Tags, tensor: int, start: int, who: str) -> None:
    size = plan.network.tensors[tensor].size
    if not 0 <= start <= plan.peak - size:
        evidence = {"op": who, "tensor": tensor, "offset": start, "peak": plan.peak}
        raise _violation(plan, f"tensor {tensor} leaves the arena", evidence)
    tags.write(start, start + size, Tag(tensor, start))


def _name(network: Network, op: int) -> str:
    kind = network.nodes[op].layer.kind
    return f"op {op} ({OpKind(kind).name.lower()})"


def _violation(plan: NetworkPlan, what: str, evidence: Mapping[str, object]) -> BoundViolation:
    return BoundViolation(
        f"the {plan.strategy} plan of {plan.network.name}: {what}", evidence=evidence
    )
