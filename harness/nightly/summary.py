# SPDX-License-Identifier: Apache-2.0
"""A night in Markdown: what ran, what changed, what failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.judge.trend import TrendVerdict
from harness.nightly.judged import Judged
from harness.nightly.night import Night
from harness.report.text import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]|<>~&])")  # what is markup within a line
_MOST = 50  # rows of a table: more are counted


def summary(night: Night, judged: Judged, failures: Sequence[tuple[str, str]]) -> str:
    """failures: the id of each test that failed, and what of it the history knows."""
    well = night_is_well(night, judged)
    lines = [
        f"# Night {night.name}: {'all well' if well else 'NOT WELL'}",
        "",
        f"Boards: {', '.join(map(escaped, night.boards))}. "
        f"{judged.measured} series measured, {len(judged.changed)} changed.",
        "",
        *_suites(night),
    ]
    lines += _section("Changed", [_changed(v) for v in judged.changed], _CHANGED)
    lines += _section("Not settled", [_changed(v) for v in _open(judged)], _CHANGED)
    lines += _section("Failed", [(escaped(a), escaped(b)) for a, b in failures], ("test", "why"))
    return "\n".join(lines) + "\n"


def night_is_well(night: Night, judged: Judged) -> bool:
    """Every suite ended well, something was measured, and nothing red was found."""
    return judged.ok and all(suite.status == 0 for suite in night.suites)


def escaped(text: object) -> str:
    """A name of a layer or a board is never markup."""
    return _SPECIAL.sub(r"\\\1", printable(text))


_CHANGED = ("", "case", "plan", "kernels", "board", "kind", "cycles", "why", "commit", "after")


def _open(judged: Judged) -> list[TrendVerdict]:
    return [v for v in judged.verdicts if v.key in judged.suspected]


def _changed(v: TrendVerdict) -> tuple[str, ...]:
    k = v.key
    size = "" if v.change is None else f"{v.change:+.3%}"
    words = (
        k.case,
        k.plan,
        k.kernels,
        k.board,
        k.kind,
        size,
        v.reason,
        v.commit[:12],
        v.after[:12],
    )
    return (f"**{v.state}**" if not v.ok else str(v.state), *map(escaped, words))


def _suites(night: Night) -> list[str]:
    rows = []
    for suite in night.suites:
        counts = night.counts(suite)
        state = "not ended" if suite.status is None else f"exit {suite.status}"
        rows.append(
            (
                escaped(suite.name),
                *(str(counts[outcome]) for outcome in ("passed", "failed", "skipped")),
                state,
                str(suite.attempts),
            )
        )
    return _table(("suite", "passed", "failed", "skipped", "state", "attempts"), rows)


def _section(title: str, rows: Sequence[tuple[str, ...]], headers: Sequence[str]) -> list[str]:
    if not rows:
        return []
    more = [f"and {len(rows) - _MOST} more", ""] if len(rows) > _MOST else []
    return [f"## {title}", "", *_table(headers, rows[:_MOST]), *more]


def _table(headers: Sequence[str], rows: Sequence[tuple[str, ...]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    return [line(headers), line(["---"] * len(headers)), *map(line, rows), ""]
