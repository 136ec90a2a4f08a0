# SPDX-License-Identifier: Apache-2.0
"""Exceptions of ARMv6-M: order, masks, stacks, returns, and how the core sleeps and wakes."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.core_program import (
    CFBP,
    CODE,
    DATA,
    HARD_FAULT,
    ICSR,
    IRQ0,
    LR,
    MSP,
    NVIC_IPR0,
    NVIC_ISER,
    NVIC_ISPR,
    PC,
    PENDSV,
    PSP,
    SHPR3,
    SP,
    SRAM,
    STACK_TOP,
    SVCALL,
    VTOR,
    XPSR,
    XPSR_T,
    Core,
    compile_firmware,
)

NMI = 2
SCR = 0xE000ED10
SLEEPONEXIT, SEVONPEND = 1 << 1, 1 << 4
ENTRY_CYCLES, RETURN_CYCLES = 15, 13
TRACE = "abBApcC.-wabBApcC.sSd.k.ek."


def test_priorities_masks_and_stacks() -> None:
    """firmware/nvic.c; what the letters must be follows from the architecture."""
    code, symbols = compile_firmware("nvic")
    core = Core()
    core.machine.bus_write_block(SRAM, code)
    core.set(SP, STACK_TOP)
    core.set(XPSR, XPSR_T)
    core.set(PC, symbols["reset"])
    assert core.go(1_000_000) == Stop.HALTED
    length = core.read(symbols["traced"])
    trace = core.machine.bus_read_block(symbols["trace"], length)
    assert trace == TRACE.encode()


def test_entry_and_return() -> None:
    core = Core(
        "movs r7, #0\nldr r1, =0xe000ed04\nlsls r0, r0, #28\nstr r0, [r1]\nafter: isb\nbkpt #1\n"
        "handler: movs r7, #1\nmovs r0, #99\nmsr apsr_nzcvq, r7\nbx lr"
    )
    core.vector(PENDSV, "handler")
    for register, value in {0: 1, 2: 22, 3: 33, 12: 12, LR: 0x1234567}.items():
        core.set(register, value)
    for _ in range(4):
        core.step()
    before = core.cycles
    core.step()
    assert core.cycles - before == ENTRY_CYCLES
    assert (core.in_exception, core.get(PC)) == (PENDSV, core.labels["handler"])
    assert (core.get(LR), core.get(SP)) == (0xFFFFFFF9, STACK_TOP - 32)
    assert core.frame() == {
        "r0": 1 << 28, "r1": 0xE000ED04, "r2": 22, "r3": 33, "r12": 12, "lr": 0x1234567,
        "pc": core.labels["after"], "xpsr": XPSR_T,
    }  # fmt: skip
    for _ in range(3):
        core.step()
    before = core.cycles
    core.step()
    assert core.cycles - before == 2 + RETURN_CYCLES
    assert (core.get(PC), core.get(SP), core.get(XPSR)) == (
        core.labels["after"], STACK_TOP, XPSR_T,
    )  # fmt: skip
    assert (core.get(0), core.get(7)) == (1 << 28, 1)


@pytest.mark.parametrize(("sp", "padding"), [(STACK_TOP, 0), (STACK_TOP - 4, 4)])
def test_stack_alignment(sp: int, padding: int) -> None:
    core = Core("svc #0\nbkpt #1\nhandler: bx lr")
    core.vector(SVCALL, "handler")
    core.set(SP, sp)
    core.step()
    assert core.get(SP) == sp - 32 - padding
    assert core.frame()["xpsr"] >> 9 & 1 == padding // 4
    core.step()
    assert core.get(SP) == sp


def test_thread_mode_on_psp() -> None:
    core = Core("svc #0\nbkpt #1\nhandler: mov r4, lr\nmsr control, r5\nmrs r6, control\nbx lr")
    core.vector(SVCALL, "handler")
    core.set(PSP, DATA + 0x100)
    core.set(CFBP, 2 << 24)
    core.set(5, 2)
    assert core.get(SP) == DATA + 0x100
    assert core.go() == Stop.HALTED
    assert core.get(4) == 0xFFFFFFFD
    assert core.get(6) == 0, "SPSEL cannot be written in Handler mode"
    assert (core.get(SP), core.get(MSP), core.get(PC)) == (DATA + 0x100, STACK_TOP, CODE + 2)


def test_nested_return_to_handler_mode() -> None:
    core = Core(
        "svc #0\nbkpt #1\nhandler: udf #0\nbx lr\n"
        "fault: mov r4, lr\nldr r0, [sp, #24]\nadds r0, #2\nstr r0, [sp, #24]\nbx lr"
    )
    core.vector(SVCALL, "handler")
    core.vector(HARD_FAULT, "fault")
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(PC), core.in_exception) == (0xFFFFFFF1, CODE + 2, 0)
    assert core.machine.counter(Counter.EXCEPTIONS) == 2


@pytest.mark.parametrize(
    ("exc_return", "text"),
    [
        (0xFFFFFFF5, "is none of"),
        (0xFFFFFFF1, "no other exception active"),
        (0xFF0000F9, "is none of"),
    ],
)
def test_bad_exc_return(exc_return: int, text: str) -> None:
    core = Core("svc #0\nbkpt #1\nhandler: bx r4")
    core.vector(SVCALL, "handler")
    core.set(4, exc_return)
    assert core.go() == Stop.STRICT
    assert text in core.machine.message()
    assert core.go() == Stop.HALTED
    assert core.in_exception == HARD_FAULT


def test_exc_return_in_thread_mode_is_an_address() -> None:
    core = Core("bx r0")
    core.set(0, 0xFFFFFFF9)
    assert core.go() == Stop.HALTED
    assert core.frame()["pc"] == 0xFFFFFFF8


def test_return_with_a_frame_of_the_wrong_mode() -> None:
    core = Core("svc #0\nhandler: ldr r0, [sp, #28]\nadds r0, #2\nstr r0, [sp, #28]\nbx lr")
    core.vector(SVCALL, "handler")
    assert core.go() == Stop.STRICT
    assert "stacked IPSR of the other mode" in core.machine.message()


def test_nmi_goes_before_hard_fault() -> None:
    core = Core("nmi: bkpt #2\nfault: ldr r0, =0xe000ed04\nmovs r1, #1\nlsls r1, r1, #31\n"
                "str r1, [r0]\nisb\nbkpt #3\n.ltorg")  # fmt: skip
    core.vector(NMI, "nmi")
    core.vector(HARD_FAULT, "fault")
    core.write(DATA, 0xDE00, 2)
    core.set(PC, DATA)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.frame()["xpsr"] & 0x3F) == (NMI, HARD_FAULT)


def test_same_priority_does_not_preempt_and_the_lower_number_is_first() -> None:
    core = Core("cpsie i\nbkpt #1\nfirst: adds r7, #1\nstr r1, [r0]\nisb\nbx lr\n"
                "second: lsls r7, r7, #4\nbx lr")  # fmt: skip
    core.vector(IRQ0 + 3, "first")
    core.vector(IRQ0 + 5, "second")
    core.write(NVIC_ISER, 1 << 3 | 1 << 5)
    core.write(NVIC_ISPR, 1 << 3 | 1 << 5)
    core.set(CFBP, 1)
    core.set(0, NVIC_ISPR)
    core.set(1, 1 << 5)
    assert core.go() == Stop.HALTED
    assert core.get(7) == 0x10
    assert core.machine.counter(Counter.EXCEPTIONS) == 2


# The TIMER's first interrupt, forced from its register: a line that stays high until it is let go.
RESETS_CLEAR, TIMER_RESET = 0x4000F000, 1 << 21
TIMER_INTE, TIMER_INTF = 0x40054038, 0x4005403C


def with_timer(source: str) -> Core:
    core = Core(source)
    core.write(RESETS_CLEAR, TIMER_RESET)
    core.write(TIMER_INTE, 1)
    return core


def test_a_line_that_stays_high_interrupts_again() -> None:
    core = with_timer("cpsie i\n1: b 1b\nhandler: adds r7, #1\ncmp r7, #3\nbne 2f\n"
                      "movs r1, #0\nstr r1, [r0]\n2: bx lr")  # fmt: skip
    core.vector(IRQ0, "handler")
    core.write(NVIC_ISER, 1)
    core.set(0, TIMER_INTF)
    core.set(7, 0)
    core.write(TIMER_INTF, 1)
    assert core.go(10_000) == Stop.RAN
    assert core.get(7) == 3
    assert core.read(NVIC_ISPR) == 0


def test_a_line_that_was_high_leaves_its_interrupt_pending() -> None:
    core = with_timer("1: b 1b")
    core.write(TIMER_INTF, 1)
    assert core.go(100) == Stop.RAN
    core.write(TIMER_INTF, 0)
    assert core.go(100) == Stop.RAN
    assert core.read(NVIC_ISPR) == 1, "pending although it is not enabled"


def test_a_line_is_an_event_with_sevonpend() -> None:
    core = with_timer("wfe\nbkpt #1")
    core.write(SCR, SEVONPEND)
    assert core.go(100) == Stop.RAN
    core.write(TIMER_INTF, 1)
    assert core.go(100) == Stop.HALTED
    assert core.get(PC) == CODE + 2


def test_priority_registers_have_two_bits_a_byte() -> None:
    core = Core()
    core.write(NVIC_IPR0, 0xFFFFFFFF)
    core.write(SHPR3, 0xFFFFFFFF)
    core.write(VTOR, 0xFFFFFFFF)
    assert core.read(NVIC_IPR0) == 0xC0C0C0C0
    assert core.read(SHPR3) == 0xC0C00000
    assert core.read(VTOR) == 0xFFFFFF00


def test_icsr() -> None:
    core = Core("cpsid i\nbkpt #1")
    assert core.go() == Stop.HALTED
    core.write(NVIC_ISER, 1 << 7)
    core.write(NVIC_ISPR, 1 << 7)
    assert core.read(ICSR) == 1 << 22 | (IRQ0 + 7) << 12
    core.write(ICSR, 1 << 28)
    assert core.read(ICSR) == 1 << 28 | 1 << 22 | PENDSV << 12
    core.write(ICSR, 1 << 27)
    core.write(0xE000E280, 1 << 7)
    assert core.read(ICSR) == 0


def test_sysresetreq() -> None:
    core = Core("str r0, [r1]\nb .")
    core.set(0, 0x05FA0004)
    core.set(1, 0xE000ED0C)
    assert core.go() == Stop.RESET
    assert core.machine.run(core.cycles + 100) == Stop.RESET, "until somebody resets"
    core.machine.reset()
    assert core.machine.run(core.cycles) == Stop.RAN
    core = Core("str r0, [r1]\nbkpt #1")
    core.set(0, 0x12340004)
    core.set(1, 0xE000ED0C)
    assert core.go() == Stop.HALTED, "a wrong key does nothing"


# ---- sleep ----


def test_wfi_sleeps_to_the_end_of_the_run() -> None:
    core = Core("wfi\nbkpt #1")
    start = core.cycles
    assert core.go(1 << 40) == Stop.RAN
    assert core.cycles == start + (1 << 40)
    assert core.machine.counter(Counter.SLEEPING) == 1
    assert core.machine.counter(Counter.INSTRUCTIONS) == 1


@pytest.mark.parametrize(("primask", "awake_at"), [(1, CODE + 2), (0, None)])
def test_a_masked_interrupt_wakes_wfi(primask: int, awake_at: int | None) -> None:
    core = Core("wfi\nbkpt #1")
    core.set(CFBP, primask)
    core.write(NVIC_ISER, 1)
    core.go(1000)
    core.write(NVIC_ISPR, 1)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == (awake_at or SRAM + 0x100)
    assert core.in_exception == (0 if primask else IRQ0)


def test_wfi_does_not_wake_for_what_could_not_preempt() -> None:
    core = Core("svc #0\nbkpt #1\nhandler: wfi\nbkpt #2")
    core.vector(SVCALL, "handler")
    core.write(NVIC_ISER, 1)
    core.go(1000)
    core.write(NVIC_ISPR, 1)
    assert core.go(1000) == Stop.RAN


@pytest.mark.parametrize(("scr", "stop"), [(0, Stop.RAN), (SEVONPEND, Stop.HALTED)])
def test_wfe_and_sevonpend(scr: int, stop: Stop) -> None:
    core = Core("wfe\nbkpt #1")
    core.set(CFBP, 1)
    core.write(SCR, scr)
    core.go(1000)
    core.write(NVIC_ISPR, 1)
    assert core.go(1000) == stop


def test_wfe_takes_an_event_that_was() -> None:
    core = Core("sev\nwfe\nwfe\nbkpt #1")
    assert core.go(1000) == Stop.RAN
    assert core.get(PC) == CODE + 6


def test_sleep_on_exit() -> None:
    core = Core("str r1, [r0]\nisb\nbkpt #1\nhandler: adds r7, #1\nbx lr")
    core.vector(IRQ0, "handler")
    core.write(NVIC_ISER, 1)
    core.write(SCR, SLEEPONEXIT)
    core.set(0, NVIC_ISPR)
    core.set(1, 1)
    assert core.go(1000) == Stop.RAN
    assert (core.get(7), core.machine.counter(Counter.SLEEPING)) == (1, 1)
    core.write(NVIC_ISPR, 1)
    assert core.go(1000) == Stop.RAN
    assert core.get(7) == 2
    core.write(SCR, 0)
    core.write(NVIC_ISPR, 1)
    assert core.go(1000) == Stop.HALTED
    assert core.get(PC) == CODE + 6
