# SPDX-License-Identifier: Apache-2.0
"""Blocks that only the extended strategy runs in less: concatenation in place, swish as one table."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench import Bench, BenchOptions, demand
from harness.boards import BoardEntry
from harness.case import network_cases
from harness.network import load_network
from harness.plan import NetworkPlan, Strategy
from harness.schema.constants import OpKind

NETWORKS = Path(__file__).with_name("networks")


def _plans(name: str, entry: BoardEntry) -> dict[Strategy, NetworkPlan]:
    """All five run, to the same bytes as the host's."""
    cases = network_cases(load_network(NETWORKS / name), list(Strategy))
    bench = Bench(entry, BenchOptions(seeds=(1, 2, 3), repeats=1))
    try:
        verdicts = bench.judge_network(cases)
    finally:
        bench.close()
    for verdict in verdicts:
        demand(verdict)
    assert [verdict.plan for verdict in verdicts] == [
        "dual", "baseline", "rip", "extended", "fused",
    ]  # fmt: skip
    assert len({verdict.output_crc for verdict in verdicts}) == 1
    return {case.plan.strategy: case.plan for case in cases}


def _in_place(plan: NetworkPlan, kind: OpKind) -> list[bool]:
    return [
        step.onto is not None
        for step in plan.steps
        for node in (plan.network.nodes[step.ops[-1]],)
        if node.layer.kind is kind
    ]


def test_a_dense_block_concatenates_in_place(entry: BoardEntry) -> None:
    plans = _plans("dense-block.yaml", entry)
    assert _in_place(plans[Strategy.RIP], OpKind.CONCAT) == [False, False]
    assert any(_in_place(plans[Strategy.EXTENDED], OpKind.CONCAT))
    assert plans[Strategy.EXTENDED].peak < plans[Strategy.RIP].peak
    assert {plan.proof for plan in plans.values()} <= {"bound", "milp"}


def test_a_swish_is_one_table(entry: BoardEntry) -> None:
    """Three of the four products are of a value and its own logistic; the fourth scales channels."""
    plans = _plans("squeeze-excite.yaml", entry)
    extended = plans[Strategy.EXTENDED].network
    swishes = [node for node in extended.nodes if node.layer.function == "swish"]
    assert len(swishes) == 3
    assert len(extended.nodes) == len(plans[Strategy.RIP].network.nodes) - 3
    assert plans[Strategy.EXTENDED].peak < plans[Strategy.RIP].peak < plans[Strategy.DUAL].peak


@pytest.mark.parametrize("name", ["dense-block.yaml", "squeeze-excite.yaml"])
def test_its_outputs_say_something(name: str) -> None:
    """A network whose outputs are all alike would prove nothing."""
    (case,) = network_cases(load_network(NETWORKS / name), [Strategy.RIP])
    tensors = case.tensors(1)
    for tensor in case.plan.network.outputs:
        values = tensors[tensor]
        assert len(set(values.ravel().tolist())) >= min(values.size // 3, 50)
