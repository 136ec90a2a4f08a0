# SPDX-License-Identifier: Apache-2.0
"""Each way in which a measurement can be wrong is its own failure, in words with numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.bench import demand
from harness.errors import BoundViolation, Mismatch
from harness.geometry import ConvGeometry, Pad
from harness.judge import judge
from harness.measure import PlanRuns
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_layer
from harness.results import (
    Collision,
    DebtProof,
    DebtRun,
    Measurement,
    Provenance,
    Sample,
    Witnessed,
)

LAYER = Layer("stem", ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1)))
WHERE = Provenance("b", "emulated", "rp2040", "00", 125_000_000, "elf", "id", "pack", "1", "gcc")
EXPECTED = {1: (0xAAAA, 0xBBBB)}
SAMPLE = Sample(
    seed=1,
    paint=0,
    repeat=0,
    cycles=1000,
    microseconds=8,
    interrupt_cycles=0,
    interrupts=0,
    interrupts_on=False,
    xip_accesses=10,
    xip_hits=4,
    input_crc=0xAAAA,
    output_crc=0xBBBB,
    low_water=0,
    high_water=14_100,
    outside_count=0,
    outside_first=0,
    scratch_used=27,
    stack_peak=800,
)
STRAY = replace(SAMPLE, outside_count=1, outside_first=-9)
RIGHT = DebtRun(7188, 1, True, 0xBBBB, 0xBBBB, 0xBBBB)
WRONG = DebtRun(7184, 1, False, 0xCCCC, 0xBBBB, 0xCCCC)


def _runs(
    change: Callable[[Sample], Sample] = lambda s: s, *, proof: DebtProof | None = None
) -> PlanRuns:
    rip = plan_layer(LAYER, Strategy.RIP)
    dual = plan_layer(LAYER, Strategy.DUAL)
    samples = (SAMPLE, replace(SAMPLE, repeat=1, cycles=900), replace(SAMPLE, paint=1))

    def measurement(arena: int, taken: tuple[Sample, ...]) -> Measurement:
        return Measurement(WHERE, LAYER.id, "rip", "case", 373_248, arena, 27, taken)

    return PlanRuns(
        mode=Mode(),
        rip=measurement(rip.arena_bytes, tuple(change(s) for s in samples)),
        dual=measurement(
            dual.arena_bytes, tuple(replace(s, high_water=20_736, cycles=950) for s in samples)
        ),
        rip_plan=rip,
        dual_plan=dual,
        debt=proof or DebtProof(7185, 7185, (RIGHT, WRONG), 0, None),
        expected=EXPECTED,
    )


def _failures(runs: PlanRuns) -> str:
    verdict = judge(runs, Strategy.RIP)
    assert verdict is not None
    assert verdict.ok == (not verdict.failures)
    return "\n".join(verdict.failures)


def test_all_is_well() -> None:
    verdict = judge(_runs(), Strategy.RIP)
    assert verdict is not None
    assert verdict.ok
    assert (verdict.workspace_bound, verdict.workspace_given) == (14_097, 14_100)
    assert (verdict.cycles, verdict.cold_cycles) == (900, 1000)
    assert verdict.ratio == pytest.approx(900 / 950)
    assert (verdict.xip_misses, verdict.debt) == (6, "7185 (1 seed)")
    demand(verdict)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"output_crc": 0xDEAD}, "the output's CRC is 0000dead, the host's 0000bbbb"),
        ({"input_crc": 0xDEAD}, "the input's CRC is 0000dead"),
        ({"outside_count": 3, "outside_first": 14_100}, "3 bytes changed outside the arena"),
        ({"low_water": -4}, "touched [-4, 14100) of an arena of 14100"),
        ({"high_water": 14_101}, "touched [0, 14101)"),
        ({"scratch_used": 28}, "used 28 bytes of 27 scratch"),
        ({"paint": 0}, "painted only with [0]"),
    ],
)
def test_a_wrong_sample(change: dict[str, int], says: str) -> None:
    assert says in _failures(_runs(lambda sample: replace(sample, **change)))


@pytest.mark.parametrize(
    ("proof", "says"),
    [
        (DebtProof(7185, 7184, (RIGHT, WRONG), 0, None), "debt 7185, the simulator 7184"),
        (DebtProof(7185, 7185, (RIGHT,), 0, None), "proved at distances [7188]"),
        (
            DebtProof(7185, 7185, (replace(RIGHT, sample=STRAY), WRONG), 0, None),
            "seed 1 at distance 7188: 1 bytes changed outside the arena, the first at -9",
        ),
        (DebtProof(7185, 7185, (replace(RIGHT, output_crc=1), WRONG), 0, None), "unsafe"),
        (DebtProof(7185, 7185, (RIGHT, replace(WRONG, output_crc=0xBBBB)), 0, None), "loose"),
        (
            DebtProof(7185, 7185, (RIGHT, replace(WRONG, output_crc=7)), 0, None),
            "predicted 0000cccc",
        ),
    ],
)
def test_a_wrong_proof(proof: DebtProof, says: str) -> None:
    assert says in _failures(_runs(proof=proof))


def test_an_arena_larger_than_the_bound_proves_nothing() -> None:
    runs = _runs()
    runs = replace(runs, rip=replace(runs.rip, arena_bytes=14_104))
    assert "the arena is 14104 bytes, the bound is 14097" in _failures(runs)


def test_no_debt_is_said() -> None:
    verdict = judge(_runs(proof=DebtProof(None, None, (), 0, None)), Strategy.RIP)
    assert verdict is not None
    assert verdict.debt == "none possible"


def test_dual_that_does_not_fit_has_no_verdict_and_no_ratio() -> None:
    runs = replace(_runs(), dual=None)
    assert judge(runs, Strategy.DUAL) is None
    verdict = judge(runs, Strategy.RIP)
    assert verdict is not None
    assert verdict.ratio is None


def test_kinds_of_failure() -> None:
    wrong = judge(_runs(lambda s: replace(s, output_crc=0)), Strategy.RIP)
    outside = judge(_runs(lambda s: replace(s, outside_count=1)), Strategy.RIP)
    assert wrong is not None
    assert outside is not None
    with pytest.raises(Mismatch, match="stem under rip fails on b"):
        demand(wrong)
    with pytest.raises(BoundViolation):
        demand(outside)


# ---- with a witness ----

SEEN = Witnessed(
    visible=SAMPLE.painted,
    written=SAMPLE.painted,
    outside_store="",
    unwritten_count=0,
    unwritten_read="",
    elsewhere_count=0,
    elsewhere_store="",
    unexplained=0,
    stack_depth=800,
    collisions=0,
    collision=None,
    collided_in="",
)
FIRST = Collision(300, 7207, 20, 301)
HIT = replace(SEEN, collisions=9, collision=FIRST, collided_in="stored by f+0x0, read by g+0x0")


def _proof(at: Witnessed = SEEN, below: Witnessed = HIT) -> DebtProof:
    runs = (
        replace(RIGHT, sample=replace(SAMPLE, witness=at)),
        replace(WRONG, sample=replace(SAMPLE, witness=below)),
    )
    return DebtProof(7185, 7185, runs, 0, FIRST)


def _witnessed(seen: Witnessed = SEEN, proof: DebtProof | None = None) -> PlanRuns:
    return _runs(lambda sample: replace(sample, witness=seen), proof=proof or _proof())


def test_the_witness_agrees() -> None:
    verdict = judge(_witnessed(), Strategy.RIP)
    assert verdict is not None
    assert verdict.failures == ()
    assert verdict.witness == "5 runs"


def test_without_a_witness_nothing_is_said_of_it() -> None:
    verdict = judge(_runs(), Strategy.RIP)
    assert verdict is not None
    assert verdict.witness == ""


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"visible": replace(SAMPLE.painted, high_water=14_099)}, "the witness [0, 14099) and 27"),
        ({"visible": replace(SAMPLE.painted, low_water=4)}, "the witness [4, 14100) and 27"),
        ({"visible": replace(SAMPLE.painted, scratch_used=26)}, "[0, 14100) and 26 of scratch"),
        (
            {"visible": replace(SAMPLE.painted, outside_count=2, outside_first=-9)},
            "2 outside from -9",
        ),
        ({"written": replace(SAMPLE.painted, low_water=4)}, "the witness saw stores to [4, 14100)"),
        ({"unexplained": 3}, "repeat 1: 3 bytes changed that the witness saw no store to"),
        ({"outside_store": "-1 from here"}, "outside the arena, the first -1 from here"),
        ({"elsewhere_store": "x", "elsewhere_count": 4}, "4 bytes that are neither pool nor stack"),
        ({"unwritten_read": "y", "unwritten_count": 5}, "loads of 5 bytes that nobody wrote"),
        ({"stack_depth": 801}, "the witness saw 801 bytes of stack stored to, painting 800"),
        ({"collisions": 2, "collision": FIRST}, "the witness saw 2 live input scalars overwritten"),
    ],
)
def test_the_witness_sees_something_else(change: dict[str, object], says: str) -> None:
    assert says in _failures(_witnessed(replace(SEEN, **change)))


@pytest.mark.parametrize(
    ("proof", "says"),
    [
        (_proof(at=HIT), "seed 1 at distance 7188: the witness saw 9 live input scalars"),
        (_proof(below=SEEN), "distance 7184: the witness saw no collision, the simulator output"),
        (_proof(below=replace(HIT, collision=replace(FIRST, writer=299))), "saw output pixel 299"),
        (_proof(below=replace(HIT, collision=replace(FIRST, address=7206))), "address 7206"),
        (_proof(below=replace(HIT, collision=replace(FIRST, live=21))), "onto input scalar 21"),
        (
            _proof(below=replace(HIT, collision=replace(FIRST, last_reader=9))),
            "pixel 9 still reads",
        ),
        (_proof(at=replace(SEEN, unexplained=1)), "seed 1 at distance 7188: 1 bytes changed"),
    ],
)
def test_the_witness_contradicts_the_debt(proof: DebtProof, says: str) -> None:
    assert says in _failures(_witnessed(proof=proof))
