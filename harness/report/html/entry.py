# SPDX-License-Identifier: Apache-2.0
"""What a report shows of one verdict, in plain numbers and words.

Made where the runs and their plans are; so plain that it can go from one process to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.measure import NetworkRuns, PlanRuns
from harness.plan import NetworkPlan, Plan, Strategy, occupancies
from harness.results import Measurement, Provenance, Verdict, WrongOp, WrongOutput
from harness.schema.constants import OpKind

Runs = PlanRuns | NetworkRuns


@dataclass(frozen=True)
class Bar:
    """An op that ran. cycles: of the warm run."""

    name: str
    kernel: str
    cycles: int


@dataclass(frozen=True)
class Box:
    """A tensor in the arena, in bytes, from step `first` to before step `last`. role: input, output,
    tensor, or moved for where a memmove brought it."""

    name: str
    role: str
    first: int
    last: int
    low: int
    high: int


@dataclass(frozen=True)
class Entry:
    """boxes: of the arena. steps: of the plan. wrong: the first wrong pixel, or empty."""

    verdict: Verdict
    bars: tuple[Bar, ...]
    boxes: tuple[Box, ...]
    steps: int
    wrong: str


def entry(verdict: Verdict, runs: Runs) -> Entry:
    """runs: those that `verdict` judges."""
    measured, plan = _of(verdict, runs)
    if isinstance(plan, Plan):
        boxes, steps, names = tuple(_layer_boxes(plan)), 1, [_op_name(plan.layer.kind)]
    else:
        boxes, steps, names = tuple(network_boxes(plan)), len(plan.steps), list(_op_names(plan))
    return Entry(verdict, _bars(measured, names), boxes, steps, _wrong(measured, runs))


def entry_of(plain: Mapping[str, Any]) -> Entry:
    """The inverse of dataclasses.asdict."""
    verdict = dict(plain["verdict"])
    provenance = Provenance(**verdict.pop("provenance"))
    return Entry(
        verdict=Verdict(provenance=provenance, **verdict),
        bars=tuple(Bar(**bar) for bar in plain["bars"]),
        boxes=tuple(Box(**box) for box in plain["boxes"]),
        steps=plain["steps"],
        wrong=plain["wrong"],
    )


def _of(verdict: Verdict, runs: Runs) -> tuple[Measurement, Plan | NetworkPlan]:
    if isinstance(runs, NetworkRuns):
        strategy = Strategy(verdict.plan)
        return runs.measured[strategy], runs.plans[strategy]
    if runs.rip is not None and runs.rip_plan is not None and runs.rip.plan == verdict.plan:
        return runs.rip, runs.rip_plan
    assert runs.dual is not None, "a verdict is of something measured"
    return runs.dual, runs.dual_plan


def _bars(measured: Measurement, names: list[str]) -> tuple[Bar, ...]:
    """Of the last repeat of the first seed and paint, as the table's cycles are."""
    first = measured.samples[0]
    warm = [s for s in measured.samples if (s.seed, s.paint) == (first.seed, first.paint)][-1]
    named = ["memmove", *names] if measured.shifted else names
    if len(named) != len(warm.op_cycles):  # a wrong kernel table may have run another number of ops
        named = [f"op {n}" for n in range(len(warm.op_cycles))]
    kernels = [name for _, name in measured.kernels] + [""] * len(named)
    return tuple(
        Bar(name, kernel, cycles)
        for name, kernel, cycles in zip(named, kernels, warm.op_cycles, strict=False)
    )


def _op_name(kind: OpKind) -> str:
    return kind.name.lower().replace("_", " ")


def _op_names(plan: NetworkPlan) -> Iterator[str]:
    """One for each op that runs, a shift before the op that it is for."""
    for step in plan.steps:
        if step.moved_to is not None:
            yield f"memmove for op {step.ops[0]}"
        for op in step.ops:
            yield f"{op} {_op_name(plan.network.nodes[op].layer.kind)}"


def _layer_boxes(plan: Plan) -> Iterator[Box]:
    for n, place in enumerate(plan.inputs):
        name = "input" if len(plan.inputs) == 1 else f"input {n}"
        yield Box(name, "input", 0, 1, place.offset, place.end)
    if plan.arrival is not None:
        yield Box("where it arrives", "moved", 0, 1, plan.arrival.offset, plan.arrival.end)
    yield Box("output", "output", 0, 1, plan.output.offset, plan.output.end)


def network_boxes(plan: NetworkPlan) -> Iterator[Box]:
    """Each tensor once, from its producer to its last reader, and what shifts move."""
    spans: dict[tuple[int, bool, int, int], list[int]] = {}
    for found in occupancies(plan):
        for extent in found.extents:
            place = (extent.tensor, extent.moved, extent.offset, extent.end)
            spans.setdefault(place, []).append(found.step)
    for (tensor, moved, low, high), steps in spans.items():
        role = "moved" if moved else "tensor"
        yield Box(f"tensor {tensor}", role, min(steps), max(steps) + 1, low, high)


def _wrong(measured: Measurement, runs: Runs) -> str:
    found: WrongOp | WrongOutput | None = None
    if isinstance(runs, NetworkRuns):
        found = runs.wrong.get(Strategy(measured.plan))
    elif runs.debt is not None and measured is runs.rip:
        at_debt = [run.sample for run in runs.debt.runs if run.right and run.sample is not None]
        found = next((s.wrong for s in at_debt if s.wrong is not None), None)
    own = next((s.wrong for s in measured.samples if s.wrong is not None), None)
    return str(own or found or "")
