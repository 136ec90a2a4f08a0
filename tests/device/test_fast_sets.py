# SPDX-License-Identifier: Apache-2.0
"""The fast set of each chip: in place it takes the cycles that it takes with two buffers, layer by layer
and in whole networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from harness.bench import Bench, BenchOptions, demand
from harness.boards import Board, BoardEntry
from harness.build import RunnerImage, build_runner
from harness.case import Case, make_case
from harness.kernels import FAST, KernelTraits, set_for
from harness.measure.fit import fits
from harness.network import Layer, find_set, load_network, load_set
from harness.plan import Strategy, in_place, modes, plan_layer, slow_steps
from harness.selection import choose_models
from tests.device.bulk import packs
from tests.layers import some_layers

TOLERANCE = 0.002
OPERATORS = ("conv", "depthwise", "add")


def _kernels(chip: str) -> KernelTraits:
    return KernelTraits(set_for(FAST, chip), chip)


@pytest.fixture(scope="module")
def fast(chip: str) -> RunnerImage:
    return build_runner(chip, kernels=_kernels(chip).kernels.all())


def _pairs(
    layers: Sequence[Layer], kernels: KernelTraits, image: RunnerImage
) -> Iterator[tuple[Case, Case]]:
    """With two buffers and in place, of those for which the board has room."""
    for layer in layers:
        if in_place(layer):
            mode = modes(layer)[0]
            dual, rip = (
                plan_layer(layer, strategy, mode, kernels)
                for strategy in (Strategy.DUAL, Strategy.RIP)
            )
            if fits(dual, image):
                yield make_case(dual), make_case(rip)


def _apart(entry: BoardEntry, image: RunnerImage, pairs: Sequence[tuple[Case, Case]]) -> list[str]:
    """Whose cycles or outputs differ between the two, of a warm run."""
    cases = [case for pair in pairs for case in pair]
    seen: dict[str, tuple[int, int]] = {}
    with Board(entry) as board:
        for pack in packs(cases):
            board.start(image, pack)
            for index, case in enumerate(pack.cases):
                run = board.run(index, seed=3, repeats=2, keep_interrupts=True)
                result, (op,) = run.results[-1], run.ops[-1]
                seen[case.id] = result.output_crc, result.cycles - op.interrupt_cycles
    found = []
    for dual, rip in pairs:
        (crc, cycles), (same_crc, others) = seen[dual.id], seen[rip.id]
        if same_crc != crc or abs(others / cycles - 1) > TOLERANCE:
            found.append(f"{rip.id}: {others} cycles, {cycles} with two buffers")
    return found


def _layers(name: str) -> list[Layer]:
    if name == "first":
        return list(load_set(find_set("first")))
    operator, count = name.split("-")
    return list({layer.id: layer for layer in some_layers(operator, int(count), seed=8)}.values())


SOME = [f"{operator}-10" for operator in OPERATORS]
MANY = ["first", *(f"{operator}-500" for operator in OPERATORS)]


@pytest.mark.parametrize("name", [*SOME, *(pytest.param(n, marks=pytest.mark.extra) for n in MANY)])
def test_in_place_costs_no_cycles(
    entry: BoardEntry, chip: str, name: str, fast: RunnerImage
) -> None:
    pairs = list(_pairs(_layers(name), _kernels(chip), fast))
    assert len(pairs) >= 6
    assert _apart(entry, fast, pairs) == []


EXTENDED_TOLERANCE = 0.03
STRATEGIES = (Strategy.BASELINE, Strategy.RIP, Strategy.EXTENDED)
QUICK = "mcunet-vww0"
ALL = [network.name for network in choose_models(None)]


@pytest.mark.parametrize(
    "chip", ["rp2350", pytest.param("rp2040", marks=pytest.mark.extra)], indirect=True
)
@pytest.mark.parametrize(
    "name", [QUICK, *(pytest.param(n, marks=pytest.mark.extra) for n in ALL if n != QUICK)]
)
def test_whole_networks(entry: BoardEntry, chip: str, name: str) -> None:
    """rip in the cycles of the baseline. extended within 3 % of rip where its peak is the same: ops that
    its traversals slow down run the usual way if the peak allows it."""
    bench = Bench(entry, BenchOptions(seeds=(1,), repeats=2, kernels=FAST))
    try:
        cases = bench.network_cases(load_network(name), STRATEGIES)
        verdicts = {verdict.plan: verdict for verdict in bench.judge_network(cases)}
    finally:
        bench.close()
    for verdict in verdicts.values():
        demand(verdict)
    baseline, rip, extended = (verdicts.get(str(way)) for way in STRATEGIES)
    if chip == "rp2040" and name == "mcunet-in4":
        assert rip is None and extended is None  # the one of eleven that a Pico 1 cannot hold
        return
    assert rip is not None and extended is not None
    plans = {str(case.plan.strategy): case.plan for case in cases}
    if baseline is not None and rip.ratio is not None:
        assert abs(rip.ratio - 1) <= TOLERANCE
    if plans["extended"].peak == plans["rip"].peak:
        assert abs(extended.cycles / rip.cycles - 1) <= EXTENDED_TOLERANCE
        assert slow_steps(plans["extended"]) == ()
