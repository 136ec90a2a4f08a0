# SPDX-License-Identifier: Apache-2.0
"""The profile over tiny programs: whose cycles they are, to the cycle, and at no cycle."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from harness.emulator.profiler import Count, Profiler, ProfileWindow
from harness.errors import ConfigError
from tests.emulator.core_program import DATA, SRAM, XIP, Core
from tests.emulator.v8m_program import CoreV8M
from tests.emulator.witness_program import AROUND

CORES = [Core, CoreV8M]
IN_FLASH = "ldr r7, =0x10000101\n blx r7"
FLASH_CODE = """
    ldr r1, [r3]        @ at 0x10000100: a line of code, a line of data
    ldr r1, [r3]
    nop
    nop
    nop                 @ the next line of code
    bx lr"""


def _run(core: Core, slice_cycles: int = 100_000) -> None:
    stop = core.go(0)
    for _ in range(100_000):
        if stop == Stop.HALTED:
            return
        stop = core.machine.run(core.cycles + slice_cycles)
    raise AssertionError("it does not end")


def _profiled(
    body: str, core_type: type[Core] = Core, slice_cycles: int = 100_000
) -> tuple[Core, ProfileWindow]:
    """The only window of `body` between the two calls."""
    core = core_type(AROUND.format(body=body))
    profiler = Profiler(core.machine)
    profiler.start(begin=core.labels["begin"] | 1, end=core.labels["end"] | 1)
    _run(core, slice_cycles)
    (window,) = profiler.windows()
    return core, window


def _by_label(core: Core, window: ProfileWindow) -> dict[str, tuple[int, int]]:
    """Cycles and times of the labelled instructions."""
    at = {count.pc: (count.cycles, count.instructions) for count in window.counts}
    return {name: at[pc] for name, pc in core.labels.items() if pc in at}


def test_every_instruction_has_its_cycles() -> None:
    """The M0+'s own table: 1 for data processing, 2 for a load, 2 for a branch taken and 1 for one that
    is not, 3 for a call."""
    body = """
    one:  movs r1, #3
    loop: subs r1, #1
    back: bne loop
    load: ldr r2, [r0]
    many: push {r1-r3}
          add sp, #12
    call:"""
    core, window = _profiled(body)
    assert _by_label(core, window) == {
        "one": (1, 1),
        "loop": (3, 3),
        "back": (5, 3),
        "load": (2, 1),
        "many": (4, 1),
        "call": (3, 1),
    }
    assert window.cycles == 19 == sum(count.cycles for count in window.counts)
    assert sum(count.instructions for count in window.counts) == 11


@pytest.mark.parametrize("core_type", CORES)
def test_misses_of_the_flash_cache_are_whose_fetch_or_load_they_were(
    core_type: type[Core],
) -> None:
    """The first fetch and the first load miss, a fetch in the next line does, and nothing else."""
    core = core_type(AROUND.format(body=f"ldr r3, =0x10000200\n {IN_FLASH}"))
    from tests.emulator.core_program import assemble

    code, _ = assemble(FLASH_CODE, XIP + 0x100, core_type.CPU)
    core.machine.load_flash(0x100, code)
    profiler = Profiler(core.machine)
    profiler.start(begin=core.labels["begin"] | 1, end=core.labels["end"] | 1)
    before = core.machine.counter(Counter.XIP_MISSES)
    _run(core)
    (window,) = profiler.windows()
    misses = {count.pc - XIP: count.misses for count in window.counts if count.misses}
    assert misses == {0x100: 2, 0x108: 1}
    assert core.machine.counter(Counter.XIP_MISSES) - before == 3


def test_instructions_of_an_it_block_and_those_it_skips() -> None:
    body = """
         movs r1, #0
         cmp r1, #0
    it:  ittee eq
    yes: moveq r2, #1
         moveq r2, #2
    no:  movne r2, #3
    not: movne r2, #4
         nop"""
    core, window = _profiled(body, CoreV8M)
    found = _by_label(core, window)
    assert [found[name][1] for name in ("it", "yes", "no", "not")] == [1, 1, 1, 1]
    assert sum(count.cycles for count in window.counts) == window.cycles


BUSY = """
        movs r1, #200
    1:  ldr r2, [r0]
        adds r2, r1
        str r2, [r0]
        subs r1, #1
        bne 1b"""


@pytest.mark.parametrize("core_type", CORES)
def test_it_costs_no_cycle_and_does_not_depend_on_slices(core_type: type[Core]) -> None:
    plain = core_type(AROUND.format(body=BUSY))
    _run(plain)
    whole, window = _profiled(BUSY, core_type)
    sliced, other = _profiled(BUSY, core_type, slice_cycles=7)
    assert plain.cycles == whole.cycles == sliced.cycles
    assert plain.read(DATA) == whole.read(DATA)
    assert window == other
    assert sum(count.cycles for count in window.counts) == window.cycles


def test_windows_are_apart_and_start_forgets_them() -> None:
    core = Core("ldr r0, =0x20010000\n movs r5, #2\n1: " + AROUND.format(body="nop").replace(
        "bkpt #0", "subs r5, #1\n bne 1b\n bkpt #0", 1
    ))  # fmt: skip
    profiler = Profiler(core.machine)
    profiler.start(begin=core.labels["begin"] | 1, end=core.labels["end"] | 1)
    _run(core)
    first, second = profiler.windows()
    assert first == second
    assert [count.cycles for count in first.counts] == [1, 3]
    profiler.start(begin=0, end=0)
    assert profiler.windows() == ()


def test_a_reset_drops_an_open_window() -> None:
    core = Core(AROUND.format(body="b ."))
    profiler = Profiler(core.machine)
    profiler.start(begin=core.labels["begin"] | 1, end=core.labels["end"] | 1)
    core.go(1000)
    core.machine.reset()
    core.halt()
    core.load(AROUND.format(body="nop"))
    _run(core)
    (window,) = profiler.windows()
    assert window.cycles == 4


def test_one_looks_on_at_a_time() -> None:
    core = Core("bkpt #0")
    profiler = Profiler(core.machine)
    core.machine.witness_start(SRAM, SRAM)
    with pytest.raises(ConfigError, match="witness"):
        profiler.start(begin=SRAM, end=SRAM)
    core.machine.witness_stop()
    profiler.start(begin=SRAM, end=SRAM)
    with pytest.raises(ConfigError, match="profiler"):
        core.machine.witness_start(SRAM, SRAM)
    profiler.stop()
    core.machine.witness_start(SRAM, SRAM)


def test_nothing_is_counted_after_stop() -> None:
    core, window = _profiled("nop")
    assert [count for count in window.counts if count.cycles == 1] == [
        Count(core.labels["start"] + 6, 1, 1, 0, 0)
    ]
    Profiler(core.machine).stop()
    assert core.machine.profile_windows() == ()
