# SPDX-License-Identifier: Apache-2.0
"""A new emulated board with a plan of faults, the whole path on it, and a watchdog for what never ends.

The path: attach, flash, boot, enumerate, HELLO, a layer under dual and RiP and on both sides of its
debt, verdicts.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

from harness.bench import Bench, BenchOptions, demand
from harness.boards import Board, BoardEntry
from harness.boards.config import with_faults
from harness.build import RunnerImage, build_runner
from harness.build.image import FLASH_BASE
from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.emulator.chips import CHIPS
from harness.emulator.faultplan import KINDS
from harness.emulator.machine import Counter
from harness.errors import HarnessError
from harness.judge import judge
from harness.measure import PlanRuns, measure_layer
from harness.plan import LAYER_STRATEGIES, Mode
from harness.results import Sample
from tests.device.support import CLOCK_HZ, MISS_CYCLES, ODD, emulated

NONCE = 0x5EED
WALL_SECONDS = 20.0
# From the CASE frame on: while the first kernel runs; when the pool is painted and not yet scanned.
_KERNEL_US = {"rp2040": 5000, "rp2350": 6000}
_SCAN_US = {"rp2040": 6000, "rp2350": 9000}
Numbers = tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Bed:
    """What a cause is tried on: a board that is new, and the runner of its chip."""

    entry: BoardEntry
    image: RunnerImage


@dataclass(frozen=True)
class Cause:
    """One cause. faults: as the option `--faults` has them, with names of `places` in braces. error:
    the class that must come, None where every number must be right. says: in the error's text, apart
    from its hint. does: what the bench does, for the reader. emulated_s: most that it may take."""

    id: str
    faults: str
    error: type[HarnessError] | None
    says: str
    does: str
    act: Callable[[Bed], Numbers] | None = None
    emulated_s: float = 30.0


@dataclass(frozen=True)
class Outcome:
    """error: None where numbers came. injected: how often something happened that the plan counts."""

    error: HarnessError | None
    numbers: Numbers | None
    emulated_s: float
    wall_s: float
    injected: int


class TooLong(BaseException):
    """Raised in a thread that is over its wall-clock time; no handler of errors catches it."""


@contextmanager
def wall_limit(seconds: float) -> Iterator[None]:
    """A watchdog thread ends what takes longer."""
    thread, lock, over = threading.get_ident(), threading.Lock(), False

    def bark() -> None:
        with lock:
            if not over:
                end()

    def end() -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(TooLong)
        )

    watchdog = threading.Timer(seconds, bark)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        with lock:
            over = True
        watchdog.cancel()


def new_bed(chip: str, name: str = "faulty", faults: str = "") -> Bed:
    """The board of that name, blank and not yet powered, whatever it was before."""
    registry.remove(name)
    entry = BoardEntry(
        name, chip, f"emu:{name}", f"emu://{name}", CLOCK_HZ[chip], MISS_CYCLES[chip], "test"
    )
    image = runner(chip)
    return Bed(with_faults(entry, faults) if faults else entry, image)


@cache
def runner(chip: str) -> RunnerImage:
    return build_runner(chip)


@cache
def clean(chip: str) -> Numbers:
    """What a board without faults gives."""
    return measure(new_bed(chip, f"clean-{chip}"))


def _clean_board(chip: str) -> EmulatedBoard:
    """The board that gave it."""
    clean(chip)
    return registry.board(f"clean-{chip}")


def _pages(count: int) -> int:
    """Of 256 bytes, in the whole sectors that pyOCD programs."""
    return -(-count // 4096) * 16


def attempt(cause: Cause, chip: str, *, recovery: bool = False) -> Outcome:
    """The whole path once, or as often as the recovery ladder begins it anew. Errors: TooLong; anything
    that is no HarnessError."""
    bed = new_bed(chip, faults=cause.faults.format(**places(chip)))
    start = time.monotonic()
    error, numbers = None, None
    try:
        with wall_limit(WALL_SECONDS):
            numbers = (cause.act or (measure_by_ladder if recovery else measure))(bed)
    except HarnessError as failure:
        error = failure
    wall = time.monotonic() - start
    board = emulated(bed.entry)
    return Outcome(error, numbers, board.now_ns / 1e9, wall, board.faults.injected(board.machine))


def is_counted(cause: Cause) -> bool:
    """Whether a plan says how often its fault happened: not of what is simply so all the time."""
    kinds = [fault.split(",")[0] for fault in cause.faults.split(";") if fault]
    return bool(kinds) and all(KINDS[kind].counts for kind in kinds)


def measure(bed: Bed, on_stage: Callable[[str], None] = lambda _: None) -> Numbers:
    """Dual, RiP and both sides of the debt, judged. Errors: what a bench would raise."""
    with Board(bed.entry, nonce=NONCE, on_stage=on_stage) as board:
        return _judged(measure_layer(board, bed.image, ODD, mode=Mode(), seeds=(1,), repeats=2))


def measure_by_ladder(bed: Bed) -> Numbers:
    """The same as a bench does it, which tries again. Errors: as `measure`."""
    options = BenchOptions(seeds=(1,), repeats=2, nonce=NONCE, witness=False)
    bench = Bench(bed.entry, options)
    try:
        return _judged(bench._measure(ODD, Mode()))
    finally:
        bench.close()


def _judged(runs: PlanRuns) -> Numbers:
    for strategy in LAYER_STRATEGIES:
        verdict = judge(runs, strategy)
        assert verdict is not None, "two buffers fit"
        demand(verdict)
    assert runs.rip is not None
    assert runs.dual is not None
    assert runs.debt is not None
    samples = [
        *runs.dual.samples,
        *runs.rip.samples,
        *(r.sample for r in runs.debt.runs if r.sample),
    ]
    return tuple(_numbers(sample) for sample in samples)


def _numbers(sample: Sample) -> tuple[object, ...]:
    """All but the microseconds, which depend on where in one a run begins."""
    return tuple(vars(replace(sample, microseconds=0)).values())


def unused_at_boot(image: RunnerImage) -> int:
    """Offset in flash of code that is not called before a case is asked for."""
    return next(at for at, name in image.functions if name.startswith("accepts_")) - FLASH_BASE


def places(chip: str) -> dict[str, int]:
    """What the faults of a cause name: addresses of the runner, and ids of the chip that this is not."""
    symbols = runner(chip).symbols
    board = _clean_board(chip)
    pages, image_pages = board.machine.counter(Counter.FLASH_PAGES), _pages(len(runner(chip).flash))
    assert image_pages < pages, "a blank board gets the runner first, then the pack"
    in_runner = unused_at_boot(runner(chip))
    other = next(facts for name, facts in CHIPS.items() if name != chip)
    return {
        "other_dpidr": other.dpidr,
        "last_of_pool": symbols["__pool_end"] - 1,
        "ram_code": symbols["__ram_code_start"] + 8,
        "kernel_us": _KERNEL_US[chip],
        "scan_us": _SCAN_US[chip],
        "last_transfers": board.faults.wire.transfers - 15,
        "pack_page": image_pages,
        "in_runner": in_runner,
        "page_of_runner": in_runner // 256,
    }
