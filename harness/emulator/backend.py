# SPDX-License-Identifier: Apache-2.0
"""Entry point `emu` of group `ripbench.backend`: all that the bench may ask of emulated boards.

Importing it makes `serial.serial_for_url("emu://NAME")` work; pyOCD finds the probe `emu:NAME` by
itself through the entry point group `pyocd.probe`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import serial

from harness.emulator import registry, runtime
from harness.emulator.board import BoardOptions
from harness.emulator.chips import CHIPS
from harness.emulator.clock import Clock
from harness.emulator.faultplan import Fault, parse_faults, spec
from harness.emulator.machine import OTHER_SRAM_BYTES, SRAM_BYTES
from harness.emulator.profiler import Profiler
from harness.emulator.remote import RemoteBoard, RemoteClock, RemoteTimings, RemoteWitness
from harness.emulator.timings import Timings
from harness.emulator.watchpoint import Watchpoint
from harness.emulator.witness import Witness
from harness.errors import ConfigError, ProbeError

kind = "emulated"
HYPOTHETICAL = "hypothetical"  # the label of a board whose chip does not exist

URL_HANDLERS = "harness.emulator.urlhandler"

if URL_HANDLERS not in serial.protocol_handler_packages:
    serial.protocol_handler_packages.append(URL_HANDLERS)


def configure(entry: Mapping[str, object]) -> None:
    """Make a board of boards.yaml known before its first use.

    entry: `name` and `chip` are needed; `xip_miss_cycles` is what the firmware's flash set-up must
    come out at; `sram_bytes` makes it a chip that does not exist, with more or less SRAM; `faults` is a
    plan of what goes wrong (`faultplan.py`), with which a board that is served must have been served,
    whatever comes after it there; anything else says nothing to an emulator. Raises ConfigError.
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
    faults = _faults(name, entry.get("faults"))
    remote, wanted = registry.served(name) if faults else None, spec(faults)
    if remote is not None and not f"{remote.faults};".startswith(f"{wanted};"):
        raise _another_plan(name, remote.faults, wanted)
    options = BoardOptions(
        xip_miss_cycles=miss, faults=faults, sram_bytes=_sram_bytes(name, chip, entry)
    )
    registry.configure(registry.BoardEntry(name, CHIPS[chip], options))


def kind_of(name: str) -> str:
    """The label of every number of one board. Raises ProbeError for an unknown name."""
    return HYPOTHETICAL if registry.entry(name).options.sram_bytes else kind


def clock(name: str) -> Clock | RemoteClock:
    """The emulated clock of a board. Raises ProbeError for an unknown name."""
    remote = registry.served(name)
    return Clock(registry.board(name)) if remote is None else RemoteClock(remote)


def lock_keys(entry: Mapping[str, object]) -> Sequence[str]:
    """Of a board that a process serves, where it listens; none of boards of this process, for each
    process has its own."""
    name = str(entry["name"])
    if registry.served(name) is None:
        return ()
    return (f"served {os.path.realpath(runtime.socket_path(name))}",)


def timings(name: str) -> Timings | RemoteTimings | None:
    """The timing models of a board's core; None where the core has a published table (the M0+). Raises
    ProbeError for an unknown name."""
    remote = registry.served(name)
    if remote is not None:
        return RemoteTimings(remote) if CHIPS[remote.chip].modelled_timing else None
    board = registry.board(name)
    return Timings(board.machine) if board.chip.modelled_timing else None


def witness(name: str) -> Witness | RemoteWitness:
    """What sees into a board. It watches nothing before it is told to. Raises ProbeError for an
    unknown name."""
    remote = registry.served(name)
    return Witness(registry.board(name).machine) if remote is None else RemoteWitness(remote)


def profiler(name: str) -> Profiler | None:
    """What counts a board's cycles by instruction; None of a board that another process serves. Raises
    ProbeError for an unknown name."""
    return Profiler(registry.board(name).machine) if registry.served(name) is None else None


def watchpoint(name: str) -> Watchpoint | None:
    """What halts a board's core at one store of many; None as `profiler`, and as it raises."""
    return Watchpoint(registry.board(name).machine) if registry.served(name) is None else None


# ---- boards as processes of their own ----


def status(name: str) -> str:
    """Where a board is, if it is not simply in this process: "served by process N", and whether things
    go wrong there by plan."""
    remote = registry.served(name)
    if remote is None or remote.pid is None:
        return ""
    return f"served by process {remote.pid}" + (", with faults" if remote.faults else "")


def serve(name: str, flash: Path, *, pty: bool, announce: Callable[[str], None]) -> None:
    """Be a configured board for other processes, until a signal ends it; see `serve.serve`."""
    from harness.emulator import serve as server  # only a server needs it

    server.serve(registry.entry(name), flash, with_pty=pty, announce=announce)


def served() -> tuple[dict[str, object], ...]:
    """What is served now: name, chip, pid, flash, plan of faults, and who has which end of it."""
    found: list[dict[str, object]] = []
    for name in runtime.names():
        remote = RemoteBoard.find(name)
        if remote is not None:
            facts = {"name": name, "chip": remote.chip, "pid": remote.pid, "flash": remote.flash}
            found.append({**facts, "faults": remote.faults, "in_use": remote.seats()})
            remote.close()
    return tuple(found)


def power(name: str) -> None:
    """Take a served board's power away and give it back: SRAM is lost, its flash is not. Raises
    ProbeError where none of that name is served."""
    remote = RemoteBoard.find(name)
    if remote is None:
        raise ProbeError(
            f"no board {name} is served",
            evidence={"served": ", ".join(str(facts["name"]) for facts in served()) or "none"},
            hint="`ripbench emu serve` makes one a process of its own; others have no power to cut",
        )
    try:
        remote.power()
    finally:
        remote.close()


def _another_plan(name: str, served_with: str, wanted: str) -> ConfigError:
    return ConfigError(
        f"{name} is a served board, and its server has another plan of faults",
        evidence={"served with": served_with or "none", "wanted": wanted},
        hint="`ripbench emu serve --faults` gives a board its plan; its users need not repeat it",
    )


def _faults(name: str, listed: object) -> tuple[Fault, ...]:
    """The plan of a board: mappings, or pairs of key and value, as boards.yaml has them."""
    if listed is None:
        return ()
    if not isinstance(listed, list | tuple):
        raise ConfigError(f"board {name}: faults is {listed!r}, not a list of faults")
    return parse_faults(dict(fault) for fault in listed)


def _sram_bytes(name: str, chip: str, entry: Mapping[str, object]) -> int:
    """0 for the chip's own."""
    wanted = entry.get("sram_bytes")
    if wanted is None:
        return 0
    allowed = OTHER_SRAM_BYTES[chip]
    where = entry.get("where") or f"board {name}"
    if not allowed:
        raise ConfigError(
            f"{where}: sram_bytes is not for an {chip}, which has {SRAM_BYTES[chip]} bytes",
            hint="an emulated "
            + " or ".join(c for c, sizes in OTHER_SRAM_BYTES.items() if sizes)
            + " may have another",
        )
    if (
        not isinstance(wanted, int)
        or isinstance(wanted, bool)
        or wanted not in allowed
        or wanted == SRAM_BYTES[chip]
    ):
        raise ConfigError(
            f"{where}: no emulated {chip} has {wanted!r} bytes of SRAM",
            hint=f"leave sram_bytes out for its own {SRAM_BYTES[chip]}, or say a multiple of "
            f"{allowed.step} from {allowed[0]} to {allowed[-1]}",
        )
    return wanted


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"an emulated board needs a {key}", evidence={"entry": dict(entry)})
    return value
