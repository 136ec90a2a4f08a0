# SPDX-License-Identifier: Apache-2.0
"""Cycles do not depend on how a run is cut, on skipping instead of looping, or on the C compiler."""

from __future__ import annotations

import shutil

import pytest

from harness.emulator.machine import Counter, Stop
from tests.emulator.core_program import (
    CODE,
    PC,
    SP,
    STACK_TOP,
    SYSTICK,
    VTOR,
    XIP,
    XPSR,
    XPSR_T,
    Core,
    compile_firmware,
)
from tests.emulator.test_chip_flash import connected, enter_continuous_read

WORKLOAD_AT = XIP + 0x1000
MISS_CYCLES = 56
COUNTERS = (
    Counter.CYCLES,
    Counter.INSTRUCTIONS,
    Counter.XIP_ACCESSES,
    Counter.XIP_MISSES,
    Counter.EXCEPTIONS,
)
CSR, RVR, CVR = 0xE000E010, 0xE000E014, 0xE000E018


def core_with_flash() -> Core:
    """The flash interface as the pico-sdk sets it up: quad continuous read, clock divider 2."""
    chip = connected()
    enter_continuous_read(chip)
    assert chip.machine.counter(Counter.XIP_MISS_CYCLES) == MISS_CYCLES
    return Core(machine=chip.machine)


def workload(slice_cycles: int) -> tuple[object, ...]:
    """firmware/workload.c from flash: what the counters gained, its results, all registers."""
    code, symbols = compile_firmware("workload", WORKLOAD_AT)
    core = core_with_flash()
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
    whole = workload(1 << 60)
    gained, (_, ticks), _ = whole
    assert isinstance(gained, tuple)
    assert gained[3] > 1000, "the workload should miss in the XIP cache"
    assert gained[4] == ticks > 50, "and be interrupted"
    for slice_cycles in (97, 10_000, 1_000_000):
        assert workload(slice_cycles) == whole


@pytest.mark.extra
def test_compilers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("clang") or not shutil.which("gcc"):
        pytest.skip("needs both gcc and clang")
    monkeypatch.setenv("CC", "gcc")
    by_gcc = workload(1 << 60)
    monkeypatch.setenv("CC", "clang")
    assert workload(1 << 60) == by_gcc


# ---- the XIP cache ----


def test_a_line_costs_one_miss_and_then_nothing() -> None:
    core = core_with_flash()
    core.load("nop\nnop\nnop\nnop\nnop\nbkpt #0", XIP + 0x100)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert core.cycles - start == 6 + 2 * MISS_CYCLES
    core.set(PC, XIP + 0x100)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert core.cycles - start == 6


def test_a_long_instruction_over_the_edge_of_a_line_needs_both() -> None:
    core = core_with_flash()
    core.load("nop\nnop\nnop\nbl 1f\n.balign 64\n1: bkpt #0", XIP + 0x100)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert core.cycles - start == 3 + 3 + 1 + 3 * MISS_CYCLES


def test_coming_back_from_sram_fetches_the_line_again() -> None:
    core = core_with_flash()
    core.load("bx lr", CODE)
    core.load("blx r0\nnop\nbkpt #0", XIP + 0x100)
    core.set(0, CODE | 1)
    before = core.machine.counter(Counter.XIP_ACCESSES), core.machine.counter(Counter.XIP_MISSES)
    assert core.go() == Stop.HALTED
    after = core.machine.counter(Counter.XIP_ACCESSES), core.machine.counter(Counter.XIP_MISSES)
    assert (after[0] - before[0], after[1] - before[1]) == (2, 1)


def test_two_ways_and_the_older_one_goes() -> None:
    """Three addresses 8 KB apart share a set of two lines."""
    core = core_with_flash()
    core.load(
        "ldr r0, [r1]\nldr r0, [r2]\nldr r0, [r1]\nldr r0, [r3]\nldr r0, [r1]\nldr r0, [r2]\nbkpt #0"
    )
    for register in (1, 2, 3):
        core.set(register, XIP + 0x40000 + 8192 * register)
    before = core.machine.counter(Counter.XIP_MISSES)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert core.machine.counter(Counter.XIP_MISSES) - before == 4
    assert core.cycles - start == 6 * 2 + 4 * MISS_CYCLES + 1


def test_windows_that_do_not_allocate_miss_every_time() -> None:
    core = core_with_flash()
    core.load("ldr r0, [r1]\nldr r0, [r1]\nldr r0, [r2]\nbkpt #0")
    core.set(1, 0x13000000)
    core.set(2, XIP)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert core.cycles - start == 3 * (2 + MISS_CYCLES) + 1


