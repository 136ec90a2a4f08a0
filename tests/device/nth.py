# SPDX-License-Identifier: Apache-2.0
"""Failures at the n-th step, for every n: from attach to the bytes that are read back.

Each run has one failure, at a later step than the run before, until a run meets none. Whatever the
step: the right result, or an error of the tree, in bounded time.
"""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from dataclasses import replace
from functools import cache

from harness import errors
from harness.boards import Board
from harness.build import RunnerImage, build_runner
from harness.errors import HarnessError
from harness.kernels import PLAIN
from harness.schema.records import RunResult
from tests.device.fault_bed import NONCE, Bed, new_bed, wall_limit
from tests.device.support import emulated, small_pack

PACK = small_pack()
SEED = 5
WALL_SECONDS = 20.0
EMULATED_SECONDS = 30.0
KINDS = {
    "transaction": "probe-nak",
    "page": "flash-skip-page",
    "erase": "flash-skip-erase",
    "byte-lost": "serial-drop",
    "byte-flipped": "serial-flip",
    "frame-lost": "frame-lost",
    "frame-torn": "frame-cut",
    "frame-twice": "frame-repeat",
    "cable": "usb-gone",
    "reset": "reset",
    "brown-out": "brown-out",
}
# These count from the first byte on the serial port, which comes long after the flash is written: there
# it is written already, and recognised.
AFTER_FLASHING = {"serial-drop", "serial-flip"}


@cache
def image_of(chip: str) -> RunnerImage:
    """The runner with what these cases need: fewer pages, so fewer steps that all do the same."""
    choices = [
        PLAIN.choose(layer.kind, layer.geometry, case.plan.mode.execution, layer.rounding)
        for case in PACK.cases
        for layer in [case.plan.layer]
    ]
    return build_runner(chip, kernels=PLAIN.only(choices))


def whole_path(bed: Bed, flash: bytes = b"") -> list[RunResult]:
    """Flash, boot, enumerate, run, read; every number held against the host's. What came, but for the
    microseconds, which depend on where in one a run begins. flash: what it holds before."""
    found = []
    with Board(bed.entry, nonce=NONCE) as board:
        emulated(bed.entry).machine.load_flash(0, flash)
        board.start(image_of(bed.entry.chip), PACK)
        for index, case in enumerate(PACK.cases):
            run = board.run(index, SEED, repeats=2)
            expected = case.expected(SEED).tobytes()
            for result in run.results:
                assert result.output_crc == zlib.crc32(expected)
                assert result.input_crc == case.input_crc(SEED)
                assert (result.low_water, result.high_water) == (0, case.plan.arena_bytes)
                assert result.outside_count == 0
                found.append(replace(result, microseconds=0))
            assert board.read(case.plan.output.offset, case.plan.layer.n_out) == expected
    return found


@cache
def clean(chip: str) -> tuple[list[RunResult], bytes]:
    """What comes without a failure, and the flash afterwards."""
    bed = new_bed(chip, "clean")
    return whole_path(bed), bytes(emulated(bed.entry).machine.flash())


def fail_at(chip: str, kind: str, number: int) -> tuple[HarnessError | None, int]:
    """One run with one failure: its error, and how often the failure happened."""
    bed = new_bed(chip, faults=f"{kind},at={number}")
    error = None
    expected, flash = clean(chip)
    try:
        with wall_limit(WALL_SECONDS):
            written = flash if kind in AFTER_FLASHING else b""
            assert whole_path(bed, written) == expected
    except HarnessError as failure:
        error = failure
    board = emulated(bed.entry)
    assert board.now_ns / 1e9 < EMULATED_SECONDS
    return error, board.faults.injected(board.machine)


def walk(chip: str, what: str, first: int, step: int) -> Counter[str]:
    """The failure at each step-th step until there is none; what came of it, how often."""
    seen: Counter[str] = Counter()
    for number in itertools.count(first, step):
        error, happened = fail_at(chip, KINDS[what], number)
        if not happened:
            assert error is None, f"nothing failed, and yet: {error}"
            break
        if error is not None:
            assert type(error).__module__ == errors.__name__
            assert error.message
        seen["right" if error is None else type(error).__name__] += 1
    return seen
