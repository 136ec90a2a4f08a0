# SPDX-License-Identifier: Apache-2.0
"""Does the witness say what painting and the simulator say? Any difference is a failure.

Painting can only see bytes whose value changed, so run by run it is held against those; what was really
stored to must be what the runs under both paints show together. A witness also sees what painting never
can: loads of bytes that nobody wrote, stores to the rest of SRAM, and the store that destroys an input
byte still to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.results import DebtProof, Measurement, Sample, Touched, Witnessed


def runs_witnessed(measured: Measurement, proof: DebtProof | None) -> str:
    """For the table: how many runs there was a witness of, empty for none."""
    count = sum(sample.witness is not None for sample in _samples(measured, proof))
    return f"{count} runs" if count else ""


def disagreements(measured: Measurement, proof: DebtProof | None) -> Iterator[str]:
    """In words, one for each. proof: with its runs, for rip."""
    for sample in measured.samples:
        if sample.witness is not None:
            yield from _of_a_run(name_of(sample), sample, sample.witness)
            yield from _no_collision(name_of(sample), sample.witness)
    yield from _both_paints(measured.samples)
    if proof is not None:
        yield from _of_the_debt(proof)


def name_of(sample: Sample) -> str:
    """As in every failure of a run."""
    paint = "~P" if sample.paint else "P"
    return f"seed {sample.seed}, paint {paint}, repeat {sample.repeat}"


def _samples(measured: Measurement, proof: DebtProof | None) -> list[Sample]:
    runs = () if proof is None else proof.runs
    return [*measured.samples, *(run.sample for run in runs if run.sample is not None)]


def _of_a_run(name: str, sample: Sample, seen: Witnessed) -> Iterator[str]:
    if sample.painted != seen.visible:
        yield f"{name}: painting says {_say(sample.painted)}, the witness {_say(seen.visible)}"
    if seen.unexplained:
        yield f"{name}: {seen.unexplained} bytes changed that the witness saw no store to"
    if seen.outside_store:
        yield (
            f"{name}: the witness saw stores to {seen.written.outside_count} bytes outside the "
            f"arena, the first {seen.outside_store}"
        )
    if seen.elsewhere_store:
        yield (
            f"{name}: the witness saw stores to {seen.elsewhere_count} bytes that are neither pool "
            f"nor stack, the first {seen.elsewhere_store}"
        )
    if seen.unwritten_read:
        yield (
            f"{name}: the witness saw loads of {seen.unwritten_count} bytes that nobody wrote, "
            f"the first {seen.unwritten_read}"
        )
    if seen.stack_depth > sample.stack_peak:
        yield (
            f"{name}: the witness saw {seen.stack_depth} bytes of stack stored to, "
            f"painting {sample.stack_peak}"
        )


def _no_collision(name: str, seen: Witnessed) -> Iterator[str]:
    if seen.collision is not None:
        yield (
            f"{name}: the witness saw {seen.collisions} live input scalars overwritten, "
            f"the first as {seen.collision} ({seen.collided_in})"
        )


def _both_paints(samples: Sequence[Sample]) -> Iterator[str]:
    """Under P and ~P together every byte that is stored to shows."""
    seen = [sample.witness for sample in samples if sample.witness is not None]
    if not seen or {sample.paint for sample in samples} != {0, 1}:
        return
    painted = _union([sample.painted for sample in samples])
    written = _union([witness.written for witness in seen])
    if painted != written:
        yield f"all runs: painting says {_say(painted)}, the witness saw stores to {_say(written)}"


def _union(touched: Sequence[Touched]) -> Touched:
    outside = [t for t in touched if t.outside_count]
    return Touched(
        low_water=min(t.low_water for t in touched),
        high_water=max(t.high_water for t in touched),
        outside_count=max(t.outside_count for t in touched),
        outside_first=min((t.outside_first for t in outside), default=0),
        scratch_used=max(t.scratch_used for t in touched),
    )


def _of_the_debt(proof: DebtProof) -> Iterator[str]:
    """At the debt no live scalar is hit; below it the first one is the simulator's, or, of a kernel
    whose order inside a step is its own, any."""
    for run in proof.runs:
        if run.sample is None or run.sample.witness is None:
            continue
        name, seen = f"seed {run.seed} at distance {run.distance}", run.sample.witness
        yield from _of_a_run(name, run.sample, seen)
        if run.right:
            yield from _no_collision(name, seen)
        elif not proof.ordered and seen.collision is not None:
            continue
        elif seen.collision != proof.collision:
            yield (
                f"{name}: the witness saw {seen.collision or 'no collision'}"
                f"{f' ({seen.collided_in})' if seen.collided_in else ''}, "
                f"the simulator {proof.collision or 'none'}"
            )


def _say(touched: Touched) -> str:
    words = f"[{touched.low_water}, {touched.high_water}) and {touched.scratch_used} of scratch"
    if touched.outside_count:
        words += f", {touched.outside_count} outside from {touched.outside_first} on"
    return words
