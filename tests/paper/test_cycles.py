# SPDX-License-Identifier: Apache-2.0
"""`table3 --cycles`: what the eleven models cost on emulated boards, and the record of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.boards import find_board, load_boards
from harness.cli import main
from harness.cli.paper_cycles import measure
from harness.errors import ConfigError
from harness.paper import cycles
from harness.paper.cycles import ModelCost, PlanCost, in_unit, read_record, set_of, write_record
from harness.paper.ledger import ledger
from harness.paper.stated_boards import TABLE3_TIMES, OnBoard
from harness.paper.stated_networks import TABLE3

RECORD = read_record()
MODELS = [row.model for row in TABLE3]
SETS = [("pico2-emu", "m33"), ("pico1-emu", "m0plus")]
COST = PlanCost(cycles=1_000_000, least=900_000, ok=True, build="ab")
LINE = ModelCost(
    "pico2-emu", "emulated", "rp2350", 150_000_000, "gcc", "m33", "vww", COST, COST, 1.0
)


def test_the_paper_is_stated_as_the_ledger_has_it() -> None:
    assert [row.model for row in TABLE3_TIMES] == MODELS
    for chip in ("pico2", "pico1"):
        entries = [entry for entry in ledger() if entry.id.endswith(f"-{chip}")]
        entries = [entry for entry in entries if entry.id.startswith("table3-")]
        found = [row.pico_2 if chip == "pico2" else row.pico_1 for row in TABLE3_TIMES]
        assert len(entries) == len(found) == 11
        for entry, row in zip(entries, found, strict=True):
            assert entry.value == ", ".join(w or "-" for w in (row.base, row.rip, row.ratio))


@pytest.mark.parametrize(("board", "kernels"), SETS)
def test_the_record(board: str, kernels: str) -> None:
    """Every model, right; in place for the baseline's price. in4 is more than a Pico 1 has."""
    rows = [RECORD[board, kernels, model] for model in MODELS]
    assert all(row.holds for row in rows)
    fitting = {row.model for row in rows if row.rip is not None}
    assert {row.kind for row in rows if row.model in fitting} == {"emulated"}
    assert len({row.compiler for row in rows if row.model in fitting}) == 1
    missing = set(MODELS) - fitting
    if board == "pico2-emu":
        assert not missing
        assert all(row.base and row.ratio is not None for row in rows)
    else:
        assert "mcunet-in4" in missing
        assert len(missing) <= 2


def test_one_model_anew() -> None:
    """The record is of the kernels of this checkout: to 1 %."""
    entry = find_board("pico2-emu", load_boards())
    (row,) = measure(entry, "m33", ["mcunet-vww0"])
    known = RECORD["pico2-emu", "m33", "mcunet-vww0"]
    assert row.base and row.rip and known.base and known.rip
    assert row.rip.cycles == pytest.approx(known.rip.cycles, rel=0.01)
    assert row.base.cycles == pytest.approx(known.base.cycles, rel=0.01)
    assert row.ratio == pytest.approx(known.ratio, abs=0.0005)
    assert row.holds


def test_a_record_is_replaced_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    other = replace(LINE, model="other", base=None, rip=None, ratio=None)
    write_record([LINE, other], path)
    write_record([replace(LINE, ratio=0.999)], path)
    assert read_record(path) == {
        ("pico2-emu", "m33", "other"): other,
        ("pico2-emu", "m33", "vww"): replace(LINE, ratio=0.999),
    }
    lines = path.read_text()
    path.write_text(lines.replace('"version": 1', '"version": 2', 1))
    with pytest.raises(ConfigError, match=r"record.jsonl:1 is no line of a record"):
        read_record(path)
    path.write_text("{}\n")
    with pytest.raises(ConfigError, match="--measure --write"):
        read_record(path)


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (LINE, True),
        (replace(LINE, ratio=1.0039), True),
        (replace(LINE, ratio=1.0041), False),
        (replace(LINE, ratio=0.995), False),
        (replace(LINE, ratio=None, base=None), True),
        (replace(LINE, rip=replace(COST, ok=False)), False),
    ],
)
def test_what_holds(row: ModelCost, holds: bool) -> None:
    assert row.holds is holds


def test_units() -> None:
    assert in_unit(LINE, 31_700_000) == pytest.approx(31.7)
    pico_1 = replace(LINE, chip="rp2040", clock_hz=125_000_000)
    assert in_unit(pico_1, 221_550_000) == pytest.approx(1772.4)
    assert [set_of("fast", chip) for chip in ("rp2040", "rp2350")] == ["m0plus", "m33"]
    assert set_of("plain", "rp2350") == "plain"
    assert cycles.stated("rp2350")["mcunet-in3"] == OnBoard("380.5", "380.8", "1.001")
    assert cycles.stated("rp2040")["mcunet-in3"] == OnBoard("", "19,388.2", "")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "table3", "--cycles", "--model", "mcunet-in3,mcunet-in4"]) == 0
    said = capsys.readouterr().out
    assert "Table 3, M cycles: pico2-emu, emulated, 150 MHz, kernels m33" in said
    assert "Table 3, ms: pico1-emu, emulated, 125 MHz, kernels m0plus" in said
    rows = [line.split() for line in said.splitlines() if line.startswith("mcunet-in")]
    assert [row[0] for row in rows] == ["mcunet-in3", "mcunet-in4"] * 2
    assert rows[0][4:7] == ["380.5", "380.8", "1.001"]
    assert rows[3][1:] == ["-"] * 7
    known = RECORD["pico2-emu", "m33", "mcunet-in3"].rip
    assert known is not None
    assert rows[0][2] == f"{known.cycles / 1e6:.1f}"
    assert rows[0][7] == f"{known.cycles / 380.8e6:.3f}"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "table3", "--cycles", "--kernels", "fast", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == 1
    assert len(answer["rows"]) == 22
    first = answer["rows"][0]
    assert first["paper_board"] == {"base": "39.5", "rip": "39.7", "ratio": "1.003"}
    assert (first["unit"], first["kernels"], first["kind"]) == ("M cycles", "m33", "emulated")
    assert len(first["rip"]["build"]) == 64


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["table3", "--cycles", "--model", "mcunet-in9"], "did you mean 'mcunet-in"),
        (["table3", "--cycles", "--kernels", "m34"], "did you mean 'm33'?"),
        (["table3", "--cycles", "--kernels", "m0plus"], "no figures of m0plus on pico2-emu"),
        (["table3", "--cycles", "--write"], "--write without --measure"),
        (["table2", "--cycles"], "ripbench paper table3 --cycles"),
        (["table3", "--cost"], "ripbench paper table6 --cost"),
        (["table6", "--cost", "--kernels", "plian"], "did you mean 'plain'?"),
    ],
)
def test_words_that_name_nothing(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paper", *words]) == 2
    assert says in capsys.readouterr().err
