# SPDX-License-Identifier: Apache-2.0
"""One layer on one board: dual and RiP in turn, then both sides of the debt."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.boards import Board, Run, Witness
from harness.bounds import round_up
from harness.build import RunnerImage, compiler_version
from harness.case import Case, build_pack, make_case
from harness.errors import ConfigError
from harness.kernels import KernelTraits
from harness.liveness import debt as simulate_debt
from harness.liveness import first_collision
from harness.measure.fit import check_fit, fits
from harness.measure.observer import Observer
from harness.network import Layer
from harness.plan import Plan, Strategy, plan_at_distance, plan_layer
from harness.results import DebtProof, DebtRun, Measurement, Provenance, Sample, Witnessed
from harness.schema.constants import TapOrder

MAX_REPLACED = 10
_CYCLES_PER_MAC = 12  # of the plain kernel, to know beforehand whether a window is long
_MASKED_SECONDS = 1.0  # longest window with interrupts off: a host waits 5 s on a control transfer


@dataclass(frozen=True)
class PlanRuns:
    """What one tap order gave. dual is None where two buffers do not fit. expected: by seed, the CRC-32
    of input and of the right output, from the host."""

    tap_order: TapOrder
    rip: Measurement
    dual: Measurement | None
    rip_plan: Plan
    dual_plan: Plan
    debt: DebtProof
    expected: dict[int, tuple[int, int]]


@dataclass(frozen=True)
class _Cases:
    """The cases of one tap order. at_debt, below_debt: None without a debt."""

    rip: Case
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
    tap_order: TapOrder,
    kernel: KernelTraits,
    seeds: Sequence[int],
    repeats: int,
    reflash: bool = False,
    witness: Witness | None = None,
) -> PlanRuns:
    """Flashes one pack with all cases of the layer in one tap order and runs them.

    For each seed dual and RiP alternate; the first seed also under the complementary paint. witness: of
    this board; what it sees of each run goes beside what the firmware says of it. Errors:
    ConfigError when RiP itself does not fit, before flashing; and all that a board can raise.
    """
    cases = _cases(layer, tap_order, kernel, image)
    pack = build_pack(list(cases.all()))
    board.start(image, pack, reflash=reflash)
    observer = None if witness is None else Observer(witness, image)
    session = _Session(
        board, image, repeats, {case: pack.index(case) for case in pack.cases}, pack.id, observer
    )
    try:
        return session.tap_order(tap_order, cases, seeds)
    finally:
        if observer is not None:
            observer.stop()


def _cases(layer: Layer, order: TapOrder, kernel: KernelTraits, image: RunnerImage) -> _Cases:
    rip = plan_layer(layer, Strategy.RIP, order, kernel)
    dual = plan_layer(layer, Strategy.DUAL, order, kernel)
    check_fit(rip, image)
    parameters = make_case(rip).parameters
    at_debt = below = None
    if rip.bound.debt is not None:
        distance = round_up(rip.bound.debt, kernel.alignment)
        at_debt, below = (
            Case(f"{layer.id}/debt-{order.name.lower()}@{plan.distance}", plan, parameters)
            for plan in (
                plan_at_distance(layer, distance, order, kernel),
                plan_at_distance(layer, distance - kernel.alignment, order, kernel),
            )
        )
        check_fit(at_debt.plan, image)
    return _Cases(
        make_case(rip, parameters),
        make_case(dual, parameters) if fits(dual, image) else None,
        at_debt,
        below,
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
        hello = board.hello
        assert hello is not None, "the board has been started"
        self._provenance = Provenance(
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

    def tap_order(self, order: TapOrder, cases: _Cases, seeds: Sequence[int]) -> PlanRuns:
        dual: list[Sample] = []
        rip: list[Sample] = []
        for number, seed in enumerate(seeds):
            repeats = self._repeats if number == 0 else 1
            for paint in (0, 1) if number == 0 else (0,):
                if cases.dual is not None:
                    dual += self._run(cases.dual, seed, paint, repeats if paint == 0 else 1)
                rip += self._run(cases.rip, seed, paint, repeats if paint == 0 else 1)
        return PlanRuns(
            tap_order=order,
            rip=self._measurement(cases.rip, rip),
            dual=None if cases.dual is None else self._measurement(cases.dual, dual),
            rip_plan=cases.rip.plan,
            dual_plan=(cases.dual or cases.rip).plan,
            debt=self._debt(order, cases, seeds),
            expected={seed: _crcs(cases.rip, seed) for seed in seeds},
        )

    def _debt(self, order: TapOrder, cases: _Cases, seeds: Sequence[int]) -> DebtProof:
        geometry, direct = cases.rip.plan.layer.geometry, order is TapOrder.DIRECT
        debt, simulated = cases.rip.plan.bound.debt, simulate_debt(geometry, direct=direct)
        if cases.at_debt is None or cases.below_debt is None:
            return DebtProof(debt, simulated, (), 0, None)
        runs = []
        telling, replaced = telling_seeds(cases.below_debt, seeds)
        for seed in telling:
            for case, right in ((cases.at_debt, True), (cases.below_debt, False)):
                (sample,) = self._run(case, seed, 0, 1)
                runs.append(
                    DebtRun(
                        distance=case.plan.distance,
                        seed=seed,
                        right=right,
                        output_crc=sample.output_crc,
                        clean_crc=zlib.crc32(case.expected(seed).tobytes()),
                        predicted_crc=zlib.crc32(case.predicted(seed).tobytes()),
                        sample=sample,
                    )
                )
        collision = first_collision(geometry, cases.below_debt.plan.distance, direct=direct)
        return DebtProof(debt, simulated, tuple(runs), replaced, collision)

    def _run(self, case: Case, seed: int, paint: int, repeats: int) -> list[Sample]:
        cycles = case.plan.layer.geometry.macs * _CYCLES_PER_MAC
        long = cycles > _MASKED_SECONDS * self._board.entry.clock_hz
        if self._observer is not None:
            self._observer.watch(case.plan)
        run = self._board.run(
            self._index[case], seed, repeats=repeats, paint=paint, keep_interrupts=long
        )
        if self._observer is None:
            return _samples(run, [None] * repeats)
        return _samples(run, self._observer.witnessed(repeats))

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
            macs=plan.layer.geometry.macs,
            arena_bytes=plan.arena_bytes,
            scratch_bytes=plan.scratch_bytes,
            samples=tuple(samples),
            by_model=self._by_model(case, samples),
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


def _crcs(case: Case, seed: int) -> tuple[int, int]:
    return zlib.crc32(case.input(seed).tobytes()), zlib.crc32(case.expected(seed).tobytes())


def _samples(run: Run, witnessed: Sequence[Witnessed | None]) -> list[Sample]:
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
            witness=seen,
        )
        for ops, result, seen in zip(run.ops, run.results, witnessed, strict=True)
    ]
