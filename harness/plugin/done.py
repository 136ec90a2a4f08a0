# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that lets a broken run go on: `--done FILE` notes every test that came
to its end, `--skip-done FILE` leaves out those that a file says passed.

Two options, and two files, because all workers of pytest-xdist have to collect the same tests: what they
leave out must not grow while they start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

WELL = ("passed", "skipped")


def read_done(path: Path) -> dict[str, str]:
    """Outcomes by test id, `passed`, `failed` or `skipped`; the last one said. A line that a kill cut
    short is none."""
    found = {}
    for line in _lines(path):
        try:
            row = json.loads(line)
            found[str(row["id"])] = str(row["outcome"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _lines(path: Path) -> Iterator[str]:
    if path.is_file():
        yield from path.read_text(encoding="utf-8", errors="replace").splitlines()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ripbench")
    group.addoption("--done", metavar="FILE", help="note each test that ends, a JSON line each")
    group.addoption(
        "--skip-done", metavar="FILE", help="leave out tests that passed by such a file"
    )


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--done")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Notes(Path(file)), "ripbench-done")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    file = config.getoption("--skip-done")
    if not file:
        return
    done = {test for test, outcome in read_done(Path(file)).items() if outcome in WELL}
    gone = [item for item in items if item.nodeid in done]
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if item.nodeid not in done]


class _Notes:
    """A line is one write to a file that is only appended to, so that a kill tears the last at worst."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bad: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of set-up, call and tear-down the worst counts, and only after the last of them."""
        if report.outcome != "passed":
            kept = self._bad.get(report.nodeid, "skipped")
            self._bad[report.nodeid] = "failed" if report.failed else kept
        if report.when == "teardown":
            outcome = self._bad.pop(report.nodeid, "passed")
            line = json.dumps({"id": report.nodeid, "outcome": outcome})
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
