# SPDX-License-Identifier: Apache-2.0
"""What the eleven models of Table 3 cost on an emulated board of each chip, to stand beside what the
paper measured on its boards.

cycles.jsonl is a record: a line for each board, kernel set and model. It is made anew by

    ripbench paper table3 --cycles --measure --write

The paper's kernels, compiler and boards are others: its figures are printed beside ours and nothing of
them is asserted. What it concludes is: in place costs within 0.4 % of what the baseline costs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.paper.stated_boards import TABLE3_TIMES, OnBoard

RECORD = Path(__file__).with_name("cycles.jsonl")
VERSION = 1
MOST = 0.004  # of rip's cycles to the baseline's from 1: the paper's largest
FAST = "fast"
FAST_SETS = {"rp2040": "m0plus", "rp2350": "m33"}


@dataclass(frozen=True)
class PlanCost:
    """Warm. cycles: by the slowest model of the core; least: by the fastest, where it has more than
    one. ok: was everything right, the output above all? build: the SHA-256 of the ELF."""

    cycles: int
    least: int
    ok: bool
    build: str


@dataclass(frozen=True)
class ModelCost:
    """One line. kind: `emulated`, `board`. base, rip: None where the plan does not fit. ratio: rip's
    cycles to the baseline's, None where the two were not measured together, by one build."""

    board: str
    kind: str
    chip: str
    clock_hz: int
    compiler: str
    kernels: str
    model: str
    base: PlanCost | None
    rip: PlanCost | None
    ratio: float | None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.board, self.kernels, self.model

    @property
    def holds(self) -> bool:
        """Right, and no dearer in place than the paper's worst?"""
        right = all(cost.ok for cost in (self.base, self.rip) if cost is not None)
        return right and (self.ratio is None or abs(self.ratio - 1) <= MOST)


def set_of(kernels: str, chip: str) -> str:
    """`fast`: the chip's own."""
    return FAST_SETS[chip] if kernels == FAST else kernels


def stated(chip: str) -> dict[str, OnBoard]:
    """By model: millions of cycles on a Pico 2, milliseconds on a Pico 1."""
    return {row.model: row.pico_2 if chip == "rp2350" else row.pico_1 for row in TABLE3_TIMES}


def in_unit(cost: ModelCost, cycles: int) -> float:
    """As the paper has it for the chip."""
    return cycles / 1e6 if cost.chip == "rp2350" else 1e3 * cycles / cost.clock_hz


def read_record(path: Path = RECORD) -> dict[tuple[str, str, str], ModelCost]:
    """Errors: ConfigError names the line that is none."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = _row(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"{path.name}:{number} is no line of a record",
                cause=str(error)[:200],
                hint="ripbench paper table3 --cycles --measure --write",
            ) from error
        found[row.key] = row
    return found


def write_record(rows: Iterable[ModelCost], path: Path = RECORD) -> None:
    """Lines of the same board, set and model are replaced; all are in order."""
    known = read_record(path) if path.exists() else {}
    known |= {row.key: row for row in rows}
    lines = [json.dumps({"version": VERSION, **asdict(known[key])}) for key in sorted(known)]
    path.write_text("".join(f"{line}\n" for line in lines))


def _row(found: Mapping[str, Any]) -> ModelCost:
    if found["version"] != VERSION:
        raise ValueError(f"version {found['version']}, not {VERSION}")
    plans = {
        name: None if found[name] is None else PlanCost(**found[name]) for name in ("base", "rip")
    }
    return ModelCost(**{n: v for n, v in found.items() if n != "version"} | plans)
