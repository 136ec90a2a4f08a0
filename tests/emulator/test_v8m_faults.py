# SPDX-License-Identifier: Apache-2.0
"""Every kind of fault of ARMv8-M: which exception, which bits of CFSR, HFSR, MMFAR and BFAR, which
stacked pc; as the configurable fault when it is enabled, as a forced HardFault when it is not.
"""

from __future__ import annotations

import pytest

from harness.emulator.machine import Stop
from tests.emulator.core_program import CFBP, CODE, DATA, HARD_FAULT, SP, STACK_TOP, SVCALL
from tests.emulator.v8m_program import CCR, CFSR, CPACR, MSPLIM, CoreV8M

MEM_MANAGE, BUS_FAULT, USAGE_FAULT = 4, 5, 6
SHCSR, HFSR, MMFAR, BFAR = 0xE000ED24, 0xE000ED2C, 0xE000ED34, 0xE000ED38
FPCCR = 0xE000EF34
ALL_ENABLED, FORCED, DEBUGEVT = 7 << 16, 1 << 30, 1 << 31
IACCVIOL, IBUSERR, PRECISERR, BFARVALID = 1 << 0, 1 << 8, 1 << 9, 1 << 15
UNDEFINSTR, INVSTATE, NOCP, STKOF = 1 << 16, 1 << 17, 1 << 19, 1 << 20
UNALIGNED, DIVBYZERO = 1 << 24, 1 << 25
UNALIGN_TRP, DIV_0_TRP = 1 << 3, 1 << 4
FPU_ON, NOTHING_THERE, PERIPHERAL = 0xF << 20, 0x30000000, 0x40000000
AT = CODE + 2  # of the faulting instruction: the programs begin with a NOP

# instruction, registers, exception, CFSR, stacked pc, text of the report
FAULTS = {
    "undefined": ("udf #0", {}, USAGE_FAULT, UNDEFINSTR, AT, "undefined instruction"),
    "undefined 32 bits": ("udf.w #0", {}, USAGE_FAULT, UNDEFINSTR, AT, "UNDEFINSTR"),
    "no FPU": ("vadd.f32 s0, s0, s0", {}, USAGE_FAULT, NOCP, AT, "CPACR"),
    "no coprocessor": ("mcr p0, #0, r0, c0, c0", {}, USAGE_FAULT, NOCP, AT, "coprocessor"),
    "absent coprocessor": ("mcr p3, #0, r0, c0, c0", {}, USAGE_FAULT, NOCP, AT, "absent"),
    "BX to even": ("bx r1", {1: CODE}, USAGE_FAULT, INVSTATE, CODE, "EPSR.T clear"),
    "division": ("udiv r0, r1, r2", {2: 0}, USAGE_FAULT, DIVBYZERO, AT, "division by zero"),
    "signed division": ("sdiv r0, r1, r2", {2: 0}, USAGE_FAULT, DIVBYZERO, AT, "DIVBYZERO"),
    "unaligned LDM": ("ldm r1, {r2, r3}", {1: DATA + 2}, USAGE_FAULT, UNALIGNED, AT, "UNALIGNED"),
    "unaligned LDRD": ("ldrd r2, r3, [r1]", {1: DATA + 2}, USAGE_FAULT, UNALIGNED, AT, "UNALIGNED"),
    "unaligned LDREX": ("ldrex r2, [r1]", {1: DATA + 2}, USAGE_FAULT, UNALIGNED, AT, "UNALIGNED"),
    "trapped LDR": ("ldr r0, [r1]", {1: DATA + 1}, USAGE_FAULT, UNALIGNED, AT, "unaligned load"),
    "trapped STRH": ("strh r0, [r1]", {1: DATA + 1}, USAGE_FAULT, UNALIGNED, AT, "unaligned store"),
    "peripherals": ("bx r1", {1: PERIPHERAL | 1}, MEM_MANAGE, IACCVIOL, PERIPHERAL, "execute-never"),
    "fetch": ("bx r1", {1: NOTHING_THERE | 1}, BUS_FAULT, IBUSERR, NOTHING_THERE, "IBUSERR"),
    "load": ("ldr r0, [r1]", {1: NOTHING_THERE}, BUS_FAULT, PRECISERR | BFARVALID, AT, "load from"),
    "store": ("strb r0, [r1]", {1: NOTHING_THERE}, BUS_FAULT, PRECISERR | BFARVALID, AT, "store to"),
}  # fmt: skip


def faulting(name: str) -> CoreV8M:
    source, registers, *_ = FAULTS[name]
    core = CoreV8M(f"nop\n{source}\nbkpt #1\nhandler: bkpt #2")
    for exception in (HARD_FAULT, MEM_MANAGE, BUS_FAULT, USAGE_FAULT):
        core.vector(exception, "handler")
    core.write(CCR, UNALIGN_TRP | DIV_0_TRP)
    for register, value in registers.items():
        core.set(register, value)
    return core


