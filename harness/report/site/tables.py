# SPDX-License-Identifier: Apache-2.0
"""Rows of the pages' tables. A table has numbers of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.html.embed import shown
from harness.report.site.commits import link
from harness.report.site.state import Latest, State
from harness.report.site.thin import moment

_SHORT = 10


@dataclass(frozen=True)
class Commit:
    """words: as shown. url: empty where there is no link."""

    words: str
    url: str


@dataclass(frozen=True)
class SeriesRow:
    """The newest point of a series. change: to the point before, in per cent, empty where nothing
    changed. clock: in MHz. state: as of last night, empty where only one case is looked at."""

    case: str
    page: str
    suite: str
    board: str
    kind: str
    chip: str
    plan: str
    kernels: str
    toolchain: str
    clock: str
    state: str
    ok: bool
    cycles: int
    change: str
    arena: int
    scratch: int
    stack: int
    flash: int
    budget: int | None
    time: str
    commit: Commit


@dataclass(frozen=True)
class ChangeRow:
    """slower: more cycles than before."""

    case: str
    page: str
    board: str
    kind: str
    plan: str
    kernels: str
    change: str
    slower: bool
    time: str
    commit: Commit


def series_rows(
    found: Sequence[Latest], template: str, judged: Sequence[State] = ()
) -> dict[str, list[SeriesRow]]:
    """By kind, each in the order of `found`. judged: of each of them."""
    kinds: dict[str, list[SeriesRow]] = {}
    words = [str(state) for state in judged] or [""] * len(found)
    for one, state in zip(found, words, strict=True):
        kinds.setdefault(shown(one.key.kind), []).append(_row(one, state, template))
    return kinds


def change_rows(found: Sequence[Latest], template: str) -> list[ChangeRow]:
    """The newest first."""
    rows = [
        ChangeRow(
            case=shown(one.key.case),
            page=one.page,
            board=shown(one.key.board),
            kind=shown(one.key.kind),
            plan=shown(one.key.plan),
            kernels=shown(one.key.kernels),
            change=per_cent(change.ratio),
            slower=change.ratio > 1,
            time=day(point.time),
            commit=commit_of(change.commit or point.commit, point.dirty, template),
        )
        for one in found
        for change, point in one.changes
    ]
    return sorted(rows, key=lambda row: row.time, reverse=True)


def commit_of(commit: str, dirty: bool, template: str) -> Commit:
    words = shown(commit)[:_SHORT] or "no commit"
    return Commit(f"{words} + changes" if dirty and commit else words, link(template, commit))


def per_cent(ratio: float) -> str:
    """With its sign, and as many digits as tell it from nothing."""
    share = 100 * (ratio - 1)
    digits = 2 if abs(share) >= 0.01 else 4
    return f"{share:+.{digits}f} %"


def day(time: str) -> str:
    """Date and minute, UTC. Errors: as `moment`."""
    return f"{moment(time):%Y-%m-%d %H:%M}"


def _row(one: Latest, state: str, template: str) -> SeriesRow:
    key, point = one.key, one.point
    changed = one.previous not in (None, 0, point.cycles) and point.ok
    return SeriesRow(
        case=shown(key.case),
        page=one.page,
        suite=shown(one.suite),
        board=shown(key.board),
        kind=shown(key.kind),
        chip=shown(key.chip),
        plan=shown(key.plan),
        kernels=shown(key.kernels),
        toolchain=shown(key.toolchain),
        clock=f"{key.clock_hz / 1e6:g}",
        state=state,
        ok=point.ok,
        cycles=point.cycles,
        change=per_cent(point.cycles / one.previous) if changed and one.previous else "",
        arena=point.arena_bytes,
        scratch=point.scratch_bytes,
        stack=point.stack_peak,
        flash=point.flash_bytes,
        budget=point.budget,
        time=day(point.time),
        commit=commit_of(point.commit, point.dirty, template),
    )
