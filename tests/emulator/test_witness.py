# SPDX-License-Identifier: Apache-2.0
"""The witness over tiny programs: exactly what they do to SRAM, with the pcs, and at no cycle."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.emulator.machine import Counter, Stop
from harness.emulator.witness import Access, Extent, Range, Window, Witness
from harness.emulator.witness_records import OVERWRITTEN, READ, WRITTEN
from harness.errors import ConfigError
from tests.emulator.core_program import DATA, SRAM, STACK_TOP, Core
from tests.emulator.witness_program import ARENA, AROUND, NOTHING, STACK, watched


def test_the_write_set_is_exact() -> None:
    """Also of a store that leaves the value as it was, and nothing outside the window."""
    body = "movs r1, #0\n strb r1, [r0, #3]\n movs r1, #7\nat: strh r1, [r0, #6]"
    core, witness, window = watched(body)
    arena = window.zones["arena"]
    assert arena.written == Extent(3, DATA + 3, DATA + 8)
    assert arena.changed == Extent(1, DATA + 6, DATA + 7)
    assert arena.unexplained == 0
    assert window.zones["elsewhere"].written == NOTHING
    flags = core.machine.witness_shadow()[DATA - SRAM : DATA - SRAM + 16]
    assert [n for n in range(16) if flags[n] & WRITTEN] == [3, 6, 7]
    assert witness.last_writer(DATA + 7) == (core.labels["at"], window.closed - 3)  # bl end: 3
    assert witness.last_writer(DATA + 4) is None


def test_store_multiple_and_push_are_seen_word_by_word() -> None:
    _, _, window = watched("movs r1, #1\n push {r0-r3}\n add sp, #16\n stm r0!, {r1, r2}")
    assert window.zones["arena"].written == Extent(8, DATA, DATA + 8)
    assert window.zones["stack"].written == Extent(16, STACK_TOP - 16, STACK_TOP)


def test_the_depth_of_the_stack() -> None:
    """What is reserved counts at the next store, written or not."""
    _, _, window = watched("sub sp, #40\n strb r0, [r0]\n push {r1}\n add sp, #44")
    assert window.lowest_sp == STACK_TOP - 40
    assert window.zones["stack"].written == Extent(4, STACK_TOP - 44, STACK_TOP - 40)


def test_a_byte_that_was_never_written_is_read() -> None:
    body = """
        strb r0, [r0, #4]
        ldrb r1, [r0, #4]
        ldrb r1, [r0, #8]
    at: ldr r1, [r0]
        ldrb r1, [r0, #1]
        ldrh r1, [r0, #10]"""
    core, _, window = watched(body, inputs=[(DATA + 8, 2)])
    arena = window.zones["arena"]
    assert arena.unwritten == Extent(6, DATA, DATA + 12)
    assert arena.first_unwritten is not None
    assert (arena.first_unwritten.address, arena.first_unwritten.pc) == (DATA, core.labels["at"])
    flags = core.machine.witness_shadow()[DATA - SRAM : DATA - SRAM + 16]
    assert [n for n in range(16) if flags[n] & READ] == [0, 1, 2, 3, 4, 8, 10, 11]


def test_a_store_outside_the_arena() -> None:
    """Beside the arena, and anywhere else in SRAM, each with its pc."""
    body = """
        strb r0, [r0, #15]
    at: strb r0, [r0, #16]
        ldr r2, =0x20008000
    on: str r0, [r2]"""
    core, _, window = watched(
        body,
        areas={"arena": [ARENA], "outside": [(DATA - 16, 16), (DATA + 16, 16)], "stack": [STACK]},
    )
    assert window.zones["arena"].written == Extent(1, DATA + 15, DATA + 16)
    outside, elsewhere = window.zones["outside"], window.zones["elsewhere"]
    assert outside.written == Extent(1, DATA + 16, DATA + 17)
    assert outside.first_store is not None
    assert (outside.first_store.address, outside.first_store.pc) == (DATA + 16, core.labels["at"])
    assert elsewhere.written == Extent(4, 0x20008000, 0x20008004)
    assert elsewhere.first_store is not None
    assert elsewhere.first_store.pc == core.labels["on"]


# Input [8, 12), output [6, 10): byte 9 falls first but is read last, byte 8 is no longer needed.
OVERWRITING = """
    movs r1, #1
    ldrb r2, [r0, #8]
    strb r1, [r0, #6]
    strb r1, [r0, #8]       @ dead: read before
a:  strb r1, [r0, #10]
b:  strb r1, [r0, #9]
c:  ldrb r2, [r0, #9]
d:  ldrh r2, [r0, #10]
e:  ldrb r2, [r0, #10]
    ldrb r2, [r0, #9]
    ldrb r2, [r0, #6]"""


def _overwriting(**options: int) -> tuple[Core, Window]:
    core, _, window = watched(
        OVERWRITING, inputs=[(DATA + 8, 4)], outputs=[(DATA + 6, 5)], **options
    )
    return core, window


def test_the_first_store_onto_a_live_byte_is_found() -> None:
    """Of several collisions the one whose store came first, though another was read first."""
    core, window = _overwriting()
    labels = core.labels
    assert window.collisions == 2
    assert window.overwritten is not None
    assert window.last_read is not None
    store, load = window.overwritten, window.last_read
    assert (store.address, store.pc, store.progress) == (DATA + 10, labels["a"], 2)
    assert (load.address, load.pc, load.progress) == (DATA + 10, labels["e"], 4)
    assert load.cycle - store.cycle == 2 + 2 + 2 + 2  # str, ldr, ldrh, ldrb
    flags = core.machine.witness_shadow()[DATA - SRAM : DATA - SRAM + 16]
    assert [n for n in range(16) if flags[n] & OVERWRITTEN] == [8, 9, 10]


def test_without_a_later_load_there_is_no_collision() -> None:
    _, _, window = watched(
        "ldrb r2, [r0, #8]\n strb r2, [r0, #8]\n ldrb r2, [r0, #9]", inputs=[(DATA + 8, 4)]
    )
    assert (window.collisions, window.overwritten, window.last_read) == (0, None, None)


def test_words_of_one_instruction_have_an_order() -> None:
    """STM overwrites the lower word first, and LDM reads the higher one too."""
    body = "mov r3, r0\nat: stm r3!, {r1, r2}\n mov r3, r0\n ldm r3!, {r1, r2}"
    core, _, window = watched(body, inputs=[(DATA, 8)])
    assert window.collisions == 8
    assert window.overwritten is not None
    assert (window.overwritten.address, window.overwritten.pc) == (DATA, core.labels["at"])


@pytest.mark.parametrize("slice_cycles", [1, 3, 7])
def test_slices_change_nothing(slice_cycles: int) -> None:
    core, whole = _overwriting()
    sliced_core, sliced = _overwriting(slice_cycles=slice_cycles)
    assert sliced == whole
    assert sliced_core.cycles == core.cycles


def test_it_costs_no_cycle() -> None:
    """On, on and off again, or never there: the same counters."""

    def counters(prepare: Callable[[Core], None]) -> list[int]:
        core = Core(AROUND.format(body=OVERWRITING))
        prepare(core)
        assert core.go() == Stop.HALTED
        return [core.machine.counter(which) for which in Counter]

    def on(core: Core) -> None:
        Witness(core.machine).watch(
            begin=core.labels["begin"], end=core.labels["end"], areas={"arena": [ARENA]}
        )

    def on_and_off(core: Core) -> None:
        on(core)
        Witness(core.machine).stop()

    assert counters(on) == counters(lambda _: None)
    assert counters(on_and_off) == counters(lambda _: None)


def test_turned_on_and_off_in_the_middle() -> None:
    """Instructions that were decoded for one of the two ways to run are decoded anew for the other."""
    core = Core("ldr r0, =0x20010000\nround: str r1, [r0]\n adds r1, #1\n b round\n .pool")
    witness = Witness(core.machine)
    core.go(100)
    witness.watch(begin=0, end=0, areas={"arena": [ARENA]})
    core.machine.run(core.cycles + 100)
    core.machine.witness_open()
    core.machine.run(core.cycles + 100)
    core.machine.witness_close()
    (window,) = witness.windows()
    assert window.zones["arena"].written == Extent(4, DATA, DATA + 4)
    witness.stop()
    core.machine.run(core.cycles + 100)
    assert witness.windows() == ()
    assert core.read(DATA) == pytest.approx(400 / 5, abs=4)  # str 2, adds 1, b 2


def test_one_window_for_each_pass() -> None:
    source = AROUND.format(body="strb r0, [r0, r4]").replace(
        "ldr r0, =0x20010000", "ldr r0, =0x20010000\n movs r4, #0\nround:"
    )
    source = source.replace("bkpt #0", "adds r4, #1\n cmp r4, #20\n bne round\n bkpt #0")
    core = Core(source)
    witness = Witness(core.machine)
    arena: Range = (DATA, 32)
    witness.watch(
        begin=core.labels["begin"],
        end=core.labels["end"],
        areas={"arena": [arena]},
        outputs=[arena],
    )
    assert core.go() == Stop.HALTED
    windows = witness.windows()
    stores = [w.zones["arena"].first_store for w in windows]
    assert [store.progress for store in stores if store is not None] == [0] * 20
    assert [w.zones["arena"].written.first - DATA for w in windows] == list(range(20))
    assert all(w.zones["arena"].written.count == 1 for w in windows)
    assert [w.opened for w in windows] == sorted({w.opened for w in windows})


def test_an_exception_handler_may_do_what_it_wants_elsewhere() -> None:
    """Its frame and stores on the stack count, those to memory of its own do not."""
    body = """
        svc #0
        b past
    handler:
        ldr r1, =0x20008000
        str r1, [r1]
        strb r1, [r0, #1]
        bx lr
        .pool
    past:"""
    _, _, window = watched(body, before=lambda core: core.vector(11, "handler"))
    assert window.zones["elsewhere"].written == NOTHING
    assert window.zones["arena"].written == Extent(1, DATA + 1, DATA + 2)
    assert window.zones["stack"].written == Extent(32, STACK_TOP - 32, STACK_TOP)
    assert window.lowest_sp == STACK_TOP - 32


def test_a_change_without_a_store_is_unexplained() -> None:
    core = Core(AROUND.format(body="at: nop\n b done\ndone:"))
    witness = Witness(core.machine)
    witness.watch(begin=0, end=0, areas={"arena": [ARENA]})
    core.machine.witness_open()
    core.write(DATA + 4, 0x55, size=1)  # the debug port
    core.machine.witness_close()
    (window,) = witness.windows()
    arena = window.zones["arena"]
    assert (arena.written, arena.changed) == (NOTHING, Extent(1, DATA + 4, DATA + 5))
    assert arena.unexplained == 1


def test_a_reset_drops_the_open_window() -> None:
    core = Core("nop")
    witness = Witness(core.machine)
    witness.watch(begin=0, end=0, areas={"arena": [ARENA]})
    core.machine.witness_open()
    core.machine.reset()
    assert not core.machine.witness_is_open()
    core.machine.witness_close()
    assert witness.windows() == ()


def test_too_many_areas() -> None:
    areas = {str(n): [ARENA] for n in range(8)}
    with pytest.raises(ConfigError, match="at most 7 areas"):
        Witness(Core("nop").machine).watch(begin=0, end=0, areas=areas)


def test_an_access_says_when() -> None:
    core, _, window = watched("nop\nat: strb r0, [r0]", outputs=[ARENA])
    assert window.zones["arena"].first_store == Access(
        DATA, core.labels["at"], window.opened + 1 + 2, 0
    )
