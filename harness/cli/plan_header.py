# SPDX-License-Identifier: Apache-2.0
"""A plan as a C header for firmware of one's own: where each tensor starts, and what each op assumes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.plan import NetworkPlan, Step
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
    yield " * Beside it the plain kernels want scratch. An op that is laid onto an operand works only"
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
    yield "};"
    yield ""
    yield "/* In order:"
    for step in plan.steps:
        yield f" * {_op(plan, step)}"
    yield " */"
    yield "#endif"


def _op(plan: NetworkPlan, step: Step) -> str:
    op = step.ops[-1]
    node = plan.network.nodes[op]
    kind = (node.layer.function or node.layer.kind.name).lower()
    way = step.execution
    words = f"op {op} {kind}: {', '.join(map(str, node.inputs))} -> {node.output}"
    if step.onto is None:
        return words
    order = {
        Traversal.CHANNEL: "channel by channel",
        Traversal.REVERSE: "last pixel first",
    }.get(way.traversal, "by rows")
    reads = "taps read in place" if way.direct else "each pixel's taps read before it is written"
    if step.moved_to is not None:
        words += f"; tensor {node.inputs[step.onto]} is shifted to {step.moved_to} first"
    return f"{words}; onto tensor {node.inputs[step.onto]}, gap {step.gap}, {order}, {reads}"


def _identifier(name: str) -> str:
    """Letters, digits and underscores, no digit first."""
    found = re.sub(r"[^a-zA-Z0-9]", "_", name).lower()
    return found if found[:1].isalpha() else f"model_{found}"


def _comment(name: str) -> str:
    """Nothing in a name ends the comment."""
    return printable(name).replace("*/", "* /")
