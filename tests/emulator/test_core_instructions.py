# SPDX-License-Identifier: Apache-2.0
"""Every instruction of ARMv6-M: results, flags and cycles, as literals from the Architecture Reference
Manual and the cycle table of the Cortex-M0+ Technical Reference Manual."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Stop
from tests.emulator.core_program import (
    CODE,
    DATA,
    LR,
    PC,
    SP,
    STACK_TOP,
    XPSR,
    XPSR_T,
    Core,
)

NEGATIVE, MOST, MINUS_1 = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
BKPT_CYCLES = 1

# assembly, registers before, flags before, registers after, flags after, cycles
ALU = [
    ("lsls r0, r1, #0", {1: 0}, "NCV", {0: 0}, "ZCV", 1),
    ("lsls r0, r1, #4", {1: 0x18000001}, "V", {0: 0x80000010}, "NCV", 1),
    ("lsls r0, r1, #31", {1: 2}, "C", {0: 0}, "ZC", 1),
    ("lsrs r0, r1, #1", {1: 3}, "N", {0: 1}, "C", 1),
    ("lsrs r0, r1, #32", {1: NEGATIVE}, "", {0: 0}, "ZC", 1),
    ("asrs r0, r1, #1", {1: NEGATIVE}, "C", {0: 0xC0000000}, "N", 1),
    ("asrs r0, r1, #32", {1: NEGATIVE}, "", {0: MINUS_1}, "NC", 1),
    ("adds r0, r1, r2", {1: MOST, 2: 1}, "", {0: NEGATIVE}, "NV", 1),
    ("adds r0, r1, r2", {1: MINUS_1, 2: 1}, "V", {0: 0}, "ZC", 1),
    ("subs r0, r1, r2", {1: 5, 2: 5}, "", {0: 0}, "ZC", 1),
    ("subs r0, r1, r2", {1: NEGATIVE, 2: 1}, "", {0: MOST}, "CV", 1),
    ("adds r0, r1, #7", {1: 1}, "C", {0: 8}, "", 1),
    ("subs r0, r1, #7", {1: 1}, "C", {0: 0xFFFFFFFA}, "N", 1),
    ("movs r0, #255", {0: 1}, "NCV", {0: 255}, "CV", 1),
    ("cmp r0, #255", {0: 254}, "", {0: 254}, "N", 1),
    ("adds r0, #255", {0: 0xFFFFFF01}, "", {0: 0}, "ZC", 1),
    ("subs r0, #255", {0: 255}, "", {0: 0}, "ZC", 1),
    ("ands r0, r1", {0: 0xF0, 1: 0x3C}, "CV", {0: 0x30}, "CV", 1),
    ("eors r0, r1", {0: 0xF0, 1: 0xF0}, "CV", {0: 0}, "ZCV", 1),
    ("lsls r0, r1", {0: 1, 1: 31}, "C", {0: NEGATIVE}, "N", 1),
    ("lsls r0, r1", {0: 1, 1: 32}, "", {0: 0}, "ZC", 1),
    ("lsls r0, r1", {0: MINUS_1, 1: 33}, "C", {0: 0}, "Z", 1),
    ("lsls r0, r1", {0: 1, 1: 0x100}, "C", {0: 1}, "C", 1),
    ("lsrs r0, r1", {0: NEGATIVE, 1: 32}, "", {0: 0}, "ZC", 1),
    ("lsrs r0, r1", {0: 6, 1: 2}, "", {0: 1}, "C", 1),
    ("asrs r0, r1", {0: NEGATIVE, 1: 255}, "", {0: MINUS_1}, "NC", 1),
    ("asrs r0, r1", {0: 6, 1: 2}, "", {0: 1}, "C", 1),
    ("adcs r0, r1", {0: MOST, 1: 0}, "C", {0: NEGATIVE}, "NV", 1),
    ("sbcs r0, r1", {0: 0, 1: 0}, "", {0: MINUS_1}, "N", 1),
    ("sbcs r0, r1", {0: 3, 1: 2}, "C", {0: 1}, "C", 1),
    ("rors r0, r1", {0: 1, 1: 1}, "", {0: NEGATIVE}, "NC", 1),
    ("rors r0, r1", {0: 1, 1: 32}, "C", {0: 1}, "", 1),
    ("tst r0, r1", {0: 1, 1: 2}, "CV", {0: 1}, "ZCV", 1),
    ("rsbs r0, r1, #0", {1: 1}, "", {0: MINUS_1}, "N", 1),
    ("rsbs r0, r1, #0", {1: NEGATIVE}, "", {0: NEGATIVE}, "NV", 1),
    ("cmp r0, r1", {0: 1, 1: 2}, "C", {0: 1}, "N", 1),
    ("cmp r8, r0", {8: 9, 0: 9}, "", {8: 9}, "ZC", 1),
    ("cmn r0, r1", {0: MINUS_1, 1: 1}, "", {0: MINUS_1}, "ZC", 1),
    ("orrs r0, r1", {0: 1, 1: NEGATIVE}, "C", {0: 0x80000001}, "NC", 1),
    ("muls r0, r1, r0", {0: 0x10001, 1: 0x10001}, "CV", {0: 0x20001}, "CV", 1),
    ("bics r0, r1", {0: 0xFF, 1: 0x0F}, "C", {0: 0xF0}, "C", 1),
    ("mvns r0, r1", {1: 0}, "V", {0: MINUS_1}, "NV", 1),
    ("add r8, r9", {8: 0x7FFFFFFF, 9: 1}, "ZC", {8: NEGATIVE}, "ZC", 1),
    ("add r0, pc", {0: 0}, "", {0: CODE + 4}, "", 1),
    ("mov r0, pc", {}, "", {0: CODE + 4}, "", 1),
    ("mov r9, r2", {2: 77}, "N", {9: 77}, "N", 1),
    ("mov sp, r0", {0: 0x20001003}, "", {SP: 0x20001000}, "", 1),
    ("add sp, r0", {0: 7}, "", {SP: STACK_TOP + 4}, "", 1),
    ("add r0, sp, #8", {}, "", {0: STACK_TOP + 8}, "", 1),
    ("add sp, #508", {}, "", {SP: STACK_TOP + 508}, "", 1),
    ("sub sp, #508", {}, "", {SP: STACK_TOP - 508}, "", 1),
    ("adr r0, 1f\nnop\n1:", {}, "", {0: CODE + 4}, "", 2),
    ("sxth r0, r1", {1: 0x18000}, "C", {0: 0xFFFF8000}, "C", 1),
    ("sxtb r0, r1", {1: 0x180}, "", {0: 0xFFFFFF80}, "", 1),
    ("uxth r0, r1", {1: 0x18000}, "", {0: 0x8000}, "", 1),
    ("uxtb r0, r1", {1: 0x180}, "", {0: 0x80}, "", 1),
    ("rev r0, r1", {1: 0x11223344}, "", {0: 0x44332211}, "", 1),
    ("rev16 r0, r1", {1: 0x11223344}, "", {0: 0x22114433}, "", 1),
    ("revsh r0, r1", {1: 0x11228033}, "", {0: 0x3380}, "", 1),
    ("revsh r0, r1", {1: 0x11223380}, "", {0: 0xFFFF8033}, "", 1),
    ("nop", {}, "NZ", {}, "NZ", 1),
    ("yield", {}, "", {}, "", 1),
    ("sev", {}, "", {}, "", 1),
    (".hword 0xbf50", {}, "", {}, "", 1),  # an unallocated hint is a NOP
]

# DATA holds 0x8899aabb, 0xccddeeff
MEMORY = [
    ("ldr r0, 1f\nbkpt #0\n.balign 4\n1: .word 0x12345678", {}, {0: 0x12345678}, {}, 2),
    ("ldr r0, [r1, #4]", {1: DATA}, {0: 0xCCDDEEFF}, {}, 2),
    ("ldr r0, [r1, r2]", {1: DATA + 8, 2: 0xFFFFFFF8}, {0: 0x8899AABB}, {}, 2),
    ("ldr r0, [sp, #4]", {SP: DATA}, {0: 0xCCDDEEFF}, {}, 2),
    ("ldrh r0, [r1, #2]", {1: DATA}, {0: 0x8899}, {}, 2),
    ("ldrh r0, [r1, r2]", {1: DATA, 2: 4}, {0: 0xEEFF}, {}, 2),
    ("ldrb r0, [r1, #3]", {1: DATA}, {0: 0x88}, {}, 2),
    ("ldrb r0, [r1, r2]", {1: DATA, 2: 5}, {0: 0xEE}, {}, 2),
    ("ldrsh r0, [r1, r2]", {1: DATA, 2: 2}, {0: 0xFFFF8899}, {}, 2),
    ("ldrsb r0, [r1, r2]", {1: DATA, 2: 1}, {0: 0xFFFFFFAA}, {}, 2),
    ("str r0, [r1, #4]", {0: 0x01020304, 1: DATA}, {}, {4: 0x01020304}, 2),
    ("str r0, [r1, r2]", {0: 0x01020304, 1: DATA, 2: 8}, {}, {8: 0x01020304}, 2),
    ("str r0, [sp, #8]", {0: 5, SP: DATA}, {}, {8: 5}, 2),
    ("strh r0, [r1, #2]", {0: 0x01020304, 1: DATA}, {}, {0: 0x0304AABB}, 2),
    ("strh r0, [r1, r2]", {0: 0x01020304, 1: DATA, 2: 0}, {}, {0: 0x88990304}, 2),
    ("strb r0, [r1, #3]", {0: 0x01020304, 1: DATA}, {}, {0: 0x0499AABB}, 2),
    ("strb r0, [r1, r2]", {0: 0x01020304, 1: DATA, 2: 1}, {}, {0: 0x889904BB}, 2),
    ("ldm r1!, {r0, r2}", {1: DATA}, {0: 0x8899AABB, 2: 0xCCDDEEFF, 1: DATA + 8}, {}, 3),
    ("ldm r1, {r0, r1}", {1: DATA}, {0: 0x8899AABB, 1: 0xCCDDEEFF}, {}, 3),
    ("stm r1!, {r2, r3, r4}", {1: DATA, 2: 2, 3: 3, 4: 4}, {1: DATA + 12}, {0: 2, 4: 3, 8: 4}, 4),
    ("push {r0, r7, lr}", {SP: DATA + 12, 0: 1, 7: 7, LR: 9}, {SP: DATA}, {0: 1, 4: 7, 8: 9}, 4),
    ("pop {r0, r7}", {SP: DATA}, {0: 0x8899AABB, 7: 0xCCDDEEFF, SP: DATA + 8}, {}, 3),
]

# 1f is 6 bytes on; the halfword in between is a second way out that must not be taken
BRANCHES = [
    ("b 1f", {}, "", {}, 2),
    ("bl 1f", {}, "", {LR: CODE + 5}, 3),
    ("bx r0", {0: CODE + 7}, "", {}, 2),
    ("blx r0", {0: CODE + 7}, "", {LR: CODE + 3}, 2),
    ("mov pc, r0", {0: CODE + 6}, "", {}, 2),
    ("add pc, r0", {0: 2}, "", {}, 2),
    ("pop {r1, pc}", {SP: DATA + 8}, "", {1: 11, SP: DATA + 16}, 5),
    ("pop {pc}", {SP: DATA + 12}, "", {SP: DATA + 16}, 4),
]
CONDITIONS = {
    "eq": ("Z", ""), "ne": ("", "Z"), "cs": ("C", ""), "cc": ("", "C"), "mi": ("N", ""),
    "pl": ("", "N"), "vs": ("V", ""), "vc": ("", "V"), "hi": ("C", "ZC"), "ls": ("ZC", "C"),
    "ge": ("NV", "N"), "lt": ("V", "NV"), "gt": ("NV", "ZNV"), "le": ("Z", ""),
}  # fmt: skip


def run(source: str, before: dict[int, int], flags: str = "") -> tuple[Core, int]:
    """To the first BKPT; the cycles up to it."""
    core = Core()
    core.load(f"{source}\nbkpt #0")
    core.write(DATA, 0x8899AABB)
    core.write(DATA + 4, 0xCCDDEEFF)
    core.write(DATA + 8, 11)
    core.write(DATA + 12, CODE + 7)
    core.set(XPSR, XPSR_T | sum(1 << (31 - "NZCV".index(flag)) for flag in flags))
    for register, value in before.items():
        core.set(register, value)
    start = core.cycles
    assert core.go() == Stop.HALTED
    return core, core.cycles - start - BKPT_CYCLES


@pytest.mark.parametrize(("source", "before", "flags", "after", "flags_after", "cycles"), ALU)
def test_alu(
    source: str,
    before: dict[int, int],
    flags: str,
    after: dict[int, int],
    flags_after: str,
    cycles: int,
) -> None:
    core, taken = run(source, before, flags)
    assert {register: core.get(register) for register in after} == after
    assert (core.flags, taken) == (flags_after, cycles)
    assert core.machine.message() == ""


@pytest.mark.parametrize(("source", "before", "after", "memory", "cycles"), MEMORY)
def test_memory(
    source: str,
    before: dict[int, int],
    after: dict[int, int],
    memory: dict[int, int],
    cycles: int,
) -> None:
    core, taken = run(source, before, "NV")
    assert {register: core.get(register) for register in after} == after
    assert {offset: core.read(DATA + offset) for offset in memory} == memory
    assert (core.flags, taken) == ("NV", cycles)


@pytest.mark.parametrize(("source", "before", "flags", "after", "cycles"), BRANCHES)
def test_branch(
    source: str, before: dict[int, int], flags: str, after: dict[int, int], cycles: int
) -> None:
    core, taken = run(f"{source}\n.balign 4\nbkpt #1\n1:", before, flags)
    wanted = CODE + 6
    if source == "bl 1f":
        core, taken = run("bl 1f\nbkpt #1\n1:", before, flags)
    assert core.get(PC) == wanted, hex(core.get(PC))
    assert {register: core.get(register) for register in after} == after
    assert taken == cycles


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditional_branch(condition: str) -> None:
    taken_with, not_taken_with = CONDITIONS[condition]
    core, cycles = run(f"b{condition} 1f\nbkpt #1\n1:", {}, taken_with)
    assert (core.get(PC), cycles) == (CODE + 4, 2)
    core, cycles = run(f"b{condition} 1f\nbkpt #1\n1:", {}, not_taken_with)
    assert (core.get(PC), cycles) == (CODE + 2, 1)


def test_branches_reach_as_far_as_they_can() -> None:
    for source, target in (
        ("b . + 2046 + 4 - 2", CODE + 2048),
        ("beq . + 254 + 4", CODE + 258),
        ("bl . + 0x1f000", CODE + 0x1F000),
    ):
        core = Core(source)
        core.set(XPSR, XPSR_T | 1 << 30)
        core.step()
        assert core.get(PC) == target
    core = Core()
    core.load("bl . - 0x1f000", CODE + 0x20000)
    core.step()
    assert core.get(PC) == CODE + 0x1000


@pytest.mark.parametrize(
    ("first", "second", "offset"),
    [
        (0xF000, 0xF000, 0x400000),
        (0xF000, 0xD800, 0x800000),
        (0xF3FF, 0xD7FF, 0xFFFFFE),
        (0xF400, 0xF800, -0x400000),
        (0xF400, 0xF000, -0x800000),
        (0xF400, 0xD000, -0x1000000),
    ],
)
def test_bl_reaches_16_mb(first: int, second: int, offset: int) -> None:
    core = Core()
    core.load(f".hword {first}, {second}")
    core.step()
    assert core.get(PC) == CODE + 4 + offset
    assert core.get(LR) == CODE + 5


def test_special_registers() -> None:
    core, cycles = run(
        "msr psp, r0\nmsr msp, r1\nmrs r2, psp\nmrs r3, msp\nmsr apsr_nzcvq, r4\nmrs r5, apsr\n"
        "mrs r6, xpsr\nmrs r7, epsr",
        {0: 0x20002003, 1: 0x20003004, 4: 0xF0FFFFFF},
    )
    assert [core.get(n) for n in range(2, 8)] == [
        0x20002000, 0x20003004, 0xF0FFFFFF, 0xF0000000, 0xF0000000, 0,
    ]  # fmt: skip
    assert cycles == 8 * 3
    core, cycles = run("cpsid i\nmrs r0, primask\ncpsie i\nmrs r1, primask\ndsb\ndmb\nisb", {})
    assert (core.get(0), core.get(1), cycles) == (1, 0, 1 + 3 + 1 + 3 + 3 * 3)


def test_control_selects_the_stack_and_the_privilege() -> None:
    core, _ = run("msr control, r0\nisb\nmrs r1, control", {0: 2, SP: 0x20001000})
    assert (core.get(1), core.get(17), core.get(20)) == (2, 0x20001000, 2 << 24)
    unprivileged = "msr control, r0\nisb\ncpsid i\nmsr primask, r0\nmsr control, r2\nmsr msp, r0"
    core, _ = run(f"{unprivileged}\nmrs r1, control\nmrs r3, msp\nmrs r4, primask", {0: 1, 2: 0})
    assert [core.get(n) for n in (1, 3, 4, 20)] == [1, 0, 0, 1 << 24]
    assert core.get(SP) == STACK_TOP


def test_single_cycle_io_and_apb() -> None:
    sio_gpio_in, sysinfo = 0xD0000004, 0x40000000
    assert run("ldr r0, [r1]", {1: sio_gpio_in})[1] == 1
    assert run("str r0, [r1, #0x18]", {1: sio_gpio_in - 4 - 8})[1] == 1
    assert run("ldm r1, {r0, r1}", {1: sio_gpio_in - 4})[1] == 3
    assert run("ldr r0, [r1]", {1: sysinfo})[1] == 2 + 2


def test_code_that_changes_itself() -> None:
    core, _ = run(
        "ldr r0, 1f\nstrh r0, [r1]\nisb\nb 2f\n.balign 4\n1: .hword 0x2207\nnop\n2: movs r2, #1",
        {1: CODE + 16},
    )
    assert core.get(2) == 7


def test_a_store_into_the_second_half_of_a_decoded_bl() -> None:
    """From `bl near` to `bl far`, by a store of the program and by the debugger."""
    source = (
        "1: bl near\nnop\nadds r4, #1\nstrh r0, [r1]\nb 1b\n.balign 64\nnear: bx lr\nfar: bkpt #1"
    )
    second_half_of_bl_far = 0xF81F
    core = Core(source)
    core.set(0, second_half_of_bl_far)
    core.set(1, CODE + 2)
    core.set(4, 0)
    assert core.go() == Stop.HALTED
    assert (core.get(PC), core.get(4)) == (core.labels["far"], 1)
    core.load(source.replace("strh r0, [r1]", "nop"))
    assert core.go(1000) == Stop.RAN
    core.halt()
    core.write(CODE + 2, second_half_of_bl_far, 2)
    core.set(PC, CODE)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == core.labels["far"]
