# SPDX-License-Identifier: Apache-2.0
"""`ripbench paper table3 --cycles`: what the eleven models cost on emulated boards, beside the paper's
figures of its own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tabulate import tabulate

from harness.bench import Bench, BenchOptions
from harness.boards import BoardEntry, find_board, load_boards
from harness.errors import ConfigError
from harness.kernels import find_kernels
from harness.network import Network
from harness.paper.cycles import (
    FAST,
    ModelCost,
    PlanCost,
    in_unit,
    read_record,
    set_of,
    stated,
    write_record,
)
from harness.paper.stated_boards import TABLE3_TIMES, OnBoard
from harness.paper.table3 import network_of_model
from harness.plan import Strategy
from harness.report import printable
from harness.results import Verdict
from harness.strictyaml import nearest

JSON_VERSION = 1
BOARDS = ("pico2-emu", "pico1-emu")
UNITS = {"rp2350": "M cycles", "rp2040": "ms"}
_MODELS = tuple(row.model for row in TABLE3_TIMES)
_PLANS = (Strategy.BASELINE, Strategy.RIP)


def run(options: argparse.Namespace) -> int:
    """0 when all that is shown is right, and in place within the paper's 0.4 % of the baseline; 1 when
    something is not; 2 for words that name nothing."""
    try:
        if options.write and not options.measure:
            raise ConfigError(
                "--write without --measure", hint="add --measure, or leave --write out"
            )
        models = _chosen(options.model)
        entries = [find_board(name, load_boards()) for name in BOARDS]
        asked = [
            (e, set_of(k, e.chip)) for k in (options.kernels or FAST).split(",") for e in entries
        ]
        for _, kernels in asked:
            find_kernels(kernels)
        known = [] if options.measure else [_recorded(e, kernels, models) for e, kernels in asked]
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    found = known or [_measured_now(e, kernels, models, options.write) for e, kernels in asked]
    rows = [row for part in found for row in part]
    if options.json:
        print(json.dumps({"version": JSON_VERSION, "rows": [_as_json(row) for row in rows]}))
    else:
        print("\n\n".join(as_text(part) for part in found))
    return 0 if all(row.holds for row in rows) else 1


def _chosen(words: str | None) -> tuple[str, ...]:
    """Errors: ConfigError for a model that is not in Table 3."""
    models = _MODELS if words is None else tuple(words.split(","))
    for model in models:
        if model not in _MODELS:
            raise ConfigError(f"{model!r} is no model of Table 3", hint=nearest(model, _MODELS))
    return models


def _measured_now(
    entry: BoardEntry, kernels: str, models: Sequence[str], write: bool
) -> list[ModelCost]:
    rows = [*measure(entry, kernels, models)]
    if write:
        write_record(rows)
    return rows


def _recorded(entry: BoardEntry, kernels: str, models: Sequence[str]) -> list[ModelCost]:
    """Errors: ConfigError where the record has not all of them."""
    record = read_record()
    missing = [model for model in models if (entry.name, kernels, model) not in record]
    if missing:
        raise ConfigError(
            f"no figures of {kernels} on {entry.name} are recorded",
            evidence={"missing": " ".join(missing)},
            hint=f"--measure, or --kernels {FAST}",
        )
    return [record[entry.name, kernels, model] for model in models]


def measure(entry: BoardEntry, kernels: str, models: Sequence[str]) -> Iterator[ModelCost]:
    """Each model under both plans, the second run of one input. Errors: all that a board can raise."""
    bench = Bench(entry, BenchOptions(seeds=(1,), repeats=2, witness=False, kernels=kernels))
    try:
        for model in models:
            print(f"{entry.name}, {printable(kernels)}: {model}", file=sys.stderr, flush=True)
            yield _measured(bench, kernels, network_of_model(model))
    finally:
        bench.close()


def _measured(bench: Bench, kernels: str, network: Network) -> ModelCost:
    verdicts = bench.judge_network(bench.network_cases(network, _PLANS))
    by_plan = {verdict.plan: verdict for verdict in verdicts}
    base, rip = (by_plan.get(str(plan)) for plan in _PLANS)
    known = base or rip
    if known is None:
        return ModelCost(
            bench.entry.name, "", bench.entry.chip, bench.entry.clock_hz, "", kernels,
            network.name, None, None, None,
        )  # fmt: skip
    origin = known.provenance
    return ModelCost(
        board=origin.board,
        kind=origin.kind,
        chip=origin.chip,
        clock_hz=origin.clk_sys_hz,
        compiler=origin.compiler,
        kernels=kernels,
        model=network.name,
        base=_cost(base),
        rip=_cost(rip),
        ratio=None if base is None or rip is None else rip.ratio,
    )


def _cost(verdict: Verdict | None) -> PlanCost | None:
    if verdict is None:
        return None
    by_model = [cycles for _, cycles in verdict.cycles_by_model] or [verdict.cycles]
    return PlanCost(max(by_model), min(by_model), verdict.ok, verdict.provenance.elf_hash)


def as_text(rows: Sequence[ModelCost]) -> str:
    first = next((row for row in rows if row.kind), rows[0])
    theirs = stated(first.chip)
    body = [_line(row, theirs[row.model]) for row in rows]
    kind = first.kind or "nothing fits"
    headers = [
        "",
        *(f"{kind}\n{name}" for name in ("base", "RiP", "ratio")),
        *(f"board (paper)\n{name}" for name in ("base", "RiP", "ratio")),
        f"RiP, {kind}\nto board",
    ]
    model = ", the conservative model of the core" if _bracketed(rows) else ""
    builds = {cost.build[:16] for row in rows for cost in (row.base, row.rip) if cost is not None}
    return "\n".join(
        [
            f"Table 3, {UNITS[first.chip]}: {first.board}, {kind}, {first.clock_hz / 1e6:g} MHz, "
            f"kernels {printable(first.kernels)}{model}; warm",
            "",
            tabulate(
                body,
                headers=headers,
                disable_numparse=True,
                colalign=("left", *["right"] * 7),
            ),
            "",
            "-: does not fit, or no ratio: beside the baseline's arena there was no room for the same "
            "steps and kernels",
            f"the paper's boards, kernels and compiler are others; here {first.compiler}, "
            f"{len(builds)} builds, whose hashes --json has",
            *(f"{row.model}: NOT right, or not within 0.4 %" for row in rows if not row.holds),
        ]
    )


def _line(row: ModelCost, theirs: OnBoard) -> list[str]:
    ours = [
        "-" if cost is None else f"{in_unit(row, cost.cycles):,.1f}" for cost in (row.base, row.rip)
    ]
    to_board = "-"
    if row.rip is not None and theirs.rip:
        to_board = f"{in_unit(row, row.rip.cycles) / float(theirs.rip.replace(',', '')):.3f}"
    ratio = "-" if row.ratio is None else f"{row.ratio:.4f}"
    printed = [words or "-" for words in (theirs.base, theirs.rip, theirs.ratio)]
    return [row.model, *ours, ratio, *printed, to_board]


def _bracketed(rows: Sequence[ModelCost]) -> bool:
    costs = [cost for row in rows for cost in (row.base, row.rip) if cost is not None]
    return any(cost.least != cost.cycles for cost in costs)


def _as_json(row: ModelCost) -> dict[str, object]:
    theirs = stated(row.chip)[row.model]
    return {
        **asdict(row),
        "unit": UNITS[row.chip],
        "paper_board": asdict(theirs),
        "holds": row.holds,
    }
