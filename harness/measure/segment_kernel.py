# SPDX-License-Identifier: Apache-2.0
"""A segment's kernel on one board: its trials, and what it takes beside others and beside the same ops
one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from harness.boards import Board
from harness.build import RunnerImage
from harness.case import NetworkCase, build_pack, network_case
from harness.case.segment_layout import Tightness, lay_out
from harness.kernels import KernelTraits, Selection
from harness.measure.fit import fits
from harness.measure.kernel import Contender, LayerSpeeds, Speed, SpeedRuns, TrialRuns, up_to_faults
from harness.measure.samples import provenance_of
from harness.measure.segment_suspects import examine_segment
from harness.measure.segment_trials import SegmentTrial, SegmentTried, run_segment_trials
from harness.measure.wrongop import has_long_op
from harness.network import Network
from harness.plan import NetworkPlan, Strategy, plan_network

ONE_BY_ONE = "op by op"


@dataclass(frozen=True, eq=False)
class SegmentRuns(TrialRuns):
    """Of segments: `segments` in place of `tried`, which is of single ops and empty."""

    segments: tuple[SegmentTried, ...] = ()


def kernels_of(trials: Sequence[SegmentTrial]) -> Selection:
    """What a runner needs to run them all."""
    return reduce(or_, (trial.case.plan.kernels for trial in trials))


def measure_segments(
    board: Board, image: RunnerImage, trials: Sequence[SegmentTrial]
) -> SegmentRuns:
    """Errors: all that a board can raise, but FirmwareFault, which is a finding."""
    tried = up_to_faults(run_segment_trials(board, image, trials))
    wrong = [one for one in tried if one.samples and not one.right]
    first = min(wrong, key=lambda one: one.trial.network.macs, default=None)
    suspects = () if first is None else examine_segment(board, image, first)
    where = provenance_of(board, image, build_pack([trials[0].case]).id)
    return SegmentRuns((), len(trials), suspects, where, segments=tuple(tried))


def fused_plan(network: Network, kernels: KernelTraits) -> NetworkPlan:
    """As one segment, at its gap, with all the scratch that its kernel can use."""
    (choice,) = lay_out(network, kernels).step_choices
    return lay_out(network, kernels, Tightness(spare=choice.spare_bytes))


def single_plan(network: Network, kernels: KernelTraits) -> NetworkPlan:
    """The same ops one by one, each in place as far as it can be."""
    return plan_network(network, Strategy.RIP, kernel=kernels)


def measure_segment_speeds(
    board: Board,
    networks: Sequence[Network],
    fused: Sequence[Contender],
    single: Sequence[Contender],
) -> SpeedRuns:
    """Of each network by its segment's kernel and then op by op. Errors: all that a board can raise."""
    rows: list[LayerSpeeds] = []
    for network in networks:
        plans = {one.label: fused_plan(network, one.kernels) for one in fused}
        rows.append(_row(board, network.name, plans, fused))
        plans = {one.label: single_plan(network, one.kernels) for one in single}
        rows.append(_row(board, f"{network.name}, {ONE_BY_ONE}", plans, single))
    return SpeedRuns(tuple(rows))


def _row(
    board: Board, name: str, plans: Mapping[str, NetworkPlan], contenders: Sequence[Contender]
) -> LayerSpeeds:
    cases = {label: network_case(plan.network, plan) for label, plan in plans.items()}
    macs = next(iter(cases.values())).macs
    return LayerSpeeds(name, macs, tuple(_speeds(board, cases, contenders)))


def _speeds(
    board: Board, cases: Mapping[str, NetworkCase], contenders: Sequence[Contender]
) -> Iterator[Speed]:
    seed, repeats = 1, 2
    for one in contenders:
        case = cases[one.label]
        kernel = ", ".join(dict.fromkeys(choice.kernel.name for choice in case.plan.choices))
        if not fits(case.plan, one.image):
            yield Speed(one.label, kernel, one.padding, None, True)
            continue
        board.start(one.image, build_pack([case]))
        long = has_long_op(case, board.entry.clock_hz)
        last = board.run(0, seed, repeats=repeats, keep_interrupts=long).results[-1]
        right = last.output_crc == case.output_crc(case.tensors(seed))
        yield Speed(one.label, kernel, one.padding, last.cycles, right)
