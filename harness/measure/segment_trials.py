# SPDX-License-Identifier: Apache-2.0
"""A segment's kernel on many small segments: each as tightly as its gap and its rings allow, under both
paints and twice in a row, held against the host; and more tightly than that, where it has to be
wrong."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from harness.boards import Board
from harness.bounds import round_up
from harness.bounds.fused import segment_bound
from harness.build import RunnerImage
from harness.case import NetworkCase, build_pack, draw_network_parameters
from harness.case.segment_layout import Order, Tightness, fused_whole, gap_of, lay_out, rings_of
from harness.errors import FirmwareFault
from harness.geometry.segment import Segment
from harness.kernels import Kernel, KernelTraits
from harness.measure.fit import fits
from harness.measure.samples import samples_of
from harness.measure.wrong import wrong_bytes
from harness.network import Network
from harness.plan.fused_kernel import weights_bytes
from harness.results import Sample, WrongOutput
from harness.schema.constants import OPERANDS_MAX

Int8s = NDArray[np.int8]
_PACK_CASES = 120
_PACK_BYTES = 200 << 10  # so that a pack fits a small flash
_CASE_BYTES = 2_000  # of a case's records, at the most
_PACKED = 4  # times the bytes of plain constants, at the most
_BASES = 4  # the first ones that a declaration allows, in turn
_APART = 5  # every fifth has its output apart, every fifth on an operand from outside if it has one
_INTERRUPTS = 4  # every fourth keeps them on
_REPEATS = 2


@dataclass(frozen=True, eq=False)
class SegmentTrial:
    """A segment and how it is run. kernels: that it was laid out for. nearer: the same with its operand
    a pixel of Y nearer than the gap, fewer: with a row of a ring less; None where that would show
    nothing, or is no layout. spare: the most scratch that it can use beyond what it needs."""

    network: Network
    kernels: KernelTraits
    how: Tightness
    case: NetworkCase
    nearer: NetworkCase | None
    fewer: NetworkCase | None
    spare: int
    seed: int
    interrupts: bool

    @property
    def segment(self) -> Segment:
        return fused_whole(self.network).segment

    def laid(self, how: Tightness) -> SegmentTrial:
        """The same segment in another layout, without those that have to be wrong."""
        case = segment_case(self.network, self.kernels, how, self.case.id)
        return replace(self, how=how, case=case, nearer=None, fewer=None)

    @property
    def cases(self) -> tuple[NetworkCase, ...]:
        return tuple(case for case in (self.case, self.nearer, self.fewer) if case is not None)


@dataclass(frozen=True, eq=False)
class SegmentTried:
    """What came of a trial: samples, under paint 0 those of repeats, then under paint 1; or the fault
    that ended it. expected: CRC-32 of inputs and outputs, from the host. changed: operands of the
    segment, other than the one that Y lies on, which are not what they were. told: was the output of
    `nearer`, of `fewer` a wrong one? None where there is none."""

    trial: SegmentTrial
    samples: tuple[Sample, ...]
    expected: tuple[int, int]
    changed: tuple[int, ...] = ()
    told: tuple[bool | None, bool | None] = (None, None)
    fault: FirmwareFault | None = None

    @property
    def right(self) -> bool:
        return bool(self.samples) and all(s.output_crc == self.expected[1] for s in self.samples)


def make_segment_trials(
    kernel: Kernel, traits: KernelTraits, networks: Sequence[Network], seed: int
) -> list[SegmentTrial]:
    """Everything that may vary does so in turn."""
    return [
        _trial(kernel, traits, network, number, seed) for number, network in enumerate(networks)
    ]


def _trial(
    kernel: Kernel, traits: KernelTraits, network: Network, number: int, seed: int
) -> SegmentTrial:
    segment = fused_whole(network).segment
    spare = lay_out(network, traits).step_choices[0].spare_bytes
    operands = segment.operands
    onto = {_APART - 1: None, _APART - 2: operands[-1]}.get(number % _APART, 0)
    how = Tightness(
        onto=onto,
        spare=(0, spare, spare * (number % 7) // 7)[number % 3],
        base=number % _BASES * kernel.alignment,
        order=tuple(Order)[number // 2 % len(Order)],
    )
    base = f"{number}/{network.name}"
    nearer = fewer = None
    short = _short_ring(network, traits, number)
    if (left_out := _left_out(segment, onto, kernel.alignment)) is not None:
        closer = replace(how, nearer=left_out)
        nearer = segment_case(network, traits, closer, f"{base}/nearer", kept=False)
    if short is not None:
        lower = replace(how, rows=short)
        fewer = segment_case(network, traits, lower, f"{base}/fewer", kept=False)
    return SegmentTrial(
        network=network,
        kernels=traits,
        how=how,
        case=segment_case(network, traits, how, base),
        nearer=nearer,
        fewer=fewer,
        spare=spare,
        seed=seed + number,
        interrupts=number % _INTERRUPTS == 1,
    )


def segment_case(
    network: Network, traits: KernelTraits, how: Tightness, name: str, *, kept: bool = True
) -> NetworkCase:
    """With drawn weights. kept: operands that Y does not lie on are outputs, too: they are read back,
    for whoever reads them later; as many of them as a case has outputs."""
    parameters = draw_network_parameters(network)
    plan = lay_out(network, traits, how)
    found = fused_whole(network)
    others = [found.tensors[o] for o in found.segment.operands if kept and o != how.onto]
    outputs = (*network.outputs, *others)[:OPERANDS_MAX]
    plan = replace(plan, network=replace(network, outputs=outputs))
    return NetworkCase(name, plan, parameters)


def _left_out(segment: Segment, onto: int | None, alignment: int) -> int | None:
    """Bytes less than the gap, so that a pixel of Y is missing. None where the operand could be nearer
    by far: it is read before much of Y is stored."""
    if onto is None:
        return None
    debt = segment_bound(segment, onto).debt
    if debt is None or debt < 0:
        return None
    distance = (debt - segment.shape(segment.last).c) // alignment * alignment
    return round_up(gap_of(segment, onto), alignment) - distance


def _short_ring(network: Network, traits: KernelTraits, number: int) -> tuple[int, ...] | None:
    """Rows to be added: -1 to one ring of several rows, each of them in turn."""
    rings = rings_of(network, traits)
    several = [n for n, ring in enumerate(rings) if ring.rows > 1]
    if not several:
        return None
    short = several[number % len(several)]
    return tuple(-1 if n == short else 0 for n in range(len(rings)))


def run_segment_trials(
    board: Board, image: RunnerImage, trials: Sequence[SegmentTrial]
) -> Iterator[SegmentTried]:
    """In packs. After a fault the board is started again; a trial that has not enough room is left
    out. Errors: all that a board can raise, but FirmwareFault."""
    for group in _groups([one for one in trials if all(fits(c.plan, image) for c in one.cases)]):
        pack = build_pack([case for trial in group for case in trial.cases])
        start = partial(board.start, image, pack)
        start()
        for trial in group:
            yield run_segment_trial(board, pack.index, trial, start)


def run_segment_alone(board: Board, image: RunnerImage, trial: SegmentTrial) -> SegmentTried:
    """On a board that has just been reset: nothing ran before it. The first sample is of paint 0."""
    pack = build_pack(trial.cases)
    start = partial(board.start, image, pack)
    start()
    return run_segment_trial(board, pack.index, trial, start)


def run_segment_trial(
    board: Board,
    index: Callable[[NetworkCase], int],
    trial: SegmentTrial,
    restart: Callable[[], object],
) -> SegmentTried:
    """index: of a case in the pack that the board was started with. restart: it, after a fault. Of a
    wrong output it is read back where it parts from the host's."""
    case = trial.case
    tensors = case.tensors(trial.seed)
    expected = case.input_crc(trial.seed), case.output_crc(tensors)
    samples: list[Sample] = []
    changed: set[int] = set()
    for paint in (0, 1):
        try:
            run = board.run(
                index(case),
                trial.seed,
                repeats=_REPEATS if paint == 0 else 1,
                paint=paint,
                keep_interrupts=trial.interrupts,
            )
        except FirmwareFault as fault:
            restart()
            return SegmentTried(trial, (), expected, fault=fault)
        samples += samples_of(run)
        if samples[-1].output_crc != expected[1]:
            y, *operands = case.plan.network.outputs
            samples[-1] = replace(samples[-1], wrong=_wrong(board, case, y, tensors[y]))
            changed |= {o for o in operands if _wrong(board, case, o, tensors[o]) is not None}
    right = zlib.crc32(np.ascontiguousarray(tensors[case.plan.network.outputs[0]]).tobytes())

    def told(wrong: NetworkCase | None) -> bool | None:
        if wrong is None:
            return None
        try:
            (result,) = board.run(index(wrong), trial.seed).results
        except FirmwareFault:
            restart()
            return True
        return result.output_crc != right

    found = fused_whole(trial.network)
    names = tuple(o for o in found.segment.operands if found.tensors[o] in changed)
    return SegmentTried(
        trial, tuple(samples), expected, names, (told(trial.nearer), told(trial.fewer))
    )


def _wrong(board: Board, case: NetworkCase, tensor: int, expected: Int8s) -> WrongOutput | None:
    size = case.plan.network.tensors[tensor].size
    return wrong_bytes(board.read(case.plan.offsets[tensor], size), expected)


def _groups(trials: Sequence[SegmentTrial]) -> Iterator[list[SegmentTrial]]:
    group: list[SegmentTrial] = []
    cases = size = 0
    for trial in trials:
        weight = _PACKED * weights_bytes(trial.segment) + _CASE_BYTES * len(trial.cases)
        if group and (cases + len(trial.cases) > _PACK_CASES or size + weight > _PACK_BYTES):
            yield group
            group, cases, size = [], 0, 0
        group.append(trial)
        cases += len(trial.cases)
        size += weight
    if group:
        yield group
