# SPDX-License-Identifier: Apache-2.0
"""Plans whose constants fit a flash: as few ops as it takes go back to int8 weights."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.case import build_pack, network_case, plan_within
from harness.case.flash import savings
from harness.cli import main
from harness.kernels import KernelTraits
from harness.network import load_network
from harness.plan import NetworkPlan, Strategy, plan_network

NETWORK = load_network("mcunet-vww0")
PACKED = KernelTraits("m0plus", "rp2040")
SECTOR = 4096


def plan_by(strategy: Strategy, kernel: KernelTraits) -> NetworkPlan:
    return plan_network(NETWORK, strategy, kernel=kernel)


def size(plan: NetworkPlan) -> int:
    return len(build_pack([network_case(NETWORK, plan)]).data)


def within(strategy: Strategy, room: int) -> NetworkPlan:
    first = plan_by(strategy, PACKED)
    return plan_within(NETWORK, lambda some: plan_by(strategy, some), first, room)


@pytest.mark.parametrize("strategy", [Strategy.RIP, Strategy.FUSED])
def test_as_few_as_it_takes(strategy: Strategy) -> None:
    most = size(plan_by(strategy, PACKED))
    kept = within(strategy, most)
    assert kept.kernel == PACKED
    seen = 0
    for missing in (8 * SECTOR, 32 * SECTOR):
        room = most - missing
        plan = within(strategy, room)
        assert size(plan) <= room
        some = plan.kernel.as_int8
        assert len(some) > seen
        seen = len(some)
        assert plan.kernel == replace(PACKED, as_int8=some)
        dear = max(some, key=lambda op: ratio(plan_by(strategy, PACKED), op))
        less = plan_by(strategy, replace(PACKED, as_int8=some - {dear}))
        assert size(less) > room, "the last one was not needed"


def ratio(plan: NetworkPlan, op: object) -> float:
    (saving,) = (s for s in savings(network_case(NETWORK, plan)) if s.op == op)
    return saving.macs / saving.saved


def test_what_no_choice_of_kernels_makes_fit() -> None:
    """Everything as int8, and the flasher says the rest."""
    plan = within(Strategy.RIP, SECTOR)
    assert not list(savings(network_case(NETWORK, plan)))
    assert size(plan) > SECTOR


def test_segments_keep_their_packed_stages() -> None:
    plan = within(Strategy.FUSED, SECTOR)
    segments = [choice for choice in plan.choices if "segment" in choice.kernel.name]
    assert segments and {choice.kernel.name for choice in segments} == {"m0plus_segment"}
    assert not any(choice.kernel.packed for choice in plan.choices)


@pytest.mark.extra
def test_in4_fits_a_pico_1(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "mcunet-in4", "--strategy", "fused", "--kernels", "m0plus", "--board", "pico1"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "arena 120,224 bytes, the least possible" in said
    assert " ops have int8 weights: packed, all together exceed the flash" in said
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"]["pico1"]["flash_spare"] >= 0
