# SPDX-License-Identifier: Apache-2.0
"""Verdicts on layers of other operators, on several operands, and on operands that are copied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.geometry import (
    DIRECT,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Pad,
)
from harness.judge import judge
from harness.measure import PlanRuns
from harness.network import Layer
from harness.plan import LAYER_STRATEGIES, Mode, Plan, Strategy, plan_layer, proof_distances
from harness.results import DebtProof, DebtRun, Measurement, Provenance, Sample, WrongOutput
from harness.schema.constants import OpKind, Traversal

WHERE = Provenance("b", "emulated", "rp2040", "00", 125_000_000, "elf", "id", "pack", "1", "gcc")
WRONG = WrongOutput(5, 6, 1, 2, 3, -7, 4)
SAID = "5 bytes, the first in pixel 6 (row 1, column 2), channel 3: -7 instead of 4"
CONV = Layer("conv", ConvGeometry(5, 6, 3, 4, 3, 3, pad=Pad.same(1, 1)))
ADD = Layer("add", ElementwiseGeometry(3, 3, 3, 2), OpKind.ADD)
CONCAT = Layer("concat", ConcatGeometry(1, 3, (1, 2, 3)), OpKind.CONCAT)
CONNECTED = Layer("fc", ConvGeometry(1, 1, 9, 6), OpKind.FULLY_CONNECTED)


def _sample(plan: Plan, paint: int = 0) -> Sample:
    return Sample(
        seed=1,
        paint=paint,
        repeat=0,
        cycles=1000,
        microseconds=8,
        interrupt_cycles=0,
        interrupts=0,
        interrupts_on=False,
        xip_accesses=0,
        xip_hits=0,
        input_crc=0xAAAA,
        output_crc=0xBBBB,
        low_water=0,
        high_water=plan.arena_bytes,
        outside_count=0,
        outside_first=0,
        scratch_used=plan.scratch_bytes,
        stack_peak=800,
        op_cycles=(300, 700) if plan.arrival else (1000,),
    )


def _measurement(plan: Plan) -> Measurement:
    return Measurement(
        provenance=WHERE,
        layer=plan.layer.id,
        plan=plan.label,
        case="case",
        macs=plan.layer.macs,
        arena_bytes=plan.arena_bytes,
        scratch_bytes=plan.scratch_bytes,
        samples=(_sample(plan), _sample(plan, 1)),
        shifted=plan.arrival is not None,
    )


def _runs(layer: Layer, mode: Mode) -> PlanRuns:
    """As they are when all is well."""
    dual = plan_layer(layer, Strategy.DUAL, mode)
    if layer.kind is OpKind.FULLY_CONNECTED:
        return PlanRuns(mode, None, _measurement(dual), None, dual, None, {1: (0xAAAA, 0xBBBB)})
    rip = plan_layer(layer, Strategy.RIP, mode)
    return PlanRuns(
        mode=mode,
        rip=_measurement(rip),
        dual=_measurement(dual),
        rip_plan=rip,
        dual_plan=dual,
        debt=None if mode.copied else _proof(rip),
        expected={1: (0xAAAA, 0xBBBB)},
    )


def _proof(plan: Plan) -> DebtProof:
    debt, sides = plan.bound.debt, proof_distances(plan)
    if sides is None:
        return DebtProof(debt, debt, (), 0, None)
    right = DebtRun(sides[0], 1, True, 0xBBBB, 0xBBBB, 0xBBBB, _sample(plan))
    wrong = DebtRun(sides[1], 1, False, 0xCCCC, 0xBBBB, 0xCCCC, _sample(plan))
    return DebtProof(debt, debt, (right, wrong), 0, None)


def _failures(runs: PlanRuns, strategy: Strategy = Strategy.RIP) -> list[str]:
    verdict = judge(runs, strategy)
    assert verdict is not None
    assert verdict.ok == (not verdict.failures)
    return list(verdict.failures)


MODES = [
    (CONV, Mode()),
    (CONV, Mode(Execution(traversal=Traversal.REVERSE), copied=True)),
    (ADD, Mode(onto=1)),
    (ADD, Mode(Execution(traversal=Traversal.REVERSE))),
    (CONCAT, Mode(onto=2)),
    (CONCAT, Mode(onto=1, copied=True)),
]


@pytest.mark.parametrize(("layer", "mode"), MODES)
def test_all_is_well(layer: Layer, mode: Mode) -> None:
    runs = _runs(layer, mode)
    for strategy in LAYER_STRATEGIES:
        assert not _failures(runs, strategy)


def test_rip_where_no_memory_is_shared() -> None:
    runs = _runs(CONNECTED, Mode(DIRECT))
    assert judge(runs, Strategy.RIP) is None
    verdict = judge(runs, Strategy.DUAL)
    assert verdict is not None
    assert (verdict.ok, verdict.debt, verdict.ratio) == (True, "", 1.0)
    assert (verdict.workspace_bound, verdict.workspace_given) == (15, 17)


def test_a_copied_operand_proves_nothing_of_the_debt() -> None:
    verdict = judge(_runs(CONV, Mode(copied=True)), Strategy.RIP)
    assert verdict is not None
    assert (verdict.ok, verdict.debt, verdict.plan) == (True, "", "rip-copy")
    assert (verdict.cycles, verdict.shift_cycles) == (1000, 300)


def test_debts_in_a_word() -> None:
    def word(layer: Layer, proof: DebtProof | None = None) -> str:
        runs = _runs(layer, Mode())
        verdict = judge(runs if proof is None else replace(runs, debt=proof), Strategy.RIP)
        assert verdict is not None
        return verdict.debt

    plan = plan_layer(ADD, Strategy.RIP)
    assert word(ADD) == "0 (1 seed)"
    two = _proof(plan)
    more = tuple(replace(run, seed=2) for run in two.runs)
    assert word(ADD, replace(two, runs=two.runs + more, replaced=3)) == "0 (2 seeds), 3 replaced"
    assert word(Layer("pair", ElementwiseGeometry(1, 2, 1, 2), OpKind.ADD)) == "0 (not shown)"
    assert word(Layer("one", ElementwiseGeometry(1, 1, 1, 2), OpKind.ADD)) == "none possible"


@pytest.mark.parametrize(
    ("layer", "mode", "strategy", "most"),
    [
        (CONV, Mode(), Strategy.RIP, 3),
        (CONV, Mode(), Strategy.DUAL, 3),
        (ADD, Mode(), Strategy.RIP, 7),
        (CONCAT, Mode(), Strategy.RIP, 11),
        (CONCAT, Mode(), Strategy.DUAL, 11),
    ],
)
def test_bytes_over_the_bound(layer: Layer, mode: Mode, strategy: Strategy, most: int) -> None:
    """Each operand's place is rounded up to 4: 3 bytes an operand at most."""
    runs = _runs(layer, mode)
    name = str(strategy)
    plan = runs.rip_plan if strategy is Strategy.RIP else runs.dual_plan
    assert plan is not None
    for over in range(most + 2):
        arena = plan.exact_workspace + over
        measured = replace(
            _measurement(plan),
            arena_bytes=arena,
            samples=tuple(replace(s, high_water=0) for s in _measurement(plan).samples),
        )
        said = _failures(replace(runs, **{name: measured}), strategy)
        loose = f"the arena is {arena} bytes, the bound is {plan.exact_workspace}"
        assert said == ([loose] if over > most else [])


