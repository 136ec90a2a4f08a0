# SPDX-License-Identifier: Apache-2.0
"""Deadlines of a stage, in the board's own time, with a watchdog on the host's."""

from __future__ import annotations

import time

from harness.boards.backend import Clock
from harness.errors import DeadlineError

_WATCHDOG = 30.0  # wall seconds allowed for each second of the board's own time
_LEAST_WALL = 20.0  # a busy host may need this long for even the shortest stage


class Deadline:
    """`seconds` of the board's time from now for `stage`."""

    def __init__(self, clock: Clock, seconds: float, stage: str) -> None:
        self.seconds = seconds
        self.stage = stage
        self._clock = clock
        self._end = clock.now() + seconds
        self._wall_start = time.monotonic()

    def remaining(self) -> float:
        """Seconds left, never negative. Errors: DeadlineError when the host itself is too slow."""
        wall = time.monotonic() - self._wall_start
        if wall > max(_LEAST_WALL, _WATCHDOG * self.seconds):
            raise DeadlineError(
                f"the harness is too slow: {self.stage}",
                cause="the host gave this process too little time; the board itself is not at fault",
                evidence={"wall seconds": f"{wall:.1f}", "board seconds allowed": self.seconds},
                hint="run fewer things at once on this machine",
            )
        return max(0.0, self._end - self._clock.now())

    @property
    def over(self) -> bool:
        return self.remaining() <= 0.0
