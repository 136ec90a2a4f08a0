# SPDX-License-Identifier: Apache-2.0
"""Cycles of the Cortex-M33 in its two models, and that they do not depend on how a run is cut."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.core_program import (
    CODE,
    DATA,
    PC,
    SP,
    STACK_TOP,
    VTOR,
    XIP,
    XPSR,
    XPSR_T,
    compile_firmware,
)
from tests.emulator.rp2350_chip import connected
from tests.emulator.v8m_program import CPU, CoreV8M

OPTIMISTIC, CONSERVATIVE = 0, 1
BKPT_CYCLES = 1
MINUS_1 = 0xFFFFFFFF

# assembly, cycles optimistic, cycles conservative
CYCLES = [
    ("add.w r0, r1, r2\nnop", 2, 2),
    ("smlad r0, r1, r2, r3\numaal r0, r1, r2, r3", 2, 2),
    # load-use costs 1 in the optimistic model, and there only
    ("ldr r0, [r4]\nnop", 2, 3),
    ("ldr r0, [r4]\nadds r1, r0, #1", 3, 3),
    ("ldr r0, [r4]\nadds r1, r2, #1", 2, 3),
    ("ldr.w r8, [r4]\nsmlad r0, r1, r8, r3", 3, 3),
    ("ldr.w r8, [r4]\nmla r0, r1, r2, r8", 3, 3),
    ("ldr r0, [r4]\nstr r0, [r5]", 3, 3),
    ("ldr r0, [r4]\npush {r0}", 3, 4),
    ("ldr r0, [r4]\nldr r1, [r4]\nnop", 3, 4),
    ("ldr r5, [r4]\nldr r1, [r5]\nnop", 4, 4),
    ("ldr r0, [r4]\nnop\nadds r1, r0, #1", 3, 4),
    ("ldrd r0, r1, [r4]\nadd.w r2, r2, r1", 4, 4),
    ("ldrd r0, r1, [r4]\nnop", 3, 4),
    # a LDR behind a load or store is pipelined in the conservative model, and there only
    ("ldr r0, [r4]\nldr r1, [r4]\nldr r2, [r4]\nldr r3, [r4]", 4, 5),
    ("str r0, [r4]\nldr r1, [r4]", 2, 2),
    ("ldr r1, [r4]\nstr r0, [r4]", 2, 3),
    ("strd r0, r1, [r4]\nldr r1, [r4]", 3, 4),
    ("ldm r4, {r0, r1, r2}\nldr r3, [r5]", 4, 5),
    ("str r0, [r4]\nstr r0, [r4]", 2, 2),
    ("push {r0, r1, r2}\npop {r0, r1, r2}", 6, 8),
    ("stmdb r4!, {r0, r1, r2, r3}", 4, 5),
    ("ldrd r0, r1, [r4]", 2, 3),
    ("ldr r0, [r4, #1]", 2, 4),
    ("strh r0, [r4, #1]", 2, 3),
    # branches
    ("b 1f\nnop\n1:", 2, 3),
    ("b.w 1f\nnop\n1:", 2, 3),
    ("bl 1f\nnop\n1:", 2, 3),
    ("cmp r6, #0\nbeq 1f\nnop\n1:", 3, 4),
    ("cmp r6, #0\nbne 1f\nnop\n1:", 3, 3),
    ("cmp r6, #0\nbeq.w 1f\nnop\n1:", 3, 4),
    ("cbz r6, 1f\nnop\n1:", 2, 3),
    ("cbnz r6, 1f\n1:", 1, 1),
    ("tbb [pc, r6]\n1: .byte (2f - 1b) / 2, 0\n2:", 2, 4),
    ("push {r7}\npop {pc}\n.balign 8\nnop", 1 + 2 + 1, 2 + 4 + 1),
    # IT and what it skips take 1 each
    ("cmp r6, #0\nite eq\naddeq r0, #1\nldrne r0, [r4]", 4, 4),
    ("cmp r6, #0\nite ne\nldrdne r0, r1, [r4]\nudiveq r0, r6, r8\nnop", 6, 6),
    # a division by the length of its quotient, in both
    ("udiv r0, r1, r6", 2, 2),
    ("udiv r0, r6, r8", 2, 2),
    ("udiv r0, r8, r9", 11, 11),
    ("sdiv r0, r8, r9", 3, 3),
    ("udiv r0, r10, r9", 4, 4),
    # the system
    ("mrs r0, apsr\nmsr apsr_nzcvq, r0", 2, 4),
    ("dsb\nisb", 2, 6),
    ("cpsid i", 1, 2),
    ("ldrex r0, [r4]\nstrex r1, r0, [r4]", 4, 4),
    ("ite eq\nnopeq.w\nnopne", 3, 3),
]  # fmt: skip


def core_with(timing: int) -> CoreV8M:
    core = CoreV8M()
    core.machine.set_switch("m33_timing", timing)
    return core


def cycles_of(source: str, timing: int) -> int:
    core = core_with(timing)
    core.load(f"{source}\nbkpt #0")
    for register, value in {4: DATA, 5: DATA, 6: 0, 7: CODE + 9, 8: MINUS_1, 9: 1, 10: 100}.items():
        core.set(register, value)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert (core.in_exception, core.machine.message()) == (0, "")
    return core.cycles - start - BKPT_CYCLES


@pytest.mark.parametrize(("source", "optimistic", "conservative"), CYCLES)
def test_cycles(source: str, optimistic: int, conservative: int) -> None:
    assert (cycles_of(source, OPTIMISTIC), cycles_of(source, CONSERVATIVE)) == (
        optimistic,
        conservative,
    )


def test_conservative_is_the_default() -> None:
    core = CoreV8M("ldr r0, [r4]\nnop\nbkpt #0")
    core.set(4, DATA)
    start = core.cycles
    core.go()
    assert core.cycles - start == 3 + BKPT_CYCLES


def test_changing_the_model_changes_what_was_decoded() -> None:
    core = core_with(CONSERVATIVE)
    taken = []
    for timing in (CONSERVATIVE, OPTIMISTIC):
        core.machine.set_switch("m33_timing", timing)
        core.load("b 1f\nnop\n1: ldr r0, [r4]\nnop\nbkpt #0")
        core.set(4, DATA)
        start = core.cycles
        core.go()
        taken.append(core.cycles - start - BKPT_CYCLES)
    assert taken == [3 + 2 + 1, 2 + 1 + 1]


def test_the_cost_of_a_load_follows_the_code_behind_it() -> None:
    """What the load is followed by is written after it was decoded, a long instruction at a time."""
    core = core_with(OPTIMISTIC)
    core.load("ldr.w r0, [r4]\nadd.w r1, r1, r0\nbkpt #0")
    taken = []
    for word in (0x0100EB01, 0x0102EB01, 0x0100EB01):  # ADD.W r1, r1, r0 (r2, r0)
        core.set(PC, CODE)
        core.set(4, DATA)
        core.set(5, CODE + 4)
        core.write(CODE + 4, word)
        start = core.cycles
        assert core.go() == Stop.HALTED
        taken.append(core.cycles - start - BKPT_CYCLES)
    assert taken == [3, 2, 3]


# ---- slicing ----

WORKLOAD_AT = XIP + 0x2000
COUNTERS = (
    Counter.CYCLES, Counter.INSTRUCTIONS, Counter.XIP_ACCESSES, Counter.XIP_MISSES,
    Counter.EXCEPTIONS,
)  # fmt: skip


def workload(slice_cycles: int, timing: int) -> tuple[object, ...]:
    """firmware/workload.c from flash: what the counters gained, its results, all registers."""
    code, symbols = compile_firmware("workload", WORKLOAD_AT, CPU)
    core = CoreV8M(machine=connected().machine)
    core.machine.set_switch("m33_timing", timing)
    core.machine.load_flash(WORKLOAD_AT - XIP, code)
    core.write(VTOR, WORKLOAD_AT)
    core.set(SP, STACK_TOP)
    core.set(XPSR, XPSR_T)
    core.set(PC, symbols["reset"])
    before = [core.machine.counter(counter) for counter in COUNTERS]
    stop = core.go(slice_cycles)
    while stop == Stop.RAN:
        stop = core.machine.run(core.cycles + slice_cycles)
    assert stop == Stop.HALTED
    after = [core.machine.counter(counter) for counter in COUNTERS]
    gained = tuple(new - old for new, old in zip(after, before, strict=True))
    results = core.read(symbols["result"]), core.read(symbols["ticks"])
    return gained, results, tuple(core.get(n) for n in range(21))


def test_slicing_changes_nothing() -> None:
    whole = workload(1 << 60, CONSERVATIVE)
    gained, (_, ticks), _ = whole
    assert isinstance(gained, tuple)
    assert gained[3] > 1000, "the workload should miss in the XIP cache"
    assert gained[4] == ticks > 50, "and be interrupted"
    for slice_cycles in (97, 10_000, 1_000_000):
        assert workload(slice_cycles, CONSERVATIVE) == whole


def test_the_models_differ_in_cycles_only() -> None:
    (fast, *_), (slow, *_) = workload(1 << 60, OPTIMISTIC), workload(1 << 60, CONSERVATIVE)
    assert isinstance(fast, tuple)
    assert isinstance(slow, tuple)
    assert 1.02 < slow[0] / fast[0] < 1.5


IT_LOOP = """
1: subs r0, #1
itett ne
addne.w r1, r1, r0
moveq r2, #1
msrne apsr_nzcvq, r6
addne r3, #1
adds r4, #1
cmp r0, #0
bne 1b
bkpt #0
"""


def test_slicing_an_it_block() -> None:
    """MSR looks for the end of a run in the middle of a block."""
    seen = []
    for slice_cycles in (1, 2, 7, 1 << 40):
        core = CoreV8M(IT_LOOP)
        for register, value in {0: 50, 1: 0, 2: 0, 3: 0, 4: 0, 6: 0}.items():
            core.set(register, value)
        start = core.cycles
        stop = core.go(slice_cycles)
        while stop == Stop.RAN:
            stop = core.machine.run(core.cycles + slice_cycles)
        assert stop == Stop.HALTED
        seen.append((core.cycles - start, [core.get(n) for n in range(17)]))
    assert seen[0][1][:5] == [0, 49 * 50 // 2, 1, 49, 50]
    assert all(entry == seen[0] for entry in seen)
