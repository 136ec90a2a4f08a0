# SPDX-License-Identifier: Apache-2.0
"""Failures at the n-th step, for every n: from attach to the bytes that are read back.

Each run has one failure, at a later step than the run before, until a run meets none. Whatever the
step: the right result, or an error of the tree, in bounded time. `make test` takes every 17th step, and
every 51st on the second chip.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections import Counter
from dataclasses import fields, replace
from functools import cache

import pytest

from harness import errors
from harness.boards import Board
from harness.emulator.faultplan_chip import SRAM_BASE
from harness.emulator.machine import SRAM_BYTES
from harness.errors import HarnessError
from harness.results import Sample
from harness.schema.records import RunResult
from tests.device.fault_bed import (
    NONCE,
    Bed,
    Cause,
    Numbers,
    attempt,
    new_bed,
    runner,
    wall_limit,
)
from tests.device.fault_bed import clean as causes_clean
from tests.device.support import emulated, small_pack

PACK = small_pack()
SEED = 5
WALL_SECONDS = 20.0
EMULATED_SECONDS = 30.0
STEPS = {"rp2040": 17, "rp2350": 51}
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
DENSE = {"erase", "frame-lost", "frame-torn", "frame-twice", "cable", "reset", "brown-out"}


def whole_path(bed: Bed) -> list[RunResult]:
    """Flash, boot, enumerate, run, read; every number held against the host's. What came, but for the
    microseconds, which depend on where in one a run begins."""
    found = []
    with Board(bed.entry, nonce=NONCE) as board:
        board.start(bed.image, PACK)
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
def clean(chip: str) -> list[RunResult]:
    return whole_path(new_bed(chip, "clean"))


def fail_at(chip: str, kind: str, number: int) -> tuple[HarnessError | None, int]:
    """One run with one failure: its error, and how often the failure happened."""
    bed = new_bed(chip, faults=f"{kind},at={number}")
    error = None
    expected = clean(chip)
    try:
        with wall_limit(WALL_SECONDS):
            assert whole_path(bed) == expected
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


@pytest.mark.parametrize("what", KINDS)
def test_every_17th(chip: str, what: str) -> None:
    step = 1 if what in DENSE else STEPS[chip]
    seen = walk(chip, what, step // 2, step)
    assert sum(seen.values()) >= 4


@pytest.mark.extra
@pytest.mark.parametrize("what", [what for what in KINDS if what not in DENSE])
def test_every_one(chip: str, what: str) -> None:
    seen = walk(chip, what, 0, 1)
    assert sum(seen.values()) > 100


# ---- a bit of SRAM, anywhere outside the pool, at any moment of a run ----

JUDGED = 6  # samples of dual and rip, two repeats and the other paint; those behind prove the debt


def told(numbers: Numbers) -> list[object]:
    """What a verdict says. The stack's peak is left out: a flip in the unused part of a painted stack
    makes it larger. Of the runs that prove the debt only the output counts."""
    names = [each.name for each in fields(Sample)]
    judged = [name for name in names if name != "stack_peak"]
    wanted = [judged] * JUDGED + [["output_crc"]] * (len(numbers) - JUDGED)
    return [
        [sample[names.index(name)] for name in which]
        for sample, which in zip(numbers, wanted, strict=True)
    ]


def flip_somewhere(chip: str, seed: int) -> Cause:
    chance = random.Random(seed)
    symbols = runner(chip).symbols
    everywhere = [
        *range(SRAM_BASE, symbols["__pool_start"] + 1024),
        *range(symbols["__pool_end"], SRAM_BASE + SRAM_BYTES[chip]),
    ]
    plan = (
        f"ram-flip,at={chance.randrange(1, 18)},after_us={chance.randrange(8000)},"
        f"address={chance.choice(everywhere)},bit={chance.randrange(8)}"
    )
    return Cause("ram-flip-at-random", plan, None, "", "")


def sweep(chip: str, seeds: range) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        cause = flip_somewhere(chip, seed)
        outcome = attempt(cause, chip)
        assert outcome.emulated_s < EMULATED_SECONDS
        if outcome.numbers is not None:
            assert told(outcome.numbers) == told(causes_clean(chip)), cause.faults
        seen["right" if outcome.error is None else type(outcome.error).__name__] += 1
    return seen


def test_a_bit_of_sram_at_random(chip: str) -> None:
    seen = sweep(chip, range(25))
    assert seen["right"], "some bits matter to nobody"
    assert seen.total() - seen["right"] >= 5, "and some do"


@pytest.mark.extra
def test_many_bits_of_sram(chip: str) -> None:
    sweep(chip, range(25, 500))
