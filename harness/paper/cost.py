# SPDX-License-Identifier: Apache-2.0
r"""The last column of Table 6 and what Section 5.3 says of it: the cost of RiP, measured, the right
shift inside the time.

RECORDS are of the layers that fit a Pico 2 with two buffers, in the form of every history:

    pytest layers --board pico2-emu -m paper84 --strategy rip --input copy --seeds 1 --kernels SET \
        --history FILE

The paper's kernels and boards are others, so its numbers are printed beside ours and not asserted; what
it concludes, that no layer costs more than 1 % over two buffers, is.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError
from harness.history import read
from harness.network import find_set, load_set
from harness.paper.stated import TABLE6
from harness.paper.table6 import SET

RECORD = Path(__file__).with_name("cost.jsonl")
_BY_SET = {"plain": RECORD, "m33": RECORD.with_name("cost_m33.jsonl")}
RECORDS = {kernels: path for kernels, path in _BY_SET.items() if path.is_file()}  # that ship
PLAN = "rip-copy"
MOST = 1.01


@dataclass(frozen=True)
class LayerCost:
    """ratio: cycles in place, shift included, to those with two buffers on the same board and build.
    shift: cycles of the memmove over those of the convolution; 0 where the gap is 0."""

    layer: str
    family: str
    board: str
    kind: str
    ok: bool
    ratio: float
    shift: float


@dataclass(frozen=True)
class Cost:
    layers: tuple[LayerCost, ...]

    @property
    def holds(self) -> bool:
        """Did every layer pass, at no more than 1 % over two buffers?"""
        return bool(self.layers) and all(row.ok and row.ratio <= MOST for row in self.layers)

    @property
    def faster(self) -> int:
        return sum(row.ratio < 1 for row in self.layers)

    @property
    def worst(self) -> LayerCost:
        return max(self.layers, key=lambda row: row.ratio)

    @property
    def shifts(self) -> list[float]:
        return [row.shift for row in self.layers]

    def median(self, family: str) -> float | None:
        """Of the ratios of a family of Table 6, or of `All`; None where none was measured."""
        found = [row.ratio for row in self.layers if family in (row.family, "All")]
        return statistics.median(found) if found else None


def cost(history: Path = RECORD) -> Cost:
    """The newest row of each layer of Table 6 under `rip-copy`; other rows are not looked at. Errors:
    ConfigError for a file that is no history, holds none of these, or mixes boards."""
    families = {layer.id: layer.source.split("; ")[0] for layer in load_set(find_set(SET))}
    newest: dict[str, Mapping[str, object]] = {}
    for row in read(history):
        if row["layer"] in families and row["plan"] == PLAN and row["ratio"] is not None:
            newest[row["layer"]] = row
    if not newest:
        raise ConfigError(
            f"{history} has no {SET} layer under {PLAN}",
            hint="pytest layers -m paper84 --input copy",
        )
    found = Cost(
        tuple(_cost(newest[layer], families[layer]) for layer in families if layer in newest)
    )
    boards = sorted({row.board for row in found.layers})
    if len(boards) > 1:
        raise ConfigError(f"{history} mixes boards", evidence={"boards": ", ".join(boards)})
    return found


def _cost(row: Mapping[str, object], family: str) -> LayerCost:
    match row:
        case {
            "layer": str(layer),
            "ok": bool(ok),
            "ratio": float(ratio),
            "cycles": int(cycles),
            "shift_cycles": int(shift),
            "provenance": {"board": str(board), "kind": str(kind)},
        } if cycles > shift:
            return LayerCost(layer, family, board, kind, ok, ratio, shift / (cycles - shift))
    raise ConfigError(f"the row of {row['layer']} is no measurement of {PLAN}")


def stated_medians() -> dict[str, str]:
    """Family to the paper's median ratio, where it has one."""
    return {row.family: row.cost for row in TABLE6 if row.timed}
