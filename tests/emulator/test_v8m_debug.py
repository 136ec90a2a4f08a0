# SPDX-License-Identifier: Apache-2.0
"""The debug registers of the Cortex-M33, as the debug port reaches them."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Stop
from tests.emulator.core_program import (
    C_DEBUGEN,
    C_HALT,
    CODE,
    DATA,
    DBGKEY,
    DCRDR,
    DCRSR,
    DEMCR,
    DFSR,
    DHCSR,
    HARD_FAULT,
    PC,
    SHPR2,
    SP,
    STACK_TOP,
    XIP,
    XPSR,
)
from tests.emulator.v8m_program import CCR, CPACR, CoreV8M

REGWNR, S_REGRDY, S_HALT, S_SDE = 1 << 16, 1 << 16, 1 << 17, 1 << 20
FP_CTRL, FP_REMAP, FP_COMP0 = 0xE0002000, 0xE0002004, 0xE0002008
DSCSR, DAUTHSTATUS, SHCSR = 0xE000EE08, 0xE000EFB8, 0xE000ED24
VC_CORERESET, VC_MMERR, VC_NOCPERR, VC_CHKERR, VC_STATERR, VC_BUSERR, VC_INTERR, VC_HARDERR = (
    1 << 0, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9, 1 << 10,
)  # fmt: skip
ROM_TABLE, DIV_0_TRP, PERIPHERAL, NOTHING_THERE = 0xE00FF000, 1 << 4, 0x40000000, 0x30000000


def dcrsr_read(core: CoreV8M, number: int) -> int:
    core.write(DCRSR, number)
    assert core.read(DHCSR) & S_REGRDY
    return core.read(DCRDR)


def dcrsr_write(core: CoreV8M, number: int, value: int) -> None:
    core.write(DCRDR, value)
    core.write(DCRSR, REGWNR | number)
    assert core.read(DHCSR) & S_REGRDY


@pytest.mark.parametrize(
    ("number", "written", "read"),
    [
        (0, 0x12345678, 0x12345678), (12, 1, 1), (13, 0x20001003, 0x20001000), (14, 5, 5),
        (15, 0x20000301, 0x20000300), (16, 0xFF0FFC00, 0xFF0FFC00), (17, 0x20001000, 0x20001000),
        (18, 0x20002000, 0x20002000), (20, 0xFFFFFFFF, 0x0F01F001), (26, 0x20003000, 0x20003000),
        (27, 0x20004000, 0x20004000), (28, 0x2000000F, 0x20000008), (29, 0x2000001F, 0x20000018),
        (33, 0xFFFFFFFF, 0xF7C0009F), (64, 0x3F800000, 0x3F800000), (95, 0xDEADBEEF, 0xDEADBEEF),
    ],
)  # fmt: skip
def test_registers_through_dcrsr(number: int, written: int, read: int) -> None:
    core = CoreV8M("nop")
    dcrsr_write(core, number, written)
    assert dcrsr_read(core, number) == read


def test_stack_pointers_have_two_numbers() -> None:
    core = CoreV8M("nop")
    dcrsr_write(core, 17, 0x20001000)
    dcrsr_write(core, 27, 0x20002000)
    assert (dcrsr_read(core, 26), dcrsr_read(core, 18)) == (0x20001000, 0x20002000)
    dcrsr_write(core, 20, 2 << 24)
    assert dcrsr_read(core, 13) == 0x20002000


@pytest.mark.parametrize("number", [24, 25, 30, 31, 35])
def test_non_secure_registers_read_zero(number: int) -> None:
    core = CoreV8M("nop")
    dcrsr_write(core, number, 0xFFFFFFFF)
    assert dcrsr_read(core, number) == 0


def test_secure_state() -> None:
    core = CoreV8M()
    assert core.read(DHCSR) & (S_HALT | S_SDE) == S_HALT | S_SDE
    assert core.read(DSCSR) == 1 << 16
    core.write(DSCSR, 3)
    assert core.read(DSCSR) == 1 << 16 | 3
    assert core.read(DAUTHSTATUS) == 0xFF


@pytest.mark.parametrize("comparator", range(8))
@pytest.mark.parametrize("at", [CODE, XIP + 0x1000])
def test_breakpoints(comparator: int, at: int) -> None:
    core = CoreV8M()
    core.load("nop\nmovw r0, #1\nhere: movw r1, #2\nb .", at)
    assert core.read(FP_CTRL) == 0x10000080
    core.write(FP_CTRL, 3)
    core.write(FP_COMP0 + 4 * comparator, core.labels["here"] | 1)
    assert core.read(FP_COMP0 + 4 * comparator) == core.labels["here"] | 1
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.get(0), core.get(1)) == (core.labels["here"], 1, 0)
    assert core.read(DFSR) == 3, "the first halt of all, and the breakpoint"
    core.write(FP_COMP0 + 4 * comparator, 0)
    assert core.go(1000) == Stop.RAN
    assert core.get(1) == 2


def test_breakpoint_unit_off_and_a_key() -> None:
    core = CoreV8M("nop\nhere: nop\nbkpt #1\nend:")
    core.write(FP_COMP0, core.labels["here"] | 1)
    core.write(FP_CTRL, 1)  # without the key
    assert (core.read(FP_CTRL), core.read(FP_REMAP)) == (0x10000080, 0)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == core.labels["here"] + 2


def test_breakpoint_in_an_it_block_stops_before_it() -> None:
    core = CoreV8M("cmp r0, r0\nitt eq\nmoveq r1, #1\nhere: moveq r2, #2\nbkpt #1")
    core.write(FP_CTRL, 3)
    core.write(FP_COMP0, core.labels["here"] | 1)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.get(1), core.get(2)) == (core.labels["here"], 1, 0)
    core.write(FP_COMP0, 0)
    assert core.go() == Stop.HALTED
    assert (core.get(2), core.get(PC)) == (2, core.labels["here"] + 2)


@pytest.mark.parametrize(
    ("source", "catch", "enables"),
    [
        ("udf #0", VC_HARDERR, 0), ("udf #0", VC_STATERR, 7), ("udiv r0, r1, r1", VC_CHKERR, 7),
        ("vmov s0, r0", VC_NOCPERR, 7), ("ldr r0, [r9]", VC_BUSERR, 7), ("bx r8", VC_MMERR, 7),
        ("mov sp, r9\nsvc #0", VC_INTERR, 7),
    ],
)  # fmt: skip
def test_vector_catch(source: str, catch: int, enables: int) -> None:
    for demcr, caught in ((0x7F0 & ~catch, False), (catch, True)):
        core = CoreV8M(f"{source}\nhandler: b handler")
        for exception in (HARD_FAULT, 4, 5, 6):
            core.vector(exception, "handler")
        core.write(SHCSR, enables << 16)
        core.write(CCR, DIV_0_TRP)
        core.write(SHPR2, 0x80 << 24)
        core.set(8, PERIPHERAL | 1)
        core.set(9, NOTHING_THERE)
        core.write(DFSR, 0x1F)
        core.write(DEMCR, demcr)
        assert core.go(2000) == (Stop.HALTED if caught else Stop.RAN)
        assert core.read(DFSR) == (8 if caught else 0)
        assert core.get(PC) == core.labels["handler"]


def test_reset_catch() -> None:
    core = CoreV8M("b .")
    core.write(DEMCR, VC_CORERESET)
    core.write(DFSR, 0x1F)
    core.machine.reset()
    assert core.read(DHCSR) & (1 << 25 | S_HALT) == 1 << 25 | S_HALT
    assert core.read(DFSR) == 8


def test_software_sees_whether_a_debugger_is_there() -> None:
    core = CoreV8M("ldr r0, [r1]\nb .")
    core.set(1, DHCSR)
    core.go(1000)
    assert core.get(0) & C_DEBUGEN
    core.halt()
    core.set(PC, CODE)
    core.go(1000, debugger=False)
    assert not core.get(0) & C_DEBUGEN


def test_components() -> None:
    core = CoreV8M()
    entries = [core.read(ROM_TABLE + 4 * k) for k in range(4)]
    assert entries[3] == 0
    bases = [(ROM_TABLE + (entry & ~0xFFF)) & 0xFFFFFFFF for entry in entries[:3]]
    assert bases == [0xE000E000, 0xE0001000, 0xE0002000]
    assert [core.read(base + 0xFBC) for base in bases] == [0x47702A04, 0x47701A02, 0x47701A03]
    for base in bases:
        assert [core.read(base + 0xFE0 + 4 * k) for k in range(3)] == [0x21, 0xBD, 0x0B]
        assert core.read(base + 0xFF4) == 0x90
    assert [core.read(ROM_TABLE + 0xFE0 + 4 * k) for k in range(3)] == [0xC9, 0xB4, 0x0B]
    assert core.read(ROM_TABLE + 0xFF4) == 0x10


def test_a_debugger_may_look_anywhere() -> None:
    core = CoreV8M()
    for address in (0xE000ED98, 0xE0001020, 0xE002ED00, 0xE0042000):
        assert core.read(address) == 0
    assert core.machine.message() == ""
    core.write(CPACR, 0xF << 20)
    assert core.read(CPACR + 2, 1) == 0xF0


def test_lock_up_is_left_by_halting() -> None:
    core = CoreV8M("udf #0\nfault: udf #1")
    core.vector(HARD_FAULT, "fault")
    assert core.go() == Stop.LOCKUP
    assert core.read(DHCSR) >> 19 & 1
    core.write(DHCSR, DBGKEY | C_DEBUGEN | C_HALT)
    assert core.read(DHCSR) & S_HALT
    core.set(SP, STACK_TOP)
    core.set(XPSR, 1 << 24)
    core.load("movs r0, #3\nbkpt #1", DATA)
    assert core.go() == Stop.HALTED
    assert core.get(0) == 3
