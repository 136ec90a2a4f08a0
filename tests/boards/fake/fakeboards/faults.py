# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on the way to a fake board: the n-th transfer of the probe, or call of the port.

One plan for the whole process. Below pyOCD's probe and below pyserial: all of the bench above is real.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field


@dataclass
class Plan:
    """what: `probe` or `port`. at: the number, from 0, of the first one that fails; None for none.
    times: how many in a row fail. slow_ns: what each transfer of the probe takes. interrupt:
    Ctrl-C comes instead of a failure. seen: how many there were of each kind. hit: how many failed."""

    what: str = ""
    at: int | None = None
    times: int = 1
    slow_ns: int = 0
    interrupt: bool = False
    hit: int = 0
    seen: dict[str, int] = field(default_factory=lambda: {"probe": 0, "port": 0})

    def fails(self, what: str) -> bool:
        """Counts one more; whether it fails."""
        number = self.seen[what]
        self.seen[what] += 1
        if what != self.what or self.at is None:
            return False
        failing = self.at <= number < self.at + self.times
        self.hit += failing
        if failing and self.interrupt:
            os.kill(os.getpid(), signal.SIGINT)
            return False
        return failing


plan = Plan()


def set_plan(what: str = "", at: int | None = None, times: int = 1) -> Plan:
    """From now on this goes wrong; counting starts anew."""
    global plan
    plan = Plan(what, at, times)
    return plan
