# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that writes a page of the run: `--report DIR` gives
DIR/<run>/index.html, where run is its start in UTC. Workers of pytest-xdist hand what they saw to the
process that started them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.plugin.common import BENCHES

if TYPE_CHECKING:
    from harness.bench import Bench

_STARTED = pytest.StashKey[datetime]()
_FAILED = pytest.StashKey[list[tuple[str, str]]]()
_SEEN = pytest.StashKey[list[dict[str, Any]]]()
_SAID = pytest.StashKey[str]()
_OUTPUT = "ripbench_report"  # a name in pytest-xdist's messages


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("ripbench").addoption(
        "--report",
        metavar="DIR",
        help="write a page of this run to DIR/<start of the run>/index.html",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--report"):
        config.stash[_STARTED] = datetime.now(UTC)
        config.stash[_FAILED], config.stash[_SEEN] = [], []
        config.pluginmanager.register(_Hooks(config), "ripbench-report")


class _Hooks:
    """Registered only where a page is wanted."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._config.stash[_FAILED].append((report.nodeid, report.longreprtext))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._config.stash[_FAILED].append((report.nodeid, report.longreprtext))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ARG002 - pytest checks
        """One that was killed says nothing; xdist reports its test as failed."""
        seen = (getattr(node, "workeroutput", None) or {}).get(_OUTPUT)
        if seen is not None:
            self._config.stash[_SEEN].append(seen)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """After the workers' own: xdist waits for them in its hook."""
        config = self._config
        seen = _seen(config.stash[BENCHES].values())
        if hasattr(config, "workeroutput"):
            config.workeroutput[_OUTPUT] = seen
        else:
            config.stash[_SAID] = _write(config, [seen, *config.stash[_SEEN]])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        from harness.report import printable

        terminalreporter.write_line(f"ripbench: {printable(self._config.stash[_SAID])}")


def _seen(benches: Iterable[Bench]) -> dict[str, Any]:
    """In plain values: it may go to another process."""
    from harness.report.html.entry import entry

    found = list(benches)
    return {
        "entries": [asdict(entry(*judged)) for bench in found for judged in bench.judged],
        "unfit": [str(plan) for bench in found for plan in bench.unfit],
    }


def _write(config: pytest.Config, seen: list[dict[str, Any]]) -> str:
    """What to tell the user. A page that cannot be written is said and no more: all tests have their
    outcome by now."""
    from harness.errors import ConfigError
    from harness.history.commit import commit_of
    from harness.report.html.entry import entry_of
    from harness.report.html.run import Failed, Run, ordered, page, write_run

    started = config.stash[_STARTED]
    run = Run(
        name=f"{started:%Y-%m-%d %H:%M:%S} UTC",
        kernels=config.getoption("--kernels"),
        commit=commit_of(config.invocation_params.dir).hash,
        entries=ordered([entry_of(plain) for one in seen for plain in one["entries"]]),
        failed=tuple(Failed(*failed) for failed in config.stash[_FAILED]),
        unfit=tuple(dict.fromkeys(words for one in seen for words in one["unfit"])),
    )
    folder = Path(config.invocation_params.dir, config.getoption("--report"))
    try:
        return f"report: {write_run(folder, f'{started:%Y%m%dT%H%M%SZ}', page(run))}"
    except ConfigError as error:
        return f"no report: {error}"
