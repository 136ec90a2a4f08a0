# SPDX-License-Identifier: Apache-2.0
"""A whole network's case as the records that the firmware reads."""

from __future__ import annotations

from dataclasses import replace

from harness.bounds import round_up
from harness.case.network import NetworkCase
from harness.case.records import (
    CaseRecords,
    Constants,
    move_record,
    moved_record,
    op_record,
    packed_for,
    prepared,
    segment_record,
    tensor_record,
)
from harness.errors import ConfigError
from harness.geometry import GATHER, Execution, Pad, Shape
from harness.geometry.segment import Ring
from harness.kernels import Choice
from harness.network import Node
from harness.plan import NetworkPlan, Place, Step
from harness.schema.constants import (
    OPERANDS_MAX,
    SLICE_ALIGNMENT,
    Layout,
    OpKind,
    StoredBy,
    Traversal,
)
from harness.schema.records import OpRecord, TensorRecord


def network_records(case: NetworkCase) -> CaseRecords:
    """Tensors by their numbers in the network, then those that a step moved. Errors: ConfigError for
    more inputs or outputs than an entry holds, and for a layout that needs padding in memory."""
    network = case.plan.network
    for what, listed in (("inputs", network.inputs), ("outputs", network.outputs)):
        if len(listed) > OPERANDS_MAX:
            raise ConfigError(
                f"{network.name} has {len(listed)} {what}",
                hint=f"a case has up to {OPERANDS_MAX}; fewer may be asked for",
            )
    made = CaseRecords(inputs=network.inputs, outputs=network.outputs)
    for offset, shape in zip(case.plan.offsets, network.tensors, strict=True):
        made.tensors.append(tensor_record(Place(offset, shape, Pad()), StoredBy.ROW, 0, 0))
    for step, choice in zip(case.plan.steps, case.plan.step_choices, strict=True):
        moved = _move(case, step, made)
        if len(step.ops) == 1:
            _add_op(case, step, moved, made)
        else:
            _add_segment(case, step, choice, moved, made)
    return made


def _move(case: NetworkCase, step: Step, made: CaseRecords) -> dict[int, int]:
    """The shift before a step, if there is one. By the tensor that it moves, its number afterwards."""
    if step.onto is None or step.moved_to is None:
        return {}
    source = case.plan.operands(step)[step.onto]
    place = Place(step.moved_to, case.plan.network.tensors[source], Pad())
    target = len(made.tensors)
    made.tensors.append(moved_record(made.tensors[source], place))
    made.ops.append(move_record(source, target, case.plan.kernel.mover(place.shape)))
    return {source: target}


def _add_op(case: NetworkCase, step: Step, moved: dict[int, int], made: CaseRecords) -> None:
    (number,) = step.ops
    node = case.plan.network.nodes[number]
    if step.execution.layout is not Layout.DENSE:
        raise ConfigError(f"op {number} of {case.plan.network.name}: tensors are stored dense")
    operands = [_seen_as(case, node, n, made) for n in range(len(node.inputs))]
    if step.onto is not None and moved:
        operands[step.onto] = moved[node.inputs[step.onto]]
    kernel = case.plan.kernel_of(step)
    constants, choice = prepared(kernel, node.layer, step.execution, case.parameters[number])
    record = op_record(node.layer, step.execution, tuple(operands), node.output, constants, choice)
    made.ops.append(_with_scratch(_with_constants(record, constants, made), step))


def _add_segment(
    case: NetworkCase, step: Step, choice: Choice, moved: dict[int, int], made: CaseRecords
) -> None:
    """Its own record, then its stages', each as if it ran alone but for where its tensors lie."""
    fused = case.plan.fused(step)
    assert fused is not None, "a step of several ops"
    for buffer in step.buffers:
        if buffer.ring is not None:
            for tensor, rows in _ring_records(case.plan, fused.tensors, buffer.ring, buffer.offset):
                made.tensors[tensor] = rows
    stages = []
    for number in step.ops:
        node = case.plan.network.nodes[number]
        operands = tuple(moved.get(tensor, tensor) for tensor in node.inputs)
        layer, parameters = node.layer, case.parameters[number]
        alone, execution = choice, GATHER
        if choice.kernel.packed_stages:
            alone = case.plan.kernel.choose_stage(layer.kind, layer.geometry, layer.rounding)
            if layer.kind is OpKind.DEPTHWISE:
                execution = Execution(traversal=Traversal.CHANNEL)
        constants = packed_for(alone, layer, parameters)
        record = op_record(layer, execution, operands, node.output, constants, alone)
        stages.append(_with_constants(record, constants, made))
    operands = tuple(moved.get(tensor, tensor) for tensor in fused.operands)
    if len(operands) > OPERANDS_MAX:
        raise ConfigError(f"ops {step.ops[0]} to {step.ops[-1]} read {len(operands)} tensors")
    whole = segment_record(operands, stages[-1].output, stages, choice)
    made.ops += [_with_scratch(whole, step), *stages]


def _ring_records(
    plan: NetworkPlan, tensors: dict[int, int], ring: Ring, offset: int
) -> list[tuple[int, TensorRecord]]:
    """Of the tensor whose rows a ring holds, and of the one that is parked in it."""
    how = StoredBy.PLANES if ring.planar else StoredBy.RING
    found = []
    for tensor, stored in ((ring.tensor, how), (ring.guest, StoredBy.PARKED)):
        if tensor is not None:
            number = tensors[tensor]
            shape: Shape = plan.network.tensors[number]
            record = tensor_record(Place(offset, shape, Pad()), stored, 0, 0)
            found.append((number, replace(record, bytes=ring.size, rows=ring.rows)))
    return found


def _seen_as(case: NetworkCase, node: Node, operand: int, made: CaseRecords) -> int:
    """The tensor of an operand; a record of its own where the op takes its scalars for another shape, as
    fully connected ones do."""
    tensor = node.inputs[operand]
    wanted = node.layer.inputs[operand]
    if case.plan.network.tensors[tensor] == wanted:
        return tensor
    place = Place(case.plan.offsets[tensor], wanted, Pad())
    made.tensors.append(tensor_record(place, StoredBy.ROW, 0, 0))
    return len(made.tensors) - 1


def _with_constants(record: OpRecord, constants: Constants, made: CaseRecords) -> OpRecord:
    """The record of an op whose constants come behind those of the ops before it."""
    made.weights = made.weights.ljust(round_up(len(made.weights), SLICE_ALIGNMENT), b"\0")
    placed = replace(record, weights_offset=len(made.weights), quant_first=len(made.quants))
    made.weights += constants.weights
    made.quants += constants.quants
    return placed


def _with_scratch(record: OpRecord, step: Step) -> OpRecord:
    """Of a step that has its scratch in the arena."""
    for buffer in step.buffers:
        if buffer.ring is None:
            return replace(record, scratch_offset=buffer.offset, scratch_bytes=buffer.size)
    return record


def record_counts(plan: NetworkPlan) -> tuple[int, ...]:
    """Of each step, the ops that the firmware has run at its end: a shift is one of its own."""
    counts, total = [], 0
    for step in plan.steps:
        total += 1 if step.onto is None or step.moved_to is None else 2
        counts.append(total)
    return tuple(counts)
