# SPDX-License-Identifier: Apache-2.0
"""Writes all pages of a history into a folder. The same history gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.errors import ConfigError
from harness.report.html.embed import shown, slug
from harness.report.html.page import SCRIPTS, STYLES, Assets, asset, render
from harness.report.html.write import Folder
from harness.report.site import overview
from harness.report.site.casedata import Series, case_data
from harness.report.site.state import Latest, latest
from harness.report.site.tables import change_rows, series_rows
from harness.report.site.thin import Change, thin
from harness.results import Point, SeriesKey

_CHARTS = ("uPlot.iife.min.js", "case.js")
_HINT = "run pytest with --history FILE"
_FILES = (*STYLES, *SCRIPTS, "filter.js", *_CHARTS, "uPlot.min.css", "uPlot.LICENSE")


class History(Protocol):
    """What the pages are made from."""

    def series(self) -> Iterable[SeriesKey]: ...

    def points(self, key: SeriesKey) -> Sequence[Point]:
        """Oldest first."""
        ...


@dataclass(frozen=True)
class SiteOptions:
    """commit_url: with `{commit}` in it, or empty for no links. title: of the overview. suite_of: the
    layer set, or `models`, that a case belongs to. changes: where the level of a series changed."""

    commit_url: str = ""
    title: str = "ripbench"
    suite_of: Callable[[str], str] = lambda _: "cases"
    changes: Callable[[SeriesKey, Sequence[Point]], Sequence[Change]] = lambda _key, _points: ()


@dataclass(frozen=True)
class Built:
    """bytes: of all files."""

    cases: int
    series: int
    points: int
    bytes: int


def build(
    out: Path,
    history: History,
    options: SiteOptions,
    progress: Callable[[int], None] = lambda _: None,
) -> Built:
    """progress: told how many cases are written. Errors: ConfigError for a history without points, for a
    time in it that is none, and for a folder that cannot be written or holds other files."""
    cases: dict[str, list[SeriesKey]] = {}
    for key in history.series():
        cases.setdefault(key.case, []).append(key)
    if not cases:
        raise ConfigError("the history has no results", hint=_HINT)
    folder = Folder(out)
    for name in _FILES:
        folder.write(f"assets/{name}", asset(name))
    ends: list[Latest] = []
    points = 0
    for done, case in enumerate(sorted(cases), 1):
        count = _case(folder, history, options, case, sorted(cases[case], key=_order), ends)
        points += count
        progress(done)
    if not ends:
        raise ConfigError("the history has no results", hint=_HINT)
    folder.write("index.html", overview.page(ends, options.title, options.commit_url))
    folder.finish()
    return Built(len(cases), len(ends), points, folder.bytes)


def _case(
    folder: Folder,
    history: History,
    options: SiteOptions,
    case: str,
    keys: Sequence[SeriesKey],
    ends: list[Latest],
) -> int:
    """Writes the page of one case, and adds the end of each of its series to `ends`."""
    page, suite = f"cases/{slug(case)}.html", options.suite_of(case)
    found, own, count = [], [], 0
    for key in keys:
        points = history.points(key)
        if not points:
            continue
        count += len(points)
        changes = options.changes(key, points)
        own.append(latest(key, suite, page, points, changes))
        found.append(Series(key, thin(points, changes)))
    if found:
        folder.write(page, _case_page(case, suite, found, own, options.commit_url))
        ends += own
    return count


def _case_page(
    case: str, suite: str, found: Sequence[Series], ends: Sequence[Latest], commit_url: str
) -> str:
    assets = Assets((*STYLES, "uPlot.min.css"), (*SCRIPTS, *_CHARTS), "../assets")
    return render(
        "case.html",
        assets,
        title=shown(case),
        suite=suite,
        data=case_data(found, commit_url),
        kinds=series_rows(ends, commit_url),
        changes=change_rows(ends, commit_url),
        weekly=any(one.kept.weekly for one in found),
    )


def _order(key: SeriesKey) -> tuple[str, ...]:
    return (
        key.kind,
        key.board,
        key.plan,
        key.kernels,
        key.chip,
        f"{key.clock_hz:012}",
        key.toolchain,
    )
