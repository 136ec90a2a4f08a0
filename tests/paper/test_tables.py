# SPDX-License-Identifier: Apache-2.0
"""Tables 2, 5 and 6: our cells against the paper's, and that the comparison can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.geometry import ConvGeometry, Pad
from harness.network import find_set, load_set
from harness.paper import table6 as table6_module
from harness.paper.compare import Comparison, Row
from harness.paper.stated import TABLE2, TABLE5, TABLE6
from harness.paper.table2 import herringbone_truth, table2
from harness.paper.table5 import table5
from harness.paper.table6 import Measured, measure, restricted, simulated, table6


def test_table2() -> None:
    found = table2()
    assert found.differences == []
    assert [row.ours["Truth"] for row in found.rows] == ["533", "149", "46", "7", "11", "20", "20"]


def test_table5() -> None:
    assert table5().differences == []
    assert sum(row.share for row in TABLE5) == 100


def test_table6() -> None:
    found = table6()
    assert found.differences == []
    assert len(found.rows) == 18
    assert dict(found.rows[-1].ours) == {
        **{"n": "84", "Gen": "43", "Exact": "58", "<=5%": "81"},
        **{"Max": "1.170", "Save": "24.8", "Dense": "2.1", "Timed": "48"},
    }


def test_stated_rows_add_up() -> None:
    """A slip in what we say that the paper says would make both sides agree on nonsense."""
    *families, total = TABLE6
    for column in ("n", "general", "exact", "within", "timed"):
        assert sum(getattr(row, column) for row in families) == getattr(total, column)
    assert all(row.published - row.truth == row.error for row in TABLE2)


def test_with_the_padded_input_the_table_is_another() -> None:
    """The text's baseline, H_p W_p C_in + N_out, gives 26.3 %; the table's 24.8 % is of the other."""
    rows = measure()
    mean = sum(100 * (1 - row.rip / row.dual_padded) for row in rows) / len(rows)
    assert f"{mean:.1f}" == "26.3"


def test_literal_release_is_another_table() -> None:
    """By G.1's own words Theorem 11 is loose on 22 layers, and 50, not 58, would be exact."""
    loose = exact = 0
    for row in measure():
        literal = herringbone_truth_padded(row)
        loose += literal < row.herringbone
        exact += literal == row.rip
    assert (loose, exact) == (22, 50)


def herringbone_truth_padded(row: Measured) -> int:
    """Workspace of herringbone by literal liveness, padding stored as input."""
    g, p = row.layer.window, row.layer.window.pad
    stored = replace(g, h_in=g.h_in + p.top + p.bottom, w_in=g.w_in + p.left + p.right, pad=Pad())
    return herringbone_truth(stored) + stored.n_in


def test_the_simulator_can_contradict() -> None:
    rows = measure()[:3]
    assert simulated(rows) == []
    wrong = replace(rows[0], rip_gap=rows[0].rip_gap - 1, rip=rows[0].rip - 1)
    (message,) = simulated([wrong, *rows[1:]])
    assert message.startswith(f"{rows[0].layer.id}, padded: gap ")


def test_a_difference_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table6_module, "TABLE6", (replace(TABLE6[0], exact=11), *TABLE6[1:]))
    assert table6().differences == ["ResNet-50: Exact is 10, the paper has 11"]
    row = Row("r", {"a": "1", "b": "2"}, {"a": "1", "b": "3"})
    assert Comparison("t", (row,)).differences == ["r: b is 2, the paper has 3"]


@pytest.mark.parametrize(
    ("change", "inside"),
    [
        ({}, True),
        ({"k_h": 1, "k_w": 1}, True),
        ({"k_h": 2, "k_w": 2}, False),
        ({"k_w": 5}, False),
        ({"s_w": 2}, False),
        ({"d_h": 2}, False),
        ({"pad": Pad(0, 0, 0, 1)}, False),
    ],
)
def test_restrictions(change: dict[str, int], inside: bool) -> None:
    assert restricted(replace(ConvGeometry(14, 14, 3, 8, 3, 3), **change)) is inside


def test_sets() -> None:
    layers = load_set(find_set("paper84"))
    assert len({layer.id for layer in layers}) == 84
    assert len(load_set(find_set("table2"))) == 7
    # the tables' means would not notice a channel more or less
    assert sum(layer.n_in for layer in layers) == 34_286_327
    assert sum(layer.n_out for layer in layers) == 38_303_664
    assert sum(layer.macs for layer in layers) == 8_344_737_216
    quick = [layer.id for layer in layers if not layer.slow]
    assert quick, "some are quick enough for every run"
    assert all(layer.macs <= 500_000 for layer in layers if not layer.slow)
