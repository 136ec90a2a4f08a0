# SPDX-License-Identifier: Apache-2.0
"""The system side of the Cortex-M33: SCB, NVIC with 52 lines, special registers, the cycle counter."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Stop
from tests.emulator.core_program import (
    CFBP,
    IRQ0,
    NVIC_IPR0,
    NVIC_ISER,
    NVIC_ISPR,
    SHPR2,
    SHPR3,
    SVCALL,
    VTOR,
    Core,
)
from tests.emulator.v8m_program import CCR, CFSR, CPACR, MSPLIM, PSPLIM, CoreV8M

ICTR, ACTLR, CPUID, ICSR = 0xE000E004, 0xE000E008, 0xE000ED00, 0xE000ED04
AIRCR, SCR = 0xE000ED0C, 0xE000ED10
SHPR1, SHCSR, HFSR, NVIC_ICER, NVIC_ICPR, NVIC_IABR, STIR = (
    0xE000ED18, 0xE000ED24, 0xE000ED2C, 0xE000E180, 0xE000E280, 0xE000E300, 0xE000EF00,
)  # fmt: skip
FPCCR, FPCAR, FPDSCR, MPU_TYPE = 0xE000EF34, 0xE000EF38, 0xE000EF3C, 0xE000ED90
DWT_CTRL, DWT_CYCCNT, DEMCR = 0xE0001000, 0xE0001004, 0xE000EDFC
TRCENA, CYCCNTENA = 1 << 24, 1
USERSETMPEND = 1 << 1


@pytest.mark.parametrize(
    ("address", "value"),
    [
        (CPUID, 0x411FD210), (ICTR, 1), (ACTLR, 0), (AIRCR, 0xFA050000), (SCR, 0), (CCR, 0x201),
        (SHPR1, 0), (SHCSR, 0), (CFSR, 0), (HFSR, 0), (CPACR, 0), (MPU_TYPE, 0x800),
        (FPCCR, 0xC0000004), (FPCAR, 0), (FPDSCR, 0),
        (0xE000ED40, 0x30), (0xE000ED44, 0x210), (0xE000ED48, 0x200000), (0xE000ED50, 0x101F40),
        (0xE000ED6C, 0x01111131), (0xE000ED7C, 0x8000C000),
        (0xE000EF40, 0x10110021), (0xE000EF44, 0x11000011), (0xE000EF48, 0x40),
    ],
)  # fmt: skip
def test_reset_values(address: int, value: int) -> None:
    core = CoreV8M("ldr r0, [r1]\nbkpt #1")
    core.set(1, address)
    assert core.read(address) == value
    assert core.go() == Stop.HALTED
    assert core.get(0) == value


@pytest.mark.parametrize(
    ("address", "written", "read"),
    [
        (VTOR, 0xFFFFFFFF, 0xFFFFFF80),
        (ACTLR, 1 << 29, 1 << 29),  # EXTEXCLALL, as the SDK's spin locks set it
        (CPACR, 0xFFFFFFFF, 0x00F0CF03),  # CP10 and CP11, 7, 5, 4, 0
        (CPACR, 0x00300303, 0x00300303),
        (SHPR1, 0xFFFFFFFF, 0xF0F0F0F0),
        (CCR, 0x1A, 0x21B),
        (SHCSR, 0xF << 16, 0xF << 16),
        (FPDSCR, 0xFFFFFFFF, 0x07C00000),
        (FPCCR, 0, 4),
        (AIRCR, 0x05FA0500, 0xFA050500),
        (AIRCR, 0x12340500, 0xFA050000),
        (SCR, 0xFF, 0x16),
        (0xE000E400, 0xFFFFFFFF, 0xF0F0F0F0),
        (0xE000E430, 0xFFFFFFFF, 0xF0F0F0F0),
        (0xE000E434, 0xFFFFFFFF, 0),
        (NVIC_ISER, 0xFFFFFFFF, 0xFFFFFFFF),
        (NVIC_ISER + 4, 0xFFFFFFFF, 0x000FFFFF),
    ],
)
def test_what_can_be_written(address: int, written: int, read: int) -> None:
    core = CoreV8M("str r0, [r1]\nldr r2, [r1]\nbkpt #1")
    core.set(0, written)
    core.set(1, address)
    assert core.go() == Stop.HALTED, core.machine.message()
    assert core.get(2) == read


@pytest.mark.parametrize(
    ("source", "address", "value"),
    [
        ("ldr r0, [r1]", 0xE000ED98, 0),  # MPU_RNR
        ("str r0, [r1]", 0xE000ED94, 1),  # MPU_CTRL: the MPU on
        ("str r0, [r1]", 0xE000EDD0, 1),  # SAU_CTRL
        ("ldr r0, [r1]", 0xE002ED00, 0),  # the Non-secure alias
        ("str r0, [r1]", AIRCR, 0x05FA2000),  # BFHFNMINS
        ("str r0, [r1]", CCR, 1 << 8),  # BFHFNMIGN
        ("str r0, [r1]", FPCCR, 1 << 26),  # TS
        ("str r0, [r1]", DEMCR, 1 << 16),  # MON_EN
        ("str r0, [r1]", 0xE000EDF0, 0xA05F0003),  # DHCSR is not for software
        ("str r0, [r1]", 0xE0001020, 1),  # a comparator of the DWT
        ("ldrb r0, [r1]", CPACR, 0),
        ("strh r0, [r1]", NVIC_ISER, 0),
    ],
)
def test_what_is_not_modelled_stops_the_run(source: str, address: int, value: int) -> None:
    core = CoreV8M(f"{source}\nbkpt #1")
    core.set(0, value)
    core.set(1, address)
    assert core.go() == Stop.STRICT
    assert f"{address:#x}" in core.machine.message()


def test_bytes_of_priorities() -> None:
    core = CoreV8M("strb r0, [r1]\nstrh r2, [r3]\nldrb r4, [r1]\nldrh r5, [r3]\nbkpt #1")
    for register, value in {0: 0x5F, 1: NVIC_IPR0 + 51, 2: 0x8F7F, 3: SHPR3 + 2}.items():
        core.set(register, value)
    core.write(NVIC_IPR0 + 48, 0x11223344)
    assert core.go() == Stop.HALTED
    assert (core.read(NVIC_IPR0 + 48), core.read(SHPR3)) == (0x50203040, 0x80700000)
    assert (core.get(4), core.get(5)) == (0x50, 0x8070)


@pytest.mark.parametrize("irq", [0, 31, 32, 47])
def test_interrupt_lines(irq: int) -> None:
    bank, bit = irq // 32 * 4, 1 << irq % 32
    core = CoreV8M(
        "str r1, [r0]\nisb\nbkpt #1\nhandler: ldr r4, [r2]\nldr r5, [r3]\nmrs r6, ipsr\nbx lr"
    )
    core.vector(IRQ0 + irq, "handler")
    core.write(NVIC_ISER + bank, bit)
    for register, value in {0: NVIC_ISPR + bank, 1: bit, 2: NVIC_IABR + bank, 3: ICSR}.items():
        core.set(register, value)
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(5), core.get(6)) == (bit, IRQ0 + irq | 1 << 11, IRQ0 + irq)
    assert core.read(NVIC_IABR + bank) == core.read(NVIC_ISPR + bank) == 0
    core.write(NVIC_ISPR + bank, bit)
    assert core.read(ICSR) == (IRQ0 + irq) << 12 | 1 << 22
    core.write(NVIC_ICER + bank, bit)
    core.write(NVIC_ICPR + bank, bit)
    assert core.read(NVIC_ISER + bank) == core.read(NVIC_ISPR + bank) == core.read(ICSR) == 0


def test_lines_beyond_the_chips_do_not_exist() -> None:
    core = CoreV8M()
    core.write(NVIC_ISPR + 4, 0xFFFFFFFF)
    assert core.read(NVIC_ISPR + 4) == 0x000FFFFF
    core.write(NVIC_ICPR + 4, 0xFFFFFFFF)
    core.write(STIR, 52)
    assert core.read(NVIC_ISPR + 4) == 0
    core.write(STIR, 51)
    assert core.read(NVIC_ISPR + 4) == 1 << 19


@pytest.mark.parametrize(("ccr", "pended"), [(USERSETMPEND, 1 << 7), (0, 0)])
def test_unprivileged_software_trigger(ccr: int, pended: int) -> None:
    core = CoreV8M("str r0, [r1]\nbkpt #1")
    core.write(CCR, ccr)
    core.set(0, 7)
    core.set(1, STIR)
    core.set(CFBP, 1 << 24)
    assert core.go() == Stop.HALTED
    assert core.read(NVIC_ISPR) == pended
    assert (core.in_exception == 0) == bool(ccr)


def test_handlers_active_and_pending_in_shcsr() -> None:
    core = CoreV8M("svc #0\nhandler: ldr r4, [r0]\nstr r1, [r0]\nldr r5, [r0]\nbkpt #1")
    core.vector(SVCALL, "handler")
    core.write(SHPR2, 0)
    core.set(0, SHCSR)
    core.set(1, 1 << 12 | 1 << 13 | 1 << 14 | 1 << 7)
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(5)) == (1 << 7, 0x7080)


# ---- special registers ----


def test_special_registers() -> None:
    core = CoreV8M(
        "msr msplim, r0\nmrs r4, msplim\nmsr psplim, r0\nmrs r5, psplim\nmsr basepri, r0\n"
        "mrs r6, basepri\nmsr faultmask, r1\nmrs r7, faultmask\nmsr faultmask, r2\n"
        "msr apsr_nzcvqg, r3\nmrs r8, apsr\nmsr apsr_g, r2\nmrs r9, apsr\nmsr primask, r1\n"
        "mrs r10, primask\nbkpt #1"
    )
    for register, value in {0: 0x2000001F, 1: 1, 2: 0, 3: 0xFFFFFFFF}.items():
        core.set(register, value)
    assert core.go() == Stop.HALTED
    assert [core.get(n) for n in range(4, 11)] == [
        0x20000018, 0x20000018, 0x10, 1, 0xF80F0000, 0xF8000000, 1,
    ]  # fmt: skip


def test_unprivileged_code_changes_flags_only() -> None:
    core = CoreV8M(
        "msr basepri, r0\nmsr msplim, r0\nmsr psp, r0\nmsr apsr_nzcvq, r0\ncpsid i\ncpsid f\n"
        "mrs r4, msplim\nmrs r5, control\nbkpt #1"
    )
    core.set(MSPLIM, 0x100)
    core.set(0, 0xF8000000)
    core.set(CFBP, 1 << 24)
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(5)) == (0, 1)
    assert (core.get(CFBP), core.get(MSPLIM), core.get(18)) == (1 << 24, 0x100, 0)
    assert core.flags == "NZCVQ"


def test_the_non_secure_world_is_not_modelled() -> None:
    core = CoreV8M("mrs r4, msp_ns\nmsr msp_ns, r0\nbkpt #1")
    core.set(4, 1)
    assert core.go() == Stop.STRICT
    assert core.get(4) == 0
    assert "Non-secure" in core.machine.message()


def test_a_system_reset_puts_everything_back() -> None:
    core = CoreV8M()
    core.write(CPACR, 0xF << 20)
    core.write(CCR, 0x18)
    core.write(SHCSR, 7 << 16)
    core.write(AIRCR, 0x05FA0300)
    core.write(NVIC_ISER + 4, 1)
    core.write(NVIC_IPR0 + 32, 0x80, 1)
    core.write(VTOR, 0x20000000)
    core.write(FPDSCR, 0x01000000)
    for register, value in {64: 1, 33: 1 << 24, MSPLIM: 8, PSPLIM: 8, CFBP: 0xF0010F001}.items():
        core.set(register, value & 0xFFFFFFFF)
    core.machine.reset()
    for address in (CPACR, SHCSR, NVIC_ISER + 4, NVIC_IPR0 + 32, VTOR, FPDSCR):
        assert core.read(address) == 0, hex(address)
    assert (core.read(CCR), core.read(AIRCR)) == (0x201, 0xFA050000)
    assert [core.get(n) for n in (64, 33, MSPLIM, PSPLIM, CFBP)] == [0] * 5


# ---- DWT.CYCCNT ----


def counting(source: str) -> CoreV8M:
    core = CoreV8M(source)
    core.write(DEMCR, TRCENA)
    core.write(DWT_CTRL, CYCCNTENA)
    core.set(0, DWT_CYCCNT)
    return core


def test_cycle_counter_counts_cycles() -> None:
    core = counting("ldr r1, [r0]\nmovs r3, #100\n1: subs r3, #1\nbne 1b\nldr r2, [r0]\nbkpt #1")
    core.write(DWT_CYCCNT, 1000)
    before = core.cycles
    assert core.go() == Stop.HALTED
    elapsed = core.read(DWT_CYCCNT) - 1000
    assert elapsed == core.cycles - before
    assert 1000 < core.get(1) < core.get(2) <= 1000 + elapsed
    assert core.get(2) - core.get(1) > 200


@pytest.mark.parametrize("start", [0xFFFFFFFF, 0xFFFFFF00, 0])
def test_cycle_counter_wraps(start: int) -> None:
    core = counting("b .")
    core.write(DWT_CYCCNT, start)
    before = core.cycles
    for cycles in (1, 300, 0x1_0000_0000 - 7, 5):
        core.go(cycles)
        assert core.read(DWT_CYCCNT) == (start + core.cycles - before) & 0xFFFFFFFF


@pytest.mark.parametrize(("register", "off", "on"), [(DEMCR, 0, TRCENA), (DWT_CTRL, 0, CYCCNTENA)])
def test_cycle_counter_stands_while_it_is_off(register: int, off: int, on: int) -> None:
    core = counting("b .")
    core.go(100)
    core.write(register, off)
    value = core.read(DWT_CYCCNT)
    assert value >= 100
    core.go(100)
    assert core.read(DWT_CYCCNT) == value
    core.write(register, on)
    before = core.cycles
    core.go(100)
    assert core.read(DWT_CYCCNT) == value + core.cycles - before


def test_cycle_counter_counts_asleep_and_not_while_halted() -> None:
    core = counting("wfi\nb .")
    before = core.cycles
    core.go(5000)
    core.halt()
    assert core.read(DWT_CYCCNT) == core.cycles - before >= 5000


def test_dwt_says_what_it_has() -> None:
    core = CoreV8M()
    assert core.read(DWT_CTRL) == 0x0D000000
    core.write(DWT_CTRL, 0xFFFFFFFF)
    assert core.read(DWT_CTRL) == 0x0D000001


# ---- switches of the chip's table ----


def test_timing_switch_is_for_the_m33() -> None:
    CoreV8M().machine.set_switch("m33_timing", 0)
    other = Core().machine
    other.set_switch("m33_timing", 0)
    assert "no switch named m33_timing" in other.message()
