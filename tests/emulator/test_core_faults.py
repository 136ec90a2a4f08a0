# SPDX-License-Identifier: Apache-2.0
"""What is a HardFault on a Cortex-M0+, with the right stacked pc; and when it becomes a lock-up."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.core_program import (
    CFBP,
    CODE,
    DATA,
    HARD_FAULT,
    IRQ0,
    LR,
    NVIC_ISER,
    PC,
    SP,
    SRAM,
    STACK_TOP,
    SVCALL,
    XIP,
    XPSR,
    XPSR_T,
    Core,
)

NOTHING_THERE = 0x30000000
AT = CODE + 2  # of the faulting instruction: the programs begin with a NOP

# instruction, registers, word of the cause, faulting address
DATA_FAULTS = [
    ("ldr r0, [r1]", {1: DATA + 1}, "unaligned load", DATA + 1),
    ("ldr r0, [r1]", {1: DATA + 2}, "unaligned load", DATA + 2),
    ("ldrh r0, [r1]", {1: DATA + 1}, "unaligned load", DATA + 1),
    ("ldrsh r0, [r1, r2]", {1: DATA, 2: 3}, "unaligned load", DATA + 3),
    ("str r0, [r1]", {1: DATA + 2}, "unaligned store", DATA + 2),
    ("strh r0, [r1]", {1: DATA + 1}, "unaligned store", DATA + 1),
    ("ldm r1!, {r0, r2}", {1: DATA + 2}, "unaligned load", DATA + 2),
    ("stm r1!, {r0, r2}", {1: DATA + 2}, "unaligned store", DATA + 2),
    ("ldr r0, [r1]", {1: XIP + 2}, "unaligned load", XIP + 2),
    ("ldr r0, [r1]", {1: 2}, "unaligned load", 2),
    ("ldrb r0, [r1]", {1: NOTHING_THERE}, "load from an address that nothing", NOTHING_THERE),
    ("strb r0, [r1]", {1: NOTHING_THERE}, "store to an address that nothing", NOTHING_THERE),
    ("ldr r0, [r1]", {1: 0x4000}, "load from an address that nothing", 0x4000),
    ("ldr r0, [r1]", {1: 0x20042000}, "load from an address that nothing", 0x20042000),
    ("ldm r1, {r0, r1, r2}", {1: 0x20041FF8}, "load from an address that nothing", 0x20042000),
]
# what ARMv7-M and ARMv8-M have and ARMv6-M has not, and what nobody has
UNDEFINED = {
    "udf #0": "de00",
    "udf.w #0": "f7f0 a000",
    "cbz r0": "b108",
    "cbnz r0": "b908",
    "it eq": "bf08",
    "hlt": "ba80",
    "setend": "b650",
    "b.w": "f000 b800",
    "blx #imm": "f000 e800",
    "movw r0": "f240 0000",
    "mov.w r0, r1": "ea4f 0001",
    "sdiv": "fb91 f0f2",
    "udiv": "fbb1 f0f2",
    "ldr.w": "f8d1 0000",
    "ldrd": "e9d1 0200",
    "clrex": "f3bf 8f2f",
    "mrc": "ee11 0f10",
    "vadd.f32": "ee30 0a20",
    "sg": "e97f e97f",
}


def start(source: str, before: dict[int, int] | None = None) -> Core:
    core = Core(f"nop\n{source}\nbkpt #1")
    core.set(CFBP, 1)  # PRIMASK does not keep a HardFault away
    for register, value in (before or {}).items():
        core.set(register, value)
    return core


def check_fault(core: Core, cause: str, pc: int) -> None:
    assert core.go() == Stop.HALTED
    assert core.in_exception == HARD_FAULT
    assert core.get(PC) == SRAM + 0x100
    assert core.frame()["pc"] == pc
    assert core.machine.last_fault().startswith(cause)
    assert f"pc {pc:#010x}" in core.machine.last_fault()


@pytest.mark.parametrize(("source", "before", "cause", "address"), DATA_FAULTS)
def test_data_access(source: str, before: dict[int, int], cause: str, address: int) -> None:
    core = start(source, {0: 0xA5A5, **before})
    check_fault(core, cause, AT)
    assert f"address {address:#010x}" in core.machine.last_fault()
    assert core.frame()["r1"] == before[1], (
        "the base register must allow the instruction to restart"
    )
    if not source.startswith("ldm"):
        assert core.frame()["r0"] == 0xA5A5
    assert core.machine.message() == ""


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined(name: str) -> None:
    halfwords = UNDEFINED[name].split()
    core = start("\n".join(f".hword 0x{halfword}" for halfword in halfwords))
    check_fault(core, "undefined instruction", AT)
    assert core.machine.message() == ""


@pytest.mark.parametrize(
    "halfwords",
    [
        ["b400"],  # PUSH {}
        ["bc00"],  # POP {}
        ["c100"],  # STM r1!, {}
        ["44ff"],  # ADD pc, pc
        ["4508"],  # CMP (register) T2 of two low registers
        ["4778"],  # BX pc
        ["4701"],  # BX with a bit that should be zero
        ["b661"],  # CPS with the F of ARMv7-M
        ["f3ef", "8004"],  # MRS of a register that does not exist
        ["f38d", "8808"],  # MSR from SP
    ],
)
def test_unpredictable_stops_with_a_message_and_is_a_fault_if_it_goes_on(
    halfwords: list[str],
) -> None:
    core = start("\n".join(f".hword 0x{halfword}" for halfword in halfwords))
    assert core.go() == Stop.STRICT
    assert f"UNPREDICTABLE encoding {halfwords[0]} (pc {AT:#010x}" in core.machine.message()
    check_fault(core, "UNPREDICTABLE encoding", AT)


@pytest.mark.parametrize("source", ["bx r0", "blx r0", "push {r0}\npop {pc}"])
def test_branch_with_bit_0_clear(source: str) -> None:
    """The fault comes at the target, with EPSR.T clear in the frame."""
    core = start(source, {0: CODE})
    check_fault(core, "branch to an address with bit 0 clear", CODE)
    assert core.frame()["xpsr"] >> 24 & 1 == 0
    if source == "blx r0":
        assert core.frame()["lr"] == AT + 3


@pytest.mark.parametrize("target", [0x40054000, 0x50100000, 0xD0000000, 0xE000E000, 0x4000])
def test_execution_where_it_is_never_allowed(target: int) -> None:
    core = start("bx r0", {0: target | 1})
    check_fault(core, "execution", target)
    assert core.frame()["xpsr"] >> 24 & 1 == 1


def test_running_off_the_end_of_sram() -> None:
    core = Core()
    core.load("nop", 0x20041FFE)
    core.set(SP, STACK_TOP)
    check_fault(core, "execution", 0x20042000)


def test_an_instruction_that_straddles_the_end_of_sram() -> None:
    core = Core()
    core.write(0x20041FFE, 0xF000, 2)
    core.set(SP, STACK_TOP)
    core.set(XPSR, XPSR_T)
    core.set(PC, 0x20041FFE)
    check_fault(core, "undefined instruction", 0x20041FFE)


def test_bkpt_without_a_debugger() -> None:
    core = start("bkpt #7\nhandler: wfi\nb handler")
    core.vector(HARD_FAULT, "handler")
    assert core.go(1000, debugger=False) == Stop.RAN
    assert core.in_exception == HARD_FAULT
    assert core.frame()["pc"] == AT
    assert core.machine.last_fault().startswith("BKPT without a debugger")


def test_svc_that_cannot_be_taken() -> None:
    core = start("svc #0")
    check_fault(core, "SVC that cannot be taken", AT)
    core = start("svc #0")
    core.set(CFBP, 0)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.frame()["pc"]) == (SVCALL, AT + 2)


def test_stores_that_real_memories_ignore() -> None:
    core = start("str r0, [r1]\nstr r0, [r2]\nldr r3, [r2]", {0: 5, 1: 0, 2: XIP})
    assert core.go() == Stop.HALTED
    assert core.get(PC) == AT + 6
    assert core.get(3) == 0xFFFFFFFF
    assert core.machine.counter(Counter.DROPPED_WRITES) == 2


def test_flash_repeats_in_its_window_and_shows_in_all_four() -> None:
    core = start("ldr r0, [r1]\nldr r2, [r3]\nldr r4, [r5]\nldr r6, [r7]",
                 {1: XIP, 3: XIP + 2 * 1024 * 1024, 5: 0x11000000, 7: 0x13E00000})  # fmt: skip
    core.machine.load_flash(0, b"\x01\x02\x03\x04")
    assert core.go() == Stop.HALTED
    assert [core.get(n) for n in (0, 2, 4, 6)] == [0x04030201] * 4
    assert core.machine.counter(Counter.XIP_MISSES) == 4


@pytest.mark.parametrize("mirror", [0x10E00000, 0x11000000, 0x13E00000])
def test_code_in_a_mirror_of_the_flash(mirror: int) -> None:
    """Once decoded at its own address, then entered through another."""
    core = Core()
    source = "ldr r0, 1f\nbl 2f\nbkpt #1\n.balign 4\n1: .word 0x12345678\n2: mov r1, pc\nbx lr"
    core.load(source, XIP + 0x100)
    assert core.go() == Stop.HALTED
    core.set(0, 0)
    core.set(PC, mirror + 0x100)
    assert core.go() == Stop.HALTED
    assert (core.get(0), core.get(PC)) == (0x12345678, mirror + 0x106)
    assert (core.get(1), core.get(LR)) == (mirror + 0x110, mirror + 0x107)


# ---- lock-up ----


def test_fault_in_hard_fault_locks_up() -> None:
    core = start("ldr r0, [r1]\nhandler: udf #1", {1: 1})
    core.vector(HARD_FAULT, "handler")
    assert core.go() == Stop.LOCKUP
    handler = core.labels["handler"]
    assert core.machine.message().startswith("lock-up at cycle ")
    assert "undefined instruction" in core.machine.message()
    assert f"pc {handler:#010x}" in core.machine.message()
    assert core.get(PC) == 0xFFFFFFFE
    at = core.cycles
    assert core.machine.run(at + 1000) == Stop.LOCKUP, "it stays, and time passes"
    assert core.cycles == at + 1000


def test_svc_in_hard_fault_locks_up() -> None:
    core = start("udf #0\nhandler: svc #0")
    core.vector(HARD_FAULT, "handler")
    assert core.go() == Stop.LOCKUP


def test_hard_fault_that_cannot_stack_locks_up() -> None:
    core = start("udf #0", {SP: NOTHING_THERE})
    assert core.go() == Stop.LOCKUP
    assert "exception stacking failed" in core.machine.message()


def test_interrupt_that_cannot_stack_is_a_hard_fault() -> None:
    core = start("cpsie i\nbkpt #1", {SP: NOTHING_THERE})
    core.write(NVIC_ISER, 1)
    core.write(0xE000E200, 1)
    assert core.go() == Stop.HALTED
    assert core.in_exception == HARD_FAULT
    assert core.machine.last_fault().startswith("exception stacking failed")
    assert core.read(0xE000E200) == 1, "the interrupt is still pending"


def test_vector_with_bit_0_clear_is_a_fault_in_the_handler() -> None:
    core = start("cpsie i\nbkpt #1")
    core.write(SRAM + 4 * IRQ0, CODE)
    core.write(NVIC_ISER, 1)
    core.write(0xE000E200, 1)
    check_fault(core, "execution with EPSR.T clear", CODE)
    assert core.frame()["xpsr"] & 0x3F == IRQ0


def test_hard_fault_vector_with_bit_0_clear_locks_up() -> None:
    core = start("udf #0")
    core.write(SRAM + 4 * HARD_FAULT, CODE)
    assert core.go() == Stop.LOCKUP


def test_reset_ends_a_lock_up() -> None:
    core = start("udf #0", {SP: NOTHING_THERE})
    assert core.go() == Stop.LOCKUP
    core.machine.reset()
    assert core.machine.run(core.cycles + 10) != Stop.LOCKUP


# ---- the private peripheral bus ----


@pytest.mark.parametrize("source", ["ldr r0, [r1]", "str r0, [r1]"])
def test_unprivileged_access_to_the_ppb(source: str) -> None:
    core = start(source, {1: NVIC_ISER})
    core.set(CFBP, 1 << 24)
    check_fault(core, "unprivileged access", AT)


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("ldr r0, [r1]", 0xE000ED2C),  # CFSR of ARMv7-M
        ("str r0, [r1]", 0xE000ED88),  # CPACR
        ("ldr r0, [r1]", 0xE0001004),  # DWT.CYCCNT
        ("ldr r0, [r1]", 0xE000EDF0),  # DHCSR: for the debug port only
        ("ldrb r0, [r1]", 0xE000E400),  # words only
        ("strh r0, [r1]", 0xE000E400),
    ],
)
def test_registers_that_software_does_not_have(source: str, address: int) -> None:
    core = start(source, {1: address})
    assert core.go() == Stop.STRICT
    assert f"{address:#010x}" in core.machine.message()
    assert f"pc {AT:#010x}" in core.machine.message()
