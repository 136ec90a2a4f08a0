# SPDX-License-Identifier: Apache-2.0
"""A bit of SRAM flips, anywhere outside the pool, at any moment of a run."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import fields

import pytest

from harness.emulator.faultplan_chip import SRAM_BASE
from harness.emulator.machine import SRAM_BYTES
from harness.results import Sample
from tests.device.fault_bed import Cause, Numbers, attempt, clean, runner
from tests.device.nth import EMULATED_SECONDS

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
            assert told(outcome.numbers) == told(clean(chip)), cause.faults
        seen["right" if outcome.error is None else type(outcome.error).__name__] += 1
    return seen


def test_a_bit_of_sram_at_random(chip: str) -> None:
    seen = sweep(chip, range(25))
    assert seen["right"], "some bits matter to nobody"
    assert seen.total() - seen["right"] >= 5, "and some do"


@pytest.mark.extra
def test_many_bits_of_sram(chip: str) -> None:
    sweep(chip, range(25, 250))
