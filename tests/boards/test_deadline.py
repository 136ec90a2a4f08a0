# SPDX-License-Identifier: Apache-2.0
"""Deadlines in the board's time, and the watchdog on the host's."""

from __future__ import annotations

import pytest

from harness.boards import deadline
from harness.boards.deadline import Deadline
from harness.errors import DeadlineError


class _Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_counts_the_boards_time() -> None:
    clock = _Clock()
    limit = Deadline(clock, 2.0, "run")
    clock.sleep(1.5)
    assert limit.remaining() == pytest.approx(0.5)
    clock.sleep(1.0)
    assert limit.over
    assert limit.remaining() == 0.0


def test_a_slow_host_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = _Clock()
    monkeypatch.setattr(deadline.time, "monotonic", wall.now)
    limit = Deadline(_Clock(), 1.0, "run")
    wall.sleep(29.0)
    assert limit.remaining() == 1.0
    wall.sleep(2.0)
    with pytest.raises(DeadlineError, match="the harness is too slow: run"):
        limit.remaining()
