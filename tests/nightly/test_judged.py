# SPDX-License-Identifier: Apache-2.0
"""What tonight's numbers say, and the summary of a night."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.judge.trend import State
from harness.nightly.judged import Judged, judge_night, merge
from harness.nightly.night import Suite, begin_night
from harness.nightly.summary import summary
from harness.results import Point, SeriesKey

KEY = SeriesKey("pico1-emu", "emulated", "rp2040", 125_000_000, "gcc 12", "plain", "a", "rip")
OTHER = replace(KEY, case="b")
BOARD = replace(KEY, board="pico1", kind="board")
FIRST, SECOND = "20261130T000000Z", "20261201T000000Z"
TOKENS = {
    1: f"{FIRST}/layers/1",
    2: f"{SECOND}/layers/1",
    3: f"{SECOND}/layers/2",
    4: f"{SECOND}/confirm/1",
    9: "deadbeef",
}


def _point(run: int, cycles: int, **more: object) -> Point:
    samples = (cycles,) * 5
    values = {
        "time": f"2026-12-0{run}T00:00:00+00:00",
        "commit": f"c{run}",
        "dirty": False,
        "build": f"b{run}",
        "ok": True,
        "cycles": cycles,
        "samples": samples,
        "cold_cycles": cycles + 9,
        "arena_bytes": 1,
        "scratch_bytes": 0,
        "stack_peak": 3,
        "flash_bytes": 4,
        "xip_misses": 5,
    }
    return Point(run=run, **{**values, **more})  # type: ignore[arg-type]


def test_one_cycle_more_on_an_emulated_board_is_red() -> None:
    judged = judge_night(SECOND, {KEY: [_point(1, 100), _point(2, 101)]}, TOKENS, ["layers"])
    (verdict,) = judged.changed
    assert (verdict.state, verdict.commit, verdict.after) == (State.REGRESSED, "c2", "c1")
    assert not judged.ok


def test_the_same_number_is_well() -> None:
    judged = judge_night(SECOND, {KEY: [_point(1, 100), _point(2, 100)]}, TOKENS, ["layers"])
    assert judged.ok and judged.measured == 1 and not judged.changed


def test_a_case_that_is_missing_is_red_where_its_suite_ended() -> None:
    history = {KEY: [_point(1, 100), _point(2, 100)], OTHER: [_point(1, 50)]}
    judged = judge_night(SECOND, history, TOKENS, ["layers"])
    assert [(v.key, v.state) for v in judged.changed] == [(OTHER, State.VANISHED)]
    assert judge_night(SECOND, history, TOKENS, []).ok, "a suite that broke off proves nothing"


def test_a_case_of_another_suite_is_not_missing() -> None:
    tokens = {**TOKENS, 1: f"{FIRST}/models/1"}
    history = {KEY: [_point(2, 100)], OTHER: [_point(1, 50)]}
    assert judge_night(SECOND, history, tokens, ["layers"]).ok


def test_a_night_without_a_number_is_none() -> None:
    assert not judge_night(SECOND, {}, TOKENS, ["layers"]).ok
    assert not judge_night(SECOND, {KEY: [_point(9, 100)]}, TOKENS, ["layers"]).ok


def test_attempts_of_a_suite_are_one_point_and_other_runs_their_own() -> None:
    points = [_point(1, 100), _point(9, 100), _point(2, 100, ok=False), _point(3, 100)]
    assert [point.run for point in merge(points, TOKENS)] == [1, 9, 2]
    assert merge(points, TOKENS)[-1].ok


def test_what_confirms_is_part_of_its_nights_point() -> None:
    points = [_point(1, 100), _point(2, 104), replace(_point(4, 106), build="b2")]
    last = merge(points, TOKENS)[-1]
    assert last.samples == (104,) * 5 + (106,) * 5
    assert last.cycles == 105


def test_a_suspicion_on_a_board_is_run_again_and_then_said() -> None:
    noise = [0, 1, -1, 2, -2]
    nights = [
        _point(
            number + 10,
            100_000,
            time=f"2026-11-{number + 1:02}T00:00:00+00:00",
            samples=tuple(100_000 + 30 * (n + number % 3 - 1) for n in noise),
        )
        for number in range(20)
    ]
    tonight = _point(
        2,
        101_000,
        time="2026-11-21T00:00:00+00:00",
        samples=tuple(101_000 + 30 * n for n in noise),
    )
    judged = judge_night(SECOND, {BOARD: [*nights, tonight]}, TOKENS, ["layers"])
    assert judged.suspected == (BOARD,) and judged.ok
    again = replace(tonight, run=4, time="2026-11-21T01:00:00+00:00")
    judged = judge_night(SECOND, {BOARD: [*nights, tonight, again]}, TOKENS, ["layers"])
    (verdict,) = judged.changed
    assert (verdict.state, verdict.commit) == (State.REGRESSED, "c2")
    assert verdict.confirmation == again.samples


@pytest.mark.parametrize(
    "name", ["| a |", "<script>alert(1)</script>", "[x](http://y)", "`\x1b[31m`"]
)
def test_names_are_no_markup_in_the_summary(tmp_path: Path, name: str) -> None:
    night = begin_night(tmp_path, ("pico1-emu",), (Suite("layers", (), 1, 0),))
    key = replace(KEY, case=name)
    judged = judge_night(SECOND, {key: [_point(1, 100), _point(2, 101)]}, TOKENS, ["layers"])
    text = summary(night, judged, [(name, name)])
    assert name not in text and "\x1b" not in text
    rows = [line for line in text.splitlines() if "alert" in line or "\\| a" in line]
    assert all(line.replace("\\|", "").count("|") in (3, 11) for line in rows)


def test_the_summary_says_whether_all_is_well(tmp_path: Path) -> None:
    night = begin_night(tmp_path, ("pico1-emu",), (Suite("layers", (), 1, 0),))
    same = judge_night(SECOND, {KEY: [_point(1, 100), _point(2, 100)]}, TOKENS, ["layers"])
    assert "all well" in summary(night, same, [])
    assert "NOT WELL" in summary(night, Judged((), 0), [])
    failed = night.with_suite(Suite("layers", (), 1, 1))
    assert "NOT WELL" in summary(failed, same, [("test_a", "Mismatch: wrong")])
    open_ended = night.with_suite(Suite("layers", (), 1, None))
    assert "not ended" in summary(open_ended, same, [])
