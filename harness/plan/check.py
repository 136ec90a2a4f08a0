# SPDX-License-Identifier: Apache-2.0
"""The judge of a plan: it runs the plan on tags, and knows no gap, no lifetime and no strategy.

Each byte of the arena is tagged with the tensor and the scalar that it holds. Op by op the operands have
to be there, whole; where the output meets an operand, the kernel's own order of reads and writes is
replayed, and a write onto a scalar that is still to be read is a violation.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import BoundViolation, ConfigError
from harness.geometry import DIRECT, GATHER
from harness.kernels import executions
from harness.plan.check_segment import ring_fault, segment_harm
from harness.plan.memory import Tag, Tags
from harness.plan.network import Buffer, NetworkPlan, Step
from harness.plan.replay import Harm, Replay
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
    replay = Replay(plan.kernel)
    for step in plan.steps:
        _run(plan, tags, replay, step)
    for tensor in network.outputs:
        _read(plan, tags, tensor, plan.offsets[tensor], "the network's output at the end")


def _check_form(plan: NetworkPlan) -> None:
    network = plan.network
    if [op for step in plan.steps for op in step.ops] != list(range(len(network.nodes))) or not all(
        step.ops for step in plan.steps
    ):
        raise _violation(plan, "its steps are not the ops in their order", {})
    if len(plan.offsets) != len(network.tensors):
        raise _violation(plan, "it does not place every tensor", {"offsets": len(plan.offsets)})
    inner = {network.nodes[op].output for step in plan.steps for op in step.ops[:-1]}
    there = {*network.inputs, *(node.output for node in network.nodes)} - inner
    places = [
        (f"tensor {tensor}", plan.offsets[tensor], network.tensors[tensor].size)
        for tensor in sorted(there)
    ]
    for step in plan.steps:
        operands = _operands(plan, step)
        if step.onto is not None and not 0 <= step.onto < len(operands):
            raise _violation(plan, f"it shares operand {step.onto}", {"op": step.ops[0]})
        if step.moved_to is not None:
            if step.onto is None:
                raise _violation(plan, "it shifts what is not shared", {"op": step.ops[0]})
            moved = operands[step.onto]
            places.append((f"tensor {moved}", step.moved_to, network.tensors[moved].size))
        places += [(_buffer_name(buffer), buffer.offset, buffer.size) for buffer in step.buffers]
        _check_execution(plan, step)
    for name, offset, _ in places:
        if offset < 0 or offset % plan.alignment:
            evidence = {"place": name, "offset": offset, "alignment": plan.alignment}
            raise _violation(plan, f"{name} starts at byte {offset}", evidence)
    peak = max(offset + size for _, offset, size in places)
    if peak != plan.peak:
        raise _violation(plan, "its peak is not so", {"stated": plan.peak, "highest byte": peak})


def _operands(plan: NetworkPlan, step: Step) -> tuple[int, ...]:
    try:
        return plan.operands(step)
    except ConfigError as error:
        raise _violation(plan, error.message, {}) from error


def _check_execution(plan: NetworkPlan, step: Step) -> None:
    """Segments go by rows; their rings are judged here, their operands as the step runs."""
    layer, way = plan.network.nodes[step.ops[0]].layer, step.execution
    offered = executions(layer.kind, layer.geometry) or (DIRECT,)
    fused = plan.fused(step)
    if fused is not None:
        offered = (GATHER,)
        kept = [(b.ring, b.size) for b in step.buffers if b.ring is not None]
        fault = ring_fault(fused.segment, tuple(r for r, _ in kept), tuple(n for _, n in kept))
        if fault is not None:
            raise _violation(plan, fault.what, {"op": _name(plan, step), **fault.evidence})
    by_rows = way.layout is Layout.DENSE and way.traversal in _BY_ROWS
    if way not in offered or not by_rows:
        evidence = {"op": _name(plan, step), "execution": way.label or "-gather"}
        raise _violation(plan, "no kernel runs an op of a network so", evidence)


def _run(plan: NetworkPlan, tags: Tags, replay: Replay, step: Step) -> None:
    who = _name(plan, step)
    operands = plan.operands(step)
    places = [plan.offsets[tensor] for tensor in operands]
    if step.moved_to is not None and step.onto is not None:
        moved = operands[step.onto]
        _read(plan, tags, moved, places[step.onto], f"the shift before {who}")
        _write(plan, tags, moved, step.moved_to, f"the shift before {who}")
        places[step.onto] = step.moved_to
    for number, buffer in enumerate(step.buffers):
        _take(plan, tags, buffer, -1 - number, who)
    for tensor, place in zip(operands, places, strict=True):
        _read(plan, tags, tensor, place, who)
    output = plan.network.nodes[step.ops[-1]].output
    start = plan.offsets[output]
    for operand, (tensor, place) in enumerate(zip(operands, places, strict=True)):
        harm = _harm(plan, replay, step, operand, place - start)
        if harm is not None:
            evidence = {
                "op": who,
                "writes": f"tensor {output}, scalar {harm.written}",
                "onto": f"tensor {tensor}, scalar {harm.lost}",
                "byte": start + harm.written,
            }
            what = f"{who} destroys tensor {tensor} while it still reads it"
            raise _violation(plan, what, evidence)
    _write(plan, tags, output, start, who)
    for number, buffer in enumerate(step.buffers):
        _keep(plan, tags, buffer, -1 - number, who)


def _harm(
    plan: NetworkPlan, replay: Replay, step: Step, operand: int, distance: int
) -> Harm | None:
    fused = plan.fused(step)
    if fused is None:
        layer = plan.network.nodes[step.ops[0]].layer
        kernel = plan.kernel_of(step)
        chosen = kernel.choose(layer.kind, layer.geometry, step.execution, layer.rounding)
        return replay.harm(layer, step.execution, operand, distance, chosen.step)
    return segment_harm(fused.segment, fused.segment.operands[operand], distance)


def _take(plan: NetworkPlan, tags: Tags, buffer: Buffer, tag: int, who: str) -> None:
    """A step's own memory: whatever lies there is gone."""
    if not 0 <= buffer.offset <= plan.peak - buffer.size:
        evidence = {"op": who, "offset": buffer.offset, "peak": plan.peak}
        raise _violation(plan, f"{_buffer_name(buffer)} leaves the arena", evidence)
    tags.write(buffer.offset, buffer.end, Tag(tag, buffer.offset))


