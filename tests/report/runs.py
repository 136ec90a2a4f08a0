# SPDX-License-Identifier: Apache-2.0
"""What a bench hands to a report, made by hand: a layer with both plans, and a network."""

from __future__ import annotations

from dataclasses import replace

from harness.geometry import ConvGeometry, Pad
from harness.judge import judge, judge_network
from harness.measure import NetworkRuns, PlanRuns
from harness.network import Layer, Network, load_network
from harness.plan import Mode, Strategy, plan_layer, plan_network
from harness.results import (
    DebtProof,
    DebtRun,
    Measurement,
    Provenance,
    Sample,
    Verdict,
    WrongOp,
    WrongOutput,
)

LAYER = Layer("stem", ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1)))
WHERE = Provenance(
    "pico1-emu",
    "emulated",
    "rp2040",
    "E661",
    125_000_000,
    "e1f" * 21 + "e",
    "b1d",
    "pack",
    "1",
    "gcc 12",
)
SAMPLE = Sample(
    seed=1, paint=0, repeat=0, cycles=1000, microseconds=8, interrupt_cycles=0, interrupts=0,
    interrupts_on=False, xip_accesses=10, xip_hits=4, input_crc=0xAAAA, output_crc=0xBBBB,
    low_water=0, high_water=14_100, outside_count=0, outside_first=0, scratch_used=27,
    stack_peak=800, op_cycles=(1000,), op_kernels=(3,),
)  # fmt: skip
PROOF = DebtProof(
    7185, 7185,
    (DebtRun(7188, 1, True, 0xBBBB, 0xBBBB, 0xBBBB), DebtRun(7184, 1, False, 0xCCCC, 0xBBBB, 0xCCCC)),
    0, None,
)  # fmt: skip
WRONG = WrongOutput(5, 17, 0, 17, 2, -3, 4)


def layer_runs(wrong: bool = False, board: str = "pico1-emu", copied: bool = False) -> PlanRuns:
    """wrong: of RiP the warm run's output, which was read back."""
    where = replace(WHERE, board=board, kind="emulated" if board.endswith("-emu") else "board")
    mode = Mode(copied=copied)
    measured = {}
    for strategy, cycles in ((Strategy.RIP, 900), (Strategy.DUAL, 950)):
        plan = plan_layer(LAYER, strategy, mode)
        bad = wrong and strategy is Strategy.RIP
        warm = replace(
            SAMPLE, repeat=1, cycles=cycles, op_cycles=(cycles,), high_water=plan.arena_bytes,
            output_crc=0xDEAD if bad else 0xBBBB, wrong=WRONG if bad else None,
        )  # fmt: skip
        if copied and strategy is Strategy.RIP:
            warm = replace(warm, op_cycles=(100, 800), op_kernels=(0, 3))
        measured[strategy] = Measurement(
            where, LAYER.id, f"{strategy}{mode.label}", "case", 373_248, plan.arena_bytes, 27,
            (replace(SAMPLE, high_water=plan.arena_bytes), warm, replace(SAMPLE, paint=1)),
            kernels=((3, "plain_conv_gather_double"),), shifted=len(warm.op_cycles) > 1,
        )  # fmt: skip
    return PlanRuns(
        mode=mode,
        rip=measured[Strategy.RIP],
        dual=measured[Strategy.DUAL],
        rip_plan=plan_layer(LAYER, Strategy.RIP, mode),
        dual_plan=plan_layer(LAYER, Strategy.DUAL, mode),
        debt=None if copied else PROOF,
        expected={1: (0xAAAA, 0xBBBB)},
    )


def layer_verdicts(runs: PlanRuns) -> list[tuple[Verdict, PlanRuns]]:
    found = (judge(runs, strategy) for strategy in (Strategy.DUAL, Strategy.RIP))
    return [(verdict, runs) for verdict in found if verdict is not None]


def network_runs() -> NetworkRuns:
    """mcunet-vww0 under rip, wrong after op 7."""
    network = load_network("mcunet-vww0")
    assert isinstance(network, Network)
    plan = plan_network(network, Strategy.RIP)
    ops = len(plan.choices)
    sample = replace(
        SAMPLE, cycles=ops * 10, op_cycles=(10,) * ops, op_kernels=tuple(range(ops)),
        high_water=plan.peak,
    )  # fmt: skip
    measured = Measurement(
        WHERE, network.name, "rip", "case", network.macs, plan.peak, 0,
        (sample, replace(sample, paint=1)), kernels=tuple((n, f"kernel_{n}") for n in range(ops)),
    )  # fmt: skip
    return NetworkRuns(
        {Strategy.RIP: plan}, {Strategy.RIP: measured}, {}, 200_000, {1: (0xAAAA, 0xBBBB)},
        {Strategy.RIP: WrongOp(7, "depthwise", 3, WRONG)},
    )  # fmt: skip


def network_verdict() -> tuple[Verdict, NetworkRuns]:
    runs = network_runs()
    verdict = judge_network(runs, Strategy.RIP)
    assert verdict is not None
    return verdict, runs
