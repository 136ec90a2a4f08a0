# SPDX-License-Identifier: Apache-2.0
"""What sets the peak of a plan, and what would make it fit."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from harness.cli.plan_explain_fused import fusions
from harness.cli.plan_fits import Target, fit_of
from harness.network import Network
from harness.plan import (
    NetworkPlan,
    Slow,
    Strategy,
    needs_by_op,
    occupancies,
    plan_network,
    slow_steps,
)
from harness.report import printable


def explain(network: Network, plan: NetworkPlan, targets: Sequence[Target]) -> str:
    """network: before a strategy rewrote it."""
    return "\n\n".join(
        [
            _peak(plan),
            _tensors(plan),
            _runners_up(plan),
            fusions(plan) if plan.strategy is Strategy.FUSED else _scratch(plan),
            _speed(network, plan),
            _others(network, plan, targets),
        ]
    )


def _name(plan: NetworkPlan, number: int) -> str:
    """Of a step: its op, or all of a segment."""
    ops = plan.steps[number].ops
    if len(ops) > 1:
        return f"ops {ops[0]} to {ops[-1]}, a segment"
    op = ops[0]
    layer = plan.network.nodes[op].layer
    return f"op {op} ({(layer.function or layer.kind.name).lower()} {layer.geometry})"


def _binding(plan: NetworkPlan) -> int:
    """The step that needs the most."""
    needs = needs_by_op(plan)
    return needs.index(max(needs))


def _peak(plan: NetworkPlan) -> str:
    needs, op = needs_by_op(plan), _binding(plan)
    same = needs.count(needs[op]) - 1
    others = f" (as {same} others)" if same else ""
    over = plan.peak - needs[op]
    words = "which is the peak" if over == 0 else f"the peak is {over:,} above that"
    return (
        f"{_name(plan, op)} needs the most{others}: {needs[op]:,} bytes under {plan.label} in any "
        f"placement, {words}. While it runs:"
    )


def _tensors(plan: NetworkPlan) -> str:
    """Who lies where then, lowest first."""
    number = _binding(plan)
    top, step = occupancies(plan)[number], plan.steps[number]
    operands, output = plan.operands(step), plan.network.nodes[step.ops[-1]].output
    last = plan.network.last_readers
    rows = []
    for extent in sorted(top.extents, key=lambda extent: extent.offset):
        where = f"{extent.offset:,}", f"{extent.end:,}"
        if extent.buffer is not None:
            ring = extent.buffer.ring
            role = "scratch of this op" if ring is None else f"ring, rows: {ring.rows}"
            rows.append(("-", f"{extent.size:,} bytes", *where, role))
            continue
        after = last[extent.tensor] > step.ops[-1]
        if extent.tensor == output:
            role = "output of this op"
        elif extent.tensor in operands:
            role = "read by this op" + (", and later" if after else "")
        else:
            role = "kept for later"
        if after:
            role += (
                ": an output of the network"
                if last[extent.tensor] == len(plan.network.nodes)
                else f": op {last[extent.tensor]} reads it last"
            )
        shape = plan.network.tensors[extent.tensor]
        rows.append((str(extent.tensor), str(shape), *where, role))
    return tabulate(
        rows, headers=("tensor", "shape", "from", "to", "why"), disable_numparse=True,
        colalign=("right", "left", "right", "right", "left"),
    )  # fmt: skip


def _runners_up(plan: NetworkPlan) -> str:
    """The next lower ones: what the peak could be without those that bind."""
    needs = needs_by_op(plan)
    below = sorted(
        (op for op, need in enumerate(needs) if need < max(needs)), key=lambda op: -needs[op]
    )[:3]
    if not below:
        return "Every op needs as much."
    listed = "; ".join(f"{_name(plan, op)} {needs[op]:,}" for op in below)
    return f"Next below it: {listed}."


def _scratch(plan: NetworkPlan) -> str:
    needs = []
    for step in plan.steps:
        layer = plan.network.nodes[step.ops[-1]].layer
        choice = plan.kernel.choose(layer.kind, layer.geometry, step.execution, layer.rounding)
        needs.append((choice.scratch_bytes, step.ops[-1]))
    most, op = max(needs)
    if most == 0:
        return "No op needs scratch."
    return f"Scratch, outside the arena: {most:,} bytes, by {_name(plan, op)}."


def _speed(network: Network, plan: NetworkPlan) -> str:
    """What the peak costs in cycles, and what the cycles would cost in peak."""
    slow = slow_steps(plan)
    if not slow:
        return "Every op runs by the quickest of its kernels that the strategy knows."
    lines = [
        f"{_name(plan, item.edge.op)} runs by {item.chosen.kernel.name} and not by "
        f"{item.quickest.kernel.name}, for the peak: {_estimate(item)}"
        for item in slow
    ]
    quick = plan_network(network, plan.strategy, kernel=plan.kernel, only_quick=True)
    return "\n".join(
        [*lines, f"With every op by its quickest kernel the arena would be {quick.peak:,} bytes."]
    )


def _estimate(item: Slow) -> str:
    if item.chosen.cycles is None or item.quickest.cycles is None:
        return "how many cycles that costs is not declared."
    return f"about {item.chosen.cycles:,} cycles instead of {item.quickest.cycles:,}."


def _others(network: Network, plan: NetworkPlan, targets: Sequence[Target]) -> str:
    """The same model under every strategy."""
    rows = []
    for strategy in Strategy:
        other = (
            plan
            if strategy is plan.strategy
            else plan_network(network, strategy, kernel=plan.kernel)
        )
        cells = [strategy.value, f"{other.peak:,}", other.proof or "none"]
        for fit in (fit_of(other, target) for target in targets):
            cells.append(f"fits, {fit.spare:,} spare" if fit.fits else f"{-fit.spare:,} missing")
        rows.append(cells)
    table = tabulate(
        rows,
        headers=("strategy", "arena", "proof", *(printable(target.board) for target in targets)),
        disable_numparse=True,
        colalign=("left", "right", "left", *("left" for _ in targets)),
    )
    return f"{table}\n\n{_advice(plan, targets)}"


def _advice(plan: NetworkPlan, targets: Sequence[Target]) -> str:
    lines = []
    for fit in (fit_of(plan, target) for target in targets):
        if fit.fits:
            continue
        if fit.spare >= 0:
            lines.append(
                f"{fit.board}: the constants do not fit the flash; fewer weights would help."
            )
            continue
        room = plan.peak + fit.spare
        over = [op for op, need in enumerate(needs_by_op(plan)) if need > room]
        named = ", ".join(_name(plan, op) for op in over[:3])
        more = f" and {len(over) - 3} more" if len(over) > 3 else ""
        lines.append(
            f"{fit.board}: {-fit.spare:,} bytes are missing. Ops that would have to shrink: {named}"
            f"{more}. What helps: a strategy above that fits, a smaller input, fewer channels there."
        )
    return "\n".join(lines) or "It fits every board that was asked for."
