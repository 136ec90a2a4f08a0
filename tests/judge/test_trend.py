# SPDX-License-Identifier: Apache-2.0
"""Each state of a trend, with the commit that it names. Noise is tests/judge/test_noise.py's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.judge import (
    State,
    TrendVerdict,
    change_points,
    judge_run,
    judge_trend,
    vanished,
    with_confirmation,
)
from harness.judge.changepoint import MIN_NIGHTS
from harness.judge.noise import Noise
from harness.results import Point, SeriesKey
from tests.judge.nights import BOARD, EMULATED, point

QUIET = (9_995_000, 10_000_000, 10_005_000, 9_998_000, 10_002_000)  # a board's night
LOUD = tuple(cycles + 500_000 for cycles in QUIET)  # 5 % more


def _exact(*cycles: int) -> list[Point]:
    return [point(night, (count,)) for night, count in enumerate(cycles)]


def _board(*nights: Sequence[int]) -> list[Point]:
    return [point(night, tuple(samples)) for night, samples in enumerate(nights)]


# ---- emulated boards: one cycle is a change ----


def test_replays_of_one_build_and_an_unrelated_commit() -> None:
    """200 replays of one ELF, then another commit and another ELF of as many cycles: no alarm."""
    points = [replace(point(run, (4711,)), commit="c0", build="b0") for run in range(200)]
    points.append(point(200, (4711,)))
    states = [judge_trend(EMULATED, points[: n + 1]).state for n in range(len(points))]
    assert states == [State.NEW, *[State.SAME] * 200]


@pytest.mark.parametrize(
    ("cycles", "state"), [(4712, State.REGRESSED), (4710, State.IMPROVED)], ids=["more", "fewer"]
)
def test_one_cycle_is_one_alarm(cycles: int, state: State) -> None:
    points = _exact(4711, 4711, cycles, cycles)
    states = [judge_trend(EMULATED, points[: n + 1]).state for n in range(4)]
    assert states == [State.NEW, State.SAME, state, State.SAME]
    verdict = judge_trend(EMULATED, points[:3])
    assert (verdict.after, verdict.commit) == ("c1", "c2")
    assert verdict.ok == (state is State.IMPROVED) and verdict.changed
    assert verdict.change == pytest.approx((cycles - 4711) / 4711)
    assert f"{cycles} cycles, 1 " in verdict.reason and "since c2 after c1" in verdict.reason
    assert change_points(EMULATED, points) == (points[2],)


def test_two_numbers_of_one_build_are_louder() -> None:
    """Even where the number between them was another build's, and even for fewer cycles."""
    points = _exact(4711, 4800, 4710)
    points[2] = replace(points[2], commit="c0", build="b0")
    verdict = judge_trend(EMULATED, points)
    assert (verdict.state, verdict.ok) == (State.UNSTEADY, False)
    assert "took 4711 cycles in run 0 and 4710 in run 2" in verdict.reason


def test_a_change_of_the_pack_alone_is_the_commits() -> None:
    """The same ELF of another commit: the harness plans or packs otherwise."""
    points = _exact(4711, 4712)
    points[1] = replace(points[1], build="b0")
    verdict = judge_trend(EMULATED, points)
    assert verdict.state is State.REGRESSED
    assert "the ELF is the same, so the pack is not" in verdict.reason


def test_a_dirty_tree_is_said() -> None:
    points = _exact(4711, 4712)
    points[1] = replace(points[1], dirty=True)
    assert "since c1 with changes of its own after c0" in judge_trend(EMULATED, points).reason


def test_what_failed_is_not_compared() -> None:
    points = _exact(4711, 9999, 4711)
    points[1] = replace(points[1], ok=False)
    assert judge_trend(EMULATED, points[:2]).state is State.INCOMPARABLE
    assert judge_trend(EMULATED, points).state is State.SAME


# ---- boards ----


def test_a_step_asks_for_another_run_and_is_named_once() -> None:
    points = _board(*[QUIET] * 8, LOUD)
    verdict = judge_trend(BOARD, points)
    assert (verdict.state, verdict.ok) == (State.SUSPECTED, True)
    verdict = judge_trend(BOARD, points, LOUD)
    assert (verdict.state, verdict.after, verdict.commit) == (State.REGRESSED, "c7", "c8")
    assert verdict.change == pytest.approx(0.05, rel=1e-3)
    kept = [*points[:-1], with_confirmation(points[-1], LOUD)]
    assert kept[-1].samples == LOUD + LOUD and kept[-1].cycles == 10_500_000
    after = judge_trend(BOARD, [*kept, point(9, LOUD)])
    assert after.state is State.SAME  # said once: from then on it is the level
    assert change_points(BOARD, [*kept, point(9, LOUD)]) == (kept[-1],)


def test_another_run_that_does_not_show_it() -> None:
    """Neither then, nor when the board is back: one bad night is no change."""
    points = _board(*[QUIET] * 8, LOUD)
    verdict = judge_trend(BOARD, points, QUIET)
    assert verdict.state in (State.SAME, State.DRIFT)
    assert "not confirmed by another run" in verdict.reason
    kept = [*points[:-1], with_confirmation(points[-1], QUIET), point(9, QUIET)]
    assert judge_trend(BOARD, kept).state is State.SAME
    assert change_points(BOARD, kept) == ()


def test_found_by_the_second_night_it_is_the_firsts() -> None:
    """The first night was not run again; two nights show it, and the first commit is named."""
    points = _board(*[QUIET] * 8, LOUD, LOUD)
    verdict = judge_trend(BOARD, points, LOUD)
    assert (verdict.state, verdict.after, verdict.commit) == (State.REGRESSED, "c7", "c8")


