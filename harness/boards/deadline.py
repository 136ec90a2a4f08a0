# SPDX-License-Identifier: Apache-2.0
"""Deadlines of a stage, in the board's own time, with a watchdog on the host's."""

from __future__ import annotations

import time

from harness.boards.backend import Clock
from harness.errors import HostTooSlow

_WATCHDOG = 30.0  # wall seconds allowed for each second of the board's own time
_LEAST_WALL = 20.0  # a busy host may need this long for even the shortest stage


class Deadline:
    """`seconds` of the board's time from now for `stage`. within: of the whole that it is a part of,
    which may end before."""

    def __init__(
        self, clock: Clock, seconds: float, stage: str, within: Deadline | None = None
    ) -> None:
        self.seconds = seconds
        self.stage = stage
        self._clock = clock
        self._within = within
        self._end = clock.now() + seconds
        self._wall_start = time.monotonic()

    def remaining(self) -> float:
        """Seconds left, never negative. Errors: HostTooSlow when the host itself is too slow."""
        wall = time.monotonic() - self._wall_start
        if wall > max(_LEAST_WALL, _WATCHDOG * self.seconds):
            raise HostTooSlow(
                f"the harness is too slow: {self.stage}",
                cause="the host gave this process too little time; the board itself is not at fault",
                evidence={"wall seconds": f"{wall:.1f}", "board seconds allowed": self.seconds},
                hint="run fewer things at once on this machine",
            )
        left = max(0.0, self._end - self._clock.now())
        return left if self._within is None else min(left, self._within.remaining())

    @property
    def over(self) -> bool:
        return self.remaining() <= 0.0

    @property
    def passed(self) -> Deadline:
        """Of this one and the whole that it is a part of, the one that is over."""
        if self._within is not None and self._within.over:
            return self._within.passed
        return self

    def part(self, seconds: float, stage: str) -> Deadline:
        """Of a part that begins now."""
        return Deadline(self._clock, seconds, stage, self)
