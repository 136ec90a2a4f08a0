# SPDX-License-Identifier: Apache-2.0
"""The whole paper on one page: its tables and figures beside ours, the errata, the ledger."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from harness import resources
from harness.paper.compare import Comparison, Row, cells
from harness.paper.cost import RECORD, Cost, cost, stated_medians
from harness.paper.fig1 import MODEL, band, fig1
from harness.paper.ledger import State, counts, ledger
from harness.paper.section43 import section43
from harness.paper.stated import SHIFT_STATED
from harness.paper.table2 import table2
from harness.paper.table3 import PICO_1_BYTES, plan_of, table3
from harness.paper.table5 import table5
from harness.paper.table6 import table6
from harness.paper.table7 import table7
from harness.plan import Strategy
from harness.report.html.arena import Line, network_map
from harness.report.html.embed import shown
from harness.report.html.entry import network_boxes
from harness.report.html.orders import FIGURE_2, FIGURE_3, orders
from harness.report.html.page import SCRIPTS, Assets, number, render

COMPUTED = "computed"


@dataclass(frozen=True)
class Cell:
    """stated: empty where the paper says nothing. state: equal, differs, corrected (the paper is wrong)
    or empty."""

    column: str
    ours: str
    stated: str
    state: str


@dataclass(frozen=True)
class Part:
    """A table or a figure. kind: of our numbers. pictures: above the table. differences: cells that
    should be equal and are not."""

    anchor: str
    title: str
    kind: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    facts: tuple[tuple[str, tuple[Cell, ...]], ...]
    pictures: tuple[Markup, ...]
    note: str
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """text: the page. differences: of all of its parts."""

    text: str
    differences: tuple[str, ...]


def paper(history: Path = RECORD) -> Paper:
    """history: of Table 6's cost, as of `ripbench paper cost`. Errors: ConfigError."""
    parts = {part.anchor: part for part in (*_computed(), _cost(cost(history)))}
    entries = ledger()
    text = render(
        "paper.html",
        Assets(scripts=(*SCRIPTS, "filter.js")),
        title="The paper beside ours",
        sections=[parts[anchor] for anchor in _ORDER],
        errata=_errata(),
        entries=entries,
        counts=list(counts(entries).items()),
        states=list(State),
    )
    return Paper(text, tuple(words for part in parts.values() for words in part.differences))


_ORDER = (
    "fig1", "fig2", "table2", "section43", "table3", "fig3", "table5", "table6", "cost", "table7",
)  # fmt: skip
_FROM_WORDS = "Drawn in the order that the bench runs; of the paper's picture, what its text says."


def _computed() -> Iterator[Part]:
    """What must be equal."""
    found = {
        "table2": table2(),
        "section43": section43(),
        "table3": table3(),
        "table5": table5(),
        "table6": table6(),
        "table7": table7(),
    }
    for anchor, comparison in found.items():
        yield _part(anchor, comparison)
    first = fig1()
    note = "Drawn from our plans. Of the paper's picture its text states two peaks and the band."
    yield _part("fig1", first, note, _figure_1(first))
    for anchor, title, parts in (
        ("fig2", "Figure 2: order of the output pixels", orders(FIGURE_2)),
        ("fig3", "Figure 3: herringbone on uneven grids", orders(FIGURE_3)),
    ):
        comparison = Comparison(title, tuple(order.row for order in parts))
        pictures = [order.picture for order in parts]
        yield _part(anchor, comparison, _FROM_WORDS, pictures)


def _part(
    anchor: str,
    found: Comparison,
    note: str = "",
    pictures: Sequence[Markup] = (),
    kind: str = COMPUTED,
) -> Part:
    return Part(
        anchor=anchor,
        title=found.title,
        kind=kind,
        columns=tuple(found.rows[0].ours),
        rows=tuple((row.name, _cells(row, kind)) for row in found.rows),
        facts=tuple((row.name, _cells(row, kind)) for row in found.facts),
        pictures=tuple(pictures),
        note=note,
        differences=tuple(found.differences) if kind == COMPUTED else (),
    )


def _cells(row: Row, kind: str) -> tuple[Cell, ...]:
    """A measured number is not said to be equal or not: the paper's is of another board."""
    made = []
    for column, ours in row.ours.items():
        stated = row.stated.get(column, "")
        state = ""
        if stated and kind == COMPUTED:
            state = "equal" if stated == ours else "differs"
            if state == "differs" and column in row.corrected:
                state = "corrected"
        made.append(Cell(column, ours, stated, state))
    return tuple(made)


def _figure_1(found: Comparison) -> tuple[Markup, ...]:
    """Three strategies on one axis; the paper's peaks as lines."""
    plans = [plan_of(MODEL, s) for s in (Strategy.DUAL, Strategy.BASELINE, Strategy.RIP)]
    stated = {row.name: row.stated.get("peak") for row in found.rows}
    most = round(1.05 * (max(plan.peak for plan in plans) + band()))
    made = []
    for plan in plans:
        lines = [Line(PICO_1_BYTES, f"Pico 1: {number(PICO_1_BYTES)} bytes")]
        theirs = stated[plan.label]
        if theirs is not None:
            lines.append(Line(int(theirs), f"the paper's peak: {number(int(theirs))}", "theirs"))
        title = (
            f"{MODEL}, {plan.label}: arena {number(plan.peak)} bytes, in grey {number(band())} of "
            "scratch, SDK and stack (computed)"
        )
        boxes = tuple(network_boxes(plan))
        made.append(network_map(boxes, len(plan.steps), title, lines, band(), most))
    return tuple(made)


def _cost(found: Cost) -> Part:
    """Table 6's last column and Sec. 5.3: measured, so beside the paper's and not asserted."""
    rows = []
    for family, stated in stated_medians().items():
        median = found.median(family)
        ours = "–" if median is None else f"{median:.4f}"
        rows.append(Row(family, cells(median=ours), cells(median=stated)))
    shifts = [100 * share for share in found.shifts]
    facts = [
        ("layers faster than two buffers", str(found.faster), str(SHIFT_STATED.faster)),
        ("right shift, %, median", f"{statistics.median(shifts):.2f}", SHIFT_STATED.median),
        ("right shift, %, worst", f"{max(shifts):.2f}", SHIFT_STATED.worst),
    ]
    comparison = Comparison(
        "Table 6, cost: cycles in place, shift included, to two buffers",
        tuple(rows),
        tuple(Row(name, cells(value=ours), cells(value=theirs)) for name, ours, theirs in facts),
    )
    first = found.layers[0]
    note = f"Ours on {shown(first.board)}, {first.kind}; the paper's boards and kernels are others."
    return _part("cost", comparison, note, kind=shown(first.kind))


def _errata() -> Markup:
    """Markup in the text is shown as text; links lead nowhere outside, for the file may be anywhere."""
    made = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink"])
    text = resources.errata().read_text(encoding="utf-8")
    body = text.partition("\n")[2]  # the page has a title of its own
    return Markup(made.render(body))
