# SPDX-License-Identifier: Apache-2.0
"""What a kernel does to memory, and which of its writes destroy what it still has to read.

One clock counts the scalars written so far. The w-th write (from 0) goes to `addresses[w]`, in
scalars from the output's base; input scalar x, counted from the input's base, is read for the last
time when `released[x]` scalars are written. With the input `distance` scalars above the output,

    write w destroys live scalar x  if and only if  addresses[w] = x + distance  and  w < released[x].

All that follows is asked of these two arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.results import Collision
from harness.schema.constants import Traversal

Int64s = NDArray[np.int64]
NEVER_READ = -1


@dataclass(frozen=True, eq=False)
class Schedule:
    """An op's reads of one operand and its writes, one scalar a write, `unit` writes a step.

    A step is an output pixel in order of processing; of an element-wise op a scalar; of CHANNEL an
    output row of one channel. addresses: [n_out]. released: [n_in], 0 also where nothing reads.
    last_reader: [n_in], a step, or NEVER_READ.
    """

    traversal: Traversal
    unit: int
    addresses: Int64s
    released: Int64s
    last_reader: Int64s

    @property
    def n_in(self) -> int:
        """Scalars of the operand as stored, stored padding included."""
        return len(self.released)

    @property
    def n_out(self) -> int:
        return len(self.addresses)

    def distance(self, debt: int) -> int:
        """Input base above output base, in scalars, at a debt or gap; its own inverse.

        REVERSE counts from the ends: (x_o + n_out) - (x_i + n_in), which is mirrored.
        """
        return self.n_out - self.n_in - debt if self.traversal is Traversal.REVERSE else debt


def debt(schedule: Schedule) -> int | None:
    """The least distance from which on no distance has a collision; None if no write can collide.

    REVERSE: in mirrored terms, the least D' = n_out - n_in - distance from which on none has.
    CHANNEL: 0 if distance 0 has no collision, although some larger distances have (only 0 is meant
    for use then); else as for the others, where the two do not meet in practice.
    """
    alive = np.flatnonzero(schedule.released)
    if not alive.size:
        return None
    if schedule.traversal is Traversal.CHANNEL and not collides(schedule, 0):
        return 0
    before = (
        schedule.released[alive] - 1
    )  # the last write that can destroy it, and all earlier ones
    if schedule.traversal is Traversal.REVERSE:
        lowest = np.minimum.accumulate(schedule.addresses)[before]
        return schedule.distance(int((lowest - alive).min())) + 1
    highest = np.maximum.accumulate(schedule.addresses)[before]
    return int((highest - alive).max()) + 1


def collides(schedule: Schedule, distance: int) -> bool:
    """Is there any collision with the input at `distance` above the output (never mirrored)?"""
    return first_collision(schedule, distance) is not None


def first_collision(schedule: Schedule, distance: int) -> Collision | None:
    """The first write that destroys a live scalar with the input's base `distance` above the output's
    (never mirrored); None if there is none. Writer and last reader are steps."""
    victims = schedule.addresses - distance
    inside = np.flatnonzero((victims >= 0) & (victims < schedule.n_in))
    hit = inside[schedule.released[victims[inside]] > inside]
    if not hit.size:
        return None
    write = int(hit[0])
    victim = int(victims[write])
    return Collision(
        writer=write // schedule.unit,
        address=int(schedule.addresses[write]),
        live=victim,
        last_reader=int(schedule.last_reader[victim]),
    )
