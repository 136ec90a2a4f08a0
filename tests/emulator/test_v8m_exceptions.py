# SPDX-License-Identifier: Apache-2.0
"""Exceptions of ARMv8-M Mainline: order and masks, frames with and without FP state, returns, and what
becomes of a fault at which priority. The faults themselves: test_v8m_faults.py.
"""

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
    SHPR2,
    SHPR3,
    SP,
    SRAM,
    STACK_TOP,
    SVCALL,
    VTOR,
    XPSR,
    XPSR_T,
    compile_firmware,
)
from tests.emulator.v8m_program import CFSR, CPACR, CPU, MSPLIM, PSPLIM, CoreV8M

BUS_FAULT, USAGE_FAULT, NMI = 5, 6, 2
SHPR1, SHCSR, HFSR, AIRCR = 0xE000ED18, 0xE000ED24, 0xE000ED2C, 0xE000ED0C
USAGE_ENABLE, BUS_ENABLE = 1 << 18, 1 << 17
FORCED, VECTTBL = 1 << 30, 1 << 1
UNDEFINSTR, INVPC, NOCP, STKOF = 1 << 16, 1 << 18, 1 << 19, 1 << 20
STKERR, UNSTKERR = 1 << 12, 1 << 11
FPSCR, S0, FPCA_SFPA = 33, 64, 0xC << 24
ENTRY_CYCLES, RETURN_CYCLES = 12, 12
NOTHING_THERE = 0x30000000
TRACE = "bBpcCF" + "abBApcC.-wabBApcC.sSd.k.ek."


def priority(irq: int, value: int, core: CoreV8M) -> None:
    core.write(NVIC_IPR0 + irq, value, 1)
    core.write(NVIC_ISER + irq // 32 * 4, 1 << irq % 32)


def test_priorities_masks_and_stacks() -> None:
    """firmware/nvic.c; what the letters must be follows from the architecture."""
    code, symbols = compile_firmware("nvic", SRAM, CPU)
    core = CoreV8M()
    core.machine.bus_write_block(SRAM, code)
    core.set(SP, STACK_TOP)
    core.set(XPSR, XPSR_T)
    core.set(PC, symbols["reset"])
    assert core.go(1_000_000) == Stop.HALTED
    length = core.read(symbols["traced"])
    assert core.machine.bus_read_block(symbols["trace"], length) == TRACE.encode()


# ---- frames ----


def test_entry_and_return() -> None:
    core = CoreV8M("svc #0\nafter: bkpt #1\nhandler: movs r7, #1\nmovs r0, #99\nbx lr")
    core.vector(SVCALL, "handler")
    for register, value in {0: 11, 1: 22, 2: 33, 3: 44, 12: 12, LR: 0x1234567}.items():
        core.set(register, value)
    core.set(XPSR, 0xA80F0000 | XPSR_T)
    before = core.cycles
    core.step()
    assert core.cycles - before == 1 + ENTRY_CYCLES
    assert (core.in_exception, core.get(PC)) == (SVCALL, core.labels["handler"])
    assert (core.get(LR), core.get(SP)) == (0xFFFFFFF9, STACK_TOP - 32)
    assert core.frame() == {
        "r0": 11, "r1": 22, "r2": 33, "r3": 44, "r12": 12, "lr": 0x1234567,
        "pc": core.labels["after"], "xpsr": 0xA80F0000 | XPSR_T,
    }  # fmt: skip
    for _ in range(3):
        core.step()
    assert (core.get(PC), core.get(SP), core.get(XPSR)) == (
        core.labels["after"], STACK_TOP, 0xA80F0000 | XPSR_T,
    )  # fmt: skip
    assert (core.get(0), core.get(7)) == (11, 1)


@pytest.mark.parametrize(("sp", "padding"), [(STACK_TOP, 0), (STACK_TOP - 4, 4)])
@pytest.mark.parametrize(("fpca", "size", "exc_return"), [(0, 32, 0xFFFFFFF9),
                                                         (FPCA_SFPA, 104, 0xFFFFFFE9)])  # fmt: skip
def test_alignment(sp: int, padding: int, fpca: int, size: int, exc_return: int) -> None:
    core = CoreV8M("svc #0\nbkpt #1\nhandler: bx lr")
    core.vector(SVCALL, "handler")
    core.write(CPACR, 0xF << 20)
    core.set(CFBP, fpca)
    core.set(SP, sp)
    core.step()
    assert (core.get(SP), core.get(LR)) == (sp - size - padding, exc_return)
    assert core.frame()["xpsr"] >> 9 & 1 == padding // 4
    core.step()
    assert core.get(SP) == sp


def test_fp_state_is_stacked_and_comes_back() -> None:
    core = CoreV8M(
        "vadd.f32 s2, s0, s1\nsvc #0\nbkpt #1\n"
        "handler: mrs r4, control\nvmov.f32 s0, #9.0\nvmrs r5, fpscr\nmrs r6, control\nbx lr"
    )
    core.vector(SVCALL, "handler")
    core.write(CPACR, 0xF << 20)
    core.set(CFBP, FPCA_SFPA)
    for number in range(32):
        core.set(S0 + number, 0x3F800000 + number)
    core.set(FPSCR, 0x90C00010)
    core.step()
    core.step()
    frame = core.get(SP)
    assert frame == STACK_TOP - 104
    stacked = [core.read(frame + 32 + 4 * k) for k in range(18)]
    registers = [0x3F800000 + k for k in range(16)]
    registers[2] = 0x40000000
    assert stacked == [*registers, 0x90C00010, 0]
    assert core.frame()["xpsr"] == XPSR_T | 1 << 20, "RETPSR.SFPA"
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(5), core.get(6)) == (0, 0, 0xC), "a context of its own"
    assert [core.get(S0 + k) for k in (0, 1, 2, 15, 16)] == [
        0x3F800000, 0x3F800001, 0x40000000, 0x3F80000F, 0x3F800010,
    ]  # fmt: skip
    assert core.get(FPSCR) == 0x90C00010
    assert core.get(CFBP) == FPCA_SFPA


