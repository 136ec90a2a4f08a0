# SPDX-License-Identifier: Apache-2.0
"""docs/errata.md: every command in it, and counts of what it says in general."""

from __future__ import annotations

import re

import pytest

from harness.bounds import published
from harness.geometry import ConvGeometry, Execution, Pad
from harness.liveness.pixels import conv_debt
from harness.schema.constants import Layout, TapOrder
from tests.paper.commands import ROOT, collects, said

TEXT = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_command_shows_it(line: str, request: pytest.FixtureRequest) -> None:
    command, _, shows = line.partition("#")
    if command.startswith("pytest"):
        assert collects(command, request)
    else:
        assert shows
        assert " ".join(shows.split()) in said(command.strip())


def test_all_of_them_are_found() -> None:
    assert len(COMMANDS) == TEXT.count("\nripbench ") + TEXT.count("\npytest ")
    assert len(COMMANDS) >= 25


def _least_gap(g: ConvGeometry, order: TapOrder, layout: Layout = Layout.DENSE) -> int:
    debt = conv_debt(g, Execution(layout, order))
    return max(0, g.n_out - g.n_in, debt if debt is not None else 0)


def test_the_crossing_of_lemma_12() -> None:
    g = ConvGeometry(4, 3, 2, 17, 2, 3, 3, 1, 1, 4, Pad.same(0, 5))
    assert published.theorem_13(g, direct=True, as_proved=True) == 61
    assert published.theorem_13(g, direct=True) == _least_gap(g, TapOrder.DIRECT) == 64


def test_truth_behind_the_smallest_unsafe_layers() -> None:
    g = ConvGeometry(5, 6, 1, 3, s_h=3, s_w=2, pad=Pad.same(0, 2))
    assert (published.theorem_13(g, direct=False), _least_gap(g, TapOrder.GATHER)) == (4, 5)
    g = ConvGeometry(2, 6, 1, 7, s_h=4, s_w=2, pad=Pad.same(0, 2))
    assert (published.theorem_13(g, direct=True), _least_gap(g, TapOrder.DIRECT)) == (23, 24)
