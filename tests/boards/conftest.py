# SPDX-License-Identifier: Apache-2.0
"""Fake boards in this process, and locks and state of its own for each test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyocd.probe.aggregator import PROBE_CLASSES  # before fakeboards: it loads the entry points

from harness.boards import BoardEntry
from harness.build import RunnerImage, build_runner
from tests.device.support import CLOCK_HZ, MISS_CYCLES

FAKE = Path(__file__).with_name("fake")
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Also inherited by the processes that a test starts."""
    monkeypatch.setenv("RIPBENCH_LOCKS", str(tmp_path / "locks"))
    monkeypatch.setenv("RIPBENCH_STATE", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def fake_entry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], BoardEntry]]:
    """Makes boards behind fake probes, each of its own; without faults before and after."""
    monkeypatch.syspath_prepend(str(FAKE))
    from fakeboards import faults
    from fakeboards.probe import FakeProbe

    monkeypatch.setitem(PROBE_CLASSES, "fake", FakeProbe)
    faults.set_plan()

    def make(chip: str = "rp2040") -> BoardEntry:
        name = f"fake-{next(_numbers)}"
        return BoardEntry(
            name=name,
            chip=chip,
            probe=f"fake:{name}",
            serial=f"fake://{name}",
            clock_hz=CLOCK_HZ[chip],
            xip_miss_cycles=MISS_CYCLES[chip],
            where="test",
        )

    yield make
    faults.set_plan()


@pytest.fixture(scope="session", params=CLOCK_HZ)
def chip(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def image(chip: str) -> RunnerImage:
    """The runner for the chip, built from this checkout."""
    return build_runner(chip)
