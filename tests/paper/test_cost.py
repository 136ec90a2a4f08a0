# SPDX-License-Identifier: Apache-2.0
"""What Table 6's layers cost in place, as measured: the record, its reader, and one layer anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.bench import Bench, BenchOptions
from harness.boards import find_board, load_boards
from harness.cli import main
from harness.errors import ConfigError
from harness.history import read
from harness.network import find_set, load_set
from harness.paper.cost import MOST, PLAN, RECORD, RECORDS, Cost, cost
from harness.paper.table6 import SET, measure

ROWS = list(read(RECORD))


def _history(folder: Path, *changes: dict[str, Any]) -> Path:
    """The record's first rows, each with a change."""
    lines = [json.dumps({**row, **change}) for row, change in zip(ROWS, changes, strict=False)]
    path = folder / "history.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_record() -> None:
    """The layers that the paper timed: those whose tensors are together at most 512 KiB."""
    found = cost()
    assert [row.layer for row in found.layers] == [r.layer.id for r in measure() if r.timed]
    assert {(row.board, row.kind) for row in found.layers} == {("pico2-emu", "emulated")}
    assert found.holds
    assert all(row["ok"] and row["workspace_reached"] <= row["workspace_given"] for row in ROWS)
    shifted = {row["layer"] for row in ROWS if row["shift_cycles"]}
    window = {layer.id: layer for layer in load_set(find_set(SET))}
    moved = {row["layer"] for row in ROWS if row["workspace_bound"] > window[row["layer"]].n_in}
    assert shifted == moved, "what has a gap is shifted, and nothing else"


def test_the_record_of_fast_kernels() -> None:
    """A shift costs the same beside a convolution that is several times as fast."""
    plain = {row.layer: row for row in cost().layers}
    fast = {row.layer: row for row in cost(RECORDS["m33"]).layers}
    assert set(fast) <= set(plain)
    assert all(row.ok for row in fast.values())
    above = {name for name, row in fast.items() if row.ratio > MOST}
    assert len(above) == 8 and all(name.startswith("mcunet-") for name in above)
    shifted = [name for name in fast if fast[name].shift]  # a row a step needs a gap less often
    assert all(fast[name].shift > plain[name].shift > 0 for name in shifted)
    assert len(shifted) > 20


@pytest.mark.parametrize("kernels", RECORDS)
def test_one_layer_anew(kernels: str) -> None:
    """The record is of the kernels of this checkout: to 0.1 %, the paper's own precision."""
    name = "mcunet-in1-block4.expand"
    (layer,) = (layer for layer in load_set(find_set(SET)) if layer.id == name)
    entry = find_board("pico2-emu", load_boards())
    bench = Bench(entry, BenchOptions(seeds=(1,), witness=False, kernels=kernels))
    try:
        verdict = bench.prove(layer, PLAN)
    finally:
        bench.close()
    (row,) = (row for row in read(RECORDS[kernels]) if row["layer"] == name)
    assert verdict.ratio == pytest.approx(row["ratio"], abs=0.0005)
    assert verdict.cycles == pytest.approx(row["cycles"], rel=0.01)


def test_medians_and_shares(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [
        {"ratio": 1.004, "cycles": 1010, "shift_cycles": 10},
        {"ratio": 0.998, "cycles": 500, "shift_cycles": 0},
        {"ratio": 1.006, "cycles": 1040, "shift_cycles": 40},
    ]
    found = cost(_history(tmp_path, *changes))
    assert [row.family for row in found.layers] == ["ResNet-50"] * 3
    assert found.median("ResNet-50") == found.median("All") == 1.004
    assert found.median("VGG-16") is None
    assert found.shifts == [0.01, 0.0, 0.04]
    assert (found.faster, found.worst.ratio, found.holds) == (1, 1.006, True)


@pytest.mark.parametrize(
    ("change", "holds"),
    [({"ratio": 1.01}, True), ({"ratio": 1.0101}, False), ({"ok": False}, False)],
)
def test_what_does_not_hold(
    change: dict[str, Any], holds: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _history(tmp_path, change, {})
    assert cost(path).holds is holds
    assert main(["paper", "cost", "--history", str(path)]) == (0 if holds else 1)
    assert ("NOT all 2 layers" in capsys.readouterr().out) is not holds
    assert not Cost(()).holds


def test_the_newest_row_counts_and_others_do_not(tmp_path: Path) -> None:
    first = ROWS[0]["layer"]
    changes = [{}, {"layer": first, "ratio": 1.003}, {"plan": "rip"}, {"layer": "odd-3x3"}]
    found = cost(_history(tmp_path, *changes))
    assert [(row.layer, row.ratio) for row in found.layers] == [(first, 1.003)]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ([{"plan": "rip"}], "has no paper84 layer under rip-copy"),
        ([{"ratio": None}], "has no paper84 layer under rip-copy"),
        ([{}, {"provenance": {"board": "pico2", "kind": "board"}}], "mixes boards"),
        ([{"cycles": "many"}], "is no measurement of rip-copy"),
        ([{"cycles": 5, "shift_cycles": 5}], "is no measurement of rip-copy"),
    ],
)
def test_what_is_no_record(changes: list[dict[str, Any]], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=complaint):
        cost(_history(tmp_path, *changes))


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "cost", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    assert answer["holds"] is True
    assert len(answer["layers"]) == 48
