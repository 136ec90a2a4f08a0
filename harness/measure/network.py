# SPDX-License-Identifier: Apache-2.0
"""A whole network on one board: its plans in turn, and where a wrong one goes wrong first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.boards import Board
from harness.build import RunnerImage
from harness.case import NetworkCase, build_pack
from harness.measure.fit import bytes_needed, fits
from harness.measure.samples import kernels_asked, provenance_of, samples_of
from harness.measure.wrongop import first_wrong_op, has_long_op
from harness.plan import NetworkPlan, Strategy
from harness.results import Measurement, Sample, WrongOp

Int8s = NDArray[np.int8]


@dataclass(frozen=True)
class NetworkRuns:
    """What one network gave on one board. plans: those that fit it, with their measurements. missing:
    those that do not, with the bytes that they need of the pool. expected: by seed, the CRC-32 of inputs
    and of outputs, from the host. wrong: of a plan whose outputs are not these, where that begins."""

    plans: dict[Strategy, NetworkPlan]
    measured: dict[Strategy, Measurement]
    missing: dict[Strategy, int]
    pool_bytes: int
    expected: dict[int, tuple[int, int]]
    wrong: dict[Strategy, WrongOp]
    failed: tuple[str, ...] = ()


def measure_network(
    board: Board,
    image: RunnerImage,
    cases: Sequence[NetworkCase],
    *,
    seeds: Sequence[int],
    repeats: int,
    reflash: bool = False,
) -> NetworkRuns:
    """Flashes one pack with the cases that fit, and runs them in turn: the first seed `repeats` times
    and once under the complementary paint, each other seed once.

    cases: one network's, one a strategy. Nothing is flashed where none fits. Errors: all that a board
    can raise.
    """
    fitting = [case for case in cases if fits(case.plan, image)]
    missing = {case.plan.strategy: bytes_needed(case.plan) for case in cases if case not in fitting}
    if not fitting:
        return NetworkRuns({}, {}, missing, image.pool_bytes, {}, {})
    pack = build_pack(fitting)
    board.start(image, pack, reflash=reflash)
    session = _Session(board, {case: pack.index(case) for case in fitting})
    taken: dict[Strategy, list[Sample]] = {case.plan.strategy: [] for case in fitting}
    for number, seed in enumerate(seeds):
        for paint in (0, 1) if number == 0 else (0,):
            for case in fitting:
                count = repeats if number == 0 and paint == 0 else 1
                taken[case.plan.strategy] += session.run(case, seed, paint, count)
    return NetworkRuns(
        plans={case.plan.strategy: case.plan for case in fitting},
        measured={
            case.plan.strategy: Measurement(
                provenance=provenance_of(board, image, pack.id),
                layer=case.plan.name,
                plan=case.plan.label,
                case=case.id,
                macs=case.macs,
                arena_bytes=case.arena_bytes,
                scratch_bytes=case.scratch_bytes,
                samples=tuple(taken[case.plan.strategy]),
                by_model=session.by_model(case, taken[case.plan.strategy], repeats),
                kernels=kernels_asked(case.plan.choices),
            )
            for case in fitting
        },
        missing=missing,
        pool_bytes=image.pool_bytes,
        expected={seed: session.expected(fitting[0], seed) for seed in seeds},
        wrong=session.wrong,
    )


class _Session:
    """A started board with a pack of one network's cases."""

    def __init__(self, board: Board, index: dict[NetworkCase, int]) -> None:
        self._board = board
        self._index = index
        self._tensors: dict[int, list[Int8s]] = {}  # of the latest seed alone: they are large
        self._crcs: dict[int, tuple[int, int]] = {}
        self.wrong: dict[Strategy, WrongOp] = {}

    def expected(self, case: NetworkCase, seed: int) -> tuple[int, int]:
        """CRC-32 of inputs and outputs, the same for every case of the session."""
        if seed not in self._crcs:
            self._tensors = {seed: case.tensors(seed)}
            self._crcs[seed] = case.input_crc(seed), case.output_crc(self._tensors[seed])
        return self._crcs[seed]

    def run(self, case: NetworkCase, seed: int, paint: int, repeats: int) -> list[Sample]:
        """A wrong output is traced to its op, once a strategy."""
        run = self._board.run(
            self._index[case], seed, repeats=repeats, paint=paint, keep_interrupts=self._long(case)
        )
        samples = samples_of(run)
        _, wanted = self.expected(case, seed)
        strategy = case.plan.strategy
        if strategy not in self.wrong and any(s.output_crc != wanted for s in samples):
            tensors = self._tensors.get(seed) or case.tensors(seed)
            found = first_wrong_op(
                self._board, self._index[case], case, tensors, seed, paint, self._long(case)
            )
            if found is not None:
                self.wrong[strategy] = found
        return samples

    def by_model(
        self, case: NetworkCase, samples: Sequence[Sample], repeats: int
    ) -> tuple[tuple[str, int], ...]:
        """Cycles of the last repeat of the first seed under each timing model; `samples` are under the
        last of them."""
        timings = self._board.timings
        if timings is None:
            return ()
        *others, last = timings.models
        found = []
        try:
            for model in others:
                timings.select(model)
                run = self.run(case, samples[0].seed, 0, repeats)
                found.append((model, run[-1].cycles))
        finally:
            timings.select(last)
        return (*found, (last, samples[repeats - 1].cycles))

    def _long(self, case: NetworkCase) -> bool:
        """Is one of its windows, which hold an op each?"""
        return has_long_op(case, self._board.entry.clock_hz)
