# SPDX-License-Identifier: Apache-2.0
"""A plan as a C header for firmware of one's own: where each tensor starts, and what each op assumes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.plan import NetworkPlan, Step, Strategy
from harness.report import printable
from harness.schema.constants import Traversal


def c_header(plan: NetworkPlan) -> str:
    """Offsets in bytes from the arena's base; the same bytes for the same plan."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: NetworkPlan) -> Iterator[str]:
    name = _identifier(plan.name)
    proof = {"bound": "equal to the lower bound", "milp": "by mixed-integer programming"}
    yield f"/* {_comment(plan.name)} under {plan.label}, planned by ripbench. The arena is"
    yield f" * {plan.peak} bytes, aligned to {plan.alignment}; " + (
        f"the least possible ({proof[plan.proof]})."
        if plan.proof
        else "not proven to be the least."
    )
    fused = plan.strategy is Strategy.FUSED
    where = (
        "It has each step's rings and scratch"
        if fused
        else "The plain kernels' scratch is beside it"
    )
    yield f" * {where}. An op that is laid onto an operand works only"
    yield " * with a kernel that runs in the order which its comment names. */"
    yield f"#ifndef {name.upper()}_PLAN_H"
    yield f"#define {name.upper()}_PLAN_H"
    yield ""
    yield "enum {"
    yield f"    {name.upper()}_ARENA_BYTES = {plan.peak},"
    yield f"    {name.upper()}_SCRATCH_BYTES = {plan.scratch_bytes},"
    for tensor, shape in enumerate(plan.network.tensors):
        what = f"{shape}, {shape.size} bytes"
        yield f"    {name.upper()}_TENSOR_{tensor} = {plan.offsets[tensor]}, /* {what} */"
    for step in plan.steps:
        if step.moved_to is not None:
            yield f"    {name.upper()}_OP_{step.ops[-1]}_MOVED_TO = {step.moved_to},"
        for buffer in step.buffers:
            own = "SCRATCH" if buffer.ring is None else f"RING_{buffer.ring.tensor}"
            what = "" if buffer.ring is None else f"{buffer.ring.rows} rows, "
            yield (
                f"    {name.upper()}_OP_{step.ops[-1]}_{own} = {buffer.offset}, "
                f"/* {what}{buffer.size} bytes */"
            )
    yield "};"
    yield ""
    yield "/* In order:"
    for step in plan.steps:
        yield f" * {_op(plan, step)}"
    yield " */"
    yield "#endif"


def _op(plan: NetworkPlan, step: Step) -> str:
    operands, output = plan.operands(step), plan.network.nodes[step.ops[-1]].output
    layers = [plan.network.nodes[op].layer for op in step.ops]
    kinds = [(layer.function or layer.kind.name).lower() for layer in layers]
    numbers = f"op {step.ops[0]}"
    if len(step.ops) > 1:
        numbers = f"ops {step.ops[0]} to {step.ops[-1]} as a segment:"
    way = step.execution
    words = f"{numbers} {' '.join(kinds)}: {', '.join(map(str, operands))} -> {output}"
    if step.onto is None:
        return words
    order = {
        Traversal.CHANNEL: "channel by channel",
        Traversal.REVERSE: "last pixel first",
    }.get(way.traversal, "by rows")
    reads = "taps read in place" if way.direct else "each pixel's taps read before it is written"
    if len(step.ops) > 1:
        reads = "all that a row needs read before it is written"
    if step.moved_to is not None:
        words += f"; tensor {operands[step.onto]} is shifted to {step.moved_to} first"
    return f"{words}; onto tensor {operands[step.onto]}, gap {step.gap}, {order}, {reads}"


def _identifier(name: str) -> str:
    """Letters, digits and underscores, no digit first."""
    found = re.sub(r"[^a-zA-Z0-9]", "_", name).lower()
    return found if found[:1].isalpha() else f"model_{found}"


def _comment(name: str) -> str:
    """Nothing in a name ends the comment."""
    return printable(name).replace("*/", "* /")