def test_missed_nights_leave_a_range() -> None:
    points = [*_board(*[QUIET] * 8), point(12, LOUD)]
    verdict = judge_trend(BOARD, points, LOUD)
    assert (verdict.after, verdict.commit) == ("c7", "c12")
    assert "since c12 after c7" in verdict.reason


def test_what_a_board_may_drift_grows_with_the_nights_missed() -> None:
    """0.4 % from one night to the next is a step; after four nights it may be a drift."""
    moved = tuple(cycles + 40_000 for cycles in QUIET)
    before = _board(*[QUIET] * 8)
    assert judge_trend(BOARD, [*before, point(8, moved)], moved).state is State.REGRESSED
    assert judge_trend(BOARD, [*before, point(11, moved)], moved).state is State.DRIFT


@pytest.mark.parametrize("samples", [1, 4])
def test_too_few_samples(samples: int) -> None:
    verdict = judge_trend(BOARD, _board(*[QUIET] * 8, LOUD[:samples]))
    assert (verdict.state, verdict.ok) == (State.INCOMPARABLE, True)
    assert f"not enough samples: {samples}" in verdict.reason


def test_too_few_nights() -> None:
    verdict = judge_trend(BOARD, _board(*[QUIET] * (MIN_NIGHTS - 1), LOUD))
    assert (verdict.state, verdict.ok) == (State.NEW, True)
    assert judge_trend(BOARD, _board(*[QUIET] * MIN_NIGHTS, LOUD)).state is State.SUSPECTED


def test_a_board_without_any_noise() -> None:
    """All samples equal: a cycle more is drift, a half of a percent is not."""
    still = [(1_000_000,) * 5] * 8
    for more, state in ((1, State.DRIFT), (5_000, State.REGRESSED)):
        moved = (1_000_000 + more,) * 5
        verdict = judge_trend(BOARD, _board(*still, moved), moved)
        assert verdict.state is state
    assert "without any noise" in verdict.reason


# ---- what is not there ----


def test_a_new_series_says_which_one_it_follows() -> None:
    old = replace(BOARD, toolchain="gcc 13.1")
    older = replace(old, clock_hz=100_000_000)
    other = replace(BOARD, case="head")
    verdict = judge_trend(BOARD, _board(QUIET), known=[older, other, old, BOARD])
    assert verdict.state is State.NEW
    assert verdict.reason == "toolchain changed from 'gcc 13.1' to 'gcc 14.2': new series"
    assert judge_trend(BOARD, _board(QUIET)).reason == "new series: nothing before it"


def test_a_vanished_case_is_red() -> None:
    gone = replace(BOARD, case="head")
    (verdict,) = vanished([BOARD, gone], [BOARD])
    assert (verdict.key, verdict.state, verdict.ok) == (gone, State.VANISHED, False)
    assert vanished([BOARD], [replace(BOARD, toolchain="gcc 15", clock_hz=1)]) == ()
    assert len(vanished([BOARD], [replace(BOARD, kernels="m0plus")])) == 1


def test_a_case_that_measured_nothing_is_red() -> None:
    for nothing in (point(8, ()), replace(point(8, QUIET), cycles=0)):
        for key in (BOARD, EMULATED):
            verdict = judge_trend(key, [*_board(*[QUIET] * 8), nothing])
            assert (verdict.state, verdict.reason) == (State.VANISHED, "the case measured nothing")
            assert not verdict.ok
    assert judge_trend(BOARD, []).state is State.VANISHED


def test_a_run_without_cases_is_red() -> None:
    nothing = judge_run([], [])
    assert (nothing.ok, nothing.failures) == (False, ("no case was measured",))
    assert judge_run([BOARD], [BOARD]).ok
    less = judge_run([BOARD, EMULATED], [BOARD])
    assert less.failures == ("stem under rip on pico1-emu: nothing was measured of it",)


# ---- replays ----


def _of_every_state() -> list[TrendVerdict]:
    quiet = [QUIET] * 8
    unsteady = _exact(4711, 4712)
    unsteady[1] = replace(unsteady[1], commit="c0", build="b0")
    moved = tuple(cycles + 15_000 for cycles in QUIET)
    return [
        judge_trend(BOARD, _board(*quiet, QUIET)),
        judge_trend(BOARD, _board(*quiet, moved)),
        judge_trend(BOARD, _board(*quiet, LOUD)),
        judge_trend(BOARD, _board(*quiet, LOUD), LOUD),
        judge_trend(EMULATED, _exact(4711, 4710)),
        judge_trend(EMULATED, unsteady),
        judge_trend(EMULATED, _exact(4711)),
        judge_trend(BOARD, []),
        judge_trend(BOARD, _board(*quiet, LOUD[:2])),
    ]


def test_a_verdict_can_be_pasted_and_judged_again() -> None:
    verdicts = _of_every_state()
    assert {verdict.state for verdict in verdicts} == set(State)
    for verdict in verdicts:
        pasted = _pasted(repr(verdict))
        assert pasted == verdict
        assert judge_trend(pasted.key, pasted.points, pasted.confirmation) == verdict


def _pasted(text: str) -> TrendVerdict:
    names = {kind.__name__: kind for kind in (TrendVerdict, State, SeriesKey, Point, Noise)}
    pasted = eval(text, {"__builtins__": {}}, names)
    assert isinstance(pasted, TrendVerdict)
    return pasted
