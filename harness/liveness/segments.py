# SPDX-License-Identifier: Apache-2.0
"""A segment walked row by row: which rows are made in which order, and what that does to memory.

Nothing here is a formula: `walk` is the nested pull itself, and every question is answered by following
it to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import ConfigError
from harness.geometry.segment import Ring, Segment, guest_slot
from harness.liveness.schedule import NEVER_READ, Schedule
from harness.schema.constants import OpKind, Traversal


@dataclass(frozen=True)
class RowMade:
    """Stage `stage` makes row `row` of its tensor, for row `output` of Y."""

    stage: int
    row: int
    output: int


@dataclass(frozen=True)
class Lost:
    """A row that is not in its ring when a stage wants it. holds: what lies there instead, as tensor and
    row, or None."""

    stage: int
    row: int
    wants: tuple[int, int]
    holds: tuple[int, int] | None


def walk(segment: Segment) -> Iterator[RowMade]:
    """All rows that are made, in order."""
    made = [0] * (segment.last + 1)

    def pull(tensor: int, rows: int, output: int) -> Iterator[RowMade]:
        stage = segment.stage(tensor)
        while made[tensor] < min(rows, stage.output.h):
            row = made[tensor]
            if tensor > 1:
                yield from pull(tensor - 1, stage.rows_of(row).stop, output)
            yield RowMade(tensor, row, output)
            made[tensor] += 1

    for output in range(segment.shape(segment.last).h):
        yield from pull(segment.last, output + 1, output)


def segment_schedule(segment: Segment, operand: int = 0) -> Schedule:
    """What a segment reads of one of its operands, and its writes of Y.

    A row is read before the first store of the row of Y that it is pulled for; by an add that is the
    last stage, a pixel right before that pixel of Y is stored. Errors: ConfigError for a tensor that is
    no operand.
    """
    if operand not in segment.operands:
        raise ConfigError(f"a segment's output cannot be laid onto its tensor {operand}")
    shape, y = segment.shape(operand), segment.shape(segment.last)
    rows = np.full(shape.h, NEVER_READ, dtype=np.int64)
    for made in walk(segment):
        stage = segment.stage(made.stage)
        if made.stage == 1 and operand == 0:
            rows[list(stage.reads(made.row))] = made.output
        if stage.other == operand and made.stage < segment.last:
            rows[made.row] = made.output
    last = np.repeat(rows * y.w, shape.w)
    if segment.stages[-1].other == operand:
        last = np.maximum(last, np.arange(shape.pixels, dtype=np.int64))
    last = np.repeat(np.where(last < 0, NEVER_READ, last), shape.c)
    return Schedule(
        traversal=Traversal.ROW,
        unit=y.c,
        addresses=np.arange(y.size, dtype=np.int64),
        released=np.where(last == NEVER_READ, 0, last * y.c),
        last_reader=last,
    )


def first_lost(segment: Segment, rings: Sequence[Ring]) -> Lost | None:
    """The first row that a stage finds overwritten, with rings of these rows; None if none is.

    A ring that stands for no inner tensor, or a tensor in two of them, is the caller's to refuse: a
    tensor in none counts as lost.
    """
    homes = {ring.tensor: ring for ring in rings}
    hosts = {ring.guest: ring for ring in rings if ring.guest is not None}
    slots: dict[tuple[int, int], tuple[int, int]] = {}  # ring and slot: tensor and row

    def place(tensor: int, row: int) -> tuple[int, int] | None:
        if tensor in homes:
            return tensor, row % homes[tensor].rows
        if tensor in hosts:
            host = hosts[tensor]
            return host.tensor, guest_slot(segment.stage(tensor).window, host.rows, row)
        return None

    for made in walk(segment):
        stage = segment.stage(made.stage)
        wanted = [(made.stage - 1, row) for row in stage.reads(made.row) if made.stage > 1]
        if stage.other is not None and stage.other > 0:
            wanted.append((stage.other, made.row))
        for want in wanted:
            at = place(*want)
            holds = slots.get(at) if at is not None else None
            if holds != want:
                return Lost(made.stage, made.row, want, holds)
        at = place(made.stage, made.row)
        if at is not None:
            slots[at] = (made.stage, made.row)
            if made.stage in hosts and (lost := _guest_harms(segment, made, at, slots)) is not None:
                return lost
    return None


def _guest_harms(
    segment: Segment,
    made: RowMade,
    at: tuple[int, int],
    slots: dict[tuple[int, int], tuple[int, int]],
) -> Lost | None:
    """A guest is written channel by channel: every channel must fit that channel's place in the slot,
    and come from its own channel of the source alone."""
    stage = segment.stage(made.stage)
    g = stage.window
    if stage.kind is OpKind.DEPTHWISE and g.c_in == g.c_out and g.w_out <= g.w_in:
        return None
    return Lost(made.stage, made.row, (made.stage - 1, made.row), slots[at])
