# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that says what was found: table, JUnit properties, notices at once."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from harness.plugin.common import BENCHES, FITTING, parameters

if TYPE_CHECKING:
    from harness.bench import Bench
    from harness.results import Verdict

_STOPPED = pytest.StashKey[str]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Each verdict that a test reaches becomes properties of its test case."""
    found: Bench | None = getattr(item, "funcargs", {}).get("bench")
    before = len(found.verdicts) if _is_bench(found) and found else 0
    if _is_bench(found) and found:
        found.say(item.nodeid)
    try:
        return (yield)
    finally:
        if _is_bench(found) and found:
            from harness.report import properties

            for verdict in found.verdicts[before:]:
                item.user_properties.extend(properties(verdict))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keeps what ran when Ctrl-C came; the fixture lets go of the board."""
    try:
        return (yield)
    except KeyboardInterrupt:
        # pytest has taken the fixtures off the item by now
        found = item.config.stash[BENCHES].get(parameters(item).get("ripbench_board", ""))
        if found is not None:
            item.config.stash[_STOPPED] = (
                f"{found.entry.name} in stage {found.stage!r}: {item.nodeid}"
            )
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,  # noqa: ARG001 - pytest checks the names
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """An error that explains itself is shown without the traceback of the bench."""
    report = yield
    if call.excinfo is not None and type(call.excinfo.value).__module__ == "harness.errors":
        report.longrepr = f"{call.excinfo.typename}: {call.excinfo.value}"
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if _STOPPED in config.stash:
        terminalreporter.section("ripbench")
        terminalreporter.write_line(f"stopped on {config.stash[_STOPPED]}")
    verdicts, lines = _found(config)
    if not verdicts and not lines:
        return
    from harness.report import identities, printable, table

    if _STOPPED not in config.stash:
        terminalreporter.section("ripbench")
    if verdicts:
        terminalreporter.write_line(table(verdicts))
        terminalreporter.write_line("")
        terminalreporter.write_line(identities(verdicts))
    for line in lines:
        terminalreporter.write_line(printable(line))


def pytest_sessionfinish(session: pytest.Session) -> None:
    from harness.plugin.rack import to_controller

    to_controller(session.config, *_found(session.config))


def _found(config: pytest.Config) -> tuple[list[Verdict], list[str]]:
    """In this process and, in a controller, by its workers: verdicts, and lines on what does not fit."""
    from harness.plugin.rack import FROM_WORKERS

    benches = config.stash[BENCHES].values()
    verdicts = [verdict for bench in benches for verdict in bench.verdicts]
    lines = [*config.stash[FITTING], *(str(plan) for bench in benches for plan in bench.unfit)]
    more, other = config.stash.get(FROM_WORKERS, ([], []))
    return [*verdicts, *more], list(dict.fromkeys([*lines, *other]))


def notice(config: pytest.Config, text: str) -> None:
    """A line at once, although output is captured."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is None or capture is None:  # a worker of pytest-xdist has no terminal
        return
    from harness.report import printable

    with capture.global_and_fixture_disabled():
        reporter.ensure_newline()
        reporter.write_line(f"ripbench: {printable(text)}")
        reporter.flush()  # a pipe would keep it until the end


def _is_bench(found: object) -> bool:
    return type(found).__module__ == "harness.bench"
