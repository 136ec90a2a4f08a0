# SPDX-License-Identifier: Apache-2.0
"""What stands behind a probe: silicon, unless an entry point of group `ripbench.backend` says that it
serves this kind of probe (the part of `probe:` before the colon)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Protocol

from harness.boards.config import BoardEntry
from harness.errors import ConfigError


class Clock(Protocol):
    """Seconds as the board's deadlines count them."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class Backend(Protocol):
    """kind: the label of every number from it; `board` is silicon. Nothing depends on it."""

    kind: str

    def configure(self, entry: Mapping[str, object]) -> None:
        """Told each board before it is first used."""

    def clock(self, name: str) -> Clock: ...


class Timings(Protocol):
    """Timing models of a board whose core has no published timing. models: by name, the most careful one
    last; that one is in force unless another is selected."""

    models: tuple[str, ...]

    def select(self, model: str) -> None: ...


def timings_of(backend: Backend, name: str) -> Timings | None:
    """The backend's timing models of a board; None where its cycles are no model, as on silicon."""
    make = getattr(backend, "timings", None)
    timings: Timings | None = None if make is None else make(name)
    return timings


class WallClock:
    """The host's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Silicon:
    """Real boards: nothing to configure, the host's own clock."""

    kind = "board"

    def configure(self, entry: Mapping[str, object]) -> None:
        pass

    def clock(self, name: str) -> Clock:  # noqa: ARG002 - one clock for all of them
        return WallClock()


def backend_for(entry: BoardEntry) -> Backend:
    """The configured backend of a board. Errors: ConfigError when a plugin cannot be loaded."""
    kind = entry.probe.split(":", 1)[0]
    backend: Backend = Silicon()
    for point in entry_points(group="ripbench.backend", name=kind):
        try:
            backend = point.load()
        except ImportError as error:
            raise ConfigError(
                f"the backend {point.value} cannot be loaded", cause=str(error)
            ) from error
    backend.configure(entry.as_mapping())
    return backend