def test_where_an_output_is_wrong() -> None:
    """Of a sample and on both sides of the debt, only where it was read back."""
    runs = _runs(CONV, Mode())
    rip, proof = runs.rip, runs.debt
    assert rip is not None
    assert proof is not None
    bad = replace(rip.samples[0], output_crc=0xDEAD)
    for wrong, tail in ((WRONG, f"; {SAID}"), (None, "")):
        samples = (replace(bad, wrong=wrong), rip.samples[1])
        assert _failures(replace(runs, rip=replace(rip, samples=samples))) == [
            "seed 1, paint P, repeat 0: the output's CRC is 0000dead, the host's 0000bbbb" + tail
        ]
        right, below = (
            replace(run, output_crc=0xDEAD, sample=replace(_sample(_plan(runs)), wrong=wrong))
            for run in proof.runs
        )
        said = _failures(replace(runs, debt=replace(proof, runs=(right, below))))
        at, under = right.distance, below.distance
        assert said == [
            f"seed 1 at distance {at}: the output is 0000dead, not 0000bbbb: unsafe{tail}",
            f"seed 1 at distance {under}: the output is 0000dead, predicted 0000cccc{tail}",
        ]


def _plan(runs: PlanRuns) -> Plan:
    assert runs.rip_plan is not None
    return runs.rip_plan


def test_distances_that_were_not_proved() -> None:
    """REVERSE: the wrong side lies above."""
    runs = _runs(ADD, Mode(Execution(traversal=Traversal.REVERSE)))
    assert runs.debt is not None
    assert proof_distances(_plan(runs)) == (0, 4)
    (right, wrong) = runs.debt.runs
    mirrored = replace(runs.debt, runs=(right, replace(wrong, distance=-4)))
    assert _failures(replace(runs, debt=mirrored)) == [
        "proved at distances [-4, 0], not at 0 and 4"
    ]
    nothing = replace(runs.debt, runs=())
    assert _failures(replace(runs, debt=nothing)) == ["proved at distances [], not at 0 and 4"]


def test_a_loose_debt_is_said_once_for_each_seed() -> None:
    runs = _runs(ADD, Mode())
    assert runs.debt is not None
    right, wrong = runs.debt.runs
    found = replace(runs.debt, runs=(right, replace(wrong, output_crc=0xBBBB)))
    assert _failures(replace(runs, debt=found)) == [
        "seed 1 at distance -4: the output is right below the debt: the bound is loose",
        "seed 1 at distance -4: the output is 0000bbbb, predicted 0000cccc",
    ]
