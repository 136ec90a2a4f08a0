# SPDX-License-Identifier: Apache-2.0
"""The pages of a history: what is on them, that names do nothing, that they are the same each time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.report.html.embed import slug
from harness.report.site import Change, SiteOptions, build
from harness.results import Point, SeriesKey
from tests.report.made import HOSTILE, MadeHistory, drawn, key_of, point_of

URL = "https://git.example.org/c/{commit}"
TAGS = {  # all that the templates have; `img` is none of them
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "h1", "h2", "h3", "bdi",
    "span", "button", "main", "section", "p", "ul", "li", "div", "table", "caption", "thead", "tbody",
    "tr", "th", "td", "form", "label", "input", "select", "option", "noscript", "footer", "b", "code",
}  # fmt: skip


def _build(out: Path, history: MadeHistory, **options: Any) -> None:
    options = {"commit_url": URL, "changes": history.changes, **options}
    build(out, history, SiteOptions(**options))


def _data(out: Path, case: str) -> dict[str, Any]:
    text = (out / "cases" / f"{slug(case)}.html").read_text()
    (found,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    data: dict[str, Any] = json.loads(found)
    return data


class _Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.scripts: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src")}
        if tag == "script":
            self.scripts.append(dict(attrs))


def test_the_same_history_gives_the_same_bytes(tmp_path: Path) -> None:
    history = drawn(["a", "b"], nights=20)
    turned = MadeHistory(dict(reversed(history.kept.items())), history.changed)
    _build(tmp_path / "one", history)
    _build(tmp_path / "two", turned)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 11
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_kinds_share_no_panel_and_no_table(tmp_path: Path) -> None:
    _build(tmp_path, drawn(["a"], boards=("pico1", "pico1-emu"), nights=3))
    panels = _data(tmp_path, "a")["panels"]
    assert [(panel["board"], panel["kind"]) for panel in panels] == [
        ("pico1", "board"),
        ("pico1-emu", "emulated"),
    ]
    for page in (tmp_path / "index.html", next((tmp_path / "cases").iterdir())):
        for table in re.findall(r"<table.*?</table>", page.read_text(), re.S):
            if 'data-label="cycles"' in table and "<th>case</th><th>board</th>" in table:
                kinds = {kind for kind in ("board", "emulated") if f", {kind}, and" in table}
                assert len(kinds) == 1
    text = (tmp_path / "index.html").read_text()
    assert text.count("cycles are warm medians, board,") == 1
    assert text.count("cycles are warm medians, emulated,") == 1


def test_a_board_of_two_kinds_has_two_panels(tmp_path: Path) -> None:
    """As one that was emulated before it was bought."""
    kept = {key_of("a", board="x", kind=kind): [point_of()] for kind in ("board", "emulated")}
    _build(tmp_path, MadeHistory(kept))
    assert [panel["kind"] for panel in _data(tmp_path, "a")["panels"]] == ["board", "emulated"]


def test_columns_literally(tmp_path: Path) -> None:
    key = key_of("a")
    points = [
        point_of(0, 10, samples=(9, 10, 14), commit="a" * 40),
        point_of(1, 12, samples=(12,), commit="b" * 40, dirty=True, ok=False),
    ]
    _build(tmp_path, MadeHistory({key: points}, {key: [Change(1, 1.2, "")]}))
    data = _data(tmp_path, "a")
    assert data["commits"] == ["a" * 16, "b" * 16]
    assert data["links"] == URL
    assert data["panels"][0]["series"] == [
        {
            "chip": "rp2040", "plan": "rip", "kernels": "plain", "clock": 125_000_000, "weekly": 0,
            "toolchain": "arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205",
            "time": [29358840, 29360280], "commit": [0, 1], "cycles": [10, 12], "low": [9, 12],
            "high": [14, 12], "arena": 4096, "stack": 956, "flash": 40_960, "ok": [1, 0],
            "dirty": [0, 1], "changes": [[1, 1.2]],
        }
    ]  # fmt: skip


def test_the_overview_says_what_last_night_was(tmp_path: Path) -> None:
    kept = {
        key_of("a"): [point_of(n) for n in range(9)],
        key_of("b"): [point_of(n) for n in range(8)],
        key_of("c", plan="dual"): [point_of(8, ok=False, commit="f" * 40, dirty=True)],
        key_of("d", board="pico1"): [point_of(n, 100 + 10 * (n > 7)) for n in range(9)],
    }
    change = Change(8, 1.1, kept[key_of("d", board="pico1")][8].commit)
    suites = {"a": "first", "b": "first", "c": "ops", "d": "ops"}
    history = MadeHistory(kept, {key_of("d", board="pico1"): [change]})
    _build(tmp_path, history, suite_of=suites.get, title="rack")
    text = (tmp_path / "index.html").read_text()
    table = text.split("<tbody>")[1].split("</tbody>")[0]
    rows = [re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", row)) for row in table.split("<tr>")[1:]]
    assert [row.strip() for row in rows] == [
        "pico1 board rp2040 2025-11-04 02:00 – 1 slower",
        "pico1-emu emulated rp2040 2025-11-04 02:00 1 missing 1 ok 1 failed",
    ]
    states = dict(re.findall(r'data-state="(\w+)">\s*<td[^>]*><a href="[^"]*"><bdi>(\w)', text))
    assert {case: state for state, case in states.items()} == {
        "a": "ok", "b": "missing", "c": "failed", "d": "slower",
    }  # fmt: skip
    assert f'<a href="{URL.replace("{commit}", "f" * 40)}" rel="noopener' in text
    assert "ffffffffff + changes" in text
    assert "▲ +10.00 %" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_become_text(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "around"
    folder.mkdir()
    tmp_path = folder / "site"
    key = SeriesKey(name, name, name, 1, name, name, name, name)
    points = [point_of(0, commit=name, build=name), point_of(1, commit=name)]
    history = MadeHistory({key: points}, {key: [Change(1, 1.5, name)]})
    _build(tmp_path, history, title=name, suite_of=lambda case: case)
    pages = [tmp_path / "index.html", *(tmp_path / "cases").iterdir()]
    assert {path.name for path in pages} == {"index.html", f"{slug(name)}.html"}
    for page in pages:
        found = _Tags(page.read_text())
        assert found.tags <= TAGS
        assert not {name for name in found.attributes if name.startswith("on")}
        assert all(re.fullmatch(r"[\w./#-]+", link) for link in found.links)
        for script in found.scripts:
            assert "src" in script or script["type"] == "application/json"
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2066\u2028]", pages[1].read_text())
    assert all(len(path.name) < 100 for path in tmp_path.rglob("*"))
    assert {path.name for path in folder.iterdir()} == {"site"}


def test_a_page_per_case_and_none_left_over(tmp_path: Path) -> None:
    _build(tmp_path, drawn(["a", "b"], nights=2))
    _build(tmp_path, drawn(["b", "c"], nights=2))
    names = {path.name for path in (tmp_path / "cases").iterdir()}
    assert names == {f"{slug('b')}.html", f"{slug('c')}.html"}


class _Empty:
    def series(self) -> Sequence[SeriesKey]:
        return []

    def points(self, key: SeriesKey) -> Sequence[Point]:
        raise KeyError(key)


def test_a_history_without_results(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no results"):
        build(tmp_path / "site", _Empty(), SiteOptions())
    with pytest.raises(ConfigError, match="no results"):
        build(tmp_path / "other", MadeHistory({key_of("a"): []}), SiteOptions())
    assert not (tmp_path / "site").exists()


def test_times_that_are_none(tmp_path: Path) -> None:
    history = MadeHistory({key_of("a"): [replace(point_of(), time="yesterday")]})
    with pytest.raises(ConfigError, match="'yesterday' in the history is no time"):
        build(tmp_path, history, SiteOptions())


def test_progress(tmp_path: Path) -> None:
    said: list[int] = []
    built = build(tmp_path, drawn(["a", "b", "c"], nights=2), SiteOptions(), said.append)
    assert said == [1, 2, 3]
    assert (built.cases, built.series, built.points) == (3, 12, 24)
    assert built.bytes >= sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()) > 60_000
