# SPDX-License-Identifier: Apache-2.0
"""The debug probe of one board, through pyOCD: flash, reset, memory, and a look at a dead core."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.boards import budgets
from harness.boards.backend import Clock, WallClock, backend_for
from harness.boards.config import FLASH_BYTES, BoardEntry
from harness.boards.gdb import GdbServer
from harness.boards.stages import Stages, held_flash
from harness.errors import FirmwareFault, FlashError, HarnessError, ProbeError

_OPTIONS = {
    "connect_mode": "halt",
    "hide_programming_progress": True,
    "no_config": True,  # no pyocd.yaml of a checkout that nobody has read
    "user_script": os.devnull,  # nor its pyocd_user.py, which no_config alone would execute
    # 0.1 s each by default; the boot ROM needs no such pause before it can be halted
    "reset.hold_time": 0.0,
    "reset.post_delay": 0.0,
    "keep_unwritten": True,  # else the rest of a sector is wiped
    "smart_flash": True,
}
# Pages of a sector's size, with two buffers that far apart, program 64 KB about 2.6 times as fast.
_PAGE_BYTES = 4096
# A watchdog that is triggered by hand resets what PSM's WDSEL selects: all that power-on resets but the
# two oscillators (RP2040 data sheet 2.13, 4.7; RP2350 7.4, 12.9).
_PSM_WDSEL = {"rp2040": 0x4001_0008, "rp2350": 0x4001_8008}
_PSM_ALL = {"rp2040": 0x0001_FFFC, "rp2350": 0x01FF_FFF3}
_WATCHDOG_CTRL = {"rp2040": 0x4005_8000, "rp2350": 0x400D_8000}
_WATCHDOG_TRIGGER = 1 << 31
_ROM_BYTES = {"rp2040": 0x4000, "rp2350": 0x8000}  # the boot ROM, from address 0
_REMOTE = "remote"  # a client of `pyocd server`, always listed whether there is a server or not


class Probe:
    """An open pyOCD session on one board. A context manager; one owner at a time.

    stages: whose deadlines every transfer is held to.
    """

    def __init__(self, entry: BoardEntry, stages: Stages | None = None) -> None:
        self.entry = entry
        self._stages = stages or Stages(WallClock(), lambda _: None)
        self._flash_bytes = 0
        self._session: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        """Errors: ProbeError when the probe is not attached, busy, or the target does not answer;
        DeadlineError when that takes too long."""
        from pyocd.core.session import Session

        logging.getLogger("pyocd").setLevel(logging.CRITICAL)  # errors come back as exceptions
        probe = _find(self.entry)
        self._stages.begin("attach", budgets.ATTACH)
        self._stages.hold(probe)
        # pyOCD changes into its project folder and looks for files there: give it an empty one
        self._folder = tempfile.TemporaryDirectory(prefix="ripbench-")
        with _same_folder(), _translate(f"no connection to {self.entry.name}", ProbeError):
            session = Session(
                probe,
                auto_open=False,
                options={
                    **_OPTIONS,
                    "target_override": self.entry.chip,
                    "project_dir": self._folder.name,
                },
            )
            try:
                self._tune(session)
                session.open()
            except BaseException:
                self._stages.quietly("detach", budgets.DETACH)
                with contextlib.suppress(Exception):
                    session.close()
                self._folder.cleanup()
                raise
        self._stages.end()
        self._session = session
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        session, self._session = self._session, None
        try:
            if session is not None:
                self._stages.quietly("detach", budgets.DETACH)
                with contextlib.suppress(Exception):  # closing a probe that is gone
                    session.close()
        finally:
            self._stages.end()
            if self._folder is not None:
                self._folder.cleanup()

    def _tune(self, session: Any) -> None:
        """Larger pages, and the real size of the flash, which pyOCD takes for 16 MB."""
        memory = session.target.memory_map
        region = memory.get_boot_memory()
        length = FLASH_BYTES[self.entry.chip]
        first = region.algo["page_buffers"][0]
        memory.remove_region(region)
        memory.add_region(
            region.clone_with_changes(
                page_size=_PAGE_BYTES,
                length=length,
                end=region.start + length - 1,
                algo={**region.algo, "page_buffers": [first, first + _PAGE_BYTES]},
                flash_class=held_flash(self._stages, lambda: self._flash_bytes),
            )
        )

    @property
    def is_open(self) -> bool:
        return self._session is not None

    @property
    def _target(self) -> Any:
        if self._session is None:
            raise ProbeError(f"the probe of {self.entry.name} is not open")
        return self._session.target

    def program(self, pieces: Sequence[tuple[int, bytes]]) -> None:
        """Writes (address, bytes) to flash by pyOCD's own algorithm; sectors that hold these bytes
        already are passed over. Errors: FlashError; DeadlineError for a stage by the number of bytes."""
        from pyocd.flash.loader import FlashLoader

        self._flash_bytes = sum(len(data) for _, data in pieces)
        with _translate(f"{self.entry.name} could not be flashed", FlashError):
            self._stages.quietly("reset", budgets.RESET)
            self._reset()
            self._stages.quietly("erase", budgets.erase(self._flash_bytes))  # first: what is there?
            loader = FlashLoader(
                self._session, progress=lambda _: None, chip_erase="sector", no_reset=True
            )
            for address, data in pieces:
                loader.add_data(address, data)
            try:
                loader.commit()
            except FirmwareFault as error:
                # no firmware runs now but pyOCD's algorithm, and that only on a broken wire
                raise FlashError(
                    f"{self.entry.name} could not be flashed: the flash algorithm went astray",
                    cause=error.message,
                    evidence=error.evidence,
                    hint="check the wires between probe and board",
                ) from error
        self._stages.end()

    def read(self, address: int, length: int) -> bytes:
        """Memory as the debug port sees it, while the core runs or is halted."""
        with _translate(f"{length} bytes at {address:#010x} could not be read", ProbeError):
            return bytes(self._target.read_memory_block8(address, length))

    def write(self, address: int, data: bytes) -> None:
        with _translate(f"{len(data)} bytes at {address:#010x} could not be written", ProbeError):
            self._target.write_memory_block8(address, list(data))

    def reset_and_halt(self) -> None:
        """System reset; the core is halted before its first instruction."""
        with _translate(f"{self.entry.name} could not be reset", ProbeError):
            self._reset()

    def _reset(self) -> None:
        """pyOCD passes over an error of the very write that resets, for chips that reset before they
        answer. Where it never arrived the core stands where it was, and would go on from there."""
        self._target.reset_and_halt()
        pc = self._target.read_core_register("pc")
        if pc >= _ROM_BYTES[self.entry.chip]:
            raise ProbeError(
                f"{self.entry.name} was not reset",
                evidence={"pc": f"{pc:#010x}, not in the boot ROM"},
                hint="check the wires between probe and board",
            )

    def resume(self) -> None:
        with _translate(f"{self.entry.name} could not be started", ProbeError):
            self._target.resume()

    def power_on_reset(self) -> None:
        """Resets the whole chip but its oscillators, through the debug port, and closes the session: the
        port itself may be gone afterwards."""
        chip = self.entry.chip
        with _translate(f"{self.entry.name} could not be reset as by power-on", ProbeError):
            self._target.write32(_PSM_WDSEL[chip], _PSM_ALL[chip])
            with contextlib.suppress(Exception):  # the answer may be lost in the reset
                self._target.write32(_WATCHDOG_CTRL[chip], _WATCHDOG_TRIGGER)
        self.__exit__(None, None, None)

    def state(self) -> str:
        """`running`, `halted`, `sleeping`, `lockup` or `reset`."""
        with _translate(f"the state of {self.entry.name} could not be read", ProbeError):
            return str(self._target.get_state().name).lower()

    def gdb_server(self, clock: Clock, port: int) -> GdbServer:
        """A server for debuggers over this session; no transfer is held to a deadline from now on.
        Errors: ProbeError where it cannot listen."""
        self._stages.end()
        return GdbServer(self._target.session, clock, port)

    def halted_registers(self) -> dict[str, int]:
        """Halts the core for a moment: pc, lr and sp. The core is left halted."""
        with _translate(f"the registers of {self.entry.name} could not be read", ProbeError):
            self._target.halt()
            return {name: self._target.read_core_register(name) for name in ("pc", "lr", "sp")}


def attached() -> list[str]:
    """`kind:id` of every probe that pyOCD sees now."""
    from pyocd.probe.aggregator import PROBE_CLASSES, DebugProbeAggregator

    found = []
    for kind in PROBE_CLASSES.keys() - {_REMOTE}:
        # a driver without its library has no probes
        with contextlib.suppress(Exception), _own_defaults():
            for probe in DebugProbeAggregator.get_all_connected_probes(f"{kind}:"):
                found.append(f"{kind}:{probe.unique_id}")
    return sorted(set(found))


def require_attached(entry: BoardEntry) -> None:
    """Errors: ProbeError says what is attached instead."""
    _find(entry)


def is_attached(entry: BoardEntry) -> bool:
    """Whether the board's probe is there, without opening it."""
    try:
        _find(entry)
    except ProbeError:
        return False
    return True