@pytest.mark.parametrize("name", FAULTS)
def test_enabled(name: str) -> None:
    _, registers, exception, cfsr, pc, text = FAULTS[name]
    core = faulting(name)
    core.write(SHCSR, ALL_ENABLED)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.get(15)) == (exception, core.labels["handler"])
    assert (core.read(CFSR), core.read(HFSR)) == (cfsr, 0)
    assert core.frame()["pc"] == pc
    assert text in core.machine.last_fault()
    if cfsr & BFARVALID:
        assert core.read(BFAR) == registers[1]
    assert core.read(SHCSR) & 0xFFF == {MEM_MANAGE: 1, BUS_FAULT: 2, USAGE_FAULT: 8}[exception]


@pytest.mark.parametrize("name", FAULTS)
def test_not_enabled(name: str) -> None:
    _, _, _, cfsr, pc, _ = FAULTS[name]
    core = faulting(name)
    assert core.go() == Stop.HALTED
    assert core.in_exception == HARD_FAULT
    assert (core.read(CFSR), core.read(HFSR)) == (cfsr, FORCED)
    assert core.frame()["pc"] == pc


@pytest.mark.parametrize(
    "source", ["sub sp, #0x80", "vpush {s0-s31}", "str r0, [sp, #-0x80]!", "stmdb sp!, {r0-r12}"]
)
@pytest.mark.parametrize("room", [32, 24])
def test_stack_limit(source: str, room: int) -> None:
    """The instruction changes nothing; the frame is below SP if there is room, else SP is the limit."""
    core = CoreV8M(f"nop\n{source}\nbkpt #1\nhandler: bkpt #2")
    core.vector(USAGE_FAULT, "handler")
    core.write(SHCSR, ALL_ENABLED)
    core.write(CPACR, FPU_ON)
    core.write(FPCCR, 0)
    core.set(MSPLIM, STACK_TOP - 8 * room)
    core.set(SP, STACK_TOP - 7 * room)
    below = core.machine.bus_read_block(STACK_TOP - 0x200, 0x200 - 8 * room)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(CFSR)) == (USAGE_FAULT, STKOF)
    assert core.get(SP) == STACK_TOP - 8 * room
    if room == 32:
        assert core.frame()["pc"] == AT
    assert core.machine.bus_read_block(STACK_TOP - 0x200, 0x200 - 8 * room) == below


def test_without_traps_there_is_no_fault() -> None:
    core = CoreV8M("ldr r0, [r1]\nudiv r2, r3, r4\nbkpt #1")
    core.write(DATA, 0x44332211)
    core.write(DATA + 4, 0x88776655)
    for register, value in {1: DATA + 1, 3: 7, 4: 0}.items():
        core.set(register, value)
    assert core.go() == Stop.HALTED
    assert (core.get(0), core.get(2)) == (0x55443322, 0)


def test_first_instruction_of_a_vector_without_bit_0() -> None:
    core = CoreV8M("svc #0\nhandler: bkpt #1\nfault: bkpt #2")
    core.write(0x20000000 + 4 * SVCALL, core.labels["handler"])
    core.vector(USAGE_FAULT, "fault")
    core.write(SHCSR, ALL_ENABLED)
    core.write(0xE000ED1C, 0x80 << 24)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(CFSR)) == (USAGE_FAULT, INVSTATE)
    assert core.frame()["pc"] == core.labels["handler"]


def test_breakpoint_without_a_debugger() -> None:
    core = CoreV8M("nop\nbkpt #1\nhandler: movs r7, #1\nb .")
    core.vector(HARD_FAULT, "handler")
    assert core.go(debugger=False) == Stop.RAN
    assert (core.in_exception, core.read(HFSR), core.get(7)) == (HARD_FAULT, DEBUGEVT, 1)
    assert core.frame()["pc"] == AT


def test_unprivileged_access_to_the_ppb_is_a_bus_fault() -> None:
    core = CoreV8M("nop\nldr r0, [r1]\nhandler: bkpt #1")
    core.vector(BUS_FAULT, "handler")
    core.write(SHCSR, ALL_ENABLED)
    core.set(1, 0xE000ED00)
    core.set(CFBP, 1 << 24)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.read(CFSR)) == (BUS_FAULT, PRECISERR | BFARVALID)
    assert (core.read(BFAR), core.frame()["pc"]) == (0xE000ED00, AT)


def test_status_bits_are_cleared_by_writing_ones_in_any_size() -> None:
    core = faulting("load")
    core.write(CPACR, FPU_ON)
    assert core.go() == Stop.HALTED
    core.write(CFSR + 1, 0x02, 1)
    assert core.read(CFSR) == BFARVALID
    core.write(CFSR, 0xFF, 1)
    core.write(CFSR + 2, 0xFFFF, 2)
    assert core.read(CFSR) == BFARVALID
    assert core.read(CFSR + 1, 1) == 0x80
    core.write(CFSR, BFARVALID)
    core.write(HFSR, FORCED)
    assert (core.read(CFSR), core.read(HFSR), core.read(BFAR)) == (0, 0, NOTHING_THERE)
    assert core.read(MMFAR) == 0
