# SPDX-License-Identifier: Apache-2.0
"""Which points of a long series a page keeps."""

from __future__ import annotations

from harness.report.site.thin import Change, moment, thin
from tests.report.made import point_of

# FIRST_NIGHT, 2025-10-27, is a Monday: seven nights are an ISO week


def test_a_short_series_is_kept_as_it_is() -> None:
    points = [point_of(n) for n in range(5)]
    kept = thin(points, [Change(3, 1.1, "c")], newest=5)
    assert kept.points == tuple(points)
    assert kept.weekly == 0
    assert kept.changes == (Change(3, 1.1, "c"),)


def test_older_weeks_are_their_median_nights() -> None:
    cycles = [50, 10, 40, 20, 30, 60, 70, 5, 6, 7, 8, 9, 10, 11, 100, 101]
    points = [point_of(n, value) for n, value in enumerate(cycles)]
    kept = thin(points, [], newest=2)
    assert [point.cycles for point in kept.points] == [40, 8, 100, 101]
    assert kept.weekly == 2


def test_of_two_in_the_middle_the_lower() -> None:
    points = [point_of(n, value) for n, value in enumerate([4, 1, 3, 2, 9])]
    assert [point.cycles for point in thin(points, [], newest=1).points] == [2, 9]


def test_a_night_that_failed_stands_for_no_week_unless_all_did() -> None:
    points = [point_of(0, 1, ok=False), point_of(1, 2, ok=False), point_of(2, 3), point_of(9, 4)]
    assert [point.cycles for point in thin(points, [], newest=1).points] == [3, 4]
    failed = [point_of(0, 1, ok=False), point_of(1, 2, ok=False), point_of(9, 4)]
    assert [point.cycles for point in thin(failed, [], newest=1).points] == [1, 4]


def test_change_points_are_always_kept_and_found_again() -> None:
    points = [point_of(n, 100 if n < 5 else 110) for n in range(20)]
    kept = thin(points, [Change(5, 1.1, points[5].commit), Change(19, 0.9, "x")], newest=6)
    assert [kept.points[change.index].commit for change in kept.changes] == [
        points[5].commit,
        points[19].commit,
    ]
    assert points[5] in kept.points[: kept.weekly]


def test_ten_thousand_nights_are_400_and_their_weeks() -> None:
    kept = thin([point_of(n) for n in range(10_000)], [])
    assert kept.weekly == 1372  # 9,600 nights from a Monday on
    assert len(kept.points) == 1772


def test_moments_are_utc() -> None:
    assert moment("2026-01-01T01:00:00+02:00") == moment("2025-12-31T23:00:00")
    assert moment("2026-01-01T01:00:00Z").isoformat() == "2026-01-01T01:00:00+00:00"