def _find(entry: BoardEntry) -> Any:
    """The probe of exactly this id: pyOCD itself would take one whose id only contains it.

    Its backend is told of the board first: one that is not hardware is there because of that.
    """
    from pyocd.probe.aggregator import PROBE_CLASSES

    backend_for(entry)
    kind, wanted = entry.probe.split(":", 1)
    if kind not in PROBE_CLASSES:
        raise ProbeError(
            f"pyOCD knows no probe of the kind {kind!r}",
            evidence={"boards.yaml": entry.where, "kinds": ", ".join(sorted(PROBE_CLASSES))},
            hint="correct it, or install what brings this kind (ripbench itself brings `emu`)",
        )
    with _translate(f"pyOCD could not look for {entry.probe}", ProbeError), _own_defaults():
        # all of the kind: asked for one id, pyOCD answers with the first of several that have it
        probes = [
            probe
            for probe in PROBE_CLASSES[kind].get_all_connected_probes()
            if probe.unique_id.lower() == wanted.lower()
        ]
    if len(probes) > 1:
        raise ProbeError(
            f"{len(probes)} probes have the id {wanted}",
            hint="unplug one; two boards cannot be told apart by equal ids",
        )
    if not probes:
        raise ProbeError(
            f"the probe of {entry.name}, {entry.probe}, is not attached",
            evidence={"boards.yaml": entry.where, "attached": ", ".join(attached()) or "none"},
            hint=f"plug in the {kind} probe, or use --board pico1-emu, which is always there",
        )
    return probes[0]


@contextlib.contextmanager
def _own_defaults() -> Iterator[None]:
    """Where pyOCD looks for probes it asks the newest session for options. Without one it would make one
    of its own and read pyocd.yaml of the working directory, whose `logging` may call anything."""
    from pyocd.core.session import Session

    with tempfile.TemporaryDirectory(prefix="ripbench-") as folder, _same_folder():
        session = Session(None, options={**_OPTIONS, "project_dir": folder})
        yield
        del session  # the newest one as long as it lives


@contextlib.contextmanager
def _same_folder() -> Iterator[None]:
    before = Path.cwd()
    try:
        yield
    finally:
        os.chdir(before)


_CONFUSED = (TypeError, AttributeError, LookupError)  # pyOCD's own, of registers that make no sense


@contextlib.contextmanager
def _translate(message: str, kind: type[HarnessError]) -> Iterator[None]:
    """pyOCD's errors, and those of USB libraries below it, as one of ours. Our own pass through."""
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, _CONFUSED):
            said = f"what answered is no debug port as pyOCD knows them: another chip? ({said})"
        raise kind(
            message,
            cause=said,
            hint="check `chip:`, the cable and power; `ripbench doctor` tests the probe alone",
        ) from error
