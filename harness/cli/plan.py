# SPDX-License-Identifier: Apache-2.0
"""`ripbench plan mcunet-in3 --board pico1 --explain`: does it fit, where does all of it lie, and why."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from tabulate import tabulate

from harness.boards import pack_room
from harness.case import plan_that_fits
from harness.cli.plan_fits import Fit, constants_of, fit_of, kernels_of, targets_of
from harness.errors import ConfigError
from harness.kernels import KernelTraits
from harness.network import Model, load_network
from harness.plan import (
    FUSED_KERNELS,
    NetworkPlan,
    RingForm,
    Step,
    Strategy,
    occupancies,
    plan_network,
    reorder,
)
from harness.report import printable
from harness.schema.constants import Traversal

JSON_VERSION = 1
BOARDS = ("pico1", "pico2")
EMITTED = ("c-header",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="a name of layers/models or layers/keras, .yaml, .json, .tflite",
    )
    parser.add_argument(
        "--strategy",
        default=Strategy.RIP.value,
        choices=[strategy.value for strategy in Strategy],
        help="where tensors may share memory (default rip)",
    )
    parser.add_argument(
        "--board",
        action="append",
        metavar="NAME",
        help="pico1, pico2 or a board of boards.yaml, which it must fit; may be given several times",
    )
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    parser.add_argument(
        "--kernels",
        default="plain",
        metavar="SET",
        help="which kernels run the ops, on boards that they are for; `fast`: those made for the first "
        "board's chip (default plain)",
    )
    parser.add_argument(
        "--shift-cost",
        type=float,
        default=1e-4,
        metavar="C",
        help="bytes of peak that a byte moved is worth; inf forbids shifts (default the paper's 1e-4)",
    )
    parser.add_argument(
        "--ring",
        choices=[form.value for form in RingForm],
        help="of strategy fused: a plan for kernels that keep rows in this form, and no board's",
    )
    parser.add_argument(
        "--reorder",
        action="store_true",
        help="search the order of ops with the least bound, over all orders of the graph",
    )
    parser.add_argument(
        "--explain", action="store_true", help="what sets the peak, what would help"
    )
    parser.add_argument("--figure", metavar="FILE.svg", type=Path, help="the arena over the ops")
    parser.add_argument("--emit", choices=EMITTED, help="print the plan for firmware of your own")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """Exit status 1 when the model does not fit a board that --board names; 2 for what is no model."""
    try:
        targets = targets_of(options.board or BOARDS, options.boards)
        model = load_network(options.model)
        if not options.shift_cost >= 0:
            raise ConfigError(
                f"--shift-cost {options.shift_cost}", hint="0 or more; inf forbids shifts"
            )
        kernels, those = kernels_of(options.kernels, targets)
        if options.board and len(those) < len(targets):
            raise ConfigError(
                f"the kernel set {options.kernels!r} runs on the {kernels.chip}, and not every board "
                "that is named has one",
                hint="a command a chip",
            )
        targets = those
        network = model.network if isinstance(model, Model) else model
        strategy = Strategy(options.strategy)
        order = ""
        if options.reorder:
            found = reorder(network, strategy, kernel=kernels)
            network, order = found.network, str(found)
        fused = None if options.ring is None else FUSED_KERNELS[RingForm(options.ring)]

        def plan_by(some: KernelTraits) -> NetworkPlan:
            cost = options.shift_cost
            return plan_network(network, strategy, kernel=some, shift_cost=cost, fused=fused)

        def has_room(some: NetworkPlan) -> bool:
            return all(fit_of(some, target).spare >= 0 for target in targets)

        room = min(pack_room(target.chip) for target in targets)
        plan = plan_that_fits(model, plan_by, kernels, has_room, room)
        constants = constants_of(model, plan)
        fits = [fit_of(plan, target, constants) for target in targets]
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    if options.emit is not None:
        from harness.cli.plan_header import c_header

        print(c_header(plan), end="")
    elif options.json:
        print(json.dumps(as_json(plan, fits)))
    else:
        print(as_text(plan, fits))
        if order:
            print(order)
        if options.explain:
            from harness.cli.plan_explain import explain

            print(f"\n{explain(network, plan, targets)}")
    if options.figure is not None:
        from harness.cli.plan_figure import figure

        options.figure.write_text(figure(network, plan, targets[0]), encoding="utf-8")
    return 0 if options.board is None or all(fit.fits for fit in fits) else 1


def as_text(plan: NetworkPlan, fits: list[Fit]) -> str:
    headers = ("op", "kind", "output", "bytes", "at", "onto", "gap", "in use")
    align = ("right", "left", "left", "right", "right", "left", "right", "right")
    rows = [_row(plan, number) for number in range(len(plan.steps))]
    proof = "the least possible" if plan.proof else f"not proven: at least {plan.lower_bound:,}"
    words = {"bound": " (equal to the lower bound)", "milp": " (by mixed-integer programming)"}
    fused = plan.strategy is Strategy.FUSED
    scratch = "with all rings and scratch in it" if fused else f"scratch {plan.scratch_bytes:,}"
    lines = [
        tabulate(rows, headers=headers, disable_numparse=True, colalign=align),
        "",
        f"{printable(plan.name)} under {plan.label}: arena {plan.peak:,} bytes, {proof}"
        f"{words.get(plan.proof or '', '')}; {scratch}",
        *_kept_as_int8(plan),
        *(str(fit) for fit in fits),
    ]
    return "\n".join(lines)


def _kept_as_int8(plan: NetworkPlan) -> list[str]:
    layers = [plan.network.nodes[step.ops[0]].layer for step in plan.steps if len(step.ops) == 1]
    ops = sum((o.kind, o.geometry, o.rounding) in plan.kernel.as_int8 for o in layers)
    return [f"{ops} ops have int8 weights: packed, all together exceed the flash"] if ops else []


def _row(plan: NetworkPlan, number: int) -> tuple[str, ...]:
    step, occupancy = plan.steps[number], occupancies(plan)[number]
    node = plan.network.nodes[step.ops[-1]]
    onto = "-"
    if step.onto is not None:
        way = step.execution.traversal
        turned = "" if way in (Traversal.ROW, Traversal.CHANNEL) else f", {way.name.lower()}"
        moved = "" if step.moved_to is None else f", shifted to {step.moved_to}"
        onto = f"tensor {plan.operands(step)[step.onto]}{turned}{moved}"
    return (
        "-".join(str(op) for op in dict.fromkeys((step.ops[0], step.ops[-1]))),
        "+".join(_kind(plan, op) for op in step.ops),
        f"{node.output}: {node.layer.output}",
        f"{node.layer.n_out:,}",
        f"{plan.offsets[node.output]:,}",
        onto,
        "-" if step.onto is None else f"{step.gap:,}",
        f"{occupancy.top:,}",
    )


def _kind(plan: NetworkPlan, op: int) -> str:
    layer = plan.network.nodes[op].layer
    return (layer.function or layer.kind.name).lower()


def as_json(plan: NetworkPlan, fits: list[Fit]) -> dict[str, object]:
    network = plan.network
    return {
        "version": JSON_VERSION,
        "model": plan.name,
        "strategy": plan.label,
        "label": "computed",
        "peak": plan.peak,
        "proof": plan.proof,
        "lower_bound": plan.lower_bound,
        "alignment": plan.alignment,
        "scratch": plan.scratch_bytes,
        "tensors": [
            {"id": tensor, "offset": plan.offsets[tensor], "size": shape.size}
            for tensor, shape in enumerate(network.tensors)
        ],
        "ops": [_step_json(plan, step) for step in plan.steps],
        "fits": {fit.board: fit.as_json() for fit in fits},
    }


def _step_json(plan: NetworkPlan, step: Step) -> dict[str, object]:
    """A segment is named after its last op; `ops` and `buffers` only where there are such."""
    node, operands = plan.network.nodes[step.ops[-1]], plan.operands(step)
    found: dict[str, object] = {
        "id": step.ops[-1],
        "kind": node.layer.kind.name.lower() if len(step.ops) == 1 else "segment",
        "inputs": list(operands),
        "output": node.output,
        "in_place": None if step.onto is None else operands[step.onto],
        "traversal": step.execution.traversal.name.lower(),
        "tap_order": step.execution.tap_order.name.lower(),
        "gap": step.gap,
        "moved": step.moved_to,
    }
    if len(step.ops) > 1:
        found["ops"] = list(step.ops)
    if step.buffers:
        found["buffers"] = [
            {"offset": buffer.offset, "size": buffer.size}
            | ({"ring": asdict(buffer.ring)} if buffer.ring is not None else {})
            for buffer in step.buffers
        ]
    return found
