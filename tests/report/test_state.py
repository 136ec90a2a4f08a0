# SPDX-License-Identifier: Apache-2.0
"""What last night says of each series, and what links to commits may be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.errors import ConfigError
from harness.report.site.commits import check_template, link
from harness.report.site.state import Latest, State, latest, states
from harness.report.site.tables import per_cent
from harness.report.site.thin import Change
from harness.results import Point, SeriesKey
from tests.report.made import key_of, point_of

LAST = 40


def _end(key: SeriesKey, points: Sequence[Point], changes: Sequence[Change] = ()) -> Latest:
    return latest(key, "first", "cases/x.html", points, changes)


def _state(points: Sequence[Point], *changes: Change, **key: object) -> State:
    """Of one series beside another that ran last night."""
    other = _end(key_of("other"), [point_of(LAST)])
    return states([_end(key_of("mine", **key), points, changes), other])[0]  # type: ignore[arg-type]


def test_each_state() -> None:
    nights = [point_of(n) for n in range(LAST + 1)]
    assert _state(nights) is State.OK
    assert _state([*nights[:-1], point_of(LAST, ok=False)]) is State.FAILED
    assert _state(nights, Change(LAST, 1.02, "")) is State.SLOWER
    assert _state(nights, Change(LAST, 0.98, "")) is State.FASTER
    assert _state(nights, Change(LAST - 1, 1.02, "")) is State.OK
    assert _state(nights[:-1]) is State.MISSING
    assert _state(nights[:-29]) is State.MISSING
    assert _state(nights[:-30]) is State.RETIRED


def test_a_night_is_24_hours() -> None:
    assert _state([point_of(LAST, time="2025-12-05T02:00:01+00:00")]) is State.OK
    assert _state([point_of(LAST, time="2025-12-05T02:00:00+00:00")]) is State.MISSING


def test_another_compiler_ends_a_series_and_another_plan_does_not() -> None:
    old = [point_of(LAST - 1)]
    for change, state in (
        ({"toolchain": "gcc 13"}, State.ENDED),
        ({"clock_hz": 1}, State.ENDED),
        ({"plan": "dual"}, State.MISSING),
        ({"kernels": "m33"}, State.MISSING),
        ({"kind": "board"}, State.MISSING),
    ):
        new = _end(key_of(**change), [point_of(LAST)])  # type: ignore[arg-type]
        assert states([_end(key_of(), old), new]) == [state, State.OK]


def test_the_point_before_is_the_last_that_passed() -> None:
    points = [point_of(0, 90), point_of(1, 100), point_of(2, 7, ok=False), point_of(3, 101)]
    assert _end(key_of(), points).previous == 100
    assert _end(key_of(), points[:1]).previous is None


def test_no_series() -> None:
    assert states([]) == []


@pytest.mark.parametrize(
    "template",
    [
        "https://github.com/a/b/commit/{commit}",
        "https://git.example.org:8443/?p=x.git;a=commit;h={commit}",
        "http://127.0.0.1/{commit}#top",
    ],
)
def test_templates(template: str) -> None:
    assert check_template(template) == template
    assert link(template, "0123abc") == template.replace("{commit}", "0123abc")


@pytest.mark.parametrize(
    "template",
    [
        "", "https://host/x", "{commit}", "javascript:alert('{commit}')", "data:text/html,{commit}",
        "//host/{commit}", "https:///{commit}", "https://host/{commit}/{commit}", "file:///{commit}",
        "https://{commit}.org/", "https://me:pw@host/{commit}", 'https://host/"><script>{commit}',
        "https://host/{commit} x", "https://host/{commit}\n", "https://host/{x}/{commit}",
        "https://[host/{commit}", "https://h\u00f6st/{commit}", "HTTPS\u202e://host/{commit}",
    ],
)  # fmt: skip
def test_templates_that_are_none(template: str) -> None:
    with pytest.raises(ConfigError, match="no address with a place for a commit"):
        check_template(template)


@pytest.mark.parametrize("commit", ["", "abc", "0123456789ABCDEF", "<script>", "../x", "g" * 40])
def test_what_is_no_commit_is_not_linked(commit: str) -> None:
    assert link("https://host/{commit}", commit) == ""


def test_without_a_template_nothing_is_linked() -> None:
    assert link("", "0123abc") == ""


def test_per_cent() -> None:
    assert per_cent(1.0234) == "+2.34 %"
    assert per_cent(0.5) == "-50.00 %"
    assert per_cent(1.000001) == "+0.0001 %"
