# SPDX-License-Identifier: Apache-2.0
"""What noise raises no alarm, and what change is found in it. `python -m benchmarks.trend` prints the
rates over many more seeds."""

from __future__ import annotations

import math
import zlib
from itertools import product

import pytest

from harness.judge import State
from harness.judge.noise import Night, night_of, noise_of
from tests.judge.nights import CYCLES, DRIFTS, SHAPES, Noisy, found

DEVIATIONS = (0.0005, 0.001, 0.005, 0.02)
NIGHTS = 45


def _step(by: float, at: int = 12) -> Noisy:
    return Noisy(level=lambda night: 1 + by * (night >= at))


def _alarms(shape: str, deviation: float, drift: str, series: int, nights: int) -> int:
    """Of series of their own: the seed is of the configuration too."""
    noisy = Noisy(shape, deviation, drift)
    of_it = zlib.crc32(f"{shape} {deviation} {drift}".encode())
    return sum(len(found(noisy, nights, of_it, seed)) for seed in range(series))


@pytest.mark.parametrize("drift", ["none", "a wave every 20 nights"])
@pytest.mark.parametrize("shape", SHAPES)
def test_noise_is_no_change(shape: str, drift: str) -> None:
    assert _alarms(shape, 0.02 if drift == "none" else 0.0005, drift, series=2, nights=30) == 0


@pytest.mark.extra
def test_one_false_alarm_in_10000() -> None:
    """14,400 comparisons over all shapes, deviations and drifts."""
    configurations = list(product(SHAPES, DEVIATIONS, DRIFTS))
    alarms = sum(_alarms(*some, series=4, nights=NIGHTS) for some in configurations)
    assert len(configurations) * 4 * NIGHTS == 14_400
    assert alarms <= 1


def _found_at_once(noisy: Noisy, at: int, seeds: int, state: State) -> None:
    for seed in range(seeds):
        ((night, verdict),) = found(noisy, at + 3, 2, seed)
        assert night in (at, at + 1), seed
        assert (verdict.state, verdict.after, verdict.commit) == (state, f"c{at - 1}", f"c{at}")


@pytest.mark.parametrize(
    ("by", "state"), [(0.005, State.REGRESSED), (-0.005, State.IMPROVED)], ids=["worse", "better"]
)
def test_half_a_percent_is_found_by_the_next_night(by: float, state: State) -> None:
    _found_at_once(_step(by), 12, 15, state)


@pytest.mark.extra
@pytest.mark.parametrize("by", [0.005, -0.005])
def test_half_a_percent_over_many_seeds(by: float) -> None:
    """In 99 of 100 series by the next night; none that is found names another commit."""
    series = [found(_step(by), 15, 2, seed) for seed in range(200)]
    named = {
        (v.after, v.commit, v.change is not None and v.change > 0) for s in series for _, v in s
    }
    assert named == {("c11", "c12", by > 0)}
    assert sum(len(changes) == 1 for changes in series) >= 198


def _creep(every: int) -> Noisy:
    """Five steps of 0.9 % that stay."""
    return Noisy(level=lambda night: 1.009 ** min(5, max(0, (night - 12) // every + 1)))


@pytest.mark.parametrize("every", [1, 3])
def test_each_of_five_steps_is_found(every: int) -> None:
    """None by more than 1 % to the night before, all together 4.6 %."""
    commits = [f"c{12 + every * step}" for step in range(5)]
    for seed in range(5):
        assert [v.commit for _, v in found(_creep(every), 12 + 5 * every, 3, seed)] == commits


def test_creep_that_no_night_shows_is_found_by_the_fifth() -> None:
    """Under noise of 1 % a step of 0.9 % is nothing; their sum is."""
    for seed in range(8):
        noisy = Noisy(deviation=0.01, level=_creep(1).level)
        (night, verdict), *_ = found(noisy, 12 + 5, 4, seed)
        assert night <= 16
        assert verdict.state is State.REGRESSED
        assert verdict.commit in [f"c{12 + step}" for step in range(5)]


def test_a_bad_night_that_its_second_run_shows_too_is_a_change_and_back() -> None:
    bad = Noisy(level=lambda night: 1.1 if night == 12 else 1.0)
    changes = [(night, verdict.state) for night, verdict in found(bad, 15, 5)]
    assert changes == [(12, State.REGRESSED), (13, State.IMPROVED)]


def test_a_night() -> None:
    """Logarithms: the middle is the median of 15 means of pairs, which a stray sample leaves alone."""
    night = night_of((100, 100, 100, 100, 200))
    assert (night.middle, night.count) == (math.log(100), 5)
    assert night.mean == pytest.approx(math.log(100) + math.log(2) / 5)
    assert night.residuals == (0.0, 0.0, 0.0, 0.0, pytest.approx(math.log(2)))


def test_noise_of_two_modes_is_seen_where_the_median_deviation_is_blind() -> None:
    nights = [night_of((CYCLES,) * 4 + (CYCLES + 10_000,))] * 10
    noise = noise_of([nights])
    assert noise.mad == 0.0  # four of five lie in one place
    assert noise.sigma == pytest.approx(0.0005, rel=0.01)  # 0.001 once in four degrees of freedom
    assert (noise.freedom, noise.between) == (40, 0.0)


def test_a_stray_sample_does_not_blind_for_weeks() -> None:
    quiet = [Night(0.0, 0.0, 5, (-0.002, -0.001, 0.0, 0.001, 0.002))] * 20
    stray = Night(0.0, 0.1, 5, (-0.001, 0.0, 0.0, 0.001, 0.5))
    assert noise_of([[*quiet, stray]]).sigma < 2.5 * noise_of([quiet]).sigma


def test_what_a_night_has_of_its_own() -> None:
    """Nights that differ by more than their samples explain: 0.3 % to and fro under noise of 0.1 %."""
    nights = [Night(x, x, 5, (-0.001, -0.001, 0.0, 0.001, 0.001)) for x in (0.0, 0.003) * 10]
    assert noise_of([nights]).between == pytest.approx(0.003 / math.sqrt(2), rel=0.1)


def test_limits_are_students() -> None:
    """99.5 % one-sided: 2.576 under a Gaussian; Student's table says 3.169 for 10 and 2.626 for 100."""
    for freedom, table in ((10, 3.169), (100, 2.626)):
        nights = [Night(0.0, 0.0, freedom + 1, (0.1,) * (freedom + 1))]
        assert noise_of([nights]).limit(2.576) == pytest.approx(table, rel=0.04)
