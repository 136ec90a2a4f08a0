# SPDX-License-Identifier: Apache-2.0
"""The watchpoint over tiny programs: the core halts ahead of one store of many, and goes on from it."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from harness.emulator.watchpoint import Watchpoint
from tests.emulator.core_program import DATA, DFSR, PC, Core
from tests.emulator.v8m_program import CoreV8M
from tests.emulator.witness_program import AROUND

DWTTRAP = 1 << 2
THRICE = """
       movs r1, #1
   a:  strb r1, [r0, #5]
       adds r1, #1
   b:  strh r1, [r0, #4]
       adds r1, #1
       strb r1, [r0, #6]
   c:  str r1, [r0, #4]
"""


def _watch(body: str, core_type: type[Core], **at: int) -> tuple[Core, Watchpoint, Stop]:
    core = core_type(AROUND.format(body=body))
    watchpoint = Watchpoint(core.machine)
    watchpoint.watch(
        begin=core.labels["begin"] | 1, end=core.labels["end"] | 1, address=DATA + 5, **at
    )
    return core, watchpoint, core.go(100_000)


@pytest.mark.parametrize("core_type", [Core, CoreV8M])
def test_stores_that_reach_the_byte_are_counted(core_type: type[Core]) -> None:
    core, watchpoint, stop = _watch(THRICE, core_type)
    assert stop == Stop.HALTED  # at bkpt
    assert core.get(PC) not in {core.labels[name] for name in "abc"}
    assert (watchpoint.stores(), watchpoint.last_store()) == (3, core.labels["c"])


@pytest.mark.parametrize("core_type", [Core, CoreV8M])
@pytest.mark.parametrize(("store", "label", "before"), [(1, "a", 0), (2, "b", 1), (3, "c", 0)])
def test_it_halts_ahead_of_the_store(
    store: int, label: str, before: int, core_type: type[Core]
) -> None:
    core, _, stop = _watch(THRICE, core_type, store=store)
    assert (stop, core.get(PC)) == (Stop.HALTED, core.labels[label])
    assert core.read(DFSR) & DWTTRAP
    assert core.machine.bus_read(DATA + 5, 1) == before
    instructions = core.machine.counter(Counter.INSTRUCTIONS)
    core.step()
    assert core.get(PC) == core.labels[label] + 2
    assert core.machine.counter(Counter.INSTRUCTIONS) == instructions + 1
    assert core.go(100_000) == Stop.HALTED
    assert core.machine.bus_read(DATA + 4, 4) == 3


@pytest.mark.parametrize("core_type", [Core, CoreV8M])
def test_halting_costs_no_cycle_in_the_end(core_type: type[Core]) -> None:
    free, _, _ = _watch(THRICE, core_type)
    held, _, _ = _watch(THRICE, core_type, store=2)
    held.go(100_000)
    assert held.cycles == free.cycles


def test_another_window_is_not_halted_in() -> None:
    core, _, stop = _watch(THRICE, Core, window=1, store=1)
    assert stop == Stop.HALTED
    assert core.get(PC) not in {core.labels[name] for name in "abc"}


@pytest.mark.parametrize(
    ("body", "core_type"),
    [
        ("movs r1, #9\n movs r2, #9\n mov r3, r0\nat: stm r3!, {r1, r2}", Core),
        ("movs r1, #9\n movs r2, #9\n mov r3, r0\nat: strd r1, r2, [r3], #8", CoreV8M),
        ("movs r1, #9\n mov r3, r0\nat: str r1, [r3, #3]!", CoreV8M),
        ("movs r1, #9\n cmp r1, #9\n it eq\nat: strbeq r1, [r0, #5]", CoreV8M),
    ],
    ids=["stm", "strd", "unaligned", "it"],
)
def test_a_store_begins_anew(body: str, core_type: type[Core]) -> None:
    """Bases have not moved while it is halted, and end where they do without a halt."""
    free, _, _ = _watch(body, core_type)
    core, _, stop = _watch(body, core_type, store=1)
    assert (stop, core.get(PC)) == (Stop.HALTED, core.labels["at"])
    assert core.get(3) in (0, DATA)
    core.go(100_000)
    assert [core.get(n) for n in range(13)] == [free.get(n) for n in range(13)]
    assert core.machine.bus_read_block(DATA, 16) == free.machine.bus_read_block(DATA, 16)


def test_after_stop_it_halts_no_more() -> None:
    core = Core(AROUND.format(body=THRICE))
    watchpoint = Watchpoint(core.machine)
    watchpoint.watch(begin=core.labels["begin"], end=core.labels["end"], address=DATA + 5, store=1)
    watchpoint.stop()
    core.go(100_000)
    assert core.get(PC) not in {core.labels[name] for name in "abc"}
