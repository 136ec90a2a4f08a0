# SPDX-License-Identifier: Apache-2.0
"""The bench of one board: what the fixture `bench` offers, to our device suite and to other projects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.benchoptions import BenchOptions, Unfit
from harness.boards import Board, BoardEntry, pack_room
from harness.boards import quarantine as quarantines
from harness.boards.quarantine import Quarantine
from harness.boards.recovery import Ladder
from harness.build import RunnerImage, build_runner
from harness.case import NetworkCase, network_case, plan_that_fits
from harness.errors import (
    BoundViolation,
    BusyError,
    ConfigError,
    HarnessError,
    Mismatch,
    QuarantineError,
)
from harness.history import Recorder
from harness.judge import judge, judge_network
from harness.keeper import Keeper
from harness.kernels import KernelTraits, Selection, find_kernels, set_for
from harness.kernels.cost import USUAL
from harness.measure import NetworkRuns, PlanRuns, Runs, measure_layer, measure_network
from harness.measure.fit import fits
from harness.network import Layer, Model, Network
from harness.plan import Mode, NetworkPlan, Strategy, find_mode, plan_network
from harness.results import Measurement, Verdict

__all__ = ["Bench", "BenchOptions", "Unfit", "demand"]


class Bench:
    """Measures layers on one board. The board is attached at the first use, and kept until `close`.

    on_stage: called with the name of each stage as it begins. on_notice: with what a reader should know
    at once: whom we wait for, each step of recovery, and what could not be kept. recorder: of the run
    that this bench is a part of, ended by who made it; else one of its own, of `options.history`.
    """

    def __init__(
        self,
        entry: BoardEntry,
        options: BenchOptions | None = None,
        on_stage: Callable[[str], None] = lambda _: None,
        on_notice: Callable[[str], None] = lambda _: None,
        recorder: Recorder | None = None,
    ) -> None:
        self.entry = entry
        self.options = options or BenchOptions()
        path = self.options.history
        self._own = None if recorder or not path else Recorder(path, on_lost=on_notice)
        self.verdicts: list[Verdict] = []
        self.judged: list[tuple[Verdict, PlanRuns | NetworkRuns]] = []  # each with what it judges
        self.stage = "nothing yet"
        self._on_stage = on_stage
        self._on_notice = on_notice
        self._doing = ""
        self._board: Board | None = None
        self._quarantine: Quarantine | None = None
        self._images: dict[Selection, RunnerImage] = {}
        self._known: dict[tuple[str, Mode], PlanRuns | HarnessError] = {}
        self._networks: dict[tuple[str, ...], NetworkRuns | HarnessError] = {}
        self.unfit: list[Unfit] = []
        miss = USUAL.miss_cycles if entry.xip_miss_cycles is None else entry.xip_miss_cycles
        kernels = set_for(self.options.kernels, entry.chip)
        self._keeper = Keeper(recorder or self._own, entry.name, find_kernels(kernels).name)
        self.kernels = KernelTraits(kernels, entry.chip, replace(USUAL, miss_cycles=miss))

    def close(self) -> None:
        self._let_go()
        if self._own is not None:
            self._own.end("closed")

    def _let_go(self) -> None:
        board, self._board = self._board, None
        if board is not None:
            board.__exit__(None, None, None)

    def say(self, doing: str) -> None:
        """What the board is used for from now on, for others who want it."""
        self._doing = self._keeper.test = doing
        if self._board is not None:
            self._board.say(doing)

    def run(self, layer: Layer, plan: str = "rip") -> Measurement:
        """Cycles, waters and CRCs of a layer under a plan: `rip`, `dual`, `rip-direct`, `rip-column`,
        `rip-copy` and so on (docs/proof.md).

        Both strategies of a mode are measured together, once. Errors: ConfigError for a plan that is
        not known or does not fit; BusyError, QuarantineError; and all that a board can raise.
        """
        strategy, mode = find_mode(layer, plan)
        runs = self._measure(layer, mode)
        measured = runs.rip if strategy is Strategy.RIP else runs.dual
        if measured is None:
            raise self._nothing(layer, strategy)
        return measured

    def judge(self, layer: Layer, plan: str = "rip") -> Verdict | None:
        """The verdict, pass or fail, also kept for the table and appended to the history; None for
        dual where two buffers do not fit. A measurement that failed is a line of the history too.
        Errors: as `run`."""
        strategy, mode = find_mode(layer, plan)
        try:
            runs = self._measure(layer, mode)
        except HarnessError as error:
            self._keeper.failure(layer.id, [plan], (layer.id, mode), error)
            raise
        verdict = judge(runs, strategy)
        if verdict is not None:
            self.judged.append((verdict, runs))
            measured = runs.rip if strategy is Strategy.RIP else runs.dual
            self._keep(verdict, measured, (layer.id, mode))
        return verdict

    def network_cases(
        self, network: Network | Model, strategies: Sequence[Strategy]
    ) -> tuple[NetworkCase, ...]:
        """One for each strategy, with the most scratch for its kernels' steps that the board has beside
        its arena; what does not fit has the least. Where the flash has no room for all packed constants,
        some are int8 (harness.case.flash). Errors: as harness.case.network_case; BuildError."""
        try:
            return self._network_cases(network, strategies)
        except HarnessError as error:
            self._keeper.failure(network.name, list(map(str, strategies)), None, error)
            raise

    def _network_cases(
        self, network: Network | Model, strategies: Sequence[Strategy]
    ) -> tuple[NetworkCase, ...]:
        graph = network.network if isinstance(network, Model) else network
        room = pack_room(self.entry.chip)

        def plan_of(strategy: Strategy) -> NetworkPlan:
            def plan_by(kernel: KernelTraits) -> NetworkPlan:
                return plan_network(graph, strategy, kernel=kernel)

            return plan_that_fits(network, plan_by, self.kernels, self._has_room, room)

        return tuple(network_case(network, plan_of(strategy)) for strategy in strategies)

    def _has_room(self, plan: NetworkPlan) -> bool:
        """In SRAM, beside a runner with its kernels alone."""
        return fits(plan, self._image(plan.kernels))

    def judge_network(self, cases: Sequence[NetworkCase]) -> list[Verdict]:
        """Verdicts of one network, one for each of `cases` that fits the board; those that do not are in
        `unfit`. They are measured together, in turn and by one build, unless one of them only fits
        beside fewer kernels than all of them need, or with less scratch: what is measured apart is not
        compared. Errors: as `run`, but for what fits."""
        alike: dict[KernelTraits, list[NetworkCase]] = {}
        for case in cases:
            alike.setdefault(case.plan.kernel, []).append(case)
        found = []
        for some in alike.values():
            for group in self._groups(some):
                found += self._judge_together(group)
        return found

    def run_network(self, cases: Sequence[NetworkCase]) -> NetworkRuns:
        """Cycles, waters and CRCs of one network, measured once; by one build. Errors: as `run`."""
        return self._measure_network(cases)

    def _groups(self, cases: Sequence[NetworkCase]) -> list[list[NetworkCase]]:
        """All of them, or by the kernels that they need."""
        together = self._image(_kernels(cases))
        if all(
            fits(c.plan, together) or not fits(c.plan, self._image(_kernels([c]))) for c in cases
        ):
            return [list(cases)]
        groups: dict[Selection, list[NetworkCase]] = {}
        for case in cases:
            groups.setdefault(_kernels([case]), []).append(case)
        return list(groups.values())

    def _judge_together(self, cases: Sequence[NetworkCase]) -> list[Verdict]:
        name = cases[0].plan.name
        try:
            runs = self._measure_network(cases)
        except HarnessError as error:
            plans = [str(case.plan.strategy) for case in cases]
            self._keeper.failure(name, plans, _key(cases), error)
            raise
        for strategy, needed in runs.missing.items():
            missing = Unfit(self.entry.name, name, str(strategy), needed, runs.pool_bytes)
            self.unfit.append(missing)
        found = []
        for strategy, measured in runs.measured.items():
            verdict = judge_network(runs, strategy)
            if verdict is not None:
                self.judged.append((verdict, runs))
                self._keep(verdict, measured, _key(cases))
                found.append(verdict)
        return found

    def _keep(self, verdict: Verdict, measured: Measurement | None, key: object) -> None:
        """key: of the measurement."""
        self.verdicts.append(verdict)
        self._keeper.verdict(verdict, measured, key)

    def prove(self, layer: Layer, plan: str = "rip") -> Verdict:
        """The verdict, which passed. Errors: Mismatch for a wrong output, BoundViolation for a bound
        that does not hold, both failures of the test; else as `run`."""
        verdict = self.judge(layer, plan)
        if verdict is None:
            raise self._nothing(layer, find_mode(layer, plan)[0])
        demand(verdict)
        return verdict

    def _nothing(self, layer: Layer, strategy: Strategy) -> ConfigError:
        if strategy is Strategy.RIP:
            return ConfigError(f"{layer.id}: its output shares no memory with its input")
        return ConfigError(f"{layer.id} does not fit {self.entry.name} with two buffers")

    def _measure(self, layer: Layer, mode: Mode) -> PlanRuns:
        """Measured once; a failure is remembered too, so that it is not paid for twice."""
        key = (layer.id, mode)
        if key not in self._known:
            try:
                self._known[key] = self._measure_now(layer, mode)
            except (BusyError, QuarantineError):
                raise  # of the board, not of the layer, and it ends
            except HarnessError as error:
                self._known[key] = error
        known = self._known[key]
        if isinstance(known, HarnessError):
            raise known
        return known

    def _measure_now(self, layer: Layer, mode: Mode) -> PlanRuns:
        choice = self.kernels.choose(layer.kind, layer.geometry, mode.execution, layer.rounding)
        image = self._image(self.kernels.select([choice]))
        return self.recovering(
            (layer.id, mode),
            lambda board: measure_layer(
                board,
                image,
                layer,
                mode=mode,
                kernel=self.kernels,
                seeds=self.options.seeds,
                repeats=self.options.repeats,
                reflash=self.options.reflash,
                witness=board.witness if self.options.witness else None,
            ),
            image,
        )

    def _measure_network(self, cases: Sequence[NetworkCase]) -> NetworkRuns:
        """Measured once, as a layer is."""
        key = _key(cases)
        if key not in self._networks:
            image = self._image(_kernels(cases))
            try:
                self._networks[key] = self.recovering(
                    key,
                    lambda board: measure_network(
                        board,
                        image,
                        cases,
                        seeds=self.options.seeds,
                        repeats=self.options.repeats,
                        reflash=self.options.reflash,
                    ),
                    image,
                )
            except (BusyError, QuarantineError):
                raise
            except HarnessError as error:
                self._networks[key] = error
        known = self._networks[key]
        if isinstance(known, HarnessError):
            raise known
        return known

    def recovering(
        self, key: object, measure: Callable[[Board], Runs], image: RunnerImage | None = None
    ) -> Runs:
        """What `measure` gives on our board, climbing the ladder where the way to it fails. key: by
        which the attempts are kept. image: what it runs, where it is one."""
        board = self._ready()

        def attempt() -> Runs:
            self._keeper.begin()
            board.attach()
            runs = measure(board)
            if image is not None:
                self._keeper.measured(key, board, image)
            return runs

        ladder = None
        if self.options.recovery:
            ladder = Ladder(board, lambda step: self._on_notice(f"{self.entry.name}: {step}"))
        try:
            runs = attempt() if ladder is None else ladder.climb(attempt)
        except HarnessError as error:
            self._keeper.failed(key, ladder, error)
            if ladder is not None and ladder.exhausted and self.options.quarantine:
                self._give_up(board, error)
            raise
        if ladder is None:
            return runs
        return replace(runs, failed=tuple(str(attempt) for attempt in ladder.failed))

    def _ready(self) -> Board:
        """Our board, locked. Errors: BusyError, QuarantineError."""
        if self._quarantine is not None and not self._quarantine.over:
            raise self._quarantine.error(self.entry.name)
        if self._board is None:
            board = Board(
                self.entry,
                nonce=self.options.nonce,
                on_stage=self._begin,
                wait=self.options.wait,
                on_wait=self._on_notice,
                on_frame=self._keeper.add_frame,
            )
            found = quarantines.find(board.keys) if self.options.quarantine else None
            if found is not None:
                raise found.error(self.entry.name)
            self._board = (
                board  # before the lock: whatever happens from here on, `close` lets go of it
            )
            try:
                board.lock()
            except HarnessError:
                self._board = None
                raise
            if self._doing:
                board.say(self._doing)
        return self._board

    def _give_up(self, board: Board, error: HarnessError) -> None:
        """Later tests of this board fail at once; those of others go on."""
        reason = f"{type(error).__name__}: {error.message}"
        self._quarantine = quarantines.impose(self.entry.name, board.keys, reason)
        self._on_notice(f"{self.entry.name} is in quarantine {self._quarantine}")
        self._let_go()

    def _begin(self, stage: str) -> None:
        self.stage = stage
        self._on_stage(stage)

    def _image(self, kernels: Selection) -> RunnerImage:
        """The runner with these kernels: what others would take of the SRAM is the arena's."""
        if kernels not in self._images:
            self._begin("build")
            self._images[kernels] = build_runner(
                self.entry.chip, kernels=kernels, sram_bytes=self.entry.sram_bytes
            )
        return self._images[kernels]


def _kernels(cases: Sequence[NetworkCase]) -> Selection:
    """What a runner needs to run all of them. Errors: ConfigError for cases of different sets."""
    first, *others = (case.plan.kernels for case in cases)
    for other in others:
        first |= other
    return first


def _key(cases: Sequence[NetworkCase]) -> tuple[str, ...]:
    return tuple(case.id for case in cases)


def demand(verdict: Verdict) -> None:
    """Errors: Mismatch or BoundViolation with every failure in it, when there is one."""
    if verdict.ok:
        return
    wrong_output = any("output's CRC" in failure for failure in verdict.failures)
    raise (Mismatch if wrong_output else BoundViolation)(
        f"{verdict.layer} under {verdict.plan} fails on {verdict.provenance.board}",
        evidence={f"{n}": failure for n, failure in enumerate(verdict.failures, 1)},
        hint="`ripbench gap` prints the bound; docs/proof.md says what was checked",
    )
