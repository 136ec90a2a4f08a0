# SPDX-License-Identifier: Apache-2.0
"""The ledger: its rows, the commands that they name, and the statements that are shown here."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.bounds import published
from harness.cli.paper_ledger import markdown
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, UpsampleGeometry
from harness.liveness import collides, schedule
from harness.network.draw import draw_geometry
from harness.paper import ledger as ledger_module
from harness.paper.ledger import State, counts, ledger
from harness.paper.stated import TABLE2, TABLE5, TABLE6
from harness.paper.table2 import table2
from harness.paper.table6 import table6
from harness.schema.constants import OpKind, Traversal
from tests.paper.commands import ROOT, collects, said

ENTRIES = ledger()
SHOWN = [entry for entry in ENTRIES if entry.command]


@pytest.mark.parametrize("entry", SHOWN, ids=[entry.id for entry in SHOWN])
def test_the_command_shows_it(entry: ledger_module.Entry, request: pytest.FixtureRequest) -> None:
    if entry.shows == "pytest":
        assert collects(entry.command, request)
    else:
        assert " ".join(entry.shows.split()) in said(entry.command)


def test_reproduced_rows_of_tables_are_equal() -> None:
    """A row may only call itself reproduced by a table whose cells are all equal."""
    assert not table2().differences
    assert not table6().differences
    by = {entry.id: entry for entry in ENTRIES}
    for number, row in enumerate(TABLE6, 1):
        timed = str(row.timed) if row.timed else "-"
        value = f"{row.n}, {row.general}, {row.exact}, {row.within}, {row.worst}, {row.save}, "
        assert by[f"table6-{number:02}"].value == f"{value}{row.dense}, {timed}"
        assert by[f"table6-{number:02}"].state is State.REPRODUCED
        assert row.cost == (by[f"table6-{number:02}-cost"].value if row.timed else "")
    for number, row in enumerate(TABLE2, 1):
        value = f"{row.critical}, {row.published}, {row.truth}, {row.error}"
        assert by[f"table2-row{number}"].value == value
    for number, share in enumerate(TABLE5, 1):
        assert by[f"table5-{number:02}"].value == f"{share.share} %"


def test_every_part_of_the_paper_is_there() -> None:
    places = {entry.place.split(",")[0] for entry in ENTRIES}
    for section in ("Abstract", "Sec. 1", "Sec. 2", "Sec. 3.1", "Sec. 4.3", "Sec. 5.2", "Sec. 5.4"):
        assert section in places
    assert {f"Table {n}" for n in range(1, 8)} <= places
    assert sum(counts(ENTRIES).values()) == len(ENTRIES)


def test_the_document_is_made_of_it() -> None:
    """Make it again: ripbench paper ledger --markdown > docs/ledger.md"""
    assert (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8") == markdown(ENTRIES)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("state: done", "'done' is not known"),
        ("state: reproduced", "needs a command"),
        ("state: not-reproducible", "needs a reason"),
        ("state: not-yet-measured, why: x, wy: y", "unknown key 'wy'"),
    ],
)
def test_wrong_rows(
    row: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ledger.yaml"
    file.write_text(f"- {{id: a, place: b, says: c, value: d, {row}}}\n")
    monkeypatch.setattr(ledger_module, "_FILE", file)
    with pytest.raises(ConfigError, match=complaint):
        ledger()


def test_legs_of_an_uneven_grid() -> None:
    """App. E.1, Fig. 3(b)."""
    assert published.legs(5, 3) == [
        *(("column", 5), ("row", 2), ("column", 4), ("row", 1), ("column", 3)),
    ]


def test_breakpoints_are_at_most_4k_and_3() -> None:
    for g in itertools.islice(draw_geometry(OpKind.CONV, 31), 500):
        assert isinstance(g, ConvGeometry)
        found = published.breakpoints_13(g)
        assert len({r for r, _ in found}) <= 4 * g.k_h + 3
        assert len({c for _, c in found}) <= 4 * g.k_w + 3


def test_upsampling_is_safe_in_both_directions() -> None:
    """In a workspace of N_out: in reverse left-aligned, forwards with the input right-aligned."""
    forwards, backwards = Execution(), Execution(traversal=Traversal.REVERSE)
    for h, w, c, f_h, f_w in itertools.product(
        (1, 2, 3, 5), (1, 2, 4), (1, 3), (1, 2, 3), (1, 2, 4)
    ):
        g = UpsampleGeometry(h, w, c, f_h, f_w)
        assert published.theorem_14(g) == g.output.size
        assert not collides(schedule(OpKind.UPSAMPLE, g, backwards), 0)
        aligned = g.output.size - g.inputs[0].size
        assert not collides(schedule(OpKind.UPSAMPLE, g, forwards), aligned)
        if f_h > 1 and h > 1:
            assert collides(schedule(OpKind.UPSAMPLE, g, forwards), aligned - 1)