def test_thread_mode_on_psp() -> None:
    core = CoreV8M("svc #0\nbkpt #1\nhandler: mov r4, lr\nmsr control, r5\nmrs r6, control\nbx lr")
    core.vector(SVCALL, "handler")
    core.set(PSP, DATA + 0x100)
    core.set(CFBP, 2 << 24)
    core.set(5, 2)
    assert core.go() == Stop.HALTED
    assert core.get(4) == 0xFFFFFFFD
    assert core.get(6) == 0, "SPSEL cannot be written in Handler mode"
    assert (core.get(SP), core.get(MSP), core.get(PC)) == (DATA + 0x100, STACK_TOP, CODE + 2)


def test_nested_return_to_handler_mode() -> None:
    core = CoreV8M(
        "svc #0\nbkpt #1\nhandler: udf #0\nbx lr\n"
        "fault: mov r4, lr\nldr r0, [sp, #24]\nadds r0, #2\nstr r0, [sp, #24]\nbx lr"
    )
    core.vector(SVCALL, "handler")
    core.vector(HARD_FAULT, "fault")
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(PC), core.in_exception) == (0xFFFFFFF1, CODE + 2, 0)
    assert core.machine.counter(Counter.EXCEPTIONS) == 2


def test_it_state_goes_with_the_frame() -> None:
    """A fault in the middle of a block; the handler repairs it and the block goes on as it was."""
    core = CoreV8M(
        "cmp r0, r0\nitete eq\nmoveq r1, #1\nfault: ldrne r2, [r9]\nldreq r2, [r9]\nmovne r3, #1\n"
        "bkpt #1\nhandler: mrs r5, xpsr\nldr r9, =0x20010000\nldr r6, [sp, #28]\nbx lr"
    )
    core.vector(HARD_FAULT, "handler")
    core.set(9, NOTHING_THERE)
    core.set(3, 7)
    assert core.go() == Stop.HALTED
    assert core.get(5) & 0x0600FC00 == 0, "none in the handler"
    it = core.get(6) >> 25 & 3 | core.get(6) >> 8 & 0xFC
    assert it == 0x0C, "EQ for this one, NE for the last"
    assert (core.get(1), core.get(3), core.get(PC)) == (1, 7, core.labels["handler"] - 2)


