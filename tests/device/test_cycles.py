# SPDX-License-Identifier: Apache-2.0
"""The firmware's 64-bit cycles against the emulator's own count, over any duration.

A kernel that only takes time runs through the real runner. The core's breakpoint unit stops it at the
entry of its delay and at the end; what the emulator counted in between must be what the firmware
reports, but for the few cycles of the call around it, which must be the same at every length.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.boards import Board
from harness.boards.deadline import Deadline
from harness.build import RunnerImage, build_runner
from harness.build.image import FLASH_BASE
from harness.case import build_pack, make_case
from harness.emulator.board import HALTED
from harness.geometry import DIRECT, ConvGeometry
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.reference import ConvParameters
from harness.schema.constants import FrameType
from harness.schema.records import CaseVerified, OpResult, RunRequest, RunResult
from tests.device.support import emulated, new_entry

TABLE = Path(__file__).parent / "firmware" / "delay_table.c"
DHCSR, FP_CTRL, FP_COMP0 = 0xE000_EDF0, 0xE000_2000, 0xE000_2008
GO = 0xA05F_0001
# on both sides of SysTick's wrap, and beyond CYCCNT's
SHORT = (1000, 2**24 - 1, 2**24, 2**24 + 1, 2**26 + 5)
LONG = (1000, 2**32 + 5)
CALL_CYCLES = range(1, 5000)  # around the delay: a first call that fills the cache, and the output


class _Delays:
    """A board whose only kernel waits."""

    def __init__(self, chip: str) -> None:
        self.image: RunnerImage = build_runner(chip, TABLE)
        self.entry = new_entry(chip)
        self.board = Board(self.entry).__enter__()

    def measure(self, rounds: int, rest: int, *, keep_interrupts: bool) -> tuple[int, RunResult]:
        """The emulator's cycles of the delay, and the firmware's result for the window around it."""
        plan = plan_layer(Layer("delay", ConvGeometry(1, 1, 1, 1)), Strategy.DUAL, Mode(DIRECT))
        numbers = (np.array([n], np.int32) for n in (rounds, rest, 0))
        parameters = ConvParameters(np.ones((1, 1, 1, 1), np.int8), *numbers, 0, 0)
        self.board.start(self.image, build_pack([make_case(plan, parameters)]))
        conversation = self.board._conversation
        assert conversation is not None
        request = RunRequest(0, 1, 1, 0, int(keep_interrupts), 0, 0)
        conversation._port.write(conversation._link.request(FrameType.RUN, request.pack()))
        entry = self.image.symbols["delay_measured"] & ~1
        start = self._run_to(entry)
        end = self._run_to(self._end)
        self._go(0)
        deadline = Deadline(self.board._clock, 60, "delay")
        conversation._expect(FrameType.CASE, CaseVerified, deadline)
        op = conversation._expect(FrameType.OP, OpResult, deadline)
        result = conversation._expect(FrameType.RESULT, RunResult, deadline)
        assert op.cycles == result.cycles
        return end - start, result

    @property
    def _end(self) -> int:
        """Address of the delay's final POP {r4-r7, pc}."""
        entry = self.image.symbols["delay_cycles"] & ~1
        offset = entry - FLASH_BASE
        return entry + self.image.flash[offset : offset + 512].index(bytes([0xF0, 0xBD]))

    def _run_to(self, address: int) -> int:
        """Lets the core go until just before this instruction; the emulator's cycle there."""
        board = emulated(self.entry)
        self._go(self._breakpoint(address))
        assert board.advance_until(lambda: board.standing == HALTED, board.now_ns + 60 * 10**9)
        return board.cycles

    def _breakpoint(self, address: int) -> int:
        """A comparator's value: ARMv6-M C1.9.4 matches a halfword of a word, ARMv8-M D1.2.104 any."""
        if self.entry.chip == "rp2350":
            return address | 1
        return (address & 0x1FFF_FFFC) | (0x8000_0000 if address & 2 else 0x4000_0000) | 1

    def _go(self, comparator: int) -> None:
        board = emulated(self.entry)
        board.machine.bus_write(FP_CTRL, 4, 3)
        board.machine.bus_write(FP_COMP0, 4, comparator)
        board.machine.bus_write(DHCSR, 4, GO)
        board.settle()

    def exactly(self, cycles: int, *, keep_interrupts: bool) -> tuple[int, RunResult]:
        """A delay of just so many cycles by the emulator's count."""
        rounds, rest = 1, 0
        for _ in range(4):
            counted, result = self.measure(rounds, rest, keep_interrupts=keep_interrupts)
            if counted == cycles:
                return counted, result
            total = rounds * 64 + rest + cycles - counted
            rounds, rest = divmod(total, 64)
        raise AssertionError(f"no delay of {cycles} cycles, {counted} came nearest")


@pytest.fixture(scope="module")
def delays(chip: str) -> Iterator[_Delays]:
    delays = _Delays(chip)
    yield delays
    delays.board.__exit__(None, None, None)


@pytest.mark.parametrize(
    "durations",
    [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.extra)],
)
def test_any_duration_with_interrupts_masked(delays: _Delays, durations: tuple[int, ...]) -> None:
    around = set()
    for cycles in durations:
        counted, result = delays.exactly(cycles, keep_interrupts=False)
        around.add(result.cycles - counted)
        assert (result.interrupts, result.interrupt_cycles, result.interrupts_on) == (0, 0, 0)
        assert abs(result.microseconds - result.cycles * 1e6 / delays.entry.clock_hz) <= 2
    assert len(around) == 1, f"the cycles around the delay differ: {around}"
    assert around.pop() in CALL_CYCLES


def test_with_the_usb_interrupt_on(delays: _Delays) -> None:
    """Without traffic the count is exact too, and it says that interrupts were on."""
    _, masked = delays.exactly(2**24 + 1, keep_interrupts=False)
    counted, result = delays.measure(2**18, 0, keep_interrupts=True)
    assert result.interrupts_on == 1
    assert 0 <= result.cycles + result.interrupt_cycles - counted <= max(CALL_CYCLES)
    assert masked.interrupts_on == 0


def test_with_usb_traffic_in_the_window(delays: _Delays) -> None:
    """The host changes the line state in the middle: interrupts are counted and taken off."""
    board = emulated(delays.entry)
    quiet, _ = delays.measure(2**18, 0, keep_interrupts=True)
    conversation = delays.board._conversation
    assert conversation is not None
    request = RunRequest(0, 1, 1, 0, 1, 0, 0)
    conversation._port.write(conversation._link.request(FrameType.RUN, request.pack()))
    delays._run_to(delays.image.symbols["delay_measured"] & ~1)
    delays._go(0)
    board.advance(cycles=1_000_000)
    conversation._port._device.rts = False
    deadline = Deadline(delays.board._clock, 60, "delay")
    conversation._expect(FrameType.CASE, CaseVerified, deadline)
    conversation._expect(FrameType.OP, OpResult, deadline)
    result = conversation._expect(FrameType.RESULT, RunResult, deadline)
    assert result.interrupts >= 1
    assert result.interrupt_cycles > 0
    assert result.interrupts_on == 1
    assert abs(result.cycles - quiet) <= max(CALL_CYCLES) + result.interrupt_cycles
