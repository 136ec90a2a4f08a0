# SPDX-License-Identifier: Apache-2.0
"""Debug registers, through the bus as a probe uses them: halt, step, registers, breakpoints, catches."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.core_program import (
    C_DEBUGEN,
    C_HALT,
    C_MASKINTS,
    CODE,
    DBGKEY,
    DCRDR,
    DCRSR,
    DEMCR,
    DFSR,
    DHCSR,
    HARD_FAULT,
    IRQ0,
    NVIC_ISER,
    NVIC_ISPR,
    PC,
    SP,
    SRAM,
    STACK_TOP,
    SVCALL,
    XIP,
    Core,
)

S_REGRDY, S_HALT, S_SLEEP, S_LOCKUP = 1 << 16, 1 << 17, 1 << 18, 1 << 19
S_RETIRE_ST, S_RESET_ST = 1 << 24, 1 << 25
HALTED, BKPT, VCATCH = 1, 2, 8
VC_CORERESET, VC_HARDERR = 1, 1 << 10
BP_CTRL, BP_COMP0, KEY_ENABLE = 0xE0002000, 0xE0002008, 3
LOWER, UPPER, BOTH = 1 << 30, 2 << 30, 3 << 30
WRITE = 1 << 16


def test_halt_and_go() -> None:
    core = Core("1: adds r0, #1\nb 1b")
    core.set(0, 0)
    assert core.go(1000) == Stop.RAN
    assert core.read(DHCSR) & (S_HALT | S_SLEEP | S_LOCKUP) == 0
    core.write(DFSR, 0x1F)
    core.halt()
    assert core.read(DHCSR) & 0xFFFF == C_DEBUGEN | C_HALT
    assert core.read(DHCSR) & S_HALT
    assert core.read(DFSR) == HALTED
    count, at = core.get(0), core.cycles
    assert core.machine.run(at + 1000) == Stop.HALTED
    assert (core.get(0), core.cycles) == (count, at), "neither the core nor time moves"
    assert core.go(999) == Stop.RAN
    assert core.get(0) == count + 333


def test_dhcsr_needs_its_key_and_c_debugen() -> None:
    core = Core("1: b 1b")
    core.go(100)
    core.write(DHCSR, C_DEBUGEN | C_HALT)
    assert core.machine.run(core.cycles + 100) == Stop.RAN
    core.write(DHCSR, DBGKEY | C_HALT)
    assert core.machine.run(core.cycles + 100) == Stop.RAN
    core.halt()
    core.write(DHCSR, DBGKEY | C_HALT)
    assert core.machine.run(core.cycles + 100) == Stop.RAN, (
        "without C_DEBUGEN it leaves Debug state"
    )


def test_sticky_bits_are_cleared_by_reading() -> None:
    core = Core("nop\nnop\nbkpt #0")
    core.machine.reset()
    assert core.read(DHCSR) & S_RESET_ST
    assert core.read(DHCSR) & (S_RESET_ST | S_RETIRE_ST) == 0
    core.halt()
    core.load("nop\nnop\nbkpt #0")
    core.go()
    assert core.read(DHCSR) & S_RETIRE_ST
    assert core.read(DHCSR) & S_RETIRE_ST == 0


def test_s_sleep_and_s_lockup() -> None:
    core = Core("wfi")
    core.go(100)
    assert core.read(DHCSR) & (S_SLEEP | S_LOCKUP | S_HALT) == S_SLEEP
    core.halt()
    assert core.read(DHCSR) & (S_SLEEP | S_HALT) == S_HALT
    core.load("udf #0")
    core.set(SP, 0)
    assert core.go() == Stop.LOCKUP
    assert core.read(DHCSR) & (S_SLEEP | S_LOCKUP | S_HALT) == S_LOCKUP
    core.halt()
    assert core.read(DHCSR) & (S_LOCKUP | S_HALT) == S_HALT
    assert core.get(PC) == 0xFFFFFFFE


@pytest.mark.parametrize("register", [*range(13), 14])
def test_general_registers(register: int) -> None:
    core = Core()
    core.write(DCRDR, 0x12345679)
    core.write(DCRSR, register | WRITE)
    core.write(DCRDR, 0)
    core.write(DCRSR, register)
    assert core.read(DCRDR) == 0x12345679
    assert core.read(DHCSR) & S_REGRDY


def test_special_registers() -> None:
    core = Core()

    def transfer(register: int, value: int | None = None) -> int:
        if value is not None:
            core.write(DCRDR, value)
            core.write(DCRSR, register | WRITE)
        core.write(DCRSR, register)
        return core.read(DCRDR)

    assert transfer(15, 0x20000201) == 0x20000200
    assert transfer(16, 0xF1000000) == 0xF1000000
    assert transfer(17, 0x20001003) == 0x20001000
    assert transfer(18, 0x20002000) == 0x20002000
    assert transfer(13) == 0x20001000
    assert transfer(20, 0x02000001) == 0x02000001
    assert transfer(13) == 0x20002000
    assert transfer(17) == 0x20001000


def test_registers_of_a_running_core_are_not_ready() -> None:
    core = Core("b .")
    core.go(100)
    core.write(DCRDR, 77)
    core.write(DCRSR, 0 | WRITE)
    assert core.read(DHCSR) & S_REGRDY == 0
    core.halt()
    assert core.get(0) != 77
    core.write(DCRSR, 0)
    assert core.read(DHCSR) & S_REGRDY


# ---- stepping ----


def test_step_through_every_kind_of_flow() -> None:
    core = Core("nop\nbl 1f\nbkpt #0\n1: mrs r0, apsr\npush {r0, lr}\npop {r0, pc}")
    seen = []
    for _ in range(5):
        assert core.step() == Stop.HALTED
        seen.append(core.get(PC) - CODE)
    assert seen == [2, 8, 12, 14, 6]
    assert core.read(DFSR) & HALTED
    assert core.machine.counter(Counter.INSTRUCTIONS) == 5


def test_stepping_takes_the_cycles_of_running() -> None:
    source = "movs r0, #5\n1: subs r0, #1\nbl 2f\nbne 1b\nbkpt #0\n"
    source += "2: mrs r1, apsr\nmsr apsr_nzcvq, r1\nbx lr"
    ran, stepped = Core(), Core()
    ran.load(source, XIP + 0x106)
    start = ran.cycles
    assert ran.go() == Stop.HALTED
    stepped.load(source, XIP + 0x106)
    steps = 0
    while stepped.step() == Stop.HALTED and not stepped.read(DFSR) & BKPT:
        steps += 1
    assert steps == 1 + 5 * 6
    assert stepped.cycles == ran.cycles > start
    for counter in (Counter.XIP_ACCESSES, Counter.XIP_MISSES, Counter.INSTRUCTIONS):
        assert stepped.machine.counter(counter) == ran.machine.counter(counter)


def test_step_into_an_exception_stops_at_the_handler() -> None:
    core = Core("nop\nsvc #0\nbkpt #0\nhandler: bx lr\nirq: bx lr")
    core.vector(SVCALL, "handler")
    core.vector(IRQ0, "irq")
    core.write(NVIC_ISER, 1)
    core.step()
    core.step()
    assert (core.get(PC), core.in_exception) == (core.labels["handler"], SVCALL)
    core.write(0xE000ED1C, 0xC0 << 24)
    core.write(NVIC_ISPR, 1)
    core.step()
    assert (core.get(PC), core.in_exception) == (core.labels["irq"], IRQ0)


def test_c_maskints() -> None:
    core = Core("nop\nnop\nnop\nbkpt #0")
    core.write(NVIC_ISER, 1)
    core.write(NVIC_ISPR, 1)
    core.write(DHCSR, DBGKEY | C_DEBUGEN | C_HALT | C_MASKINTS)
    core.step(C_MASKINTS)
    assert core.get(PC) == CODE + 2
    core.step()
    assert core.in_exception == IRQ0


def test_step_over_wfi_and_a_fault() -> None:
    core = Core("wfi\nudf #0")
    core.step()
    assert core.get(PC) == CODE + 2
    core.step()
    assert (core.get(PC), core.in_exception) == (SRAM + 0x100, HARD_FAULT)


# ---- breakpoints ----


def flash_core(source: str) -> Core:
    core = Core()
    core.load(source, XIP + 0x100)
    return core


@pytest.mark.parametrize(
    ("match", "stops_at"), [(LOWER, 0x104), (UPPER, 0x106), (BOTH, 0x104), (0, 0x10A)]
)
def test_comparator_halves(match: int, stops_at: int) -> None:
    core = flash_core("nop\nnop\nmovs r0, #1\nmovs r1, #1\nnop\nbkpt #0")
    core.set(0, 0)
    core.set(1, 0)
    core.write(BP_CTRL, KEY_ENABLE)
    core.write(BP_COMP0 + 4, match | 0x10000104 & 0x1FFFFFFC | 1)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == XIP + stops_at
    assert core.read(DFSR) & BKPT
    assert (core.get(0), core.get(1)) == (int(stops_at > 0x104), int(stops_at > 0x106))


def test_a_breakpoint_in_a_loop_that_is_already_decoded_and_away_again() -> None:
    core = flash_core("movs r0, #0\n1: adds r0, #1\nb 1b")
    assert core.go(1000) == Stop.RAN
    core.write(BP_CTRL, KEY_ENABLE)
    core.write(BP_COMP0, UPPER | 0x10000100 | 1)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == XIP + 0x102
    before = core.machine.counter(Counter.INSTRUCTIONS)
    assert core.go() == Stop.HALTED, "it stops again before the same instruction"
    assert core.machine.counter(Counter.INSTRUCTIONS) == before
    core.write(BP_COMP0, 0)
    assert core.go(1000) == Stop.RAN
    core.write(BP_COMP0, UPPER | 0x10000100 | 1)
    core.write(BP_CTRL, 2)
    assert core.go(1000) == Stop.RAN, "the unit is disabled"
    core.write(BP_CTRL, 1)
    assert core.read(BP_CTRL) == 4 << 4, "without the key nothing is written"


def test_four_comparators_and_no_fifth() -> None:
    core = flash_core("nop\nnop\nnop\nnop\nbkpt #0")
    core.write(BP_CTRL, KEY_ENABLE)
    for k, (match, word) in enumerate(
        [(LOWER, 0x100), (UPPER, 0x100), (LOWER, 0x104), (UPPER, 0x104)]
    ):
        core.write(BP_COMP0 + 4 * k, match | XIP | word | 1)
    stops = []
    for k in range(4):
        assert core.go() == Stop.HALTED
        stops.append(core.get(PC) - XIP)
        core.write(BP_COMP0 + 4 * k, 0)
    assert stops == [0x100, 0x102, 0x104, 0x106]
    assert core.read(BP_CTRL) == 4 << 4 | 1


def test_a_match_without_a_debugger_is_a_hard_fault() -> None:
    core = flash_core("nop\nnop\nbkpt #0")
    core.write(BP_CTRL, KEY_ENABLE)
    core.write(BP_COMP0, UPPER | XIP | 0x100 | 1)
    assert core.go(100, debugger=False) == Stop.LOCKUP, "the handler is a BKPT"
    assert core.machine.last_fault().startswith("BKPT without a debugger")
    assert core.frame()["pc"] == XIP + 0x102


def test_bkpt_instruction() -> None:
    core = Core("nop\nbkpt #3")
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.read(DFSR) & BKPT) == (CODE + 2, BKPT)
    core.write(DFSR, BKPT)
    assert core.read(DFSR) & BKPT == 0


# ---- vector catch and reset ----


def test_catch_at_the_reset_vector() -> None:
    core = Core("b .")
    core.go(100)
    core.write(DEMCR, VC_CORERESET)
    core.read(DHCSR)
    core.write(DFSR, 0x1F)
    core.machine.reset()
    rom = core.machine.rom()
    assert core.read(DHCSR) & (S_RESET_ST | S_HALT) == S_RESET_ST | S_HALT
    assert core.read(DFSR) == VCATCH
    assert core.get(SP) == int.from_bytes(rom[0:4], "little")
    assert core.get(PC) == int.from_bytes(rom[4:8], "little") - 1
    assert core.machine.run(core.cycles + 100) == Stop.HALTED
    assert core.read(DEMCR) == VC_CORERESET, "the debug registers survive"


def test_no_catch_without_c_debugen() -> None:
    core = Core("b .")
    core.go(100, debugger=False)
    core.write(DEMCR, VC_CORERESET)
    core.machine.reset()
    assert core.machine.run(core.cycles + 100) == Stop.RAN


def test_catch_of_a_hard_fault() -> None:
    core = Core("nop\nudf #0")
    core.write(DEMCR, VC_HARDERR)
    core.write(DFSR, 0x1F)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.in_exception) == (SRAM + 0x100, HARD_FAULT)
    assert core.read(DFSR) == VCATCH
    assert core.frame()["pc"] == CODE + 2


# ---- identification ----


def test_rom_table_and_components() -> None:
    core = Core()
    entries = [core.read(0xE00FF000 + 4 * k) for k in range(4)]
    assert entries == [0xFFF0F003, 0xFFF02003, 0xFFF03003, 0]
    parts = {0xE00FF000: 0x4C0, 0xE000E000: 0x008, 0xE0001000: 0x00A, 0xE0002000: 0x00B}
    for base, part in parts.items():
        pid = [core.read(base + offset) for offset in (0xFE0, 0xFE4, 0xFE8, 0xFEC, 0xFD0)]
        assert pid == [part & 0xFF, 0xB0 | part >> 8, 0x0B, 0, 4]
        cid = [core.read(base + offset) for offset in (0xFF0, 0xFF4, 0xFF8, 0xFFC)]
        assert cid == [0x0D, 0x10 if base == 0xE00FF000 else 0xE0, 0x05, 0xB1]
    assert core.read(0xE000ED00) == 0x410CC601
    assert core.read(0xE0001000) == 0, "no data watchpoints"


def test_a_debugger_may_look_anywhere() -> None:
    core = Core()
    assert core.read(0xE000EF40) == 0
    core.write(0xE000ED88, 0xFFFFFFFF)
    assert core.machine.message() == ""
    assert core.machine.bus_read(0x30000000, 4) is None
    assert not core.machine.bus_write(0x30000000, 4, 0)
    assert core.machine.bus_read(SRAM + 2, 4) is None


def test_blocks_cross_the_edges_of_memories() -> None:
    core = Core()
    assert core.machine.bus_write_block(STACK_TOP + 0x2000 - 4, b"1234")
    assert not core.machine.bus_write_block(STACK_TOP + 0x2000 - 4, b"12345")
    assert core.machine.bus_read_block(STACK_TOP + 0x2000 - 4, 4) == b"1234"
    assert core.machine.bus_read_block(STACK_TOP + 0x2000 - 4, 5) is None
    core.machine.load_flash(0, b"ab")
    core.machine.load_flash(2 * 1024 * 1024 - 2, b"yz")
    assert core.machine.bus_read_block(XIP + 2 * 1024 * 1024 - 2, 4) == b"yzab"
