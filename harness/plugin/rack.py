# SPDX-License-Identifier: Apache-2.0
"""Several boards in one run: with pytest-xdist each board's tests go to one worker, all boards at once.

A board cannot be in two processes (its lock refuses the second), so tests are dealt out by board: the
board is read from the test's id. What workers found comes back to the one table at the end.

pytest-xdist's own groups (`--dist loadgroup`) do not do it: with the newest pytest they do not group.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.results import Verdict

_FOUND = "ripbench"  # the key of what a worker sends
FROM_WORKERS = pytest.StashKey[tuple[list["Verdict"], list[str]]]()


def board_of(nodeid: str, boards: Sequence[str]) -> str:
    """The board of a test by its id, `test_layers.py::test_layer[pico1-emu-odd-3x3-rip]`; of boards of
    which one's name begins with another's, the longer. Without one the test's file."""
    parameters = nodeid.rpartition("[")[2]
    found = [name for name in boards if re.match(rf"{re.escape(name)}(?:-|\]|$)", parameters)]
    return max(found, key=len, default=nodeid.partition("::")[0])


def workers_for(boards: Sequence[str], cores: int) -> int:
    """Of `-n auto`: more than one for a board would only wait."""
    return max(1, min(len(set(boards)), cores))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("ripbench").addoption(
        "--rack",
        action="append",
        metavar="NAME",
        help="all boards of a rack of boards.yaml; may be given several times, beside --board",
    )


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Iterator[None]:
    """From here on a rack is its boards; before pytest-xdist asks how many workers there shall be."""
    if config.getoption("--rack"):
        config.option.board = boards_in(config)
    return (yield)


def boards_in(config: pytest.Config) -> list[str]:
    """Those named, then those of the racks, each once. Errors: UsageError."""
    from harness.boards.config import find_rack, load_racks
    from harness.errors import HarnessError

    named, file = config.getoption("--board") or [], config.getoption("--boards")
    try:
        racks = load_racks(Path(file) if file else None)
        found = [find_rack(name, racks) for name in config.getoption("--rack")]
    except HarnessError as error:
        raise pytest.UsageError(f"{type(error).__name__}: {error}") from error
    return [*dict.fromkeys([*named, *chain.from_iterable(found)])]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    boards = config.getoption("--board")
    return workers_for(boards, os.cpu_count() or 1) if boards else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """By board where boards are named; pytest-xdist's choice where none is, and where --dist asks for
    something else."""
    boards = config.getoption("--board")
    if not boards or config.getoption("dist") not in ("load", "no"):
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByBoard(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return board_of(nodeid, boards)

    return ByBoard(config, log)


def to_controller(config: pytest.Config, verdicts: Sequence[Verdict], lines: Sequence[str]) -> None:
    """At the end of a worker; elsewhere nothing."""
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output[_FOUND] = json.dumps({"verdicts": [*map(asdict, verdicts)], "lines": [*lines]})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ARG001 - pytest checks the names
    """A worker that crashed sends nothing; its tests were reported one by one."""
    sent = getattr(node, "workeroutput", {}).get(_FOUND)
    if sent is None:
        return
    from harness.results import verdict_from

    found = json.loads(sent)
    verdicts, lines = node.config.stash.setdefault(FROM_WORKERS, ([], []))
    verdicts.extend(map(verdict_from, found["verdicts"]))
    lines.extend(found["lines"])
