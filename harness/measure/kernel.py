# SPDX-License-Identifier: Apache-2.0
"""One kernel on one board: its trials, and what it takes beside others and from other places."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.boards import Board
from harness.build import RunnerImage
from harness.case import build_pack, make_case
from harness.kernels import KernelTraits
from harness.measure.fit import fits
from harness.measure.samples import is_long, provenance_of
from harness.measure.segment_trials import SegmentTried
from harness.measure.suspects import examine
from harness.measure.trials import Trial, Tried, run_trials
from harness.network import Layer
from harness.plan import Mode, Strategy, in_place, plan_layer
from harness.results import Provenance

AnyTried = TypeVar("AnyTried", Tried, SegmentTried)
_MOST_FAULTS = 4  # each costs a reset; the rest is left untried then


@dataclass(frozen=True, eq=False)
class TrialRuns:
    """wanted: how many trials there were; those without room, and those after too many faults, are not
    in `tried`. suspects: in words, why the first wrong output may be wrong. failed: attempts before
    this one."""

    tried: tuple[Tried, ...]
    wanted: int
    suspects: tuple[str, ...]
    provenance: Provenance
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contender:
    """A build that runs a layer. label: of its column. padding: bytes in front of its functions."""

    label: str
    image: RunnerImage
    kernels: KernelTraits
    padding: int = 0


@dataclass(frozen=True)
class Speed:
    """Warm cycles of a layer by one build, None where there is no room. kernel: that ran it."""

    label: str
    kernel: str
    padding: int
    cycles: int | None
    right: bool


@dataclass(frozen=True)
class LayerSpeeds:
    """Of a layer in one mode, in place where its output can share memory."""

    layer: str
    macs: int
    speeds: tuple[Speed, ...]


@dataclass(frozen=True)
class SpeedRuns:
    layers: tuple[LayerSpeeds, ...]
    failed: tuple[str, ...] = ()


def up_to_faults(tried: Iterable[AnyTried]) -> list[AnyTried]:
    """As they come, up to the _MOST_FAULTS-th that faults."""
    found: list[AnyTried] = []
    faults = 0
    for one in tried:
        found.append(one)
        faults += one.fault is not None
        if faults >= _MOST_FAULTS:
            break
    return found


def measure_trials(board: Board, image: RunnerImage, trials: Sequence[Trial]) -> TrialRuns:
    """Errors: all that a board can raise, but FirmwareFault, which is a finding."""
    tried = up_to_faults(run_trials(board, image, trials))
    wrong = [one for one in tried if one.samples and not one.right]
    first = min(wrong, key=lambda one: one.trial.plan.layer.macs, default=None)
    pack = build_pack([trials[0].case])
    return TrialRuns(
        tuple(tried),
        len(trials),
        () if first is None else examine(board, image, first),
        provenance_of(board, image, pack.id),
    )


def measure_speeds(
    board: Board, layers: Sequence[tuple[Layer, Mode]], contenders: Sequence[Contender]
) -> SpeedRuns:
    """Errors: all that a board can raise."""
    return SpeedRuns(
        tuple(
            LayerSpeeds(layer.id, layer.macs, tuple(_speeds(board, layer, mode, contenders)))
            for layer, mode in layers
        )
    )


def _speeds(
    board: Board, layer: Layer, mode: Mode, contenders: Sequence[Contender]
) -> Iterator[Speed]:
    strategy = Strategy.RIP if in_place(layer) else Strategy.DUAL
    seed, repeats = 1, 2
    for one in contenders:
        case = make_case(plan_layer(layer, strategy, mode, one.kernels))
        kernel = case.plan.choice.kernel.name
        if not fits(case.plan, one.image):
            yield Speed(one.label, kernel, one.padding, None, True)
            continue
        board.start(one.image, build_pack([case]))
        long = is_long(case.macs, case.n_out, board.entry.clock_hz)
        last = board.run(0, seed, repeats=repeats, keep_interrupts=long).results[-1]
        right = last.output_crc == zlib.crc32(case.expected(seed).tobytes())
        yield Speed(one.label, kernel, one.padding, last.cycles, right)
