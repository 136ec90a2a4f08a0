# SPDX-License-Identifier: Apache-2.0
"""The witness of an emulated board against painting and the simulator, and what only it can see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.bench import Bench, BenchOptions
from harness.boards import Board, BoardEntry
from harness.build import RunnerImage, build_runner
from harness.emulator import registry
from harness.emulator.machine import Machine, Stop
from harness.emulator.witness_records import ZONES
from harness.geometry import Execution
from harness.judge import judge
from harness.kernels import schedule_of
from harness.liveness import first_collision
from harness.measure import PlanRuns, measure_layer
from harness.network import Layer, find_set, load_set
from harness.plan import Mode, Strategy
from harness.results import Sample, Verdict
from harness.schema.constants import ARENA_LEAD, TapOrder
from tests.device.support import ODD, emulated, new_entry, small_pack

LAYERS = [layer for layer in load_set(find_set("first")) if not layer.slow]
STRAY_TABLE = Path(__file__).parent / "firmware" / "stray_table.c"
OUTSIDE_ZONE = 3  # arena, scratch, outside, stack


def _measure(
    entry: BoardEntry,
    image: RunnerImage,
    layer: Layer,
    orders: Sequence[TapOrder] = (TapOrder.GATHER,),
    *,
    meddle: Callable[[Machine], None] = lambda _: None,
) -> dict[TapOrder, PlanRuns]:
    with Board(entry) as board:
        assert board.witness is not None
        meddle(emulated(entry).machine)
        return {
            order: measure_layer(
                board,
                image,
                layer,
                mode=Mode(Execution(tap_order=order)),
                seeds=(1,),
                repeats=2,
                witness=board.witness,
            )
            for order in orders
        }


def _verdict(runs: PlanRuns, strategy: Strategy = Strategy.RIP) -> Verdict:
    verdict = judge(runs, strategy)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.id)
def test_it_agrees_with_painting_and_the_simulator(
    layer: Layer, entry: BoardEntry, image: RunnerImage
) -> None:
    """In every run, and one word below the debt it names the simulator's collision."""
    measured = _measure(entry, image, layer, tuple(TapOrder))
    for order, runs in measured.items():
        assert _verdict(runs, Strategy.DUAL).failures == ()
        verdict = _verdict(runs)
        assert verdict.failures == ()
        assert verdict.witness == "5 runs"
        right, wrong = runs.debt.runs
        assert right.sample is not None
        assert wrong.sample is not None
        assert right.sample.witness is not None
        assert wrong.sample.witness is not None
        assert right.sample.witness.collision is None
        expected = first_collision(
            schedule_of(layer.kind, layer.geometry, Execution(tap_order=order)), wrong.distance
        )
        assert expected is not None
        assert wrong.sample.witness.collision == expected
        assert wrong.sample.witness.collisions > 0
        writer = f"stored by plain_conv_{order.name.lower()}_double+"
        assert wrong.sample.witness.collided_in.startswith(writer)


def _table(folder: Path, what: str) -> Path:
    """The stray table as a file of its own, so that the build cache sees what is in it."""
    path = folder / "table.c"
    path.write_text(f"#define STRAY {what}\n{STRAY_TABLE.read_text()}")
    return path


def _stray(entry: BoardEntry, folder: Path, what: str) -> tuple[PlanRuns, str]:
    image = build_runner(entry.chip, _table(folder, what))
    runs = _measure(entry, image, ODD)[TapOrder.GATHER]
    return runs, "\n".join(_verdict(runs).failures)


def test_a_byte_outside_the_arena_is_seen_by_both(entry: BoardEntry, tmp_path: Path) -> None:
    runs, text = _stray(entry, tmp_path, "STORE_BELOW")
    for sample in runs.rip.samples:
        assert sample.witness is not None
        assert (sample.outside_count, sample.outside_first, sample.low_water) == (1, -3, -3)
        assert sample.witness.visible == sample.witness.written == sample.painted
    assert "paint P, repeat 0: 1 bytes changed outside the arena, the first at -3" in text
    assert "the witness saw stores to 1 bytes outside the arena, the first -3 from" in text
    assert "by stray+" in text
    assert "painting says" not in text


def test_a_store_that_changes_nothing_is_seen_by_the_witness_alone(
    entry: BoardEntry, tmp_path: Path
) -> None:
    runs, text = _stray(entry, tmp_path, "STORE_BELOW_SAME")
    assert all(sample.outside_count == 0 for sample in runs.rip.samples)
    assert "the witness saw stores to 1 bytes outside the arena, the first -3 from" in text
    assert "all runs: painting says [0, 503) and 117 of scratch, the witness saw stores to" in text
    assert "1 outside from -3 on" in text


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("LOAD_UNWRITTEN", "loads of 1 bytes that nobody wrote, the first -2 from"),
        ("STORE_ELSEWHERE", "stores to 4 bytes that are neither pool nor stack, the first"),
        ("LOAD_OVERWRITTEN", "the witness saw 1 live input scalars overwritten, the first as"),
    ],
)
def test_what_painting_cannot_see(what: str, says: str, entry: BoardEntry, tmp_path: Path) -> None:
    runs, text = _stray(entry, tmp_path, what)
    assert says in text
    assert "stray+" in text
    assert all(sample.outside_count == 0 for sample in runs.rip.samples)
    assert "painting says" not in text


