# SPDX-License-Identifier: Apache-2.0
"""`ripbench compare plain m33 --board pico2-emu --model mcunet-in0`: two kernel sets side by side.

Both run the same layers, or the same networks, on one board, one after the other. A number is shown only
beside whether it was right: the outputs' CRCs are the host's, and what a plan promises holds.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from harness.bench import Bench, BenchOptions
from harness.boards import BoardEntry, find_board, load_boards
from harness.case import network_cases
from harness.errors import ConfigError
from harness.kernels import find_kernels, set_for
from harness.network import Layer, Model, Network
from harness.plan import NetworkPlan, Strategy, find_mode, in_place
from harness.report import printable
from harness.results import Measurement, Verdict
from harness.selection import choose_layers, choose_models

JSON_VERSION = 1
_DEFAULT_BOARD = "pico1-emu"


@dataclass(frozen=True)
class Side:
    """What one set took. cycles: least and most, by the models of a core without a table, else the same
    twice. plan: `rip`, or `dual` where an output shares no memory. xip_misses: lines of the flash
    cache. kinds: of a network cycles by kind of op, `move` for shifts, by the slowest model."""

    kernel: str
    plan: str
    cycles: tuple[int, int]
    xip_misses: int
    output_crc: str
    failures: tuple[str, ...]
    kinds: dict[str, int]


@dataclass(frozen=True)
class Row:
    """A layer or a network under both sets; None where it does not fit."""

    name: str
    macs: int
    first: Side | None
    second: Side | None

    @property
    def right(self) -> bool:
        """Did both pass, with one output?"""
        sides = [side for side in (self.first, self.second) if side is not None]
        return not any(side.failures for side in sides) and len({s.output_crc for s in sides}) <= 1

    @property
    def ratio(self) -> float | None:
        """Cycles of the second to those of the first, by the slowest model."""
        if self.first is None or self.second is None:
            return None
        return self.second.cycles[1] / self.first.cycles[1]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name in ("first", "second"):
        parser.add_argument(
            name, metavar=f"SET_{name[0].upper()}", help="a kernel set, or a folder"
        )
    parser.add_argument(
        "--board", default=_DEFAULT_BOARD, metavar="NAME", help=f"default {_DEFAULT_BOARD}"
    )
    parser.add_argument("--boards", metavar="FILE", type=Path, help="boards of your own")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--layers", metavar="SET|FILE", help="a layer set, or set#id,set#id of it (default first)"
    )
    what.add_argument("--model", metavar="LIST", help="whole networks instead, by name or file")
    parser.add_argument(
        "--plan",
        metavar="NAME",
        help="of layers, as rip-direct (default rip, or dual where it must)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """0 when all outputs are right under both sets, 1 when one is not, or nothing fits; 2 for words that
    name nothing."""
    try:
        entry = find_board(options.board, load_boards(options.boards))
        first, second = (set_for(name, entry.chip) for name in (options.first, options.second))
        names = first, second
        for name in names:
            find_kernels(name)
        items: Sequence[Layer | Network | Model] = (
            choose_models(options.model)
            if options.model
            else choose_layers(options.layers or "first")
        )
        if options.plan and options.model:
            raise ConfigError("--plan is of layers", hint="leave out --model")
        for layer in items if options.plan else ():
            assert isinstance(layer, Layer)
            find_mode(layer, options.plan)
    except ConfigError as error:
        print(f"ConfigError: {error}", file=sys.stderr)
        return 2
    rows = compare(entry, names, items, options.plan)
    if options.json:
        print(json.dumps(as_json(entry, names, rows)))
    else:
        print(as_text(entry, names, rows))
    return 0 if all(row.right for row in rows) and any(row.ratio for row in rows) else 1


def compare(
    entry: BoardEntry,
    names: tuple[str, str],
    items: Sequence[Layer | Network | Model],
    plan: str | None = None,
) -> list[Row]:
    """plan: of all layers, None for each one's usual. Errors: all that a board can raise."""
    first, second = ([*_sides(entry, name, items, plan)] for name in names)
    return [
        Row(*_name_and_macs(item), a, b) for item, a, b in zip(items, first, second, strict=True)
    ]


def _sides(
    entry: BoardEntry, kernels: str, items: Sequence[Layer | Network | Model], plan: str | None
) -> Iterator[Side | None]:
    """Warm cycles: of the second run."""
    bench = Bench(entry, BenchOptions(seeds=(1,), repeats=2, kernels=kernels))
    try:
        for item in items:
            print(f"{kernels}: {printable(_name_and_macs(item)[0])}", file=sys.stderr, flush=True)
            yield _layer(bench, item, plan) if isinstance(item, Layer) else _network(bench, item)
    finally:
        bench.close()


def _layer(bench: Bench, layer: Layer, plan: str | None) -> Side | None:
    usual = Strategy.RIP if in_place(layer) else Strategy.DUAL
    verdict = bench.judge(layer, str(usual) if plan is None else plan)
    return None if verdict is None else _side(verdict, {})


