# SPDX-License-Identifier: Apache-2.0
"""The state of a night, and of which tests a broken one leaves out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.nightly.night import Suite, begin_night, last_night, open_night
from harness.plugin.done import read_done

TESTS = """
import pytest

def test_well(): pass

def test_skipped(): pytest.skip("nothing to do")

def test_fails(): assert False

@pytest.fixture
def bad():
    yield
    raise RuntimeError

def test_fails_afterwards(bad): pass
"""


def _pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_night_is_what_was_kept(tmp_path: Path) -> None:
    night = begin_night(
        tmp_path, ("a", "b"), (Suite("layers", ("x.py", "-q")), Suite("models", ()))
    )
    night = night.with_suite(Suite("models", (), attempts=2, status=1))
    again = open_night(night.folder)
    assert again == night
    assert [suite.status for suite in again.suites] == [None, 1]
    assert again.run_token(again.suites[1]) == f"{night.name}/models/2"


def test_the_newest_night_goes_on(tmp_path: Path) -> None:
    assert last_night(tmp_path / "none") is None
    assert last_night(tmp_path) is None
    first = begin_night(tmp_path, ("a",), ())
    second = begin_night(tmp_path, ("b",), ())
    assert second.name > first.name
    (tmp_path / "99991231T000000Z").mkdir()  # killed before it had a state
    (tmp_path / "notes").mkdir()
    assert last_night(tmp_path) == second


def test_the_tenth_night_of_a_second_is_newer_than_the_second(tmp_path: Path) -> None:
    for number in ("", "-2", "-10"):
        folder = tmp_path / f"20261201T000000Z{number}"
        folder.mkdir()
        (folder / "night.json").write_text(
            json.dumps({"version": 1, "boards": [], "suites": [], "finished": False, "options": []})
        )
    newest = last_night(tmp_path)
    assert newest is not None and newest.name.endswith("-10")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not the state of a night"),
        ("[]", "not the state of a night"),
        ('{"version": 2}', "a newer ripbench"),
        ('{"version": 1, "boards": ["a"]}', "not the state of a night"),
        (
            '{"version": 1, "boards": [], "suites": [{"name": "x", "words": "rm", "attempts": 1, '
            '"status": null}], "finished": false, "options": []}',
            "not the state of a night",
        ),
    ],
)
def test_a_state_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "night.json").write_text(text)
    with pytest.raises(ConfigError, match=message):
        open_night(tmp_path)


def test_a_night_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        begin_night(tmp_path / "file", ("a",), ())


def test_every_test_that_ended_is_noted_and_what_passed_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    done = _pytest(tmp_path, "test_some.py", "--done", "one.done")
    assert done.returncode == 1
    found = {
        test.split("::")[1]: outcome for test, outcome in read_done(tmp_path / "one.done").items()
    }
    assert found == {
        "test_well": "passed",
        "test_skipped": "skipped",
        "test_fails": "failed",
        "test_fails_afterwards": "failed",
    }
    again = _pytest(tmp_path, "test_some.py", "--skip-done", "one.done")
    assert "2 deselected" in again.stdout
    assert "test_well" not in again.stdout


def test_with_workers_the_controller_notes(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    _pytest(tmp_path, "test_some.py", "--done", "one.done", "-n", "2")
    assert len((tmp_path / "one.done").read_text().splitlines()) == 4


def test_a_line_that_a_kill_cut_short_is_none(tmp_path: Path) -> None:
    file = tmp_path / "one.done"
    file.write_text('{"id": "a", "outcome": "passed"}\n{"id": "b", "outc')
    assert read_done(file) == {"a": "passed"}
    assert read_done(tmp_path / "none") == {}
