# SPDX-License-Identifier: Apache-2.0
"""All pages in headless Chromium: nothing on the console, nothing requested, names do nothing, and keys
work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.report.html.embed import slug
from harness.report.html.entry import entry
from harness.report.html.run import Failed, Run, page
from harness.report.site import SiteOptions, build
from tests.report.browser import Page, browser, program
from tests.report.made import HOSTILE, MadeHistory, drawn, key_of, point_of
from tests.report.runs import layer_runs, layer_verdicts, network_verdict

pytestmark = [
    pytest.mark.extra,
    pytest.mark.skipif(program() is None, reason="no Chromium: sh tools/setup.sh extras .venv"),
]
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good names, and hostile ones in every place."""
    history = drawn(["a-case", "mcunet-in3"], boards=("pico1", "pico1-emu"), nights=60, seed=4)
    kept = dict(history.kept)
    for name in HOSTILE:
        key = replace(key_of(), board=name, kind=name, chip=name, toolchain=name, kernels=name)
        key = replace(key, case=name, plan=name)
        kept[key] = [point_of(n, commit=name, build=name) for n in range(50, 60)]
    out = tmp_path_factory.mktemp("site")
    options = SiteOptions("https://git.example.org/{commit}", HOSTILE[0], changes=history.changes)
    build(out, MadeHistory(kept, history.changed), options)
    return out


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entries = [entry(*judged) for judged in layer_verdicts(layer_runs(wrong=True))]
    entries.append(entry(*network_verdict()))
    for name in HOSTILE:
        where = replace(entries[0].verdict.provenance, board=name, compiler=name, kind=name)
        verdict = replace(
            entries[0].verdict, provenance=where, layer=name, plan=name, failures=(name,)
        )
        entries.append(replace(entries[0], verdict=verdict, wrong=name))
    path = tmp_path_factory.mktemp("run") / "index.html"
    failed = tuple(Failed(name, name) for name in HOSTILE)
    path.write_text(page(Run("now", HOSTILE[0], HOSTILE[1], tuple(entries), failed, HOSTILE)))
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def tab(chromium: Page) -> Iterator[Page]:
    """What it saw must be nothing but files, and no complaint."""
    chromium.requests.clear()
    chromium.complaints.clear()
    chromium.size(1280)
    yield chromium
    assert chromium.complaints == []
    assert chromium.requests
    assert {url.split(":")[0] for url in chromium.requests} == {"file"}


def _pages(site: Path, run_page: Path) -> list[Path]:
    return [site / "index.html", *sorted((site / "cases").iterdir()), run_page]


def test_nothing_overflows_and_nothing_is_said(tab: Page, site: Path, run_page: Path) -> None:
    for width in WIDTHS:
        tab.size(width)
        for path in _pages(site, run_page):
            tab.open(path)
            tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            assert tab.run("document.documentElement.scrollWidth") <= width, path


def test_names_do_nothing(tab: Page, site: Path, run_page: Path) -> None:
    """No element comes from a name, and no link leads to one."""
    for path in _pages(site, run_page):
        tab.open(path)
        assert tab.run("document.querySelectorAll('img, iframe, object, embed, base').length") == 0
        scripts = (
            "[...document.scripts].filter(s => !s.src && s.type !== 'application/json').length"
        )
        assert tab.run(scripts) == (2 if path == run_page else 0)
        schemes = set(tab.run("[...document.links].map(a => a.protocol)"))
        assert schemes <= {"file:", "https:"}


def test_every_chart_is_drawn(tab: Page, site: Path) -> None:
    tab.open(site / "cases" / f"{slug('mcunet-in3')}.html")
    assert tab.run("document.documentElement.dataset.drawn") == "yes"
    assert tab.run("document.querySelectorAll('.panel').length") == 2
    assert tab.run("document.querySelectorAll('canvas').length") == 8
    drawn_on = (
        "[...document.querySelectorAll('canvas')].map(c => c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.filter((v, n) => n % 4 === 3 && v > 0).length)"
    )
    assert min(tab.run(drawn_on)) > 1000
    captions = tab.run("[...document.querySelectorAll('figcaption')].map(c => c.textContent)")
    assert captions[0] == "Cycles, warm (cycles, board)"
    assert captions[4] == "Cycles, warm (cycles, emulated)"
    assert captions[5] == "Arena (bytes, emulated)"


def test_filters_of_charts(tab: Page, site: Path) -> None:
    tab.open(site / "cases" / f"{slug('mcunet-in3')}.html")
    choose = (
        "(n => (v => { const c = document.getElementById('filters').elements[n]; c.value = v; "
        "c.dispatchEvent(new Event('input', {bubbles: true})); }))"
    )
    tab.run(f"{choose}('board')('pico1-emu')")
    shown = "[...document.querySelectorAll('.panel:not([hidden]) h3')].map(h => h.textContent)"
    assert tab.run(shown) == ["pico1-emu emulated"]
    tab.run(f"{choose}('plan')('rip')")
    words = tab.run("document.querySelector('.panel:not([hidden]) .readout').textContent")
    assert "rip: " in words
    assert "dual: " not in words


