# SPDX-License-Identifier: Apache-2.0
"""What came back and what we conclude: plain types, no behaviour but arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Provenance:
    """Where numbers are from. kind: the backend's label of every one of them, `board` for silicon."""

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
class Touched:
    """What a run touched. Waters and outside_first in bytes from the arena's base; the input counts as
    touched, because it was loaded. outside: bytes of the pool in neither arena nor scratch."""

    low_water: int
    high_water: int
    outside_count: int
    outside_first: int
    scratch_used: int


@dataclass(frozen=True)
class Collision:
    """A write onto an input scalar that a later read needs: the output pixel that writes, the address in
    scalars from the output's start, the input scalar, and the last output pixel to read it."""

    writer: int
    address: int
    live: int
    last_reader: int

    def __str__(self) -> str:
        return (
            f"output pixel {self.writer} writes address {self.address}, onto input scalar "
            f"{self.live}, which output pixel {self.last_reader} still reads"
        )


@dataclass(frozen=True)
class Witnessed:
    """What the backend's witness saw of one run.

    visible: bytes of another value after the run than before, which is all that painting can see.
    written: bytes stored to, whatever the value. outside_store, unwritten_read, elsewhere_store: the
    first in time of stores outside the arena, of loads of bytes that nobody wrote, and of stores to the
    rest of SRAM, each with its function. unexplained: bytes that changed without a store. stack_depth:
    bytes of the core's stack down to the lowest one stored to. collisions: input bytes that were
    overwritten and read again; the one overwritten first, with the functions that wrote and read it.
    """

    visible: Touched
    written: Touched
    outside_store: str
    unwritten_count: int
    unwritten_read: str
    elsewhere_count: int
    elsewhere_store: str
    unexplained: int
    stack_depth: int
    collisions: int
    collision: Collision | None
    collided_in: str


@dataclass(frozen=True)
class WrongOutput:
    """An output that is not what the host says: how many bytes, and the first of them: its pixel in the
    order in which the output is stored, its channel, and both values."""

    count: int
    pixel: int
    row: int
    column: int
    channel: int
    seen: int
    expected: int

    def __str__(self) -> str:
        return (
            f"{self.count} bytes, the first in pixel {self.pixel} (row {self.row}, column "
            f"{self.column}), channel {self.channel}: {self.seen} instead of {self.expected}"
        )


@dataclass(frozen=True)
class WrongOp:
    """The first op after which a living tensor is not what the host says. tensor: its number, which need
    not be that of the op's output: the op may have overwritten another."""

    op: int
    kind: str
    tensor: int
    wrong: WrongOutput

    def __str__(self) -> str:
        return f"after op {self.op} ({self.kind}) tensor {self.tensor} is wrong in {self.wrong}"


@dataclass(frozen=True)
class Sample:
    """One run of one case. cycles: clk_sys, empty bracket and counted interrupts taken off. Waters,
    and outside_first, in bytes from the arena's base. repeat 0 starts with a cold XIP cache. witness:
    None where there is none. op_cycles: of each op, which add up to cycles. op_kernels: the numbers of
    the kernels that ran them. op_breaches: of each the Breach bits. wrong: of the last repeat, where its
    output was read back because of its CRC."""

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
    witness: Witnessed | None = None
    op_cycles: tuple[int, ...] = ()
    op_kernels: tuple[int, ...] = ()
    op_breaches: tuple[int, ...] = ()
    wrong: WrongOutput | None = None

    @property
    def painted(self) -> Touched:
        """What the firmware found by its paint."""
        return Touched(
            self.low_water,
            self.high_water,
            self.outside_count,
            self.outside_first,
            self.scratch_used,
        )


