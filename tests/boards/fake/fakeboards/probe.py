# SPDX-License-Identifier: Apache-2.0
"""Entry point `fake` of group `pyocd.probe`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pyocd.core import exceptions
from pyocd.core.plugin import Plugin

from fakeboards import behind, faults, names
from harness.emulator import registry
from harness.emulator.debuglink import DebugLink
from harness.emulator.probe import EmulatedProbe

T = TypeVar("T")


class FakeProbe(EmulatedProbe):
    """The probe of the emulated board behind a fake one, under the fake one's name."""

    def __init__(self, name: str) -> None:
        entry = next(entry for entry in registry.known() if entry.name == behind(name))
        super().__init__(entry)
        self._name = name

    @classmethod
    def get_all_connected_probes(
        cls,
        unique_id: str | None = None,  # noqa: ARG003
        is_explicit: bool = False,  # noqa: ARG003
    ) -> Sequence[FakeProbe]:
        return [cls(name) for name in names]

    @classmethod
    def get_probe_with_id(
        cls,
        unique_id: str,
        is_explicit: bool = False,  # noqa: ARG003
    ) -> FakeProbe | None:
        return cls(unique_id) if unique_id in names else None

    @property
    def unique_id(self) -> str:
        return self._name

    def _read(self, ask: Callable[[DebugLink], Callable[[], T]], now: bool) -> T | Callable[[], T]:
        self._on_the_wire()
        return super()._read(ask, now)

    def _write(self, give: Callable[[DebugLink], None]) -> None:
        self._on_the_wire()
        super()._write(give)

    def _on_the_wire(self) -> None:
        """A transfer that fails never reaches the board."""
        if faults.plan.fails("probe"):
            raise exceptions.TransferError("no acknowledge: the wire is loose")
        if faults.plan.slow_ns:
            registry.board(behind(self._name)).advance(ns=faults.plan.slow_ns)


class FakeProbePlugin(Plugin):
    """What pyOCD's entry point loads."""

    def load(self) -> type[FakeProbe]:
        return FakeProbe

    @property
    def name(self) -> str:
        return "fake"

    @property
    def description(self) -> str:
        return "Boards of the tests"
