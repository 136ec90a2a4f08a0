# SPDX-License-Identifier: Apache-2.0
"""A million samples as pages: seconds to write them, their size, and seconds until a browser shows one.

500 series of 400 nights of 5 samples, once as 125 cases on two boards under two plans, once as 500 cases
of one series each, which is the most pages; and one series of 10,000 nights, which are thinned.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from harness.report.site import Built, SiteOptions, build
from tests.report.browser import browser, program
from tests.report.made import MadeHistory, drawn

_RUNS = 5
_URL = "https://git.example.org/ripbench/commit/{commit}"
HISTORIES = {
    "125 cases, 500 series": lambda: drawn([f"case-{n}" for n in range(125)], nights=400),
    "500 cases, 500 series": lambda: drawn(
        [f"case-{n}" for n in range(500)], boards=("pico1",), plans=("rip",), nights=400
    ),
    "1 series of 10,000 nights": lambda: drawn(
        ["case"], boards=("pico1",), plans=("rip",), nights=10_000
    ),
}


def main() -> None:
    rows = []
    for name, make in HISTORIES.items():
        history = make()
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "site")
            start = time.perf_counter()
            built = build(out, history, SiteOptions(_URL, changes=history.changes))
            written = time.perf_counter() - start
            rows.append(
                [name, _samples(history), f"{written:.1f}", *_sizes(out, built), *_shown(out)]
            )
    headers = ("", "samples", "written s", "MB", "largest page KB", "overview s", "case s")
    print("\nThe pages of a history (asked: overview 5 s, case 3 s, 20 MB)")
    print(tabulate(rows, headers=headers, disable_numparse=True))


def _samples(history: MadeHistory) -> int:
    return sum(len(point.samples) for points in history.kept.values() for point in points)


def _sizes(out: Path, built: Built) -> tuple[str, str]:
    largest = max(path.stat().st_size for path in out.rglob("*.html"))
    return f"{built.bytes / 1e6:.1f}", f"{largest / 1e3:.0f}"


def _shown(out: Path) -> tuple[str, str]:
    """Medians until the page has loaded, drawn its charts and painted; a dash without Chromium."""
    if program() is None:
        return "-", "-"
    case = max((out / "cases").glob("*.html"), key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory() as profile, browser(Path(profile)) as page:
        page.size(1280)
        page.open(out / "index.html")
        overview = [page.open(out / "index.html") for _ in range(_RUNS)]
        cases = [page.open(case) for _ in range(_RUNS)]
        assert not page.complaints, page.complaints
    return f"{statistics.median(overview):.2f}", f"{statistics.median(cases):.2f}"


if __name__ == "__main__":
    main()
