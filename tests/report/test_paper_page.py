# SPDX-License-Identifier: Apache-2.0
"""The paper on one page: figures drawn from what the bench runs, every cell, the errata, the ledger."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from harness import resources
from harness.cli import main
from harness.paper import table2
from harness.paper.compare import Comparison, Row, cells
from harness.paper.fig1 import fig1
from harness.paper.ledger import ledger
from harness.paper.stated import TABLE2
from harness.report.html import paper
from harness.report.html.arena import Line, layer_map, network_map
from harness.report.html.entry import Box
from harness.report.html.orders import FIGURE_2, FIGURE_3, orders

HEADINGS = (
    "fig1", "fig2", "table2", "section43", "table3", "fig3", "table5", "table6", "cost", "table7",
    "errata", "ledger",
)  # fmt: skip


def test_orders_are_the_papers() -> None:
    """Sec. 3.1's pixels 7 and 8 are the last two of Figure 2(a), by col(1) and row(1); Eq. 25 spells out
    Figure 3(b)."""
    found = [order.row for order in orders((*FIGURE_2, *FIGURE_3))]
    assert [row.ours["legs"] for row in found] == [
        "row(3) col(2) row(2) col(1) row(1)",
        "row(3) row(3) row(3)",
        "row(5) col(2) row(4) col(1) row(3)",
        "col(5) row(2) col(4) row(1) col(3)",
    ]
    assert not [row for row in found if row.differences]


def test_numbers_stand_where_their_pixels_are() -> None:
    """In 2(a) pixel 7 is left of pixel 8, in the last row."""
    picture = orders(FIGURE_2)[0].picture
    found = re.findall(r'x="([\d.]+)" y="([\d.]+)"[^>]*>(\d)<', picture)
    places = {int(n): (float(x), float(y)) for x, y, n in found}
    assert len(places) == 9
    assert places[7][1] == places[8][1] == max(y for _, y in places.values())
    assert places[8][0] - places[7][0] == 46.0
    assert places[0] == min(places.values())


def test_cells_say_what_they_are() -> None:
    row = Row("r", cells(a=1, b=2, c=3, d=4), cells(a=1, b=3, c=4), frozenset({"c"}))
    found = paper._cells(row, "computed")
    assert [(cell.column, cell.ours, cell.stated, cell.state) for cell in found] == [
        ("a", "1", "1", "equal"),
        ("b", "2", "3", "differs"),
        ("c", "3", "4", "corrected"),
        ("d", "4", "", ""),
    ]
    assert {cell.state for cell in paper._cells(row, "emulated")} == {""}


def test_figure_1_has_our_peaks_and_theirs_as_lines() -> None:
    dual, baseline, rip = paper._figure_1(fig1())
    assert "the paper" not in dual  # it states no peak of two buffers
    for picture, peak in ((baseline, "247\u202f808"), (rip, "185\u202f856")):
        assert f"arena {peak} bytes" in picture
        assert f"the paper&#39;s peak: {peak}" in picture
        assert picture.count('class="limit"') == picture.count('class="theirs"') == 1
        assert "Pico 1: 262\u202f144 bytes" in picture
    line = re.compile(r'class="limit" x1="[\d.]+" y1="([\d.]+)"')
    assert len({line.findall(picture)[0] for picture in (dual, baseline, rip)}) == 1  # one axis


def test_a_map_is_to_scale() -> None:
    """720 units wide from 120 on, 230 high from 48 on, the axis at 1000 bytes and a step of 360."""
    boxes = [Box("a", "tensor", 0, 1, 0, 500), Box("b", "tensor", 1, 2, 250, 750)]
    text = network_map(boxes, 2, "t", [Line(500, "half")], band=100, most=1000)
    rects = re.findall(
        r'<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', text
    )
    assert rects == [
        ("tensor", "120.0", "163.0", "360.0", "115.0"),
        ("tensor", "480.0", "105.5", "360.0", "115.0"),
        ("band", "120.0", "140.0", "360.0", "23.0"),
        ("band", "480.0", "82.5", "360.0", "23.0"),
        ("frame", "120.0", "48.0", "720.0", "230.0"),
    ]
    assert '<line class="limit" x1="120.0" y1="163.0" x2="840.0" y2="163.0">' in text


def test_a_layers_map_shows_what_is_shared() -> None:
    boxes = [Box("input", "input", 0, 1, 300, 1000), Box("output", "output", 0, 1, 0, 700)]
    text = layer_map(boxes, 990, 1000, "t")
    assert re.findall(r'<rect class="shared" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text) == [
        ("336.0", "288.0")
    ]
    apart = [replace(boxes[0], low=700, high=1400), boxes[1]]
    assert 'class="shared"' not in layer_map(apart, 1400, 1400, "t")


def test_errata_are_text() -> None:
    """All headings and all commands, and no markup or link of the file's own."""
    text = str(paper._errata())
    source = resources.errata().read_text()
    assert text.count("<h2>") == source.count("\n## ")
    blocks = re.findall(r"^```\n(.*?)^```$", source, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 15
    for block in blocks:
        assert f"<pre><code>{escape(block)}</code></pre>" in text
    assert "<a " not in text
    assert set(re.findall(r"<(\w+)", text)) <= {
        "h2",
        "p",
        "pre",
        "code",
        "strong",
        "em",
        "ul",
        "li",
    }


@pytest.mark.extra
def test_the_whole_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "paper.html"
    assert main(["paper", "html", "--out", str(out)]) == 0
    assert "all cells equal" in capsys.readouterr().out
    text = out.read_text()
    assert re.findall(r'<h2 id="(\w+)"', text) == list(HEADINGS)
    assert "pair-differs" not in text.split("</nav>")[1]
    assert text.count("<tr data-row") == len(ledger())
    assert text.count('<svg class="picture"') == 7
    labels = re.findall(r'<span class="kind">ours (\w+)</span>', text)
    assert labels == ["computed"] * 8 + ["emulated", "computed"]


@pytest.mark.extra
def test_a_cell_that_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (replace(TABLE2[0], published=532), *TABLE2[1:])
    monkeypatch.setattr(table2, "TABLE2", rows)
    monkeypatch.setattr(
        paper, "table7", lambda: Comparison("Table 7: not here", (Row("", {}, {}),))
    )
    out = tmp_path / "paper.html"
    assert main(["paper", "html", "--out", str(out), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["differences"] == ["1 -> 5, k 3, 14x14: G&M is 531, the paper has 532"]
    assert '<span class="pair pair-differs">531 <small>532</small>' in out.read_text()


@pytest.mark.parametrize("words", [[], ["table2", "--html", "page.html"]])
def test_which_of_them(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", *words]) == 2
    assert "which table?" in capsys.readouterr().err


def test_without_a_place_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "html"]) == 2
    assert "--out FILE" in capsys.readouterr().err
