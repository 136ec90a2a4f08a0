# SPDX-License-Identifier: Apache-2.0
"""A kernel on many small ops: each in place as tightly as its declaration allows, or with two buffers,
from bases that are no better aligned than it declares, and held against the host."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.boards import Board
from harness.bounds import round_up
from harness.build import RunnerImage
from harness.case import Case, Pack, build_pack, make_case
from harness.errors import ConfigError, FirmwareFault
from harness.kernels import Kernel, KernelTraits
from harness.measure.fit import fits
from harness.measure.samples import samples_of
from harness.measure.wrong import first_wrong
from harness.network import Layer
from harness.plan import Mode, Plan, Strategy, in_place, plan_layer
from harness.results import Sample

_PACK_CASES = 400
_PACK_BYTES = 200 << 10  # of constants, so that a pack fits a small flash
_RECORD_BYTES = 400  # of a case, beside its constants
_BASES = 4  # the first ones that a declaration allows, in turn
_DUAL = 5  # every fifth has two buffers, every fourth keeps interrupts on, every eighth runs twice
_INTERRUPTS = 4
_TWICE = 8


@dataclass(frozen=True)
class TightTraits(KernelTraits):
    """The same kernels with nothing rounded up beyond what one of them declares: the gap is exact."""

    aligned: int = 1

    @property
    def alignment(self) -> int:
        return self.aligned


@dataclass(frozen=True, eq=False)
class Trial:
    """A case and how it is run. base: bytes from the arena's base to the first tensor."""

    case: Case
    base: int
    seed: int
    paint: int
    interrupts: bool
    repeats: int

    @property
    def plan(self) -> Plan:
        return self.case.plan


@dataclass(frozen=True, eq=False)
class Tried:
    """What came of a trial: a sample for each repeat, or the fault that ended it. expected: CRC-32 of
    input and output, from the host."""

    trial: Trial
    samples: tuple[Sample, ...]
    expected: tuple[int, int]
    fault: FirmwareFault | None = None

    @property
    def right(self) -> bool:
        return bool(self.samples) and all(s.output_crc == self.expected[1] for s in self.samples)


def make_trials(
    kernel: Kernel, traits: KernelTraits, layers: Sequence[tuple[Layer, Mode]], seed: int
) -> list[Trial]:
    """Everything that may vary does so in turn."""
    tight = TightTraits(
        traits.name, traits.chip, traits.limits, traits.as_int8, aligned=kernel.alignment
    )
    return [
        Trial(
            case=replace(made, id=f"{number}/{made.id}"),
            base=base,
            seed=seed + number,
            paint=number % 2,
            interrupts=number % _INTERRUPTS == 1,
            repeats=2 if number % _TWICE == 0 else 1,
        )
        for number, (layer, mode) in enumerate(layers)
        for base in [number % _BASES * kernel.alignment]
        for made in [
            make_case(moved(_plan(layer, mode, tight, dual=number % _DUAL == _DUAL - 1), base))
        ]
    ]


def _plan(layer: Layer, mode: Mode, traits: KernelTraits, *, dual: bool) -> Plan:
    """In place where that is possible and wanted."""
    if not dual and in_place(layer):
        try:
            return plan_layer(layer, Strategy.RIP, mode, traits)
        except ConfigError:  # no distance is safe
            pass
    return apart(layer, mode, traits)


def apart(layer: Layer, mode: Mode, traits: KernelTraits) -> Plan:
    """Two buffers, the output behind the operands: what is written past it hits the guard, where it
    shows, and not an operand that nobody reads any more."""
    plan = plan_layer(layer, Strategy.DUAL, mode, traits)
    end, places = 0, []
    for place in (*plan.inputs, plan.output):
        places.append(replace(place, offset=round_up(end, traits.alignment)))
        end = places[-1].end
    *operands, output = places
    return replace(plan, inputs=tuple(operands), output=output)


def moved(plan: Plan, base: int) -> Plan:
    """The same plan with all tensors so many bytes up: the arena grows at its lower end."""
    return replace(
        plan,
        inputs=tuple(replace(place, offset=place.offset + base) for place in plan.inputs),
        output=replace(plan.output, offset=plan.output.offset + base),
    )


def with_two_buffers(trial: Trial) -> Trial:
    """The same op, its output beside its operands."""
    plan = trial.plan
    dual = moved(apart(plan.layer, plan.mode, plan.kernel), trial.base)
    return replace(trial, case=Case(f"{trial.case.id}/two-buffers", dual, trial.case.parameters))


def run_trials(board: Board, image: RunnerImage, trials: Sequence[Trial]) -> Iterator[Tried]:
    """Each once, in packs. After a fault the board is started again; a trial that has not enough room
    is left out. Errors: all that a board can raise, but FirmwareFault."""
    fitting = [trial for trial in trials if fits(trial.plan, image)]
    for group, pack in _packs(fitting):
        board.start(image, pack)
        for index, trial in enumerate(group):
            tried = run_trial(board, index, trial)
            yield tried
            if tried.fault is not None:
                board.start(image, pack)


def run_alone(board: Board, image: RunnerImage, trial: Trial) -> Tried:
    """On a board that has just been reset: nothing ran before it."""
    board.start(image, build_pack([trial.case]))
    return run_trial(board, 0, trial)


def run_trial(board: Board, index: int, trial: Trial) -> Tried:
    """Case `index` of the pack that the board was started with. A wrong output is read back."""
    case = trial.case
    clean = case.expected(trial.seed)
    expected = case.input_crc(trial.seed), zlib.crc32(clean.tobytes())
    try:
        run = board.run(
            index,
            trial.seed,
            repeats=trial.repeats,
            paint=trial.paint,
            keep_interrupts=trial.interrupts,
        )
    except FirmwareFault as fault:
        return Tried(trial, (), expected, fault)
    samples = samples_of(run)
    if samples[-1].output_crc != expected[1]:
        output = case.plan.output
        seen = board.read(output.offset, output.shape.size)
        samples[-1] = replace(samples[-1], wrong=first_wrong(case.plan, seen, clean))
    return Tried(trial, tuple(samples), expected)


def _packs(trials: Sequence[Trial]) -> Iterator[tuple[list[Trial], Pack]]:
    group: list[Trial] = []
    size = 0
    for trial in trials:
        layer = trial.plan.layer
        weight = _RECORD_BYTES + 4 * layer.macs // layer.output.pixels + 12 * layer.output.c
        if group and (len(group) == _PACK_CASES or size + weight > _PACK_BYTES):
            yield group, build_pack([member.case for member in group])
            group, size = [], 0
        group.append(trial)
        size += weight
    if group:
        yield group, build_pack([member.case for member in group])