def test_exclusive_monitor_is_cleared_by_exceptions() -> None:
    core = CoreV8M("ldrex r0, [r1]\nsvc #0\nstrex r2, r0, [r1]\nbkpt #1\nhandler: bx lr")
    core.vector(SVCALL, "handler")
    core.set(1, DATA)
    assert core.go() == Stop.HALTED
    assert core.get(2) == 1


# ---- priorities and masks ----


def test_subpriority_orders_but_does_not_preempt() -> None:
    source = (
        "str r1, [r0]\nisb\nbkpt #1\nfirst: adds r4, #1\nstr r2, [r0]\nisb\nmov r5, r6\nbx lr\n"
        "second: movs r6, #1\nbx lr"
    )
    for prigroup, seen in ((6, 0), (3, 1)):  # 0x60 is in the group of 0x40, or above it
        core = CoreV8M(source)
        core.write(AIRCR, 0x05FA0000 | prigroup << 8)
        assert core.read(AIRCR) == 0xFA050000 | prigroup << 8
        priority(0, 0x60, core)
        priority(1, 0x40, core)
        core.vector(IRQ0, "first")
        core.vector(IRQ0 + 1, "second")
        for register, value in {0: NVIC_ISPR, 1: 1, 2: 2}.items():
            core.set(register, value)
        assert core.go() == Stop.HALTED
        assert (core.get(4), core.get(5), core.get(6)) == (1, seen, 1), prigroup


@pytest.mark.parametrize(("basepri", "taken"), [(0, 1), (0x40, 0), (0x60, 0), (0x70, 1)])
def test_basepri(basepri: int, taken: int) -> None:
    core = CoreV8M("str r1, [r0]\nisb\nbkpt #1\nhandler: movs r7, #1\nbx lr")
    priority(0, 0x60, core)
    core.vector(IRQ0, "handler")
    core.set(0, NVIC_ISPR)
    core.set(1, 1)
    core.set(CFBP, basepri << 8)
    assert core.go() == Stop.HALTED
    assert core.get(7) == taken


def test_basepri_max_only_raises() -> None:
    core = CoreV8M(
        "msr basepri_max, r0\nmrs r4, basepri\nmsr basepri_max, r1\nmrs r5, basepri\n"
        "msr basepri_max, r2\nmrs r6, basepri\nmsr basepri, r3\nmrs r7, basepri\nbkpt #1"
    )
    for register, value in {0: 0x8F, 1: 0xA0, 2: 0x40, 3: 0}.items():
        core.set(register, value)
    assert core.go() == Stop.HALTED
    assert [core.get(n) for n in (4, 5, 6, 7)] == [0x80, 0x80, 0x40, 0]


def test_faultmask_holds_everything_and_ends_with_the_return() -> None:
    core = CoreV8M(
        "svc #0\nisb\nbkpt #1\n"
        "handler: cpsid f\nmrs r4, faultmask\nstr r1, [r0]\nisb\nmov r5, r7\nbx lr\n"
        "irq: movs r7, #1\nmrs r6, faultmask\nbx lr"
    )
    core.vector(SVCALL, "handler")
    core.vector(IRQ0, "irq")
    core.write(SHPR2, 0x80 << 24)
    priority(0, 0x10, core)
    core.set(0, NVIC_ISPR)
    core.set(1, 1)
    core.set(6, 9)
    assert core.go() == Stop.HALTED
    assert [core.get(n) for n in (4, 5, 6, 7)] == [1, 0, 0, 1]


def test_faultmask_cannot_be_set_in_a_hard_fault() -> None:
    core = CoreV8M("udf #0\nhandler: cpsid f\nmrs r4, faultmask\nbkpt #1")
    core.vector(HARD_FAULT, "handler")
    assert core.go() == Stop.HALTED
    assert core.get(4) == 0


def test_wfi_wakes_with_primask_but_not_below_basepri() -> None:
    for mask, wakes in ((1, True), (0x40 << 8, False)):
        core = CoreV8M("wfi\nbkpt #1")
        priority(0, 0x60, core)
        core.write(NVIC_ISPR, 1)
        core.set(CFBP, mask)
        assert core.go(1000) == (Stop.HALTED if wakes else Stop.RAN)


