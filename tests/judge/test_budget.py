# SPDX-License-Identifier: Apache-2.0
"""Ceilings in cycles, A/B, and that all verdicts of measurements can be pasted into a test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness import results
from harness.judge import ABVerdict, State, judge, judge_ab
from harness.judge.budget import over_budget
from harness.measure import PlanRuns
from harness.network import Ceiling
from harness.plan import Strategy
from harness.results import Measurement, Verdict
from tests.judge.test_judge import LAYER, SAMPLE, _runs, _witnessed

NOISY = (1_000_400, 999_800, 1_000_000, 1_000_200, 999_600)


def _budgeted(*budget: Ceiling) -> PlanRuns:
    runs = _runs()
    assert runs.rip_plan is not None
    plan = replace(runs.rip_plan, layer=replace(LAYER, budget=budget))
    return replace(runs, rip_plan=plan)


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        (Ceiling("rp2040", "", 900), ""),
        (Ceiling("rp2040", "", 899), "900 cycles, 1 over the budget of 899"),
        (Ceiling("rp2040", "plain", 899), "900 cycles, 1 over the budget of 899"),
        (Ceiling("rp2040", "m0plus", 899), ""),
        (Ceiling("rp2350", "", 899), ""),
    ],
)
def test_one_cycle_over_is_red_on_an_emulated_board(budget: Ceiling, says: str) -> None:
    """The warm run counts, 900 cycles; the cold one took 1000."""
    verdict = judge(_budgeted(budget), Strategy.RIP)
    assert verdict is not None
    assert verdict.failures == ((says,) if says else ())
    assert verdict.ok == (not says)
    asked = budget.chip == "rp2040" and budget.kernels != "m0plus"
    assert verdict.budget == (budget.cycles if asked else None)


def test_a_kernel_sets_own_ceiling_comes_first() -> None:
    some = (Ceiling("rp2040", "", 1), Ceiling("rp2040", "plain", 900))
    for budget in (some, some[::-1]):
        verdict = judge(_budgeted(*budget), Strategy.RIP)
        assert verdict is not None and verdict.ok


@pytest.mark.parametrize(
    ("samples", "budget", "says"),
    [
        (NOISY, None, ""),
        (NOISY, 1_000_000, ""),
        (NOISY, 999_900, ""),  # 0.01 % over, under noise of 0.03 %
        (NOISY, 999_000, "1000000 cycles, 1000 over the budget of 999000; with its noise of 0.03"),
        (NOISY[:4], 999_999, "is not known with 4 samples: 5 are needed"),
        ((10,) * 5, 9, "10 cycles, 1 over the budget of 9"),
    ],
)
def test_on_a_board_over_is_what_is_beyond_noise(
    samples: tuple[int, ...], budget: int | None, says: str
) -> None:
    found = list(over_budget("board", samples, budget))
    assert [says in words for words in found] == ([True] if says else [])


def _measured(kind: str, *cycles: int, **where: Any) -> Measurement:
    measured = _runs().rip
    assert measured is not None
    samples = [replace(SAMPLE, repeat=n, cycles=count) for n, count in enumerate((9999, *cycles))]
    provenance = replace(measured.provenance, kind=kind, **where)
    return replace(measured, provenance=provenance, samples=tuple(samples))


@pytest.mark.parametrize(
    ("first", "second", "state", "says"),
    [
        (("emulated", 900), ("emulated", 900), State.SAME, "900 and 900 cycles, exact"),
        (("emulated", 900), ("emulated", 901), State.REGRESSED, "900 and 901 cycles"),
        (("emulated", 900), ("emulated", 899), State.IMPROVED, "900 and 899 cycles"),
        (("board", *NOISY), ("board", *NOISY[::-1]), State.SAME, "noise 0.03"),
        (("board", *NOISY), ("board", *(n + 2000 for n in NOISY)), State.REGRESSED, "+0.200%"),
        (("board", *NOISY), ("board", *(n - 2000 for n in NOISY)), State.IMPROVED, "-0.200%"),
        (("board", *NOISY), ("board", 900), State.INCOMPARABLE, "not enough samples: 5 and 1"),
        (("board", *NOISY), ("emulated", 900), State.INCOMPARABLE, "kind: board and emulated"),
    ],
)
def test_a_and_b(first: Any, second: Any, state: State, says: str) -> None:
    verdict = judge_ab(_measured(*first), _measured(*second))
    assert verdict.state is state
    assert says in verdict.reason
    assert (verdict.first, verdict.second) == (first[1:], second[1:])


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ({"clk_sys_hz": 133_000_000}, "clock: 125000000 and 133000000"),
        ({"compiler": "gcc 15"}, "compiler: gcc and gcc 15"),
        ({"board": "c"}, "board: b and c"),
        ({"chip": "rp2350"}, "chip: rp2040 and rp2350"),
    ],
)
def test_unlike_is_never_compared_silently(where: dict[str, Any], says: str) -> None:
    verdict = judge_ab(_measured("emulated", 900), _measured("emulated", 900, **where))
    assert (verdict.state, verdict.ratio) == (State.INCOMPARABLE, None)
    assert says in verdict.reason


def _pasted(value: object) -> Any:
    """What a reader gets who pastes a repr into a test."""
    return eval(
        repr(value), {"__builtins__": {}}, {**vars(results), "State": State, "ABVerdict": ABVerdict}
    )


def test_verdicts_and_their_evidence_can_be_pasted() -> None:
    for runs in (_runs(), _witnessed(), _runs(lambda s: replace(s, output_crc=1))):
        verdict = judge(runs, Strategy.RIP)
        assert isinstance(verdict, Verdict) and _pasted(verdict) == verdict
        again = replace(
            runs, rip=_pasted(runs.rip), dual=_pasted(runs.dual), debt=_pasted(runs.debt)
        )
        assert judge(again, Strategy.RIP) == verdict
    one, other = _measured("emulated", 900), _measured("emulated", 901)
    both = judge_ab(one, other)
    assert _pasted(both) == both == judge_ab(_pasted(one), _pasted(other))
