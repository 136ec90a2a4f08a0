# SPDX-License-Identifier: Apache-2.0
"""Which kernel ran is checked, and proofs of kernels whose order inside a step the host does not
know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.judge import judge
from harness.judge.verdict import kernels_in_a_word
from harness.judge.witness import disagreements
from harness.plan import Strategy
from harness.results import Collision, DebtProof, DebtRun, Touched, Verdict, Witnessed
from tests.judge.test_judge import SAMPLE, _runs

SEEDS = (1, 2, 3, 4, 5)
COLLISION = Collision(3, 18, 4, 9)
OTHER = Collision(3, 20, 6, 9)
SEEN = Touched(0, 14_100, 0, 0, 27)
WITNESSED = Witnessed(SEEN, SEEN, "", 0, "", 0, "", 0, 800, 0, None, "")


def _proof(told: int, *, at_debt: int = 0xBBBB) -> DebtProof:
    """Of five seeds, of which so many differ below the debt."""
    runs = []
    for number, seed in enumerate(SEEDS):
        wrong = 0xC000 + seed if number < told else 0xBBBB
        runs += [
            DebtRun(7188, seed, True, at_debt, 0xBBBB, None),
            DebtRun(7184, seed, False, wrong, 0xBBBB, None),
        ]
    return DebtProof(7185, 7185, tuple(runs), 0, COLLISION, ordered=False)


def _judged(proof: DebtProof) -> Verdict:
    verdict = judge(_runs(proof=proof), Strategy.RIP)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(("told", "ok"), [(5, True), (4, True), (3, True), (2, False), (0, False)])
def test_three_of_five_seeds_have_to_differ(told: int, ok: bool) -> None:
    verdict = _judged(_proof(told))
    assert verdict.debt == f"7185 ({told} of 5 seeds)"
    assert verdict.ok == ok
    if not ok:
        assert verdict.failures == (
            f"at distance 7184 the output is wrong on {told} of 5 seeds, not on 3: the bound is loose",
        )


def test_at_the_debt_the_output_is_right_all_the_same() -> None:
    assert "unsafe" in _judged(_proof(5, at_debt=0xDEAD)).failures[0]


@pytest.mark.parametrize(
    ("seen", "ordered", "says"),
    [
        (COLLISION, True, ""),
        (OTHER, True, "the witness saw output pixel 3 writes address 20"),
        (OTHER, False, ""),
        (None, False, "the witness saw no collision, the simulator output pixel 3"),
        (None, True, "the witness saw no collision, the simulator output pixel 3"),
    ],
)
def test_the_witness_of_such_a_kernel_sees_some_collision(
    seen: Collision | None, ordered: bool, says: str
) -> None:
    runs = _runs()
    assert runs.rip is not None
    witnessed = replace(WITNESSED, collision=seen, collisions=int(seen is not None))
    run = DebtRun(7184, 1, False, 0xCCCC, 0xBBBB, None, replace(SAMPLE, witness=witnessed))
    proof = DebtProof(7185, 7185, (run,), 0, COLLISION, ordered)
    found = "\n".join(disagreements(runs.rip, proof))
    assert (says in found) if says else not found


def test_the_kernels_that_ran_are_those_asked_for() -> None:
    asked = ((28, "plain_move"), (31, "fast"))
    runs = _runs(lambda sample: replace(sample, op_kernels=(28, 31)))
    assert runs.rip is not None

    def judged(kernels: tuple[tuple[int, str], ...]) -> Verdict:
        assert runs.rip is not None
        verdict = judge(replace(runs, rip=replace(runs.rip, kernels=kernels)), Strategy.RIP)
        assert verdict is not None
        return verdict

    assert judged(asked).ok
    other = judged(((28, "plain_move"), (30, "faster")))
    assert "op 1 was run by kernel 31, not by 30, faster" in other.failures[0]
    fewer = judged(asked[:1])
    assert "2 ops ran, not 1" in fewer.failures[0]


def test_kernels_in_a_word() -> None:
    runs = _runs()
    assert runs.rip is not None

    def word(*names: str, shifted: bool = False) -> str:
        assert runs.rip is not None
        kernels = tuple(enumerate(names))
        return kernels_in_a_word(replace(runs.rip, kernels=kernels, shifted=shifted))

    assert word() == ""
    assert word("plain_conv_gather_double") == "plain"
    assert word("fast") == "fast"
    assert word("plain_move", "fast", shifted=True) == "fast"
    assert word("fast", "plain_add_double", "fast", "plain_softmax", "fast") == "3 fast, 2 plain"