def test_arrow_keys_step_through_the_runs(tab: Page, site: Path) -> None:
    tab.open(site / "cases" / f"{slug('a-case')}.html")
    tab.run("document.querySelector('.plot').focus()")
    said = "document.querySelector('.readout').textContent"
    assert tab.run(said).startswith("2025-12-25 02:00 UTC")
    tab.press("ArrowLeft", 37)
    assert tab.run(said).startswith("2025-12-24 02:00 UTC")
    tab.press("Home", 36)
    assert tab.run(said).startswith("2025-10-27 02:00 UTC")
    tab.press("ArrowRight", 39)
    assert tab.run(said).startswith("2025-10-28 02:00 UTC")
    tab.press("End", 35)
    assert tab.run(said).startswith("2025-12-25 02:00 UTC")
    link = tab.run("document.querySelector('.readout a').href")
    assert link == f"https://git.example.org/{'000003c' * 2}00"


def test_tab_reaches_filters_in_order(tab: Page, site: Path) -> None:
    tab.open(site / "index.html")
    seen = [tab.tab() for _ in range(60)]
    assert seen[:2] == ["a", "button#theme"]
    filters = ["input[text]", "select[board]", "select[suite]", "select[kind]", "select[state]"]
    start = seen.index("input[text]")
    assert seen[start : start + 5] == filters
    tab.open(site / "cases" / f"{slug('a-case')}.html")
    seen = [tab.tab() for _ in range(10)]
    assert seen[:6] == [
        "a", "a", "button#theme", "select[board]", "select[plan]", "select[range]",
    ]  # fmt: skip
    assert seen[6] == "div"  # the first chart


def test_filters_of_cases(tab: Page, site: Path) -> None:
    tab.open(site / "index.html")
    rows = "document.querySelectorAll('[data-row]:not([hidden])').length"
    assert tab.run(rows) == 8 + len(HOSTILE)
    tab.run("document.querySelector('[data-filter=text]').focus()")
    for letter in "MCUnet":
        tab.press(letter, text=letter)
    assert tab.run(rows) == 4
    assert (
        tab.run("document.getElementById('count').textContent") == f"4 of {8 + len(HOSTILE)} shown"
    )
    tab.run("document.querySelector('#filters [type=reset]').click()")
    tab.run("new Promise(done => setTimeout(done, 20))")
    assert tab.run(rows) == 8 + len(HOSTILE)
    tab.run(
        "[...document.querySelectorAll('button.cell')].find(b => b.dataset.board === 'pico1').click()"
    )
    assert tab.run(rows) == 4


def test_light_and_dark(tab: Page, site: Path) -> None:
    """As the system says, until the button says otherwise, on the next page too."""
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(18, 22, 27)"
    tab.dark(True)
    tab.open(site / "index.html")
    assert tab.run(paper) == dark
    tab.run("document.getElementById('theme').click()")
    assert tab.run(paper) == light
    tab.open(site / "cases" / f"{slug('a-case')}.html")
    assert tab.run(paper) == light
    tab.run("localStorage.clear()")
    tab.dark(False)
    tab.open(site / "index.html")
    assert tab.run(paper) == light


def test_a_link_to_a_verdict_opens_it(tab: Page, run_page: Path) -> None:
    tab.open(run_page)
    closed = "[...document.querySelectorAll('details')].findIndex(d => !d.open)"
    number = tab.run(closed)
    assert number >= 0
    tab.run(f"document.querySelector('a[href=\"#v{number}\"]').click()")
    assert tab.run(f"document.querySelectorAll('details')[{number}].open")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_are_readable(tab: Page, site: Path, run_page: Path, theme: str) -> None:
    """WCAG's contrast of at least 4.5 between each text and what is behind it."""
    tab.dark(theme == "dark")
    for path in (site / "index.html", site / "cases" / f"{slug('a-case')}.html", run_page):
        tab.open(path)
        assert tab.run(CONTRAST) == []
    tab.dark(False)


def test_the_policy_stops_what_a_mistake_would_let_in(chromium: Page, tmp_path: Path) -> None:
    """The tests above could not fail if a script inside a page ran: here is one, and it does not."""
    path = tmp_path / "index.html"
    text = page(Run("now", "", "", ()))
    path.write_text(text.replace("</main>", "<script>document.title = 'run'</script></main>"))
    chromium.complaints.clear()
    chromium.open(path)
    assert chromium.run("document.title") == "Run now · ripbench"
    assert any("Content Security Policy" in words for words in chromium.complaints)
    chromium.complaints.clear()
    path.write_text(text.replace("</main>", "<img src='https://example.org/x.png'></main>"))
    chromium.open(path)
    assert any("Content Security Policy" in words for words in chromium.complaints)


CONTRAST = """
(() => {
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || e.closest("script, style, svg, canvas")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(`${e.className} ${walker.currentNode.data.trim()} ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)].slice(0, 5);
})()
"""
