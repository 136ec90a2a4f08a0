# SPDX-License-Identifier: Apache-2.0
"""One emulated board: a machine, the USB host on its cable, and the time that both share.

Nothing here runs by itself: a board advances only inside a call that waits (a debug access, a read
from the serial port, a clock's sleep), and then machine and host advance together, always in the
same order. Time is emulated time: ns since power-on, which no reset sets back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from mmap import mmap

from harness.emulator.chips import CHIPS
from harness.emulator.faultplan import Fault
from harness.emulator.faultplan_live import FaultPlan
from harness.emulator.machine import Counter, Machine, Stop, UsbEvent
from harness.emulator.usbbus import MachineBus
from harness.emulator.usbhost import HostTiming, UsbHost
from harness.errors import ConfigError, FirmwareFault, HarnessError

NS_PER_SECOND = 1_000_000_000
CONTRADICTION = "boards.yaml says"
HALTED, LOCKED_UP = "halted", "locked up"
STANDING = {Stop.HALTED: HALTED, Stop.LOCKUP: LOCKED_UP}


@dataclass(frozen=True)
class BoardOptions:
    """How a board is emulated.

    xip_miss_cycles: what boards.yaml expects of an XIP cache miss, 0 for no expectation.
    sram_bytes: another size of SRAM than the chip's, 0 for its own. No such chip exists.
    slice_cycles: cut every run of the core into pieces of so many cycles, 0 for no cuts.
    every_tick: let the USB host take every tick of its grid. Neither of the last two changes any
    byte or cycle; they exist so that this can be tested.
    faults: what goes wrong on this board.
    """

    xip_miss_cycles: int = 0
    slice_cycles: int = 0
    every_tick: bool = False
    host: HostTiming = field(default_factory=HostTiming)
    faults: tuple[Fault, ...] = ()
    sram_bytes: int = 0


def unique_id_of(name: str) -> bytes:
    """The flash unique id of an emulated board: the first 8 bytes of SHA-256 of its name."""
    return hashlib.sha256(name.encode()).digest()[:8]


class EmulatedBoard:
    """A powered board. flash: memory that holds the flash, instead of an erased one of its own. Raises
    ConfigError for a chip that the core does not know."""

    def __init__(
        self,
        name: str,
        chip: str,
        unique_id: bytes | None = None,
        options: BoardOptions | None = None,
        flash: bytearray | mmap | None = None,
    ) -> None:
        if chip not in CHIPS:
            raise ConfigError(
                f"no emulated board has the chip {chip!r}",
                evidence={"emulated chips": ", ".join(CHIPS)},
            )
        self.name = name
        self.chip = CHIPS[chip]
        self.options = options or BoardOptions()
        self.faults = FaultPlan(self.options.faults, name, chip)
        self.unique_id = self.faults.unique_id(unique_id or unique_id_of(name))
        self.machine = Machine(chip, self.chip.flash_bytes, self.options.sram_bytes)
        if flash is not None:
            self.machine.lend_flash(flash)
        self.machine.set_unique_id(self.unique_id)
        self.machine.set_switch("xip_miss_cycles", self.options.xip_miss_cycles)
        self.machine.stop_on_usb(True)
        self.host = UsbHost(
            self.faults.bus(MachineBus(self.machine)),
            self.faults.timing(self.options.host),
            every_tick=self.options.every_tick,
            cable=self.faults.serial if self.faults.faults else None,
        )
        self.debugger = ""
        self.core_runs = 0
        self.resets = 0
        self.standing = ""
        self._held_in_reset = False
        self._halted_ns = 0
        self._fault = ""
        self.machine.power_on()
        self.faults.power_on(self)
        self.machine.usb_events()

    # ---- time ----

    @property
    def cycles(self) -> int:
        return self.machine.counter(Counter.CYCLES)

    @property
    def now_ns(self) -> int:
        """Emulated time: that of the machine, which stands while its core is halted, and the time
        that was waited for meanwhile."""
        return self.machine.counter(Counter.TIME_NS) + self._halted_ns

    def advance(
        self, *, until_cycle: int | None = None, cycles: int | None = None, ns: int | None = None
    ) -> None:
        """Let time pass: to an absolute cycle, for a number of cycles, or for ns.

        Raises FirmwareFault (ConfigError where boards.yaml is contradicted) when the firmware does
        what silicon would let pass silently, and again at every further call until a reset. A
        halted core executes nothing: ns pass all the same, cycles do not. A locked-up one executes
        nothing either, but both pass.
        """
        if ns is not None:
            self.advance_until(lambda: False, self.now_ns + ns)
            return
        target = self.cycles + cycles if cycles is not None else until_cycle
        if target is None:
            raise TypeError("advance() needs until_cycle, cycles or ns")
        self._raise_standing_fault()
        while self.cycles < target and not self._held_in_reset:
            self._advance_once(self._due_ns(self.now_ns), target)
            if self.standing == HALTED:
                return

    def advance_until(self, condition: Callable[[], bool], deadline_ns: int | None = None) -> bool:
        """Let time pass until `condition` (looked at whenever the host or the core did something)
        or the deadline; without one, until the core can no longer bring it about. Raises as
        `advance`. Returns whether the condition holds."""
        return bool(self.advance_towards(condition, deadline_ns, None))

    def advance_towards(
        self, condition: Callable[[], bool], deadline_ns: int | None, pause_ns: int | None
    ) -> bool | None:
        """The same, and None at `pause_ns`, when it is not over: to be called again."""
        self._raise_standing_fault()
        while not condition():
            now = self.now_ns
            if deadline_ns is not None and now >= deadline_ns:
                return False
            due = self._due_ns(now)
            if deadline_ns is None and due is None and self.standing:
                return False
            if pause_ns is not None and now >= pause_ns:
                return None
            limits = [ns for ns in (deadline_ns, due, pause_ns) if ns is not None]
            self._advance_once(min(limits, default=now + NS_PER_SECOND), None)
        return True

    # ---- reset, debugger, faults ----

    def reset(self) -> None:
        """System reset: SRAM, flash and debug registers keep their contents; USB starts anew."""
        self.machine.reset()
        self.machine.clear_message()
        self.resets += 1
        self._fault = ""
        self.host.device_gone("the board was reset", self.now_ns)
        self.faults.was_reset(self)
        stop = self.machine.run(self.cycles)
        self.standing = STANDING.get(stop, "")
        self.machine.usb_events()

    def hold_in_reset(self, asserted: bool) -> None:
        """The RUN pin: while it is low nothing executes; letting go resets."""
        if self._held_in_reset and not asserted:
            self._held_in_reset = False
            self.reset()
        elif asserted:
            self._held_in_reset = True
            self.host.device_gone("the board is held in reset", self.now_ns)

    @property
    def held_in_reset(self) -> bool:
        return self._held_in_reset

    @property
    def fault(self) -> HarnessError | None:
        """The strictness error that the board stands in, if any."""
        return self._fault_error() if self._fault else None

    def release_fault(self) -> None:
        """A debugger halted the core: from here on it answers for what the core does next."""
        self._fault = ""
        self.machine.clear_message()

    def settle(self) -> None:
        """Carry out what a debugger's write asked of the core (reset, halt, go), in no time."""
        if not self._held_in_reset:
            self._settle(self.machine.run(self.cycles))

    # ---- one stretch of time ----

    def _advance_once(self, target_ns: int | None, target_cycle: int | None) -> None:
        """Up to the first of both targets, a reset, a USB event, or a stop of the core."""
        stop = Stop.HALTED if self._held_in_reset else self._run(target_ns, target_cycle)
        self._settle(stop)
        if self.standing == HALTED and target_cycle is None and target_ns is not None:
            self._halted_ns += max(0, target_ns - self.now_ns)
        now = self.now_ns
        due = self.host.due_ns(now)
        if due is not None and now >= due:
            self.host.step(now)
            self.faults.host_stepped(self)
        self.faults.act(self)

    def _due_ns(self, now: int) -> int | None:
        """When the host or a fault of the plan has something to do next."""
        due, fault = self.host.due_ns(now), self.faults.due_ns
        return fault if due is None else due if fault is None else min(due, fault)

    def _run(self, target_ns: int | None, target_cycle: int | None) -> Stop:
        limits = [] if target_cycle is None else [target_cycle]
        if target_ns is not None:
            limits.append(self._earliest_cycle_of(target_ns))
        limit = min(limits)
        slice_cycles = self.options.slice_cycles
        while True:
            piece = min(limit, self.cycles + slice_cycles) if slice_cycles else limit
            stop = self.machine.run(piece)
            self.core_runs += 1
            if stop != Stop.RAN or self.cycles >= limit:
                return stop

    def _earliest_cycle_of(self, ns: int) -> int:
        """The last cycle that is certainly not later than the first one at which now_ns >= ns.

        now_ns is rounded down, so up to one ns more may have passed already; running there and on
        cycle by cycle gives the same cycle from wherever one starts.
        """
        missing = ns - self.now_ns
        certain = (missing - 1) * self.machine.counter(Counter.CLK_SYS_HZ)
        return self.cycles + max(1, -(-certain // NS_PER_SECOND))

    def _settle(self, stop: Stop) -> None:
        self.standing = STANDING.get(stop, "")
        self._take_usb_events()
        if stop == Stop.RESET:
            self.reset()
        elif stop == Stop.STRICT:
            self._fault = self.machine.message()
            raise self._fault_error()

    def _take_usb_events(self) -> None:
        events, cycle = self.machine.usb_events()
        if not events:
            return
        since = (self.cycles - cycle) * NS_PER_SECOND // self.machine.counter(Counter.CLK_SYS_HZ)
        self.host.notice(
            bool(events & UsbEvent.ATTACH), bool(events & UsbEvent.DETACH), self.now_ns - since
        )

    def _raise_standing_fault(self) -> None:
        if self._fault:
            raise self._fault_error()

    def _fault_error(self) -> HarnessError:
        if self._fault.startswith(CONTRADICTION):
            return ConfigError(
                self._fault,
                evidence={"board": self.name},
                hint="give the board the xip_miss_cycles that its flash set-up really has",
            )
        return FirmwareFault(
            f"{self.name}: {self._fault}",
            evidence={
                "emulated time": f"{self.now_ns / NS_PER_SECOND:.6f} s",
            },
            hint="real silicon would go on without a word and do something else; the emulator "
            "stops here so that it is seen",
        )
