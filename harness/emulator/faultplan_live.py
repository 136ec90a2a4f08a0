# SPDX-License-Identifier: Apache-2.0
"""A fault plan at work on one powered board.

`wire` is asked by the probe at each transfer, `serial` by the USB host for each packet, `bus` stands
between the host and the device; what happens to the chip at a moment is `due_ns` and `act`, which the
board calls when that moment has come. A board without faults has a plan too, and it does nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from harness.emulator import faultplan_chip as chip
from harness.emulator.faultplan import Fault, Trigger
from harness.emulator.faultplan_serial import SerialFaults
from harness.emulator.faultplan_wire import WireFaults
from harness.emulator.heldcore import Core1
from harness.emulator.machine import Counter, Machine
from harness.emulator.usb_pipes import DeviceBus, Handshake
from harness.emulator.usbhost import HostTiming, UsbHost
from harness.errors import ProbeError

_MOMENTS = ("brown-out", "reset", "hang", "ram-flip", "timer-stopped", "usb-gone")
_NS = 1_000
_MS = 1_000_000


class Board(Protocol):
    """What a plan does something to."""

    machine: Machine
    host: UsbHost
    resets: int

    @property
    def now_ns(self) -> int: ...
    def reset(self) -> None: ...


class FaultPlan:
    """name, chip_name: of the board. unplugged: nothing is at the other end of the USB cable."""

    def __init__(self, faults: Sequence[Fault], name: str, chip_name: str) -> None:
        self.faults = tuple(faults)
        self.wire = WireFaults(faults)
        self.serial = SerialFaults(faults)
        self.core1 = Core1(runs=any(f.kind == "core1-running" for f in faults))
        self.unplugged = False
        self._name = name
        self._chip = chip_name
        self._moments = [Trigger(f) for f in faults if f.kind in _MOMENTS]
        self._at_reset = [Trigger(f) for f in faults if f.kind in ("flash-changed", "boot-hang")]
        self._absent = [Trigger(f) for f in faults if f.kind == "usb-absent"]
        self._renamed = [Trigger(f) for f in faults if f.kind == "port-renamed"]
        self._deaf = any(f.kind == "usb-deaf" for f in faults)
        self._renamed_to = ""
        self._frames_seen = 0
        self._acts: list[tuple[int, int, Callable[[Board], None]]] = []
        self._injected = 0
        self._scheduled = 0

    # ---- from power-on ----

    def timing(self, timing: HostTiming) -> HostTiming:
        slow = sum(f.number("ms") for f in self.faults if f.kind == "usb-slow")
        return replace(timing, debounce=timing.debounce + slow * _MS) if slow else timing

    def unique_id(self, usual: bytes) -> bytes:
        ids = [bytes.fromhex(f.text("id")) for f in self.faults if f.kind == "unique-id"]
        return ids[0] if ids else usual

    def bus(self, bus: DeviceBus) -> DeviceBus:
        return _FaultyBus(bus, self) if self.faults else bus

    def power_on(self, board: Board) -> None:
        """Before the first cycle."""
        chip.set_defects(board.machine, self.faults)
        for fault in self.faults:
            if fault.kind == "old-image":
                chip.load_old_image(board.machine, self._chip)
            elif fault.kind == "core1-running":
                self._later(board.now_ns + fault.number("every_us") * _NS, self._scribble(fault))

    # ---- counting ----

    def injected(self, machine: Machine) -> int:
        """How often a fault that happens at moments has happened."""
        pages, erases = (
            machine.counter(which) for which in (Counter.FLASH_PAGES, Counter.FLASH_ERASES)
        )
        skipped = 0
        for fault in self.faults:
            if fault.kind in ("flash-skip-page", "flash-skip-erase"):
                asked = pages if fault.kind == "flash-skip-page" else erases
                count = fault.number("count") or asked
                skipped += min(count, max(0, asked - fault.number("at")))
        return self._injected + self.wire.injected + self.serial.injected + skipped

    # ---- moments ----

    @property
    def due_ns(self) -> int | None:
        return self._acts[0][0] if self._acts else None

    def act(self, board: Board) -> None:
        """What is due now."""
        while self._acts and self._acts[0][0] <= board.now_ns:
            heapq.heappop(self._acts)[2](board)

    def host_stepped(self, board: Board) -> None:
        """The USB host has acted: frames may have come."""
        while self._moments and self._frames_seen < self.serial.frames:
            self._frames_seen += 1
            for trigger in self._moments:
                if trigger.fires():
                    moment = board.now_ns + trigger.fault.number("after_us") * _NS
                    self._later(moment, self._moment(trigger.fault))

    def was_reset(self, board: Board) -> None:
        """A system reset, before the core's first instruction."""
        self.core1.runs = False
        for trigger in self._at_reset:
            if not trigger.fires():
                continue
            self._injected += 1
            fault = trigger.fault
            if fault.kind == "flash-changed":
                chip.overwrite_flash(board.machine, fault, trigger.happened)
            else:
                moment = board.now_ns + fault.number("after_us") * _NS
                self._later(moment, lambda board: chip.hang(board.machine))

    def _moment(self, fault: Fault) -> Callable[[Board], None]:
        def happens(board: Board) -> None:
            self._injected += 1
            if fault.kind == "hang":
                chip.hang(board.machine)
            elif fault.kind == "ram-flip":
                chip.flip_bit(board.machine, fault.number("address"), fault.number("bit"))
            elif fault.kind == "timer-stopped":
                chip.stop_timer(board.machine, self._chip)
            elif fault.kind == "usb-gone":
                self._pull_cable(board, fault.number("back_ms"))
            else:
                if fault.kind == "brown-out":
                    chip.lose_sram(board.machine)
                board.reset()

        return happens

    def _pull_cable(self, board: Board, back_ms: int) -> None:
        self.unplugged = True
        board.host.device_gone("the cable was pulled", board.now_ns)
        if back_ms:
            self._later(board.now_ns + back_ms * _MS, self._plug_in)

    def _plug_in(self, board: Board) -> None:
        self.unplugged = False
        board.host.notice(True, False, board.now_ns)

    def _scribble(self, fault: Fault) -> Callable[[Board], None]:
        def stores(board: Board) -> None:
            if self.core1.runs and not self.core1.halted:
                self._injected += 1
                board.machine.bus_write(fault.number("address"), 4, self._injected)
            if self.core1.runs:
                self._later(board.now_ns + fault.number("every_us") * _NS, stores)

        return stores

    def _later(self, ns: int, act: Callable[[Board], None]) -> None:
        self._scheduled += 1
        heapq.heappush(self._acts, (ns, self._scheduled, act))

    # ---- the USB cable ----

    def board_at_port(self) -> str:
        """The name of the board that the cable of this port goes to. Errors: ProbeError when the host
        gave the port another name."""
        if self._renamed_to:
            raise ProbeError(f"there is no port {self._name}: it is called {self._renamed_to} now")
        swapped = [f.text("board") for f in self.faults if f.kind == "port-swapped"]
        return swapped[0] if swapped else self._name

    def attached(self, there: bool) -> bool:
        """Whether the host sees the device attach. Asked once an attach."""
        if not there or self.unplugged:
            return False
        absent = [trigger.fires() for trigger in self._absent]  # each is asked, each counts on
        renamed = [trigger.fires() for trigger in self._renamed]
        if any(absent):
            self._injected += 1
            return False
        if any(renamed):
            self._injected += 1
            self._renamed_to = f"{self._name}-1"
        return True

    @property
    def deaf(self) -> bool:
        return self._deaf

    def heard_nothing(self) -> None:
        self._injected += 1


class _FaultyBus:
    """Implements `usb_pipes.DeviceBus`."""

    def __init__(self, bus: DeviceBus, plan: FaultPlan) -> None:
        self._bus = bus
        self._plan = plan

    def attached(self) -> bool:
        return self._plan.attached(self._bus.attached())

    def why_not_attached(self) -> str:
        why = self._bus.why_not_attached()
        return why or "the host sees nothing on its cable"

    def device_address(self) -> int:
        return self._bus.device_address()

    def wants_sof(self) -> bool:
        return self._bus.wants_sof()

    def bus_reset(self, asserted: bool) -> None:
        self._bus.bus_reset(asserted)

    def setup(self, packet: bytes) -> None:
        self._bus.setup(packet)

    def read(self, endpoint: int) -> tuple[bytes, int] | Handshake:
        return self._bus.read(endpoint)

    def write(self, endpoint: int, data: bytes, data_pid: int) -> int | Handshake:
        if endpoint and self._plan.deaf:
            self._plan.heard_nothing()
            return Handshake.NAK
        return self._bus.write(endpoint, data, data_pid)

    def sof(self, frame: int) -> None:
        self._bus.sof(frame)
