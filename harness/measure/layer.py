# SPDX-License-Identifier: Apache-2.0
"""One layer on one board in one mode: dual and RiP in turn, then both sides of the debt."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.boards import Board, Witness
from harness.build import RunnerImage
from harness.case import Case, build_pack, make_case
from harness.errors import ConfigError
from harness.kernels import PLAIN, KernelTraits
from harness.liveness import debt as simulate_debt
from harness.liveness import first_collision
from harness.measure.fit import check_fit, fits
from harness.measure.observer import Observer
from harness.measure.samples import is_long, kernels_asked, provenance_of, samples_of
from harness.measure.wrong import first_wrong
from harness.network import Layer
from harness.plan import (
    Mode,
    Plan,
    Strategy,
    in_place,
    plan_at_distance,
    plan_layer,
    proof_distances,
)
from harness.results import DebtProof, DebtRun, Measurement, Sample

Int8s = NDArray[np.int8]
MAX_REPLACED = 10
UNORDERED_SEEDS = 5  # of a kernel whose output below the debt the host cannot predict,
UNORDERED_TELLING = 3  # and how many of them must differ there


@dataclass(frozen=True)
class PlanRuns:
    """What one mode gave. dual is None where two buffers do not fit, rip where the output shares no
    memory. debt: None where nothing is proved of it: without rip, and where the operand is copied.
    expected: by seed, the CRC-32 of input and of the right output, from the host. failed: attempts
    before this one, in words; nothing of them is in here."""

    mode: Mode
    rip: Measurement | None
    dual: Measurement | None
    rip_plan: Plan | None
    dual_plan: Plan
    debt: DebtProof | None
    expected: dict[int, tuple[int, int]]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Cases:
    """The cases of one mode. at_debt, below_debt: None without a debt."""

    rip: Case | None
    dual: Case | None
    at_debt: Case | None
    below_debt: Case | None

    def all(self) -> Iterator[Case]:
        yield from (
            c for c in (self.rip, self.dual, self.at_debt, self.below_debt) if c is not None
        )


def measure_layer(
    board: Board,
    image: RunnerImage,
    layer: Layer,
    *,
    mode: Mode,
    kernel: KernelTraits = PLAIN,
    seeds: Sequence[int],
    repeats: int,
    reflash: bool = False,
    witness: Witness | None = None,
) -> PlanRuns:
    """Flashes one pack with all cases of the layer in one mode and runs them.

    For each seed dual and RiP alternate; the first seed also under the complementary paint. witness: of
    this board; what it sees of each run goes beside what the firmware says of it. Errors:
    ConfigError when RiP itself does not fit, before flashing; and all that a board can raise.
    """
    cases = _cases(layer, mode, kernel, image)
    pack = build_pack(list(cases.all()))
    board.start(image, pack, reflash=reflash)
    observer = None if witness is None else Observer(witness, image)
    session = _Session(
        board, image, repeats, {case: pack.index(case) for case in cases.all()}, pack.id, observer
    )
    try:
        return session.measure(layer, mode, kernel, cases, seeds)
    finally:
        if observer is not None:
            observer.stop()


def _cases(layer: Layer, mode: Mode, kernel: KernelTraits, image: RunnerImage) -> _Cases:
    dual = make_case(plan_layer(layer, Strategy.DUAL, mode, kernel))
    parameters = dual.parameters
    if not in_place(layer):
        check_fit(dual.plan, image)
        return _Cases(None, dual, None, None)
    rip = plan_layer(layer, Strategy.RIP, mode, kernel)
    check_fit(rip, image)
    at_debt = below = None
    distances = None if mode.copied else proof_distances(rip)
    if distances is not None:
        at_debt, below = (
            Case(f"{layer.id}/debt{mode.label}@{distance}", plan, parameters)
            for distance in distances
            for plan in [plan_at_distance(layer, distance, mode, kernel, rip.bound)]
        )
        check_fit(at_debt.plan, image)
        check_fit(below.plan, image)
    return _Cases(
        make_case(rip, parameters), dual if fits(dual.plan, image) else None, at_debt, below
    )


class _Session:
    """A started board with a pack."""

    def __init__(
        self,
        board: Board,
        image: RunnerImage,
        repeats: int,
        index: dict[Case, int],
        pack_id: str,
        observer: Observer | None,
    ) -> None:
        self._board = board
        self._observer = observer
        self._repeats = repeats
        self._index = index
        self._outputs: dict[int, Int8s] = {}
        self._provenance = provenance_of(board, image, pack_id)

    def measure(
        self, layer: Layer, mode: Mode, kernel: KernelTraits, cases: _Cases, seeds: Sequence[int]
    ) -> PlanRuns:
        dual: list[Sample] = []
        rip: list[Sample] = []
        for number, seed in enumerate(seeds):
            repeats = self._repeats if number == 0 else 1
            for paint in (0, 1) if number == 0 else (0,):
                for case, samples in ((cases.dual, dual), (cases.rip, rip)):
                    if case is not None:
                        samples += self._run(case, seed, paint, repeats if paint == 0 else 1)
        some = next(cases.all())
        return PlanRuns(
            mode=mode,
            rip=None if cases.rip is None else self._measurement(cases.rip, rip),
            dual=None if cases.dual is None else self._measurement(cases.dual, dual),
            rip_plan=None if cases.rip is None else cases.rip.plan,
            dual_plan=plan_layer(layer, Strategy.DUAL, mode, kernel),
            debt=None
            if cases.rip is None or mode.copied
            else self._debt(cases.rip.plan, cases, seeds),
            expected={
                seed: (some.input_crc(seed), zlib.crc32(self._clean(some, seed).tobytes()))
                for seed in seeds
            },
        )

    def _debt(self, plan: Plan, cases: _Cases, seeds: Sequence[int]) -> DebtProof:
        steps = plan.schedule
        debt, simulated = plan.bound.debt, simulate_debt(steps)
        ordered = plan.choice.ordered
        if cases.at_debt is None or cases.below_debt is None:
            return DebtProof(debt, simulated, (), 0, None, ordered)
        collision = first_collision(steps, cases.below_debt.plan.distance)
        if not ordered:
            found, replaced = self._unordered(cases.at_debt, cases.below_debt, seeds)
            return DebtProof(debt, simulated, tuple(found), replaced, collision, ordered)
        runs = []
        telling, replaced = telling_seeds(cases.below_debt, seeds)
        for seed in telling:
            for case, right in ((cases.at_debt, True), (cases.below_debt, False)):
                clean, predicted = self._clean(case, seed), case.predicted(seed)
                (sample,) = self._run(case, seed, 0, 1, clean if right else predicted)
                runs.append(
                    DebtRun(
                        distance=case.plan.distance,
                        seed=seed,
                        right=right,
                        output_crc=sample.output_crc,
                        clean_crc=zlib.crc32(clean.tobytes()),
                        predicted_crc=zlib.crc32(predicted.tobytes()),
                        sample=sample,
                    )
                )
        return DebtProof(debt, simulated, tuple(runs), replaced, collision)

    def _unordered(
        self, at_debt: Case, below: Case, seeds: Sequence[int]
    ) -> tuple[list[DebtRun], int]:
        """Both sides on five seeds, where nothing is predicted below the debt but that it shows. Of the
        seeds that show nothing two are kept; more are replaced, up to MAX_REPLACED of them."""
        runs: list[DebtRun] = []
        replaced = silent = 0
        candidates = itertools.chain(seeds, itertools.count(max(seeds) + 1))
        while len(runs) < 2 * UNORDERED_SEEDS:
            seed = next(candidates)
            wrong = self._debt_run(below, seed, right=False)
            if wrong.output_crc == wrong.clean_crc:
                silent += 1
                if silent > UNORDERED_SEEDS - UNORDERED_TELLING and replaced < MAX_REPLACED:
                    replaced += 1
                    continue
            runs += [self._debt_run(at_debt, seed, right=True), wrong]
        return runs, replaced

    def _debt_run(self, case: Case, seed: int, *, right: bool) -> DebtRun:
        clean = self._clean(case, seed)
        (sample,) = self._run(case, seed, 0, 1, clean if right else None)
        return DebtRun(
            distance=case.plan.distance,
            seed=seed,
            right=right,
            output_crc=sample.output_crc,
            clean_crc=zlib.crc32(clean.tobytes()),
            predicted_crc=None,
            sample=sample,
        )

    def _clean(self, case: Case, seed: int) -> Int8s:
        """The right output as stored, the same for every case of the session."""
        if seed not in self._outputs:
            self._outputs[seed] = case.expected(seed)
        return self._outputs[seed]

    def _run(
        self, case: Case, seed: int, paint: int, repeats: int, expected: Int8s | None = None
    ) -> list[Sample]:
        """expected: the output as the host says it is stored, the clean one by default. Where the last
        repeat's is another, it is read back to say where."""
        long = is_long(case.macs, case.n_out, self._board.entry.clock_hz)
        # The witness knows one kernel a run; a copied operand's run is a memmove and a kernel.
        observer = None if case.plan.mode.copied else self._observer
        if observer is not None:
            observer.watch(case.plan)
        run = self._board.run(
            self._index[case], seed, repeats=repeats, paint=paint, keep_interrupts=long
        )
        samples = samples_of(run, None if observer is None else observer.witnessed(repeats))
        wanted = self._clean(case, seed) if expected is None else expected
        if samples[-1].output_crc != zlib.crc32(wanted.tobytes()):
            seen = self._board.read(case.plan.output.offset, case.plan.output.shape.size)
            samples[-1] = replace(samples[-1], wrong=first_wrong(case.plan, seen, wanted))
        return samples

    def _by_model(self, case: Case, samples: Sequence[Sample]) -> tuple[tuple[str, int], ...]:
        """The warm cycles of the first seed under each timing model; `samples` are under the last."""
        timings = self._board.timings
        if timings is None:
            return ()
        *others, last = timings.models
        found = []
        try:
            for model in others:
                timings.select(model)
                found.append((model, self._run(case, samples[0].seed, 0, self._repeats)[-1].cycles))
        finally:
            timings.select(last)
        return (*found, (last, samples[self._repeats - 1].cycles))

    def _measurement(self, case: Case, samples: Sequence[Sample]) -> Measurement:
        plan = case.plan
        return Measurement(
            provenance=self._provenance,
            layer=plan.layer.id,
            plan=plan.label,
            case=case.id,
            macs=plan.layer.macs,
            arena_bytes=plan.arena_bytes,
            scratch_bytes=plan.scratch_bytes,
            samples=tuple(samples),
            by_model=self._by_model(case, samples),
            shifted=plan.arrival is not None,
            kernels=kernels_asked(plan.choices),
        )


def telling_seeds(below: Case, seeds: Sequence[int]) -> tuple[list[int], int]:
    """As many seeds, each with a predicted corruption that shows; a silent one is replaced by the next
    number not yet used. Errors: ConfigError after 10 replacements."""
    telling: list[int] = []
    replaced = 0
    candidates = list(seeds)
    following = max(seeds) + 1
    while candidates:
        seed = candidates.pop(0)
        if below.predicted(seed).tobytes() != below.expected(seed).tobytes():
            telling.append(seed)
            continue
        replaced += 1
        if replaced > MAX_REPLACED:
            raise ConfigError(
                f"{below.plan.layer.id}: no seed shows the corruption below the debt",
                evidence={"distance": below.plan.distance, "seeds tried": replaced + len(telling)},
            )
        candidates.append(following)
        following += 1
    return telling, replaced