# ---- escalation ----


def test_an_enabled_fault_that_cannot_preempt_is_a_forced_hard_fault() -> None:
    core = CoreV8M("svc #0\nhandler: nop\nudf #0\nfault: bkpt #1")
    core.write(SHCSR, USAGE_ENABLE)
    core.vector(SVCALL, "handler")
    core.vector(HARD_FAULT, "fault")
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(HFSR), core.read(CFSR)) == (HARD_FAULT, FORCED, UNDEFINSTR)
    assert core.frame()["pc"] == core.labels["handler"] + 2


def test_supervisor_call_under_primask_is_a_forced_hard_fault() -> None:
    core = CoreV8M("cpsid i\nsvc #0\nfault: bkpt #1")
    core.vector(HARD_FAULT, "fault")
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(HFSR)) == (HARD_FAULT, FORCED)
    assert core.frame()["pc"] == CODE + 2


@pytest.mark.parametrize("source", ["udf #0\nfault: udf #1", "cpsid f\nudf #0\nfault: bkpt #1"])
def test_lock_up(source: str) -> None:
    core = CoreV8M(source)
    core.write(SHCSR, USAGE_ENABLE)
    core.vector(HARD_FAULT, "fault")
    core.vector(USAGE_FAULT, "fault")
    core.write(SHPR1, 0)
    core.set(CFBP, 1)
    assert core.go() == Stop.LOCKUP
    assert core.get(PC) == 0xEFFFFFFE
    assert "undefined instruction" in core.machine.message()


def test_vector_that_cannot_be_read() -> None:
    core = CoreV8M("svc #0\nfault: bkpt #1")
    core.write(DATA + 4 * HARD_FAULT, core.labels["fault"] | 1)
    core.write(VTOR, 0x20082000 - 0x80)  # the last words of SRAM: no entry for anything above 31
    core.write(0x20082000 - 0x80 + 4 * HARD_FAULT, core.labels["fault"] | 1)
    priority(20, 0, core)
    core.write(NVIC_ISPR, 1 << 20)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(HFSR)) == (HARD_FAULT, VECTTBL)


def test_a_disabled_fault_that_software_pends_waits_for_its_enable() -> None:
    core = CoreV8M("str r1, [r0]\nisb\nadds r7, #1\nstr r2, [r0]\nisb\nbkpt #1\nhandler: bkpt #2")
    core.vector(USAGE_FAULT, "handler")
    for register, value in {0: SHCSR, 1: 1 << 12, 2: 1 << 12 | USAGE_ENABLE}.items():
        core.set(register, value)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.get(7)) == (core.labels["handler"], 1)


# ---- faults of stacking ----


def test_entry_below_the_stack_limit() -> None:
    """Nothing is written below the limit, SP is on it; a UsageFault, on a stack with room for one."""
    core = CoreV8M("svc #0\nhandler: bkpt #1\nfault: bkpt #2")
    core.vector(SVCALL, "handler")
    core.vector(USAGE_FAULT, "fault")
    core.write(SHCSR, USAGE_ENABLE)
    core.write(SHPR2, 0x80 << 24)
    core.set(PSP, DATA + 0x28)
    core.set(PSPLIM, DATA + 0x10)
    core.set(CFBP, 2 << 24)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.in_exception) == (core.labels["fault"], USAGE_FAULT)
    assert (core.get(PSP), core.read(CFSR)) == (DATA + 0x10, STKOF)
    assert core.machine.bus_read_block(DATA, 0x28) == bytes(0x28)
    assert core.read(SHCSR) >> 15 & 1, "the supervisor call is still pending"
    assert core.get(LR) == 0xFFFFFFFD


def test_entry_exactly_at_the_stack_limit() -> None:
    core = CoreV8M("svc #0\nhandler: bkpt #1")
    core.vector(SVCALL, "handler")
    core.set(MSPLIM, STACK_TOP - 32)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.get(SP)) == (SVCALL, STACK_TOP - 32)


