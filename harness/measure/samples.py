# SPDX-License-Identifier: Apache-2.0
"""From what a board answered to the samples of a measurement, and where they are from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.boards import Board, Run
from harness.build import RunnerImage, compiler_version
from harness.kernels import Choice
from harness.results import Provenance, Sample, Witnessed

MASKED_SECONDS = 1.0  # longest window with interrupts off: a host waits 5 s on a control transfer
_CYCLES_PER_MAC = 12  # of the plain kernels, to know beforehand whether a window is long
_CYCLES_PER_OUTPUT = 60  # and what a requantisation adds


def is_long(macs: int, n_out: int, clock_hz: int) -> bool:
    """Will a window of one op be too long to mask interrupts in it?"""
    cycles = macs * _CYCLES_PER_MAC + n_out * _CYCLES_PER_OUTPUT
    return cycles > MASKED_SECONDS * clock_hz


def provenance_of(board: Board, image: RunnerImage, pack_id: str) -> Provenance:
    """Of all numbers of a board that has been started with a pack."""
    hello = board.hello
    assert hello is not None, "the board has been started"
    return Provenance(
        board=board.entry.name,
        kind=board.kind,
        chip=board.entry.chip,
        unique_id=hello.unique_id.hex().upper(),
        clk_sys_hz=hello.clk_sys_hz,
        elf_hash=image.elf_hash,
        build_id=hello.build_id.hex(),
        pack_id=pack_id,
        nonce=f"{board.nonce:08x}",
        compiler=compiler_version(),
    )


def kernels_asked(choices: Iterable[Choice]) -> tuple[tuple[int, str], ...]:
    """Number and name of each."""
    return tuple((choice.index, choice.kernel.name) for choice in choices)


def samples_of(run: Run, witnessed: Sequence[Witnessed | None] | None = None) -> list[Sample]:
    """One a repeat. witnessed: what the witness saw of each, where there is one."""
    seen = [None] * len(run.results) if witnessed is None else witnessed
    return [
        Sample(
            seed=run.request.seed,
            paint=run.request.paint,
            repeat=result.repeat,
            cycles=result.cycles,
            microseconds=result.microseconds,
            interrupt_cycles=result.interrupt_cycles,
            interrupts=result.interrupts,
            interrupts_on=bool(result.interrupts_on),
            xip_accesses=sum(op.xip_accesses for op in ops),
            xip_hits=sum(op.xip_hits for op in ops),
            input_crc=result.input_crc,
            output_crc=result.output_crc,
            low_water=result.low_water,
            high_water=result.high_water,
            outside_count=result.outside_count,
            outside_first=result.outside_first,
            scratch_used=result.scratch_used,
            stack_peak=result.stack_peak,
            witness=witness,
            op_cycles=tuple(op.cycles for op in ops),
            op_kernels=tuple(op.kernel for op in ops),
            op_breaches=tuple(op.breaches for op in ops),
        )
        for ops, result, witness in zip(run.ops, run.results, seen, strict=True)
    ]
