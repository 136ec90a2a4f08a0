# SPDX-License-Identifier: Apache-2.0
"""SysTick: the counter at known cycles, its flag and its exception, over any length of time."""

from __future__ import annotations

from harness.emulator.machine import Counter, Stop
from tests.emulator.core_program import CODE, PC, SYSTICK, Core

CSR, RVR, CVR, CALIB = 0xE000E010, 0xE000E014, 0xE000E018, 0xE000E01C
ENABLE, TICKINT, CLKSOURCE, COUNTFLAG = 1, 2, 4, 1 << 16


def counting(rvr: int, csr: int = ENABLE | CLKSOURCE) -> Core:
    """Started at 0 in this very cycle, with the core asleep so that time can be put anywhere."""
    core = Core("wfi\nb .-2")
    core.go(10)
    core.write(RVR, rvr)
    core.write(CVR, 0)
    core.write(CSR, csr)
    return core


def value_after(core: Core, cycles: int) -> int:
    core.machine.run(core.cycles + cycles)
    return core.read(CVR)


def test_it_loads_in_the_cycle_after_zero() -> None:
    core = counting(9)
    assert core.read(CVR) == 0
    assert [value_after(core, 1) for _ in range(11)] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9]


def test_the_period_is_one_more_than_rvr_over_any_time() -> None:
    core = counting(999)
    assert value_after(core, 1000 * 10_000_000_000) == 0
    assert value_after(core, 1) == 999
    core = counting(0xFFFFFF)
    assert value_after(core, (1 << 24) * 1000 + 5) == 0xFFFFFF - 4


def test_countflag_is_set_at_zero_and_cleared_by_software_reading_it() -> None:
    core = counting(9)
    value_after(core, 9)
    assert core.read(CSR) & COUNTFLAG == 0
    value_after(core, 1)
    assert core.read(CSR) == COUNTFLAG | ENABLE | CLKSOURCE
    assert core.read(CSR) & COUNTFLAG, "a debugger's look does not clear it"
    core.load("ldr r0, [r7]\nldr r1, [r7]\nbkpt #0")
    core.write(RVR, 0xFFFF)
    core.set(7, CSR)
    core.halt()
    assert core.go() == Stop.HALTED
    assert (core.get(0) & COUNTFLAG, core.get(1) & COUNTFLAG) == (COUNTFLAG, 0)


def test_writing_the_counter_clears_it_without_the_flag() -> None:
    core = counting(99)
    assert value_after(core, 50) == 50
    core.write(CVR, 0x1234)
    assert core.read(CVR) == 0
    assert core.read(CSR) & COUNTFLAG == 0
    assert value_after(core, 1) == 99


def test_stopping_holds_the_value() -> None:
    core = counting(99)
    assert value_after(core, 50) == 50
    core.write(CSR, CLKSOURCE)
    assert value_after(core, 1000) == 50
    core.write(CSR, CLKSOURCE | ENABLE)
    assert value_after(core, 1) == 49
    assert value_after(core, 49) == 0


def test_a_new_rvr_takes_effect_at_the_next_load() -> None:
    core = counting(99)
    assert value_after(core, 50) == 50
    core.write(RVR, 9)
    assert value_after(core, 1) == 49
    assert value_after(core, 49) == 0
    assert value_after(core, 1) == 9
    assert value_after(core, 10) == 9


def test_rvr_0_ends_at_zero() -> None:
    core = counting(99)
    assert value_after(core, 50) == 50
    core.write(RVR, 0)
    assert value_after(core, 50) == 0
    assert core.read(CSR) & COUNTFLAG
    assert value_after(core, 1000) == 0
    core.write(RVR, 9)
    assert value_after(core, 1) == 9


def test_registers() -> None:
    core = Core()
    core.write(RVR, 0xFFFFFFFF)
    assert core.read(RVR) == 0xFFFFFF
    assert core.read(CALIB) == 0


def test_a_program_reads_it_at_known_cycles() -> None:
    """The data phase of a load is its second cycle: two loads in a row are 2 apart, and so on."""
    core = Core(
        "str r0, [r5]\nstr r0, [r6]\nstr r1, [r7]\n"
        "ldr r2, [r6]\nldr r3, [r6]\nnop\nldr r4, [r6]\nbkpt #0"
    )
    for register, value in {0: 0xFFFF, 1: 5, 5: RVR, 6: CVR, 7: CSR}.items():
        core.set(register, value)
    assert core.go() == Stop.HALTED
    assert [core.get(n) for n in (2, 3, 4)] == [0xFFFE, 0xFFFC, 0xFFF9]


def test_interrupts_come_once_a_period() -> None:
    core = Core("1: wfi\nb 1b\nhandler: adds r7, #1\nbx lr")
    core.vector(SYSTICK, "handler")
    core.set(7, 0)
    core.write(RVR, 999)
    core.write(CVR, 0)
    core.write(CSR, ENABLE | TICKINT | CLKSOURCE)
    assert core.go(10_500) == Stop.RAN
    assert core.get(7) == 10
    assert core.machine.counter(Counter.EXCEPTIONS) == 10


def test_the_interrupt_wakes_at_its_cycle() -> None:
    """4 cycles after the start: 2 of WFI, then asleep to the zero at 1000; 15 to the handler."""
    core = Core("wfi\nbkpt #0\nhandler: bkpt #1")
    core.vector(SYSTICK, "handler")
    core.write(RVR, 999)
    core.write(CVR, 0)
    core.write(CSR, ENABLE | TICKINT | CLKSOURCE)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.cycles - start) == (CODE + 4, 1000 + 15 + 1)


def test_the_external_reference_is_refused() -> None:
    core = Core("str r0, [r7]\nbkpt #0")
    core.set(0, ENABLE)
    core.set(7, CSR)
    assert core.go() == Stop.STRICT
    assert "CLKSOURCE" in core.machine.message()


def test_it_stands_still_while_a_debugger_holds_the_core() -> None:
    core = counting(99)
    assert value_after(core, 50) == 50
    core.halt()
    assert core.machine.run(core.cycles + 1000) == Stop.HALTED
    assert core.read(CVR) == 50