def _keep(plan: NetworkPlan, tags: Tags, buffer: Buffer, tag: int, who: str) -> None:
    """Is it the step's own to the end?"""
    found = tags.find_other(buffer.offset, buffer.end, Tag(tag, buffer.offset))
    if found is None:
        return
    byte, other = found
    holds = "another buffer"
    if other is not None and other.tensor >= 0:
        holds = f"tensor {other.tensor}, scalar {byte - other.base}"
    evidence = {"op": who, "byte": byte, "holds": holds}
    raise _violation(plan, f"{_buffer_name(buffer)} is not the step's own", evidence)


def _buffer_name(buffer: Buffer) -> str:
    return "scratch" if buffer.ring is None else f"the ring of inner tensor {buffer.ring.tensor}"


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


def _name(plan: NetworkPlan, step: Step) -> str:
    if len(step.ops) > 1:
        return f"ops {step.ops[0]} to {step.ops[-1]}"
    kind = plan.network.nodes[step.ops[0]].layer.kind
    return f"op {step.ops[0]} ({OpKind(kind).name.lower()})"


def _violation(plan: NetworkPlan, what: str, evidence: Mapping[str, object]) -> BoundViolation:
    return BoundViolation(
        f"the {plan.strategy} plan of {plan.network.name}: {what}", evidence=evidence
    )
