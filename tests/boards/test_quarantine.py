# SPDX-License-Identifier: Apache-2.0
"""Boards that are left alone: found by every name, until they are released or time is up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.boards import quarantine
from harness.errors import QuarantineError

KEYS = ["probe e66", "usb 1-1"]


def test_from_the_first_to_the_last_second(monkeypatch: pytest.MonkeyPatch) -> None:
    start = time.time()
    quarantine.impose("pico1", KEYS, "ProbeError: gone\nfor good")
    found = quarantine.find(["usb 1-1"])
    assert found is not None
    assert (found.board, found.reason) == ("pico1", "ProbeError: gone for good")
    assert str(found) == "for 10 min more: ProbeError: gone for good"
    monkeypatch.setattr(quarantine.time, "time", lambda: start + 599)
    assert quarantine.find(KEYS) is not None
    monkeypatch.setattr(quarantine.time, "time", lambda: start + 602)
    assert quarantine.find(KEYS) is None


def test_a_clock_that_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    quarantine.impose("pico1", KEYS, "gone")
    monkeypatch.setattr(quarantine.time, "time", lambda: 1_000_000.0)
    assert quarantine.find(KEYS) is None


def test_the_error_tells_under_which_name() -> None:
    error = quarantine.impose("left", KEYS, "gone").error("right")
    assert isinstance(error, QuarantineError)
    assert error.evidence == {"put there as": "left"}
    assert "ripbench boards --release right" in error.hint
    assert error.cause == "gone"


def test_looking_makes_no_folder(places: Path) -> None:
    assert quarantine.find(KEYS) is None
    assert not quarantine.release(KEYS)
    assert not (places / "state").exists()


def test_release() -> None:
    quarantine.impose("pico1", KEYS, "gone")
    assert quarantine.release(KEYS)
    assert quarantine.find(KEYS) is None
    assert not quarantine.release(KEYS)


def test_a_board_without_keys_leaves_no_note(places: Path) -> None:
    quarantine.impose("emulated", [], "gone")
    assert not (places / "state").exists()
    assert quarantine.find([]) is None


def test_a_note_that_was_cut_short(places: Path) -> None:
    quarantine.impose("pico1", KEYS, "gone")
    for note in (places / "state" / "quarantine").iterdir():
        note.write_text(note.read_text()[:20])
    assert quarantine.find(KEYS) is None
