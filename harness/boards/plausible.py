# SPDX-License-Identifier: Apache-2.0
"""Numbers that came in whole frames and still cannot be: what a run states is compared with itself.

A frame's CRC says that the bytes arrived as they were sent. It says nothing of firmware that went wild,
or of another program that speaks the protocol.
"""

from __future__ import annotations

from harness.boards.run import Run
from harness.errors import ProtocolError
from harness.schema.constants import ARENA_LEAD, Breach
from harness.schema.records import Hello, OpResult, RunRequest, RunResult

_MICROSECONDS_AN_OP = 5  # a window's ends are read one after the other, its overhead is taken off
_CLOCK_TOLERANCE = 0.01  # of the measured clk_sys against the timer
_BREACHES = sum(Breach)
_WILD = "its frames arrived whole: firmware that went wild, or another program's"


def check_numbers(run: Run, hello: Hello, seconds: float) -> None:
    """seconds: that the whole run was allowed. Errors: ProtocolError names the number."""
    spent = sum(result.microseconds for result in run.results)
    _demand(spent <= seconds * 1e6, "microseconds", spent, f"at most {seconds * 1e6:.0f} passed")
    for ops, result in zip(run.ops, run.results, strict=True):
        for op in ops:
            accesses = f"at most {op.xip_accesses}, as many as accesses"
            _demand(op.xip_hits <= op.xip_accesses, "XIP hits", op.xip_hits, accesses)
            _demand(op.breaches & ~_BREACHES == 0, "breaches", op.breaches, "bits of enum breach")
        _check_cycles(ops, result, hello.clk_sys_hz)
        _check_memory(result, hello.pool_bytes)
        _check_interrupts(run.request, result)


def _check_cycles(ops: tuple[OpResult, ...], result: RunResult, clk_sys_hz: int) -> None:
    """The sum over the ops, and the timer's microseconds at the board's clock."""
    cycles = sum(op.cycles for op in ops)
    interrupts = sum(op.interrupt_cycles for op in ops)
    _demand(result.cycles == cycles, "cycles", result.cycles, f"{cycles}, the sum of the ops")
    _demand(
        result.interrupt_cycles == interrupts,
        "interrupt cycles",
        result.interrupt_cycles,
        f"{interrupts}, the sum of the ops",
    )
    if result.microseconds and any(op.breaches & Breach.CYCLE_COUNTER for op in ops):
        return  # the firmware says itself that it has no cycles: a finding, not a broken number
    by_timer = result.microseconds * clk_sys_hz / 1e6
    slack = len(ops) * _MICROSECONDS_AN_OP * clk_sys_hz / 1e6 + by_timer * _CLOCK_TOLERANCE
    _demand(
        abs(cycles + interrupts - by_timer) <= slack,
        "cycles",
        cycles + interrupts,
        f"about {by_timer:.0f}, which {result.microseconds} us of the timer are",
        cause="the timer stands still or runs at another rate, or a number was corrupted",
    )


def _check_memory(result: RunResult, pool_bytes: int) -> None:
    """Everything that was touched lies in the pool, which begins ARENA_LEAD below the arena. What was
    touched outside the arena lies between the waters; where nothing was, no water is below it."""
    pool = f"at most {pool_bytes}, the pool"
    _demand(result.outside_count <= pool_bytes, "bytes outside", result.outside_count, pool)
    _demand(result.scratch_used <= pool_bytes, "scratch", result.scratch_used, pool)
    least = -ARENA_LEAD if result.outside_count else 0
    most = pool_bytes - ARENA_LEAD
    _demand(
        least <= result.low_water <= result.high_water <= most,
        "waters",
        f"{result.low_water} to {result.high_water}",
        f"within {least} to {most}, and low below high",
    )
    first = result.outside_first
    if result.outside_count:
        between = f"{result.low_water} to {result.high_water}, between the waters"
        right = result.low_water <= first < result.high_water
        _demand(right, "the first byte outside", first, between)
    else:
        _demand(first == 0, "the first byte outside", first, "0, where there is none")


def _check_interrupts(request: RunRequest, result: RunResult) -> None:
    asked = f"{request.keep_interrupts}, as asked"
    _demand(
        result.interrupts_on == request.keep_interrupts,
        "interrupts on",
        result.interrupts_on,
        asked,
    )
    if not result.interrupts_on:
        taken = (result.interrupts, result.interrupt_cycles)
        _demand(taken == (0, 0), "interrupts and their cycles", taken, "none: they were masked")


def _demand(holds: bool, what: str, stated: object, possible: str, cause: str = _WILD) -> None:
    if not holds:
        raise ProtocolError(
            f"the board states {what} that cannot be",
            cause=cause,
            evidence={"stated": stated, "possible": possible},
            hint="nothing of this run counts; run again with --reflash",
        )
