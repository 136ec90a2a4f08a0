# SPDX-License-Identifier: Apache-2.0
"""The part of the pytest plugin that keeps results: one run for all processes of an invocation, said
loudly where it cannot be kept, and device time for pytest-benchmark."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.bench import Bench
    from harness.devicetime import DeviceBenchmark
    from harness.history import Recorder

_TOKEN = pytest.StashKey[str]()
_RECORDER = pytest.StashKey["Recorder"]()
_LOST = pytest.StashKey[list[str]]()
_WORKER_TOKEN, _WORKER_LOST = "ripbench_run", "ripbench_lost"  # names in pytest-xdist's messages
_STATUS = {0: "passed", 1: "failed", 2: "interrupted", 5: "no tests"}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ripbench")
    group.addoption(
        "--history",
        default="reports/history.sqlite",
        metavar="FILE",
        help="where results are kept (default reports/history.sqlite, '' for none; .jsonl for lines)",
    )
    group.addoption(
        "--run-token", metavar="WORDS", help="the run's name in the history (default a random one)"
    )
    group.addoption(
        "--device-json", metavar="FILE", help="device time of this run as pytest-benchmark's JSON"
    )


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", {}).get(_WORKER_TOKEN)
    config.stash[_TOKEN] = given or config.getoption("--run-token") or secrets.token_hex(16)
    config.stash[_LOST] = []
    file = config.getoption("--device-json")
    history = config.getoption("--history")
    if file and (not history or history.endswith(".jsonl")):
        raise pytest.UsageError("--device-json reads an SQLite history: name one with --history")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of pytest-xdist writes by itself, of the same run."""
    node.workerinput[_WORKER_TOKEN] = node.config.stash[_TOKEN]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ARG001 - pytest checks the names
    """What a worker could not write; one that was killed says nothing."""
    said = (getattr(node, "workeroutput", None) or {}).get(_WORKER_LOST, [])
    node.config.stash[_LOST] += [str(text) for text in said]


def recorder_of(config: pytest.Config, notice: Callable[[str], None]) -> Recorder | None:
    """This process's, made at the first use: the run is in the history from then on. None where no
    history is wanted."""
    if not config.getoption("--history"):
        return None
    if _RECORDER not in config.stash:
        from pathlib import Path

        from harness.history import Recorder

        def lost(text: str) -> None:
            config.stash[_LOST].append(text)
            notice(text)

        config.stash[_RECORDER] = Recorder(
            Path(config.getoption("--history")),
            token=config.stash[_TOKEN],
            folder=config.invocation_params.dir,
            on_lost=lost,
        )
        config.stash[_RECORDER].start()
    return config.stash[_RECORDER]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The process that the user started ends the run; of those that xdist started each closes its own.
    Workers have ended by now: xdist's own hook, which waits for them, comes before this one."""
    config = session.config
    if hasattr(config, "workeroutput"):
        if _RECORDER in config.stash:
            config.stash[_RECORDER].close()
        config.workeroutput[_WORKER_LOST] = config.stash[_LOST]
        return
    if _RECORDER not in config.stash and not config.pluginmanager.has_plugin("dsession"):
        return
    from harness.history import Recorder

    recorder = recorder_after(config, Recorder)
    if recorder is not None:
        recorder.end(_STATUS.get(int(exitstatus), "stopped"))
    if config.getoption("--device-json"):
        _write_device_json(config)


def recorder_after(config: pytest.Config, kind: type[Recorder]) -> Recorder | None:
    """Of a process with workers, which may have written."""
    if _RECORDER in config.stash or not config.getoption("--history"):
        return config.stash.get(_RECORDER, None)
    from pathlib import Path

    return kind(
        Path(config.getoption("--history")),
        token=config.stash[_TOKEN],
        on_lost=config.stash[_LOST].append,
    )


def _write_device_json(config: pytest.Config) -> None:
    """A file that cannot be written is said and no more: all tests have their outcome by now."""
    from pathlib import Path

    from harness.errors import ConfigError
    from harness.history.export import write_benchmark_json

    try:
        write_benchmark_json(
            Path(config.getoption("--history")),
            Path(config.getoption("--device-json")),
            config.stash[_TOKEN],
        )
    except (ConfigError, OSError) as error:
        config.stash[_LOST].append(f"--device-json could not be written: {error}")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    lost = config.stash[_LOST]
    if not lost:
        return
    from harness.report import printable

    terminalreporter.section("ripbench: the history is not complete", red=True, bold=True)
    for text in dict.fromkeys(lost):
        for line in text.split("\n"):
            terminalreporter.write_line(printable(line), red=True)


@pytest.fixture
def device_benchmark(bench: Bench, request: pytest.FixtureRequest) -> DeviceBenchmark:
    """`device_benchmark(layer, plan="rip")`: proves a layer, and the table and JSON of pytest-benchmark
    have its warm runs in device seconds. Needs `pip install ripbench[benchmark]`."""
    from harness.devicetime import DeviceBenchmark, DeviceClock

    if not request.config.pluginmanager.has_plugin("benchmark"):
        raise pytest.UsageError("pytest-benchmark is missing: pip install 'ripbench[benchmark]'")
    clock = DeviceClock()
    request.node.add_marker(pytest.mark.benchmark(timer=clock))
    return DeviceBenchmark(bench, clock, request.getfixturevalue("benchmark"))
