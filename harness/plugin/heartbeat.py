# SPDX-License-Identifier: Apache-2.0
"""A sign of life of long runs: every so often which board runs which case, and for how long.

It is written to the stream that standard error was before pytest captured it, from a thread of its own,
so that a test that hangs is named too.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

import pytest


class Heartbeat:
    """A plugin, too: it hears of each test, of several workers' at once. write: gets each line. clock:
    seconds."""

    def __init__(
        self,
        seconds: float,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._write = write
        self._clock = clock
        self._running: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        with self._lock:
            self._running[nodeid] = self._clock()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        with self._lock:
            self._running.pop(nodeid, None)

    def lines(self) -> list[str]:
        """Of what runs since before the last beat, the oldest first."""
        with self._lock:
            ages = {nodeid: self._clock() - since for nodeid, since in self._running.items()}
        return [
            f"ripbench: {nodeid}, for {age:.0f} s"
            for nodeid, age in sorted(ages.items(), key=lambda item: -item[1])
            if age >= self._seconds
        ]

    def _beat(self) -> None:
        while not self._stopped.wait(self._seconds):
            for line in self.lines():
                self._write(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("ripbench").addoption(
        "--heartbeat",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="say so often what runs, for how long (default never)",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Workers of pytest-xdist leave it to their controller, which hears of each test."""
    seconds: float = config.getoption("--heartbeat")
    if seconds < 0:
        raise pytest.UsageError(f"--heartbeat {seconds} is less than 0")
    if not seconds or hasattr(config, "workerinput"):
        return
    from harness.report import printable

    stream = os.dup(2)  # nothing is captured yet
    beat = Heartbeat(seconds, lambda line: _write(stream, printable(line)))
    config.pluginmanager.register(beat)
    beat.start()

    def stop() -> None:
        beat.stop()
        os.close(stream)

    config.add_cleanup(stop)


def _write(stream: int, line: str) -> None:
    """Nobody may be reading any more; that is no reason to stop a night."""
    with contextlib.suppress(OSError):
        os.write(stream, f"{line}\n".encode())
