# SPDX-License-Identifier: Apache-2.0
"""The witness over accesses that only ARMv8-M has: unaligned, doubleword, FPU, conditional."""

from __future__ import annotations

import pytest

from harness.emulator.machine import Counter, Stop
from harness.emulator.witness import Extent, Window, Witness
from tests.emulator.core_program import DATA, STACK_TOP
from tests.emulator.v8m_program import CPACR, CoreV8M
from tests.emulator.witness_program import ARENA, AROUND, NOTHING, STACK, watched


def _arena(body: str) -> tuple[CoreV8M, Window]:
    core, _, window = watched(
        body,
        areas={"arena": [(DATA, 64)], "stack": [STACK]},
        inputs=[(DATA, 8)],
        before=lambda core: core.write(CPACR, 0xF << 20),
        core_type=CoreV8M,
    )
    assert isinstance(core, CoreV8M)
    return core, window


@pytest.mark.parametrize(
    ("store", "first", "end"),
    [
        ("str r1, [r0, #17]", 17, 21),
        ("strh r1, [r0, #19]", 19, 21),
        ("strb r1, [r0, #19]", 19, 20),
        ("strd r1, r2, [r0, #16]", 16, 24),
        ("stmdb r3, {r1, r2}", 24, 32),
        ("str r1, [r0, #12]!", 12, 16),
        ("vstr s0, [r0, #16]", 16, 20),
        ("vstmia r3, {s0-s3}", 32, 48),
        ("cmp r0, r0\n ite eq\n strbeq r1, [r0, #9]\n strbne r1, [r0, #10]", 9, 10),
        ("ldrex r2, [r0, #8]\n strex r4, r1, [r0, #8]", 8, 12),
    ],
)
def test_stores(store: str, first: int, end: int) -> None:
    _, window = _arena(f"add r3, r0, #32\n movs r1, #1\n {store}\n sub r0, r3, #32")
    expected = Extent(end - first, DATA + first, DATA + end)
    assert window.zones["arena"].written == expected
    assert window.zones["elsewhere"].written == NOTHING


@pytest.mark.parametrize(
    ("load", "count"),
    [
        ("ldr r1, [r0, #7]", 3),
        ("ldrd r1, r2, [r0, #4]", 4),
        ("ldmia r3, {r1, r2}", 8),
        ("vldr s0, [r3]", 4),
        ("cmp r0, r0\n it ne\n ldrne r1, [r3]", 0),
    ],
)
def test_loads_of_unwritten_bytes(load: str, count: int) -> None:
    _, window = _arena(f"add r3, r0, #32\n {load}")
    assert window.zones["arena"].unwritten.count == count


def test_a_collision_of_a_doubleword_with_an_unaligned_load() -> None:
    body = "at: strd r1, r2, [r0, #4]\non: ldr r1, [r0, #1]\n ldr r1, [r0, #12]"
    core, window = _arena(body)
    assert window.collisions == 1
    assert window.overwritten is not None
    assert window.last_read is not None
    assert (window.overwritten.address, window.overwritten.pc) == (DATA + 4, core.labels["at"])
    assert (window.last_read.address, window.last_read.pc) == (DATA + 4, core.labels["on"])


def test_a_push_of_fpu_registers_is_on_the_stack() -> None:
    _, window = _arena("vpush {s0-s7}\n add sp, #32")
    assert window.zones["stack"].written == Extent(32, STACK_TOP - 32, STACK_TOP)


def test_it_costs_no_cycle() -> None:
    body = "movs r1, #3\n1: strd r1, r2, [r0]\n ldr r2, [r0, #1]\n subs r1, #1\n bne 1b"

    def counters(watched: bool) -> list[int]:
        core = CoreV8M(AROUND.format(body=body))
        if watched:
            Witness(core.machine).watch(
                begin=core.labels["begin"], end=core.labels["end"], areas={"arena": [ARENA]}
            )
        assert core.go() == Stop.HALTED
        return [core.machine.counter(which) for which in Counter]

    assert counters(True) == counters(False)
