# SPDX-License-Identifier: Apache-2.0
"""Verdicts and measurements with numbers of their own in every field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.history import Recorder
from harness.results import Measurement, Provenance, Sample, Verdict, WrongOutput

PROVENANCE = Provenance(
    board="desk", kind="board", chip="rp2040", unique_id="E66164", clk_sys_hz=125_000_000,
    elf_hash="ab" * 32, build_id="0f2d", pack_id="d1a5", nonce="88c77e3a", compiler="gcc 12.2",
)  # fmt: skip
SAMPLE = Sample(
    seed=1, paint=0, repeat=0, cycles=1000, microseconds=8, interrupt_cycles=3, interrupts=2,
    interrupts_on=True, xip_accesses=40, xip_hits=30, input_crc=0xFFFF_FFFF, output_crc=7,
    low_water=1, high_water=90, outside_count=4, outside_first=-5, scratch_used=6, stack_peak=100,
    op_cycles=(400, 600), op_kernels=(3, 9), wrong=WrongOutput(1, 2, 3, 4, 5, -6, 7),
)  # fmt: skip
VERDICT = Verdict(
    provenance=PROVENANCE, layer="odd", plan="rip", ok=False, failures=("one", "tw\u00f6\n\x1b[2J"),
    workspace_bound=11, workspace_given=12, workspace_reached=13, debt="48 (1 seed)", witness="7 runs",
    cycles=900, shift_cycles=14, cycles_by_model=(("optimistic", 800), ("conservative", 900)),
    cold_cycles=1000, microseconds=15, cycles_per_mac=16.1, ratio=1.5, output_crc="0000001f",
    seeds=(1, 2), interrupts_on=True, xip_misses=17, stack_peak=18, scratch_bytes=19, attempts=2,
    recovered=("first: ProbeError: gone",), ratio_to="baseline", kernel="m0",
)  # fmt: skip


def verdict(**changes: Any) -> Verdict:
    return replace(VERDICT, **changes)


def measured(cycles: list[int]) -> Measurement:
    """Repeats of the first input in this order, then one run under the other paint, and another seed."""
    samples = [replace(SAMPLE, repeat=n, cycles=c) for n, c in enumerate(cycles)]
    samples += [replace(SAMPLE, paint=1, cycles=77), replace(SAMPLE, seed=2, cycles=78)]
    return Measurement(PROVENANCE, "odd", "rip", "odd/rip", 50, 12, 19, tuple(samples))


def keep(path: Path, *verdicts: Verdict, cycles: list[int] | None = None, end: bool = True) -> None:
    """A run of its own with these."""
    recorder = Recorder(path)
    for one in verdicts:
        recorder.verdict(one, measured(cycles or [1000, 900]), kernels="plain", test="t.py::test")
    if end:
        recorder.end("passed")
    else:
        recorder.close()