def _inside_the_window(machine: Machine, act: Callable[[], None]) -> None:
    """Let `act` happen once, in the middle of the first window that opens."""
    run, done = machine.run, []

    def meddled(until: int) -> Stop:
        while (at := machine.counter(0)) < until:
            stop = run(min(until, at + 10_000))
            if machine.witness_is_open() and machine.witness_windows() == () and not done:
                done.append(act())
            if stop != Stop.RAN:
                return stop
        return run(until)

    machine.run = meddled  # type: ignore[method-assign]


def test_a_witness_that_says_something_else_fails_the_verdict(
    entry: BoardEntry, image: RunnerImage
) -> None:
    """The shadow is corrupted: one byte of the arena counts as outside it."""
    at = image.symbols["__pool_start"] + ARENA_LEAD + 200 - 0x2000_0000

    def meddle(machine: Machine) -> None:
        def corrupt() -> None:
            shadow = machine.witness_shadow()
            shadow[at] = shadow[at] & ~(ZONES - 1) | OUTSIDE_ZONE

        _inside_the_window(machine, corrupt)

    runs = _measure(entry, image, ODD, meddle=meddle)[TapOrder.GATHER]
    dual = _verdict(runs, Strategy.DUAL)
    assert not dual.ok
    assert dual.failures[0].startswith("seed 1, paint P, repeat 0: painting says [0, 667)")
    assert "1 outside from 200 on" in dual.failures[0]
    assert _verdict(runs).ok  # its runs came later


def test_a_byte_that_changes_by_itself_fails_the_verdict(
    entry: BoardEntry, image: RunnerImage
) -> None:
    """A fault of the memory: both see the change, and the witness that no store explains it."""
    at = image.symbols["__pool_start"] + 8 - 0x2000_0000

    def meddle(machine: Machine) -> None:
        def flip() -> None:
            machine.sram()[at] ^= 0x10

        _inside_the_window(machine, flip)

    runs = _measure(entry, image, ODD, meddle=meddle)[TapOrder.GATHER]
    failures = _verdict(runs, Strategy.DUAL).failures
    assert any(
        f"bytes changed outside the arena, the first at {8 - ARENA_LEAD}" in f for f in failures
    )
    assert any("1 bytes changed that the witness saw no store to" in f for f in failures)


@pytest.mark.parametrize("keep_interrupts", [False, True])
def test_it_changes_nothing(keep_interrupts: bool, chip: str, image: RunnerImage) -> None:
    """The same results, to the cycle, and the same time on the board."""

    def outcome(watched: bool) -> tuple[object, int]:
        entry = replace(
            new_entry(chip), name="witnessed", probe="emu:witnessed", serial="emu://witnessed"
        )
        with Board(entry, nonce=1) as board:
            board.start(image, small_pack())
            assert board.witness is not None
            if watched:
                board.witness.watch(
                    begin=image.symbols["port_window_begin"],
                    end=image.symbols["port_window_end"],
                    areas={"stack": [(image.symbols["__stack_bottom"], 4096)]},
                )
            run = board.run(0, 3, repeats=3, keep_interrupts=keep_interrupts)
            assert len(board.witness.windows()) == (3 if watched else 0)
            cycles = emulated(entry).cycles
        registry.remove(entry.name)
        return run, cycles

    assert outcome(True) == outcome(False)


@pytest.mark.parametrize(("wanted", "says"), [(True, "3 runs"), (False, "")])
def test_it_can_be_left_out(wanted: bool, says: str, entry: BoardEntry) -> None:
    options = BenchOptions(seeds=(1,), witness=wanted)
    bench = Bench(entry, options)
    verdict = bench.judge(ODD, "dual")
    bench.close()
    assert verdict is not None
    assert (verdict.ok, verdict.witness) == (True, says)


def test_the_depth_of_the_stack(entry: BoardEntry, image: RunnerImage) -> None:
    """What the kernel used is within what the firmware found painted over."""
    runs = _measure(entry, image, ODD)[TapOrder.GATHER]

    def depths(sample: Sample) -> tuple[int, int]:
        assert sample.witness is not None
        return sample.witness.stack_depth, sample.stack_peak

    assert all(0 < depth <= peak for depth, peak in map(depths, runs.rip.samples))
