# SPDX-License-Identifier: Apache-2.0
"""Entry point `emu` of group `ripbench.backend`: all that the bench may ask of emulated boards.

Importing it makes `serial.serial_for_url("emu://NAME")` work; pyOCD finds the probe `emu:NAME` by
itself through the entry point group `pyocd.probe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import serial

from harness.emulator import registry
from harness.emulator.board import BoardOptions
from harness.emulator.chips import CHIPS
from harness.emulator.clock import Clock
from harness.emulator.timings import Timings
from harness.emulator.witness import Witness
from harness.errors import ConfigError

kind = "emulated"

URL_HANDLERS = "harness.emulator.urlhandler"

if URL_HANDLERS not in serial.protocol_handler_packages:
    serial.protocol_handler_packages.append(URL_HANDLERS)


def configure(entry: Mapping[str, object]) -> None:
    """Make a board of boards.yaml known before its first use.

    entry: `name` and `chip` are needed; `xip_miss_cycles` is what the firmware's flash set-up must
    come out at; anything else says nothing to an emulator. Raises ConfigError.
    """
    name = _text(entry, "name")
    chip = _text(entry, "chip")
    if chip not in CHIPS:
        raise ConfigError(
            f"board {name}: no emulated board has the chip {chip!r}",
            evidence={"emulated chips": ", ".join(CHIPS)},
        )
    miss = entry.get("xip_miss_cycles") or 0
    if not isinstance(miss, int) or isinstance(miss, bool) or miss < 0:
        raise ConfigError(f"board {name}: xip_miss_cycles is {miss!r}, not a number of cycles")
    registry.configure(registry.BoardEntry(name, CHIPS[chip], BoardOptions(xip_miss_cycles=miss)))


def clock(name: str) -> Clock:
    """The emulated clock of a board. Raises ProbeError for an unknown name."""
    return Clock(registry.board(name))


def lock_keys(entry: Mapping[str, object]) -> Sequence[str]:  # noqa: ARG001
    """None: each process has boards of its own."""
    return ()


def timings(name: str) -> Timings | None:
    """The timing models of a board's core; None where the core has a published table (the M0+). Raises
    ProbeError for an unknown name."""
    board = registry.board(name)
    return Timings(board.machine) if board.chip.modelled_timing else None


def witness(name: str) -> Witness:
    """What sees into a board. It watches nothing before it is told to. Raises ProbeError for an
    unknown name."""
    return Witness(registry.board(name).machine)


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"an emulated board needs a {key}", evidence={"entry": dict(entry)})
    return value