def test_a_less_urgent_fault_of_stacking_waits() -> None:
    core = CoreV8M("svc #0\nhandler: bkpt #1\nfault: bkpt #2")
    core.vector(SVCALL, "handler")
    core.write(SHCSR, BUS_ENABLE)
    core.write(SHPR1, 0x40 << 8)
    core.set(PSP, NOTHING_THERE)
    core.set(CFBP, 2 << 24)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(CFSR)) == (SVCALL, STKERR)
    assert core.read(SHCSR) >> 14 & 1, "BUSFAULTPENDED"


def test_stacking_that_fails_on_the_way_to_a_hard_fault_is_a_lock_up() -> None:
    core = CoreV8M("udf #0")
    core.set(SP, NOTHING_THERE)
    assert core.go() == Stop.LOCKUP
    assert "stacking failed" in core.machine.message()
    assert core.read(CFSR) == UNDEFINSTR | STKERR


# ---- returns ----


@pytest.mark.parametrize(
    ("source", "bit"),
    [
        # a frame of Handler mode
        ("ldr r0, [sp, #28]\norr r0, #2\nstr r0, [sp, #28]\nbx lr", INVPC),
        ("orr lr, #2\nbx lr", INVPC),  # a reserved bit
        ("bic lr, #8\nbx lr", INVPC),  # to Handler mode with a frame of Thread mode
        # not active any more
        ("ldr r1, =0xe000ed24\nldr r0, [r1]\nbic r0, #128\nstr r0, [r1]\nbx lr", INVPC),
        ("mov sp, r9\nbx lr", UNSTKERR),
        ("bic lr, #16\nbx lr", NOCP),  # an FP frame, and the FPU is off
    ],
)
def test_faults_of_a_return_tail_chain(source: str, bit: int) -> None:
    core = CoreV8M(f"svc #0\nhandler: {source}\nfault: bkpt #2")
    core.vector(SVCALL, "handler")
    core.vector(BUS_FAULT, "fault")
    core.vector(USAGE_FAULT, "fault")
    core.write(SHCSR, USAGE_ENABLE | BUS_ENABLE)
    core.set(9, NOTHING_THERE)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == core.labels["fault"]
    assert core.read(CFSR) == bit
    assert core.in_exception == (BUS_FAULT if bit == UNSTKERR else USAGE_FAULT)
    assert core.get(LR) >> 5 == 0x7FFFFFF, "LR is the EXC_RETURN of the failed return"
    if bit != UNSTKERR:
        assert core.get(SP) == STACK_TOP - 32, "on the frame that was there"
    assert core.read(SHCSR) & 0x80 == 0, "the supervisor call is over"


@pytest.mark.parametrize("exc_return", [0xFFFFFFB9, 0xFFFFFFF8, 0xFF0000F9, 0xFFFFFFF5])
def test_returns_that_are_unpredictable(exc_return: int) -> None:
    core = CoreV8M("svc #0\nbkpt #1\nhandler: bx r4")
    core.vector(SVCALL, "handler")
    core.set(4, exc_return)
    assert core.go() == Stop.STRICT
    assert "UNPREDICTABLE" in core.machine.message()


def test_return_to_thread_mode_past_an_active_exception() -> None:
    """Allowed, unlike on ARMv6-M: the frame decides, the other exception stays active."""
    core = CoreV8M(
        "svc #0\nbkpt #1\nhandler: str r1, [r0]\nisb\n"
        "second: ldr r2, =0xfffffff9\nadd sp, #32\nbx r2"
    )
    core.vector(SVCALL, "handler")
    core.vector(PENDSV, "second")
    core.write(SHPR2, 0x80 << 24)
    core.write(SHPR3, 0x40 << 16)
    core.set(0, ICSR)
    core.set(1, 1 << 28)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.in_exception) == (CODE + 2, 0)
    assert core.read(SHCSR) & 0x80


def test_nmi_preempts_a_hard_fault() -> None:
    core = CoreV8M("udf #0\nfault: str r1, [r0]\nisb\nbkpt #1\nnmi: movs r7, #1\nbx lr")
    core.vector(HARD_FAULT, "fault")
    core.vector(NMI, "nmi")
    core.set(0, ICSR)
    core.set(1, 1 << 31)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.get(7)) == (HARD_FAULT, 1)
