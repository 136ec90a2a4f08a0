# SPDX-License-Identifier: Apache-2.0
"""Cycle counter and timer are held against each other: a stopped timer, another clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from harness.boards.plausible import check_numbers
from harness.boards.run import Run
from harness.errors import ProtocolError
from harness.schema.records import CaseVerified, Hello, OpResult, RunRequest, RunResult

MHZ = 125
SECONDS = 2.0
POOL_BYTES = 200_000


def _zeros(record: type[Any], **numbers: int) -> Any:
    return record(**{**{member.name: 0 for member in record.members()}, **numbers})


HELLO: Hello = _zeros(Hello, clk_sys_hz=MHZ * 1_000_000, pool_bytes=POOL_BYTES)


def _timed(microseconds: int, *ops: int, interrupts: int = 0) -> Run:
    """One run of ops with so many cycles each; the first of them also has the interrupts' cycles."""
    on = int(interrupts > 0)
    found: tuple[OpResult, ...] = tuple(_zeros(OpResult, cycles=cycles) for cycles in ops)
    found = (replace(found[0], interrupt_cycles=interrupts), *found[1:])
    result: RunResult = _zeros(
        RunResult,
        cycles=sum(ops),
        microseconds=microseconds,
        interrupt_cycles=interrupts,
        interrupts_on=on,
    )
    return Run(RunRequest(0, 1, 1, 0, on, 0, 0), cast(CaseVerified, None), (found,), (result,))


@pytest.mark.parametrize("microseconds", [994, 1000, 1006])
def test_a_timer_that_agrees_to_its_resolution(microseconds: int) -> None:
    check_numbers(_timed(microseconds, 1000 * MHZ), HELLO, SECONDS)
    check_numbers(_timed(microseconds, 400 * MHZ, 600 * MHZ), HELLO, SECONDS)
    check_numbers(_timed(microseconds, 300 * MHZ, 500 * MHZ, interrupts=200 * MHZ), HELLO, SECONDS)


@pytest.mark.parametrize("microseconds", [0, 500, 980, 1020, 2000])
def test_a_timer_that_disagrees_with_the_cycle_counter(microseconds: int) -> None:
    with pytest.raises(ProtocolError, match="states cycles that cannot be") as caught:
        check_numbers(_timed(microseconds, 1000 * MHZ), HELLO, SECONDS)
    assert "the timer stands still or runs at another rate" in str(caught.value)
    assert caught.value.hint


def test_a_timer_that_stands_still_hides_no_wrap_of_the_counter() -> None:
    """SysTick of the M0+ counts 24 bits: without the timer, 2^24 cycles more are not seen."""
    wrapped = 2**24
    check_numbers(_timed((wrapped + 1000) // MHZ, wrapped + 1000), HELLO, SECONDS)
    with pytest.raises(ProtocolError, match="states cycles"):
        check_numbers(_timed((wrapped + 1000) // MHZ, 1000), HELLO, SECONDS)


def test_ops_that_do_not_add_up() -> None:
    run = _timed(1000, 500 * MHZ, 500 * MHZ)
    less = replace(run.results[0], cycles=run.results[0].cycles - 1)
    with pytest.raises(ProtocolError, match="states cycles"):
        check_numbers(replace(run, results=(less,)), HELLO, SECONDS)
