# SPDX-License-Identifier: Apache-2.0
"""What stands behind a probe: silicon, unless an entry point of group `ripbench.backend` says that it
serves this kind of probe (the part of `probe:` before the colon)."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
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

    def lock_keys(self, entry: Mapping[str, object]) -> Sequence[str]:
        """What nobody else may use while this board is in use: names of hardware or of processes, the
        same in every process of this machine. None for a board that lives in this process alone."""


class Timings(Protocol):
    """Timing models of a board whose core has no published timing. models: by name, the most careful one
    last; that one is in force unless another is selected."""

    models: tuple[str, ...]

    def select(self, model: str) -> None: ...


def kind_of(backend: Backend, name: str) -> str:
    """The label of every number of one board, where a backend has boards of several kinds."""
    ask = getattr(backend, "kind_of", None)
    return backend.kind if ask is None else str(ask(name))


def timings_of(backend: Backend, name: str) -> Timings | None:
    """The backend's timing models of a board; None where its cycles are no model, as on silicon."""
    make = getattr(backend, "timings", None)
    timings: Timings | None = None if make is None else make(name)
    return timings


def lock_keys_of(backend: Backend, entry: BoardEntry) -> tuple[str, ...]:
    """The probe, for a backend that does not say."""
    keys = getattr(backend, "lock_keys", None)
    return (entry.probe.lower(),) if keys is None else tuple(keys(entry.as_mapping()))


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
        if entry.get("faults"):
            raise ConfigError(
                f"{entry.get('where')}: real boards take no plan of faults",
                hint="only a board whose probe is `emu:NAME` does wrong by plan",
            )
        if entry.get("sram_bytes") is not None:
            raise ConfigError(
                f"{entry.get('where')}: a real board has the SRAM of its chip, whatever sram_bytes says",
                hint="only a board whose probe is `emu:NAME` may have more",
            )

    def clock(self, name: str) -> Clock:  # noqa: ARG002 - one clock for all of them
        return WallClock()

    def lock_keys(self, entry: Mapping[str, object]) -> Sequence[str]:
        """The probe's serial number, the USB port that it is plugged into, and a serial device that is
        named. Two names for one board share at least one of them."""
        probe = str(entry["probe"]).split(":", 1)[1]
        keys = [f"probe {probe.lower()}", *(f"usb {port}" for port in usb_ports(probe))]
        device = str(entry.get("serial") or "")
        if device.startswith(os.sep):
            keys.append(f"serial {os.path.realpath(device)}")
        return keys


def usb_ports(serial_number: str, devices: Path = Path("/sys/bus/usb/devices")) -> list[str]:
    """Where devices of this serial number are plugged in, `1-1.4`; empty where nothing says so."""
    found = []
    for path in sorted(devices.glob("*/serial")):
        try:
            if path.read_text(encoding="utf-8").strip().lower() == serial_number.lower():
                found.append(path.parent.name)
        except (OSError, UnicodeDecodeError):  # unplugged meanwhile, or a number that is none
            continue
    return found


def keys_of(entry: BoardEntry) -> tuple[str, ...]:
    """What is locked while the board is in use. Errors: ConfigError as `backend_for`."""
    return lock_keys_of(backend_for(entry), entry)


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
