# SPDX-License-Identifier: Apache-2.0
"""Any op in one memory with its input, read by read and write by write, safe or not.

A `Process` says which scalars each step reads and writes, and computes values from values. `run`
executes it at any distance, with what a kernel would then find where an earlier write has been. Steps
that read nothing of each other's writes are computed together: that is what makes it fast, and it
changes no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.geometry import MAX_EXTENT

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
_CHUNK = 1 << 21  # reads looked at together
_NEVER = np.iinfo(np.int64).max

# values int8 [n, reads], steps [n], channels of the output -> int8 [n, channels]
Compute = Callable[[Int8s, Int64s, slice], Int8s]


@dataclass(frozen=True, eq=False)
class Process:
    """Steps of `unit` writes, with `reverse` to descending addresses, else to ascending ones.

    reads: of steps [n], the scalars [n, reads] of the input, -1 for a value that is not stored: `fill`.
    again: [reads], the last write of a step before which a scalar is read anew: 0 for one that is read
    before the first write only (gather), unit - 1 for one that is read for every output channel.
    compute: the output's channels, ascending, from what was read.
    """

    steps: int
    unit: int
    reads: Callable[[Int64s], Int64s]
    again: Int64s
    compute: Compute
    fill: int = 0
    reverse: bool = False

    @property
    def n_out(self) -> int:
        return self.steps * self.unit

    def channels(self, first: int, end: int) -> slice:
        """Of a step's writes first to end."""
        return slice(self.unit - end, self.unit - first) if self.reverse else slice(first, end)


def run(process: Process, stored: Int8s, distance: int) -> Int8s:
    """The output as found at the end, flat, with the input (`stored`, flat) `distance` scalars above."""
    base = max(0, -distance)  # where the output starts, so that both fit
    start = base + distance
    memory = np.zeros(max(start + len(stored), base + process.n_out), dtype=np.int8)
    memory[start : start + len(stored)] = stored
    writes = np.arange(process.n_out, dtype=np.int64)
    order = writes[::-1] if process.reverse else writes
    written = np.full(len(memory), _NEVER)  # which write comes to an address
    written[base + order] = writes
    executor = _Executor(process, memory, written, base, start)
    size = max(1, min(MAX_EXTENT, _CHUNK // len(process.again)))
    for first in range(0, process.steps, size):
        executor.chunk(np.arange(first, min(process.steps, first + size), dtype=np.int64))
    return memory[base : base + process.n_out].copy()


class _Executor:
    def __init__(
        self, process: Process, memory: Int8s, written: Int64s, base: int, start: int
    ) -> None:
        self._process = process
        self._memory = memory
        self._written = written
        self._base = base
        self._start = start

    def chunk(self, steps: Int64s) -> None:
        """Executes these steps, as many at once as do not depend on each other."""
        unit = self._process.unit
        reads = self._process.reads(steps)
        stored = reads >= 0
        where = np.where(stored, reads + self._start, 0)
        write = np.where(stored, self._written[where], _NEVER)
        writer = write // unit
        earlier = np.where(writer < steps[:, None], writer, -1).max(axis=1, initial=-1)
        own = writer == steps[:, None]
        own &= write % unit < self._process.again
        alone = own.any(axis=1)
        for first, end in _batches(earlier.tolist(), alone.tolist(), int(steps[0])):
            part = slice(first, end)
            if alone[first]:
                hits = np.unique(write[first][own[first]] % unit)
                self._alone(steps[part], where[part], stored[part], hits.tolist())
            else:
                values = self._read(where[part], stored[part])
                self._write(steps[part], values, 0, unit)

    def _alone(
        self, step: Int64s, where: Int64s, stored: NDArray[np.bool_], hits: list[int]
    ) -> None:
        """One step that overwrites, with its write number hits[i], what it reads again later."""
        values = self._read(where, stored)
        first = 0
        for end in (*(hit + 1 for hit in hits), self._process.unit):
            self._write(step, values, first, end)
            anew = self._process.again >= end
            values[:, anew] = self._read(where, stored)[:, anew]
            first = end

    def _read(self, where: Int64s, stored: NDArray[np.bool_]) -> Int8s:
        return np.where(stored, self._memory[where], np.int8(self._process.fill))

    def _write(self, steps: Int64s, values: Int8s, first: int, end: int) -> None:
        """Writes number `first` to `end` of these steps."""
        process = self._process
        channels = process.channels(first, end)
        pixels = process.steps - 1 - steps if process.reverse else steps
        addresses = pixels[:, None] * process.unit + np.arange(channels.start, channels.stop)
        self._memory[self._base + addresses] = process.compute(values, steps, channels)


def _batches(earlier: list[int], alone: list[bool], number: int) -> Iterator[tuple[int, int]]:
    """Runs [first, end) of steps none of which reads a write of another in the run. earlier: the last
    step before whose write a step reads. number: of the first step."""
    first = 0
    for index, (dependency, by_itself) in enumerate(zip(earlier, alone, strict=True)):
        if by_itself or dependency >= number + first:
            if index > first:
                yield first, index
            first = index
        if by_itself:
            yield index, index + 1
            first = index + 1
    if first < len(earlier):
        yield first, len(earlier)
