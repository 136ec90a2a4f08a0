# SPDX-License-Identifier: Apache-2.0
"""Entry point `fake` of group `ripbench.backend`. It has no witness, as silicon has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import serial

from fakeboards import behind, names
from harness.emulator import backend
from harness.emulator.clock import Clock

kind = "fake"

serial.protocol_handler_packages.append("fakeboards.urlhandler")


def configure(entry: Mapping[str, object]) -> None:
    name = str(entry["name"])
    backend.configure({**entry, "name": behind(name)})
    if name not in names:
        names.append(name)


def lock_keys(entry: Mapping[str, object]) -> Sequence[str]:
    """As if it were hardware that two processes could reach."""
    return [f"fake {entry['probe']}"]


def clock(name: str) -> Clock:
    return backend.clock(behind(name))
