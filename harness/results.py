# SPDX-License-Identifier: Apache-2.0
"""What came back and what we conclude: plain types, no behaviour but arithmetic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """Where numbers are from. kind: `board` or `emulated`, the label of every one of them."""

    board: str
    kind: str
    chip: str
    unique_id: str
    clk_sys_hz: int
    elf_hash: str
    build_id: str
    pack_id: str
    nonce: str
    compiler: str


@dataclass(frozen=True)
class Sample:
    """One run of one case. cycles: clk_sys, empty bracket and counted interrupts taken off. Waters,
    and outside_first, in bytes from the arena's base. repeat 0 starts with a cold XIP cache."""

    seed: int
    paint: int
    repeat: int
    cycles: int
    microseconds: int
    interrupt_cycles: int
    interrupts: int
    interrupts_on: bool
    xip_accesses: int
    xip_hits: int
    input_crc: int
    output_crc: int
    low_water: int
    high_water: int
    outside_count: int
    outside_first: int
    scratch_used: int
    stack_peak: int


@dataclass(frozen=True)
class Measurement:
    """All samples of one plan of one layer on one board, in the order in which they were taken.

    arena_bytes: what the case was given, the workspace W rounded up to the alignment.
    """

    provenance: Provenance
    layer: str
    plan: str
    case: str
    macs: int
    arena_bytes: int
    scratch_bytes: int
    samples: tuple[Sample, ...]

    @property
    def cold_cycles(self) -> int:
        """Of the first sample, after a flush of the XIP cache."""
        return self.samples[0].cycles

    @property
    def cycles(self) -> int:
        """Of the last repeat of the first seed and paint: warm where there was more than one."""
        first = self.samples[0]
        run = [s for s in self.samples if (s.seed, s.paint) == (first.seed, first.paint)]
        return run[-1].cycles

    @property
    def cycles_per_mac(self) -> float:
        return self.cycles / self.macs

    @property
    def reached(self) -> int:
        """One past the highest byte touched, over all samples."""
        return max(sample.high_water for sample in self.samples)


@dataclass(frozen=True)
class DebtRun:
    """One run in a large arena with the input at `distance` above the output. right: below the debt
    it is False. CRCs: as the device found, as the clean output has, as the host predicts in place."""

    distance: int
    seed: int
    right: bool
    output_crc: int
    clean_crc: int
    predicted_crc: int


@dataclass(frozen=True)
class DebtProof:
    """debt: in scalars, None where no write can meet a live scalar. replaced: seeds whose predicted
    corruption equals the clean output. collision: the first one below the debt, in words."""

    debt: int | None
    simulated_debt: int | None
    runs: tuple[DebtRun, ...]
    replaced: int
    collision: str


@dataclass(frozen=True)
class Verdict:
    """A row of the table. failures: empty when all is well. ratio: cycles to those of dual, None where
    dual does not fit. debt: the proof in a word, empty for dual."""

    provenance: Provenance
    layer: str
    plan: str
    ok: bool
    failures: tuple[str, ...]
    workspace_bound: int
    workspace_given: int
    workspace_reached: int
    debt: str
    cycles: int
    cold_cycles: int
    microseconds: int
    cycles_per_mac: float
    ratio: float | None
    output_crc: str
    seeds: tuple[int, ...]
    interrupts_on: bool
    xip_misses: int
    stack_peak: int
    scratch_bytes: int