# ---- skipping ----

SPIN, LOOP = "1: b 1b", "1: nop\nb 2f\n2: b 1b"


def interrupted(waiting: str, period: int, slice_cycles: int) -> list[tuple[int, int]]:
    """Cycle and count at each of five SysTick interrupts that come while the program waits."""
    core = Core(f"{waiting}\n.balign 4\nhandler: adds r7, #1\nbkpt #0\nbx lr")
    core.vector(SYSTICK, "handler")
    core.set(7, 0)
    core.write(RVR, period - 1)
    core.write(CVR, 0)
    core.write(CSR, 7)
    start, seen = core.cycles, []
    while len(seen) < 5:
        core.go(slice_cycles)
        while core.get(PC) != core.labels["handler"] + 2:
            core.machine.run(core.cycles + slice_cycles)
        seen.append((core.cycles - start, core.get(7)))
        core.set(PC, core.get(PC) + 2)
    return seen


@pytest.mark.parametrize("period", [100, 101, 4096])
def test_a_skipped_loop_ends_where_the_looped_one_would(period: int) -> None:
    """B . looked at every 2 cycles lands on the first even distance at or after the event."""
    first, second = interrupted(SPIN, period, 1 << 60)[:2]
    begin = period + period % 2
    assert first == (begin + 15 + 1 + 1, 1)
    assert second[0] > first[0] + period - 2
    for slice_cycles in (2, 3, 7, 1000):
        assert interrupted(SPIN, period, slice_cycles) == interrupted(SPIN, period, 1 << 60)


def test_a_skipped_loop_counts_its_instructions() -> None:
    core = Core("1: b 1b")
    start = core.cycles
    assert core.go(1_000_001) == Stop.RAN
    assert core.cycles - start == 1_000_002
    assert core.machine.counter(Counter.INSTRUCTIONS) == 500_001
    assert core.get(PC) == CODE
    core.machine.run(core.cycles + (1 << 50))
    assert core.machine.counter(Counter.INSTRUCTIONS) == 500_001 + (1 << 49)


def test_a_loop_that_cannot_be_skipped_takes_the_same_cycles() -> None:
    """5 cycles a round, so the interrupt is seen at a multiple of them plus where branches are."""
    for slice_cycles in (3, 1000):
        assert interrupted(LOOP, 1001, slice_cycles) == interrupted(LOOP, 1001, 1 << 60)


@pytest.mark.parametrize("waiting", ["1: wfi\nb 1b", "1: wfe\nb 1b"])
def test_sleep_is_cut_without_a_trace(waiting: str) -> None:
    whole = interrupted(waiting, 1001, 1 << 60)
    assert whole[0] == (1001 + 15 + 1 + 1, 1)
    for slice_cycles in (1, 97, 10_000):
        assert interrupted(waiting, 1001, slice_cycles) == whole


def test_a_run_ends_at_the_first_branch_at_or_after_its_end() -> None:
    core = Core("nop\nnop\nnop\nnop\n1: b 1b")
    start = core.cycles
    core.go(1)
    assert (core.cycles - start, core.get(PC)) == (4 + 2, CODE + 8)
    assert core.machine.run(core.cycles) == Stop.RAN
    assert core.cycles - start == 6, "nothing runs when the end is reached"


def test_code_that_is_written_over_and_over() -> None:
    """One place in a loop is a NOP (1 cycle) and a multiple load (3) in turn, stored by the loop."""
    core = Core(
        "1: strh r4, [r6]\n2: nop\nmov r3, r4\nmov r4, r5\nmov r5, r3\n"
        "adds r7, #1\ncmp r7, #100\nbne 1b\nbkpt #0"
    )
    nop, ldm_r0_r1_r2 = 0xBF00, 0xC806
    core.set(0, 0x20010000)
    core.set(4, ldm_r0_r1_r2)
    core.set(5, nop)
    core.set(6, CODE + 2)
    core.set(7, 0)
    start = core.cycles
    assert core.go() == Stop.HALTED
    assert core.get(0) == 0x20010000 + 50 * 8
    assert core.cycles - start == 50 * 3 + 50 * 1 + 100 * (2 + 3 + 1 + 1 + 2) - 1 + 1
    assert core.machine.counter(Counter.INSTRUCTIONS) == 100 * 8 + 1