@dataclass(frozen=True)
class Measurement:
    """All samples of one plan of one layer on one board, in the order in which they were taken.

    arena_bytes: what the case was given, the workspace W rounded up to the alignment. by_model: cycles
    under each timing model of a board whose core has no published timing, else empty; `samples` are
    under the last of them. shifted: the first op is the memmove that brings the operand to its gap.
    kernels: asked for, of each op its number and its name.
    """

    provenance: Provenance
    layer: str
    plan: str
    case: str
    macs: int
    arena_bytes: int
    scratch_bytes: int
    samples: tuple[Sample, ...]
    by_model: tuple[tuple[str, int], ...] = ()
    shifted: bool = False
    kernels: tuple[tuple[int, str], ...] = ()

    @property
    def cold_cycles(self) -> int:
        """Of the first sample, after a flush of the XIP cache."""
        return self.samples[0].cycles

    @property
    def _warm(self) -> Sample:
        """The last repeat of the first seed and paint."""
        first = self.samples[0]
        return [s for s in self.samples if (s.seed, s.paint) == (first.seed, first.paint)][-1]

    @property
    def cycles(self) -> int:
        """Of the last repeat of the first seed and paint: warm where there was more than one."""
        return self._warm.cycles

    @property
    def shift_cycles(self) -> int:
        """Of these the memmove's; 0 where the operand was placed at its gap."""
        return self._warm.op_cycles[0] if self.shifted else 0

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
    it is False. CRCs: as the device found, as the clean output has, as the host predicts in place, None
    where it cannot. sample: the run itself."""

    distance: int
    seed: int
    right: bool
    output_crc: int
    clean_crc: int
    predicted_crc: int | None
    sample: Sample | None = None


@dataclass(frozen=True)
class DebtProof:
    """debt: in scalars, None where no write can meet a live scalar. replaced: seeds whose predicted
    corruption, or where there is no prediction its output, equals the clean output. collision: the
    simulator's first one below the debt. ordered: does the host know the kernel's order in every detail,
    and so predict what comes out below the debt?"""

    debt: int | None
    simulated_debt: int | None
    runs: tuple[DebtRun, ...]
    replaced: int
    collision: Collision | None
    ordered: bool = True


@dataclass(frozen=True)
class Failure:
    """A layer of which there is no verdict, since no measurement came to its end. error: its class.
    attempts: how often the layer was measured."""

    board: str
    layer: str
    plan: str
    error: str
    message: str
    cause: str
    attempts: int


@dataclass(frozen=True)
class Verdict:
    """A row of the table. failures: empty when all is well. cycles_by_model: see Measurement. ratio:
    cycles to those of dual, None where dual does not fit. shift_cycles: of cycles, those of the memmove
    to the gap. debt: the proof in a word, empty for dual. ratio_to: the plan that `ratio` is to.
    witness: how many runs the witness saw, empty where there is none. attempts: how often the layer was
    measured; all numbers are of the last time. recovered: the failures before, in words. kernel: which
    one ran it, of a network each with the number of its ops. budget: the ceiling in cycles that the
    layer's or model's YAML sets for this chip and these kernels, None for none."""

    provenance: Provenance
    layer: str
    plan: str
    ok: bool
    failures: tuple[str, ...]
    workspace_bound: int
    workspace_given: int
    workspace_reached: int
    debt: str
    witness: str
    cycles: int
    shift_cycles: int
    cycles_by_model: tuple[tuple[str, int], ...]
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
    attempts: int = 1
    recovered: tuple[str, ...] = ()
    ratio_to: str = "dual"
    kernel: str = ""
    budget: int | None = None


def verdict_from(fields: dict[str, Any]) -> Verdict:
    """The verdict of what `dataclasses.asdict` made, also by way of JSON, which knows no tuples."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    values["provenance"] = Provenance(**fields["provenance"])
    values["cycles_by_model"] = tuple((name, count) for name, count in fields["cycles_by_model"])
    return Verdict(**values)


@dataclass(frozen=True)
class SeriesKey:
    """What two numbers have to share before they are laid side by side; another value of any of these
    is another series. clock_hz: clk_sys. toolchain: the compiler's version line. kernels: the set that
    was asked for. case: the layer's or the model's id. plan: as in a verdict, `rip`, `dual-direct`..."""

    board: str
    kind: str
    chip: str
    clock_hz: int
    toolchain: str
    kernels: str
    case: str
    plan: str


@dataclass(frozen=True)
class Point:
    """What one run found of one series: a row of history, as judges and pages take it.

    run: its id, rising with time. time: UTC, ISO 8601, of the verdict. commit: of the working tree that
    was built, empty where there was none; dirty: with changes of its own. build: the hash of the ELF.
    samples: warm cycles of the first input, every repeat; cycles: their median, rounded down.
    flash_bytes: image and pack. budget: the ceiling in cycles that the layer's YAML set, None for none.
    run_ended: the run came to its end; one that was killed lacks cases, which proves nothing.
    uid: of this very measurement in every copy of it.
    """

    run: int
    time: str
    commit: str
    dirty: bool
    build: str
    ok: bool
    cycles: int
    samples: tuple[int, ...]
    cold_cycles: int
    arena_bytes: int
    scratch_bytes: int
    stack_peak: int
    flash_bytes: int
    xip_misses: int
    budget: int | None = None
    run_ended: bool = True
    uid: str = ""
