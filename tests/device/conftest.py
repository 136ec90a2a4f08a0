# SPDX-License-Identifier: Apache-2.0
"""Each chip in turn, with its runner and a board that no other test has used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.boards import BoardEntry
from harness.build import RunnerImage, build_runner
from harness.emulator import registry
from tests.device.support import CLOCK_HZ, new_entry


@pytest.fixture(autouse=True)
def no_faulty_board_stays() -> Iterator[None]:
    """A board with a plan of faults is unplugged after the test: others list what there is."""
    yield
    for name in ("faulty", "neighbour"):
        registry.remove(name)


@pytest.fixture(scope="session", params=CLOCK_HZ)
def chip(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def image(chip: str) -> RunnerImage:
    """The runner for the chip, built from this checkout."""
    return build_runner(chip)


@pytest.fixture
def entry(chip: str) -> BoardEntry:
    return new_entry(chip)