def _network(bench: Bench, model: Network | Model) -> Side | None:
    cases = network_cases(model, (Strategy.RIP,), bench.kernels)
    verdicts = bench.judge_network(cases)
    if not verdicts:
        return None
    runs = bench.run_network(cases)  # the same ones
    measured = runs.measured[Strategy.RIP]
    return _side(verdicts[0], _kinds(runs.plans[Strategy.RIP], measured))


def _side(verdict: Verdict, kinds: dict[str, int]) -> Side:
    by_model = [cycles for _, cycles in verdict.cycles_by_model] or [verdict.cycles]
    return Side(
        verdict.kernel,
        verdict.plan,
        (min(by_model), max(by_model)),
        verdict.xip_misses,
        verdict.output_crc,
        verdict.failures,
        kinds,
    )


def _kinds(plan: NetworkPlan, measured: Measurement) -> dict[str, int]:
    """Of the last run of the first seed and paint."""
    first = measured.samples[0]
    same = [s for s in measured.samples if (s.seed, s.paint) == (first.seed, first.paint)]
    kinds = []
    for step in plan.steps:
        kinds += [] if step.moved_to is None else ["move"]
        kinds += [plan.network.nodes[op].layer.kind.name.lower() for op in step.ops]
    found: Counter[str] = Counter()
    for kind, cycles in zip(kinds, same[-1].op_cycles, strict=True):
        found[kind] += cycles
    return dict(found.most_common())


def _name_and_macs(item: Layer | Network | Model) -> tuple[str, int]:
    if isinstance(item, Layer):
        return item.id, item.macs
    network = item.network if isinstance(item, Model) else item
    return network.name, network.macs


def as_text(entry: BoardEntry, names: tuple[str, str], rows: Sequence[Row]) -> str:
    """Cycles per MAC, the ratio of cycles, and at the end that of all of them."""
    body = [
        [
            printable(row.name),
            f"{row.macs:,}",
            *(_words(row, side) for side in (row.first, row.second)),
            "-" if row.ratio is None else f"{row.ratio:.3f}",
            "" if row.second is None else row.second.kernel,
            "right" if row.right else "WRONG",
        ]
        for row in rows
    ]
    headers = ("", "MACs", *(f"{printable(name)}, c/MAC" for name in names), "ratio",
               f"kernels of {printable(names[1])}", "outputs")  # fmt: skip
    lines = [
        tabulate(body, headers=headers, disable_numparse=True),
        "",
        f"on {printable(entry.name)}, warm; ratio: cycles of {printable(names[1])} to those of "
        f"{printable(names[0])}, {_mean(rows)}",
    ]
    lines += [
        f"{row.name}, {name}: {printable(failure)}"
        for row in rows
        for name, side in zip(names, (row.first, row.second), strict=True)
        if side is not None
        for failure in side.failures
    ]
    return "\n".join([*lines, *_by_kind(names, rows)])


def _words(row: Row, side: Side | None) -> str:
    if side is None:
        return "does not fit"
    low, high = (f"{cycles / row.macs:.2f}" for cycles in side.cycles)
    return low if low == high else f"{low}..{high}"


def _mean(rows: Sequence[Row]) -> str:
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if not ratios:
        return "none"
    return f"{math.exp(math.fsum(map(math.log, ratios)) / len(ratios)):.3f} in the geometric mean"


def _by_kind(names: tuple[str, str], rows: Sequence[Row]) -> Iterator[str]:
    """Of networks, all together, where both fit."""
    totals = [Counter[str](), Counter[str]()]
    for row in rows:
        if row.first is not None and row.second is not None:
            totals[0].update(row.first.kinds)
            totals[1].update(row.second.kinds)
    kinds = sorted({*totals[0], *totals[1]}, key=lambda kind: -totals[0][kind])
    if kinds:
        body = [(kind, *(f"{total[kind]:,}" for total in totals)) for kind in kinds]
        yield ""
        yield tabulate(
            body,
            headers=("cycles by kind", *map(printable, names)),
            disable_numparse=True,
            colalign=("left", "right", "right"),
        )


def as_json(entry: BoardEntry, names: tuple[str, str], rows: Sequence[Row]) -> dict[str, object]:
    return {
        "version": JSON_VERSION,
        "board": entry.name,
        "sets": list(names),
        "rows": [
            {
                "name": row.name,
                "macs": row.macs,
                "sides": [_side_json(row, side) for side in (row.first, row.second)],
                "ratio": row.ratio,
                "right": row.right,
            }
            for row in rows
        ],
    }


def _side_json(row: Row, side: Side | None) -> dict[str, object] | None:
    if side is None:
        return None
    return {
        "kernel": side.kernel,
        "plan": side.plan,
        "cycles": list(side.cycles),
        "cycles_per_mac": [cycles / row.macs for cycles in side.cycles],
        "xip_misses": side.xip_misses,
        "output_crc": side.output_crc,
        "failures": list(side.failures),
        "kinds": side.kinds,
    }
