# SPDX-License-Identifier: Apache-2.0
"""A whole network's case as the records that the firmware reads."""

from __future__ import annotations

from dataclasses import replace

from harness.bounds import round_up
from harness.case.network import NetworkCase
from harness.case.records import (
    CaseRecords,
    move_record,
    moved_record,
    op_record,
    prepared,
    tensor_record,
)
from harness.errors import ConfigError
from harness.geometry import Pad
from harness.network import Node
from harness.plan import NetworkPlan, Place, Step
from harness.schema.constants import OPERANDS_MAX, SLICE_ALIGNMENT, Layout, StoredBy
from harness.schema.records import OpRecord


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
    for step in case.plan.steps:
        _add_step(case, step, made)
    return made


def _add_step(case: NetworkCase, step: Step, made: CaseRecords) -> None:
    (number,) = step.ops
    node = case.plan.network.nodes[number]
    if step.execution.layout is not Layout.DENSE:
        raise ConfigError(f"op {number} of {case.plan.network.name}: tensors are stored dense")
    operands = [_seen_as(case, node, n, made) for n in range(len(node.inputs))]
    if step.onto is not None and step.moved_to is not None:
        operands[step.onto] = len(made.tensors)
        source = node.inputs[step.onto]
        place = Place(step.moved_to, case.plan.network.tensors[source], Pad())
        made.tensors.append(moved_record(made.tensors[source], place))
        mover = case.plan.kernel.mover(place.shape)
        made.ops.append(move_record(source, operands[step.onto], mover))
    constants, choice = prepared(
        case.plan.kernel, node.layer, step.execution, case.parameters[number]
    )
    record = op_record(node.layer, step.execution, tuple(operands), node.output, constants, choice)
    made.ops.append(_with_constants(record, made))
    made.weights += constants.weights
    made.quants += constants.quants


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


def _with_constants(record: OpRecord, made: CaseRecords) -> OpRecord:
    """The record of an op whose constants come behind those of the ops before it."""
    made.weights = made.weights.ljust(round_up(len(made.weights), SLICE_ALIGNMENT), b"\0")
    return replace(record, weights_offset=len(made.weights), quant_first=len(made.quants))


def record_counts(plan: NetworkPlan) -> tuple[int, ...]:
    """Of each step, the op records up to its end: a shift is a record of its own."""
    counts, total = [], 0
    for step in plan.steps:
        total += 1 if step.onto is None or step.moved_to is None else 2
        counts.append(total)
    return tuple(counts)
