# SPDX-License-Identifier: Apache-2.0
"""Runs the suites of a night, each a pytest of its own, whose words are shown and kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from harness import resources
from harness.errors import ConfigError, HarnessError
from harness.nightly.night import Night, Suite

_INTERRUPTED = 2  # pytest's status for Ctrl-C
_WRONG_USAGE = 4
_NO_TESTS = 5
_SKIP = "skip"  # the suffix of a done file as it was before an attempt


def run_suite(night: Night, suite: Suite, show: Callable[[str], None]) -> Night:
    """The night with the suite's status. Tests that passed in an earlier attempt are left out.

    Errors: ConfigError where pytest takes its words amiss: no later attempt can help. HarnessError where
    it was killed, and KeyboardInterrupt: the suite has no status then, and may go on another time.
    """
    begun = replace(suite, attempts=suite.attempts + 1, status=None)
    night = night.with_suite(begun)
    before = night.done_file(suite).with_suffix(f".{_SKIP}")
    before.write_bytes(_content(night.done_file(suite)))
    words = [
        *begun.words,
        *("--done", str(night.done_file(suite).resolve())),
        *("--skip-done", str(before.resolve())),
        *("--run-token", night.run_token(begun)),
    ]
    status = _pytest(words, night.log_file(suite), show)
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    if status < 0:
        raise HarnessError(
            f"suite {suite.name} was ended by signal {-status}",
            evidence={"log": str(night.log_file(suite))},
            hint="`ripbench nightly --resume` goes on with it",
        )
    if status == _NO_TESTS and night.counts(suite):
        status = 0  # all that there was passed before
    if status == _WRONG_USAGE:
        raise ConfigError(
            f"suite {suite.name} could not be begun", hint=f"see {night.log_file(suite)}"
        )
    if night.counts(suite)["failed"]:
        status = status or 1
    return night.with_suite(replace(begun, status=status))


def confirm(
    night: Night, tests: Sequence[str], words: Sequence[str], show: Callable[[str], None]
) -> None:
    """Runs tests once more, whose numbers are the ones that confirm."""
    suite = Suite("confirm", (), attempts=1)
    ids = [str(resources.layers() / test) for test in tests]
    _pytest([*ids, *words, "--run-token", night.run_token(suite)], night.log_file(suite), show)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _pytest(words: Sequence[str], log: Path, show: Callable[[str], None]) -> int:
    """It is in our process group, so that Ctrl-C reaches it, too: we wait until it let go of boards."""
    command = [sys.executable, "-m", "pytest", f"--rootdir={resources.layers()}",
               "-p", "no:cacheprovider", *words]  # fmt: skip
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None, "it is a pipe"
        stopped = False
        while True:
            try:
                line = process.stdout.readline()
            except KeyboardInterrupt:
                stopped = True
                continue
            if not line:
                break
            file.write(line)
            file.flush()
            show(line.rstrip("\n"))
    return _INTERRUPTED if stopped else process.wait()
