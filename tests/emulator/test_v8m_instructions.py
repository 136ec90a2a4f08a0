# SPDX-License-Identifier: Apache-2.0
"""The instructions that ARMv8-M Mainline with DSP adds: results and flags as literals from the Armv8-M
Architecture Reference Manual, a group of its tables at a time."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Stop
from tests.emulator.core_program import (
    CODE,
    DATA,
    HARD_FAULT,
    ICSR,
    LR,
    PC,
    PENDSV,
    SP,
    XPSR,
    XPSR_T,
)
from tests.emulator.v8m_program import CCR, CFSR, FLAGS, MSPLIM, CoreV8M

NEGATIVE, MOST, MINUS_1 = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF

# assembly, registers before, flags before, registers after, flags after
DATA_PROCESSING = [
    ("and.w r8, r9, #0xff00ff00", {9: MINUS_1}, "NZCV", {8: 0xFF00FF00}, "NZCV"),
    ("ands.w r8, r9, #0x80000000", {9: MINUS_1}, "V", {8: NEGATIVE}, "NCV"),
    ("ands.w r8, r9, #0xab00ab", {9: 0}, "CV", {8: 0}, "ZCV"),
    ("bic.w r0, r1, r2, lsl #4", {1: MINUS_1, 2: 0xF}, "", {0: 0xFFFFFF0F}, ""),
    ("orn r0, r1, #0xff", {1: 0}, "", {0: 0xFFFFFF00}, ""),
    ("eors.w r0, r1, r2, rrx", {1: 0, 2: 1}, "C", {0: NEGATIVE}, "NC"),
    ("teq r1, r2, asr #31", {1: MINUS_1, 2: NEGATIVE}, "", {}, "Z"),
    ("tst.w r1, #0x80000000", {1: NEGATIVE}, "", {}, "NC"),
    ("adds.w r0, r1, #0x10000", {1: 0x7FFFFFFF}, "", {0: 0x8000FFFF}, "NV"),
    ("adc.w r0, r1, r2, lsr #32", {1: 1, 2: MINUS_1}, "C", {0: 2}, "C"),
    ("sbcs.w r0, r1, r2, ror #8", {1: 0, 2: 0x100}, "C", {0: MINUS_1}, "N"),
    ("rsb.w r0, r1, #1", {1: 3}, "", {0: 0xFFFFFFFE}, ""),
    ("cmp.w r8, #0xff000", {8: 0xFF000}, "", {}, "ZC"),
    ("cmn.w r8, r9, lsl #1", {8: 2, 9: MOST}, "", {}, "ZC"),
    ("addw r0, r1, #4095", {1: 1}, "NZCV", {0: 0x1000}, "NZCV"),
    ("subw r0, r1, #4095", {1: 1}, "", {0: 0xFFFFF002}, ""),
    ("adr.w r0, .+4", {}, "", {0: CODE + 4}, ""),
    ("nop\nadr.w r0, .-2", {}, "", {0: CODE}, ""),
    ("movw r0, #0xabcd", {0: MINUS_1}, "", {0: 0xABCD}, ""),
    ("movt r0, #0xabcd", {0: 0x12345678}, "", {0: 0xABCD5678}, ""),
    ("mvn.w r0, #0", {}, "", {0: MINUS_1}, ""),
    ("lsls.w r8, r9, r10", {9: 3, 10: 31}, "", {8: NEGATIVE}, "NC"),
    ("ror.w r8, r9, r10", {9: 1, 10: 257}, "", {8: NEGATIVE}, ""),
    ("add.w sp, sp, #8", {SP: DATA}, "", {SP: DATA + 8}, ""),
    ("sub.w sp, sp, r0, lsl #2", {SP: DATA, 0: 2}, "", {SP: DATA - 8}, ""),
    ("add.w r0, sp, #0x100", {SP: DATA}, "", {0: DATA + 0x100}, ""),
    ("mov.w sp, r8", {8: DATA + 3}, "", {SP: DATA}, ""),
]
FIELDS = [
    ("sbfx r0, r1, #4, #8", {1: 0x00000F80}, "", {0: 0xFFFFFFF8}, ""),
    ("ubfx r0, r1, #0, #32", {1: MINUS_1}, "", {0: MINUS_1}, ""),
    ("bfi r0, r1, #8, #4", {0: 0, 1: 0xFF}, "", {0: 0xF00}, ""),
    ("bfc r0, #0, #32", {0: MINUS_1}, "", {0: 0}, ""),
    ("clz r0, r1", {1: 0}, "", {0: 32}, ""),
    ("rbit r0, r1", {1: 0x80000001}, "", {0: 0x80000001}, ""),
    ("rev16.w r8, r9", {9: 0x11223344}, "", {8: 0x22114433}, ""),
    ("ssat r0, #8, r1", {1: 128}, "", {0: 127}, "Q"),
    ("ssat r0, #8, r1, asr #1", {1: 0xFFFFFF00}, "", {0: 0xFFFFFF80}, ""),
    ("ssat r0, #32, r1, lsl #1", {1: 0x40000000}, "", {0: NEGATIVE}, ""),
    ("usat r0, #8, r1", {1: MINUS_1}, "N", {0: 0}, "NQ"),
    ("usat r0, #0, r1", {1: 0}, "", {0: 0}, ""),
    ("ssat16 r0, #4, r1", {1: 0x7FFF8000}, "", {0: 0x0007FFF8}, "Q"),
    ("usat16 r0, #15, r1", {1: 0x7FFF8000}, "", {0: 0x7FFF0000}, "Q"),
    ("pkhbt r0, r1, r2, lsl #16", {1: 0x11112222, 2: 0x33334444}, "", {0: 0x44442222}, ""),
    ("pkhtb r0, r1, r2, asr #32", {1: 0x11112222, 2: NEGATIVE}, "", {0: 0x1111FFFF}, ""),
    ("sxtb.w r0, r1, ror #24", {1: 0x80000000}, "", {0: 0xFFFFFF80}, ""),
    ("uxtah r0, r1, r2", {1: 1, 2: 0x1FFFF}, "", {0: 0x10000}, ""),
    ("sxtb16 r0, r1, ror #8", {1: 0x80007F00}, "", {0: 0xFF80007F}, ""),
    ("sxtab16 r0, r1, r2", {1: 0x0001FFFF, 2: 0x00FF0001}, "", {0: 0}, ""),
]
DSP = [
    ("mul r8, r9, r10", {9: 0x10001, 10: 0x10001}, "NZCV", {8: 0x20001}, "NZCV"),
    ("mla r0, r1, r2, r3", {1: 2, 2: 3, 3: 4}, "", {0: 10}, ""),
    ("mls r0, r1, r2, r3", {1: 2, 2: 3, 3: 4}, "", {0: 0xFFFFFFFE}, ""),
    ("smlabt r0, r1, r2, r3", {1: 0x8000, 2: 0x80000000, 3: MOST}, "", {0: 0xBFFFFFFF}, "Q"),
    ("smulwb r0, r1, r2", {1: 0x10000, 2: 0xFFFF}, "", {0: MINUS_1}, ""),
    ("smlad r0, r1, r2, r3", {1: 0x00020003, 2: 0x00040005, 3: 6}, "", {0: 29}, ""),
    ("smladx r0, r1, r2, r3", {1: 0x00020003, 2: 0x00040005, 3: 6}, "", {0: 28}, ""),
    ("smuad r0, r1, r2", {1: 0x80008000, 2: 0x80008000}, "", {0: NEGATIVE}, "Q"),
    ("smlsd r0, r1, r2, r3", {1: 0x00020003, 2: 0x00040005, 3: 1}, "", {0: 8}, ""),
    ("smmul r0, r1, r2", {1: NEGATIVE, 2: NEGATIVE}, "", {0: 0x40000000}, ""),
    ("smmlar r0, r1, r2, r3", {1: 1, 2: NEGATIVE, 3: 5}, "", {0: 5}, ""),
    ("smmlsr r0, r1, r2, r3", {1: 1, 2: MOST, 3: 5}, "", {0: 5}, ""),
    ("usad8 r0, r1, r2", {1: 0x00FF00FF, 2: 0xFF00FF00}, "", {0: 1020}, ""),
    ("smull r0, r1, r2, r3", {2: MINUS_1, 3: 2}, "", {0: 0xFFFFFFFE, 1: MINUS_1}, ""),
    ("umaal r0, r1, r2, r3", dict.fromkeys(range(4), MINUS_1), "", {0: MINUS_1, 1: MINUS_1}, ""),
    ("smlald r0, r1, r2, r3", {0: MINUS_1, 1: 0, 2: 1, 3: 1}, "", {0: 0, 1: 1}, ""),
    ("sdiv r0, r1, r2", {1: 0xFFFFFFF9, 2: 2}, "", {0: 0xFFFFFFFD}, ""),
    ("sdiv r0, r1, r2", {1: NEGATIVE, 2: MINUS_1}, "", {0: NEGATIVE}, ""),
    ("udiv r0, r1, r2", {1: MINUS_1, 2: 2}, "", {0: MOST}, ""),
    ("udiv r0, r1, r2", {1: 5, 2: 0}, "", {0: 0}, ""),
    ("qadd r0, r1, r2", {1: MOST, 2: 1}, "", {0: MOST}, "Q"),
    ("qdsub r0, r1, r2", {1: 0, 2: NEGATIVE}, "", {0: MOST}, "Q"),
]
# assembly, registers before, r0, GE after (before: 0b1010)
PARALLEL = [
    ("sadd16 r0, r1, r2", {1: 0x7FFF8000, 2: 0x0001FFFF}, 0x80007FFF, 0b1100),
    ("uadd16 r0, r1, r2", {1: 0xFFFF0001, 2: 0x00010001}, 0x00000002, 0b1100),
    ("usub8 r0, r1, r2", {1: 0x05050505, 2: 0x04050607}, 0x0100FFFE, 0b1100),
    ("uadd8 r0, r1, r2", {1: 0xFF80FF00, 2: 0x01800100}, 0x00000000, 0b1110),
    ("sasx r0, r1, r2", {1: 0x00010001, 2: 0x00020003}, 0x0004FFFF, 0b1100),
    ("usax r0, r1, r2", {1: 0x0001FFFF, 2: 0x00020003}, 0xFFFE0001, 0b0011),
    ("qsub16 r0, r1, r2", {1: 0x80007FFF, 2: 0x0001FFFF}, 0x80007FFF, 0b1010),
    ("uqadd8 r0, r1, r2", {1: 0xF0F00101, 2: 0x20100101}, 0xFFFF0202, 0b1010),
    ("shadd8 r0, r1, r2", {1: 0x7F80FF01, 2: 0x7F80FE02}, 0x7F80FE01, 0b1010),
    ("uhsub16 r0, r1, r2", {1: 0x00000004, 2: 0x00010002}, 0xFFFF0001, 0b1010),
    ("sel r0, r1, r2", {1: 0x11223344, 2: 0x55667788}, 0x11663388, 0b1010),
]
MEMORY_WORDS = (0x8899AABB, 0xCCDDEEFF, 0x00112233, 0x44556677)
# assembly, registers before, registers after, words of memory after by offset
MEMORY = [
    ("ldr.w r8, [r9, #8]", {9: DATA}, {8: 0x00112233}, {}),
    ("ldr r0, [r1, #-4]", {1: DATA + 8}, {0: 0xCCDDEEFF}, {}),
    ("ldr r0, [r1, #4]!", {1: DATA}, {0: 0xCCDDEEFF, 1: DATA + 4}, {}),
    ("ldrsh r0, [r1], #-6", {1: DATA + 6}, {0: 0xFFFFCCDD, 1: DATA}, {}),
    ("ldrsb.w r0, [r1, r2, lsl #2]", {1: DATA, 2: 1}, {0: MINUS_1}, {}),
    ("ldrbt r0, [r1, #3]", {1: DATA}, {0: 0x88}, {}),
    ("ldr.w r0, 1f\nb.n 2f\n.balign 4\n1: .word 77\n2:", {}, {0: 77}, {}),
    ("ldr r0, [r1, #1]", {1: DATA}, {0: 0xFF8899AA}, {}),
    ("ldrh.w r0, [r1, #3]", {1: DATA}, {0: 0xFF88}, {}),
    ("str.w r0, [r1, #3]", {0: 0x01020304, 1: DATA}, {}, {0: 0x0499AABB, 4: 0xCC010203}),
    ("str r0, [r1, #-4]!", {0: 5, 1: DATA + 8}, {1: DATA + 4}, {4: 5}),
    ("strh.w r0, [r1, r2, lsl #1]", {0: 0x12345, 1: DATA, 2: 1}, {}, {0: 0x2345AABB}),
    ("strb r0, [r1], #1", {0: 0x12345, 1: DATA}, {1: DATA + 1}, {0: 0x8899AA45}),
    ("ldrd r0, r2, [r1, #8]", {1: DATA}, {0: 0x00112233, 2: 0x44556677}, {}),
    ("ldrd r0, r2, [r1], #-8", {1: DATA}, {0: 0x8899AABB, 2: 0xCCDDEEFF, 1: DATA - 8}, {}),
    ("strd r0, r2, [r1, #4]!", {0: 1, 2: 2, 1: DATA}, {1: DATA + 4}, {4: 1, 8: 2}),
    ("ldmdb r4!, {r0, r8}", {4: DATA + 16}, {0: 0x00112233, 8: 0x44556677, 4: DATA + 8}, {}),
    ("ldmia.w r4, {r0, r4, lr}", {4: DATA}, {0: 0x8899AABB, 4: 0xCCDDEEFF, LR: 0x00112233}, {}),
    ("stmdb r4!, {r0, r8}", {4: DATA + 16, 0: 1, 8: 2}, {4: DATA + 8}, {8: 1, 12: 2}),
    ("stmia.w r4, {r0, r8}", {4: DATA, 0: 1, 8: 2}, {4: DATA}, {0: 1, 4: 2}),
    ("push.w {r8}", {SP: DATA + 16, 8: 7}, {SP: DATA + 12}, {12: 7}),
    ("lda r0, [r1]\nstlh r0, [r2]", {1: DATA, 2: DATA + 4}, {0: 0x8899AABB}, {4: 0xCCDDAABB}),
    ("ldrex r0, [r1, #4]\nstrex r2, r3, [r1, #4]", {1: DATA, 3: 9}, {0: 0xCCDDEEFF, 2: 0}, {4: 9}),
    ("strexb r2, r3, [r1]", {1: DATA, 3: 9}, {2: 1}, {0: 0x8899AABB}),
    ("ldaexb r0, [r1]\nclrex\nstlexb r2, r3, [r1]", {1: DATA, 3: 9}, {0: 0xBB, 2: 1}, {0: 0x8899AABB}),
]  # fmt: skip
CONTROL = [
    ("msr apsr_nzcvq, r0", {0: 0xA8000000}, "", {}, "NCQ"),
    ("msr apsr_g, r0", {0: MINUS_1}, "V", {}, "V"),
    ("mrs r0, apsr", {}, "ZQ", {0: 0x48000000}, "ZQ"),
    ("dmb\ndsb\nisb\nclrex\nnop.w\nyield.w\nsev.w\nwfe.w", {}, "N", {}, "N"),
    ("tt r0, r1", {1: DATA}, "", {0: 0x004C0000}, ""),
    (".hword 0xe97f, 0xe97f", {}, "C", {}, "C"),
    ("cbz r0, 1f\nmovs r1, #1\n1:", {0: 0, 1: 5}, "N", {1: 5}, "N"),
    ("cbnz r0, 1f\nmovs r1, #1\n1:", {0: 0, 1: 5}, "C", {1: 1}, "C"),
    ("beq.w 1f\nmovs r1, #1\n1:", {1: 5}, "Z", {1: 5}, "Z"),
    ("bne.w 1f\nmovs r1, #1\n1:", {1: 5}, "ZC", {1: 1}, "C"),
    ("tbb [pc, r0]\n1: .byte 0, (2f - 1b) / 2\nmovs r1, #1\n2:", {0: 1, 1: 5}, "", {1: 5}, ""),
    ("tbh [pc, r0, lsl #1]\n1: .hword 0, (2f - 1b) / 2\nmovs r1, #1\n2:", {0: 1, 1: 5}, "", {1: 5}, ""),
    ("adr.w r2, 1f\nadds r2, #1\nblxns r2\n1:", {}, "", {LR: CODE + 9}, ""),
]  # fmt: skip
ITS = [
    ("it eq\nmoveq r0, #1", "Z", 1, "Z"),
    ("it eq\nmoveq r0, #1", "", 7, ""),
    ("ite ne\nmovne r0, #1\nmoveq r0, #2", "ZC", 2, "ZC"),
    ("itt eq\naddeq r0, #1\nsubeq r0, r0, r0", "ZV", 0, "ZV"),
    ("itt eq\ncmpeq r0, #9\nmoveq r0, #2", "Z", 7, "N"),
    ("itee cs\naddscs.w r0, #1\naddcc.w r0, #2\nlslcc r0, r0, #2", "C", 40, ""),
    ("itete gt\nmovgt r0, #1\naddle r0, #1\nldrgt r0, =3\naddle r0, #1", "Z", 9, "Z"),
    ("it eq\nbeq 1f\nmovs r0, #1\n1:", "Z", 7, "Z"),
    ("ittt eq\nmsreq apsr_nzcvq, r1\nmoveq r0, #1\nmoveq r0, #2", "Z", 7, ""),
]


def load(source: str, before: dict[int, int], flags: str = "") -> CoreV8M:
    core = CoreV8M()
    core.load(f"{source}\nbkpt #0\n.ltorg")
    for k, word in enumerate(MEMORY_WORDS):
        core.write(DATA + 4 * k, word)
    core.set(XPSR, XPSR_T | sum(1 << (31 - FLAGS.index(flag)) for flag in flags))
    for register, value in before.items():
        core.set(register, value)
    return core


def run(source: str, before: dict[int, int], flags: str = "") -> CoreV8M:
    """To the first BKPT, without a fault or a complaint."""
    core = load(source, before, flags)
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.machine.message()) == (0, "")
    return core


@pytest.mark.parametrize(
    ("source", "before", "flags", "after", "flags_after"),
    [*DATA_PROCESSING, *FIELDS, *DSP, *CONTROL],
)
def test_result_and_flags(
    source: str, before: dict[int, int], flags: str, after: dict[int, int], flags_after: str
) -> None:
    core = run(source, before, flags)
    assert {register: core.get(register) for register in after} == after
    assert core.flags == flags_after


@pytest.mark.parametrize(("source", "before", "result", "ge"), PARALLEL)
def test_parallel(source: str, before: dict[int, int], result: int, ge: int) -> None:
    core = load(source, before)
    core.set(XPSR, XPSR_T | 0b1010 << 16)
    assert core.go() == Stop.HALTED
    assert (core.get(0), core.ge, core.flags) == (result, ge, "")


@pytest.mark.parametrize(("source", "before", "after", "memory"), MEMORY)
def test_memory(
    source: str, before: dict[int, int], after: dict[int, int], memory: dict[int, int]
) -> None:
    core = run(source, before, "NV")
    assert {register: core.get(register) for register in after} == after
    assert {offset: core.read(DATA + offset) for offset in memory} == memory
    assert core.flags == "NV"


@pytest.mark.parametrize(("source", "flags", "result", "flags_after"), ITS)
def test_it_block(source: str, flags: str, result: int, flags_after: str) -> None:
    core = run(source, {0: 7, 1: 0}, flags)
    assert (core.get(0), core.flags) == (result, flags_after)


@pytest.mark.parametrize("source", ["ldr.w pc, [r0]", "ldmia.w r0!, {r1, pc}", "ldr pc, [r0], #4"])
def test_loads_of_the_pc(source: str) -> None:
    core = load(f"{source}\n.balign 4\nbkpt #1\nnop\nbkpt #2", {0: DATA})
    core.write(DATA, CODE + 9)
    core.write(DATA + 4, CODE + 9)
    assert core.go() == Stop.HALTED
    assert core.get(PC) == CODE + 8


# ---- what faults, and with which bit of CFSR ----

UNDEFINSTR, STKOF, UNALIGNED, DIVBYZERO = 1 << 16, 1 << 20, 1 << 24, 1 << 25
UNALIGN_TRP, DIV_0_TRP = 1 << 3, 1 << 4
FAULTS = [
    ("udf.w #0", 0, UNDEFINSTR),
    (".hword 0xf7f0, 0xa000", 0, UNDEFINSTR),
    (".hword 0xf800, 0x0040", 0, UNDEFINSTR),  # STRB with bits 10:6 set
    (".hword 0xfb00, 0xf0f0", 0, UNDEFINSTR),
    ("ldrd r0, r1, [r4, #1020]", 0, UNALIGNED),
    ("strd r0, r1, [r4], #4", 0, UNALIGNED),
    ("ldm r4!, {r0, r1}", 0, UNALIGNED),
    ("stmdb r4!, {r0, r1}", 0, UNALIGNED),
    ("ldmia.w r4, {r0, pc}", 0, UNALIGNED),
    ("ldrex r0, [r4]", 0, UNALIGNED),
    ("ldah r0, [r4]", 0, UNALIGNED),
    ("stl r0, [r4]", 0, UNALIGNED),
    ("strexh r2, r0, [r4]", 0, UNALIGNED),
    ("ldr r0, [r4]", UNALIGN_TRP, UNALIGNED),
    ("strh r0, [r4]", UNALIGN_TRP, UNALIGNED),
    ("ldr.w r0, [r5, #1]", 0, UNALIGNED),  # a peripheral
    ("sdiv r0, r1, r7", DIV_0_TRP, DIVBYZERO),
    ("udiv r0, r1, r7", DIV_0_TRP, DIVBYZERO),
    ("push.w {r0-r10}", 0, STKOF),
    ("sub sp, #44", 0, STKOF),
    ("subw sp, sp, #41", 0, STKOF),
    ("sub.w sp, sp, r6", 0, STKOF),
    ("mov sp, r7", 0, STKOF),
    ("mov.w sp, r7", 0, STKOF),
    ("str r0, [sp, #-44]!", 0, STKOF),
    ("strd r0, r1, [sp, #-44]!", 0, STKOF),
    ("ldr.w sp, [r8]", 0, STKOF),
]


@pytest.mark.parametrize(("source", "traps", "cfsr"), FAULTS)
def test_fault(source: str, traps: int, cfsr: int) -> None:
    core = load(source, {0: 1, 1: 1, 4: DATA + 1, 5: 0x40000000, 6: 44, 7: 0, 8: DATA + 0x100})
    core.write(CCR, core.read(CCR) | traps)
    core.set(MSPLIM, core.get(SP) - 40)  # room for the frame of the fault, and no more
    assert core.go() == Stop.HALTED
    assert core.read(CFSR) & ~0x1000 == cfsr, core.machine.last_fault()
    assert core.get(4) == DATA + 1, "the base is not written back"


def test_within_the_stack_limit() -> None:
    core = load("push {r0, r1, r2, r3}\nstr r0, [sp, #8]\nadd sp, #8\nsub.w sp, sp, r6", {6: 8})
    core.set(MSPLIM, core.get(SP) - 16)
    assert core.go() == Stop.HALTED
    assert core.in_exception == 0


# ---- IT state over exceptions ----


def it_state(xpsr: int) -> int:
    return xpsr >> 25 & 3 | xpsr >> 8 & 0xFC


def test_an_interrupt_in_the_middle_of_an_it_block() -> None:
    """PendSV is pended in the block and taken at its MSR; the rest of the block comes after it."""
    core = load(
        """itttt eq
        streq r2, [r1]
        msreq apsr_nzcvq, r3
        addeq r4, #1
        addeq r4, #2
        movs r5, #1
        bkpt #0
        handler: it ne
        addne r6, #1
        ldr r7, [sp, #28]
        bx lr""",
        {1: ICSR, 2: 1 << 28, 3: 0x60000000, 4: 0, 5: 0, 6: 0},
        "Z",
    )
    core.vector(PENDSV, "handler")
    assert core.go() == Stop.HALTED
    assert (core.get(4), core.get(5), core.get(6), core.in_exception) == (3, 1, 0, 0)
    assert it_state(core.get(7)) == 0b0000_0100, "two of EQ are left: 0000 0100"
    assert core.flags == "C", "MOVS behind the block sets N and Z"


def test_a_fault_in_an_it_block_returns_into_it() -> None:
    """The handler steps over UDF and advances IT by one, as it has to."""
    core = load(
        """ittte eq
        addeq r4, #1
        udfeq #0
        addeq r4, #2
        addne r4, #4
        bkpt #0
        handler: ldr r7, [sp, #28]
        ldr r0, [sp, #24]
        adds r0, #2
        str r0, [sp, #24]
        bic r0, r7, #0x06000000
        bic r0, r0, #0xfc00
        orr r0, r0, #0x0c00
        str r0, [sp, #28]
        bx lr""",
        {4: 0},
        "Z",
    )
    core.vector(HARD_FAULT, "handler")
    assert core.go() == Stop.HALTED
    assert it_state(core.get(7)) == 0b0000_0110, "three left, EQ"
    assert (core.get(4), core.in_exception) == (3, 0)


def test_stepping_through_an_it_block() -> None:
    core = load("ite eq\naddeq.w r0, r0, #1\naddne r0, #2\nnop", {0: 0}, "Z")
    seen = []
    for _ in range(4):
        assert core.step() == Stop.HALTED
        seen.append((core.get(PC) - CODE, it_state(core.get(XPSR)), core.get(0)))
    assert seen == [(2, 0b0000_1100, 0), (6, 0b0001_1000, 1), (8, 0, 1), (10, 0, 1)]


@pytest.mark.parametrize("source", ["it eq\nbeq 1f\n1:", "itt eq\nbeq.w 1f\nnop\n1:"])
def test_branches_in_the_middle_of_a_block_are_unpredictable(source: str) -> None:
    """The first has its branch at the end, where it belongs."""
    core = load(source.replace("itt eq\nbeq.w 1f", ".hword 0xbf04\n.hword 0xe7ff"), {}, "Z")
    if source.startswith("itt"):
        assert core.go() == Stop.STRICT
        assert "in an IT block: UNPREDICTABLE" in core.machine.message()
    else:
        assert core.go() == Stop.HALTED


UNPREDICTABLE = [
    ".hword 0xea4f, 0x0d0d",  # MOV.W SP, SP
    ".hword 0xf10d, 0x0f01",  # ADD.W PC, SP, #1
    ".hword 0xe8b0, 0x0001",  # LDMIA.W r0!, {r0}
    ".hword 0xf850, 0x0f04",  # LDR r0, [r0, #4]!
    ".hword 0xe9d0, 0x1100",  # LDRD r1, r1, [r0]
    ".hword 0xfb80, 0x1101",  # SMULL r1, r1, r0, r1
    ".hword 0xbfec",  # ITE AL
    "bxns sp",
]


@pytest.mark.parametrize("source", UNPREDICTABLE)
def test_unpredictable_encodings_stop_the_run(source: str) -> None:
    text = source if source.startswith(".") else ".hword 0x476c"
    core = load(text, {})
    assert core.go() == Stop.STRICT
    assert "UNPREDICTABLE" in core.machine.message()


def test_the_non_secure_world_is_not_there() -> None:
    core = load("bxns r0", {0: CODE})
    assert core.go() == Stop.STRICT
    assert "non-secure" in core.machine.message()
