# SPDX-License-Identifier: Apache-2.0
"""What is tried, in which order, when the way to a board fails, and when it is given up.

An attempt is a whole measurement: after a step it begins anew, so that nothing is put together from two.
Every attempt is kept, whether a later one succeeds or not. docs/recovery.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeVar

from harness.errors import (
    DeadlineError,
    EnumerationError,
    FlashError,
    HarnessError,
    HostTooSlow,
    ProbeError,
    ProtocolError,
)

T = TypeVar("T")


class Rung(IntEnum):
    """A step of the ladder; each does more than the one before."""

    PORT = 0
    RESET = 1
    FLASH = 2
    POWER = 3

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    Rung.PORT: "the port opened again",
    Rung.RESET: "a reset over SWD",
    Rung.FLASH: "flashing again",
    Rung.POWER: "a power-on reset through the debug port",
}
# Failures of the way to the board, and the first step that could help. A wrong output, a bound that
# does not hold, a fault of the firmware and a wrong setting are findings: nothing is tried against them.
_FIRST: dict[type[HarnessError], Rung] = {
    DeadlineError: Rung.PORT,
    EnumerationError: Rung.PORT,
    ProtocolError: Rung.PORT,
    ProbeError: Rung.RESET,
    FlashError: Rung.FLASH,
}
# Of these stages the port is no part.
_FIRST_OF_STAGE = {
    "attach": Rung.RESET,
    "reset": Rung.RESET,
    "boot": Rung.RESET,
    "erase": Rung.FLASH,
    "program": Rung.FLASH,
}


class Recoverable(Protocol):
    """A board, as far as the ladder knows it."""

    def recover(self, rung: Rung) -> None:
        """Takes the step; the next start of the board begins from there."""


@dataclass(frozen=True)
class Attempt:
    """One that failed. after: the step before it, None for the first."""

    after: Rung | None
    error: HarnessError

    def __str__(self) -> str:
        what = "first" if self.after is None else f"after {self.after.words}"
        error = self.error
        details = "; ".join(f"{name}: {value}" for name, value in error.evidence.items())
        cause = f" ({error.cause})" if error.cause else ""
        return f"{what}: {type(error).__name__}: {error.message}{cause}" + (
            f" [{details}]" if details else ""
        )


class Ladder:
    """failed: the attempts so far that a step could help against. attempts: all of them. exhausted: no
    step is left, so the board is to be left alone."""

    def __init__(self, board: Recoverable, on_step: Callable[[str], None] = lambda _: None) -> None:
        self._board = board
        self._on_step = on_step
        self.failed: list[Attempt] = []
        self.attempts = 0
        self.exhausted = False

    def climb(self, attempt: Callable[[], T]) -> T:
        """What the first attempt that succeeds gives. Errors: the first attempt's, with every attempt in
        its evidence, when no step helps; what is no failure of the way, as it comes."""
        rung: Rung | None = None
        while True:
            self.attempts += 1
            try:
                if rung is not None:
                    self._on_step(f"attempt {self.attempts}: {rung.words}")
                    self._board.recover(rung)
                return attempt()
            except HarnessError as error:
                step = first_step(error)
                if step is None:
                    raise self._with_attempts(error) from error
                self.failed.append(Attempt(rung, error))
                rung = self._next(rung, step)
                if rung is None:
                    raise self._with_attempts(self.failed[0].error) from error

    def _next(self, rung: Rung | None, step: Rung) -> Rung | None:
        if _is_the_kernels(self.failed):
            return None
        following = step if rung is None else max(rung + 1, step)
        self.exhausted = following > Rung.POWER
        return None if self.exhausted else Rung(following)

    def _with_attempts(self, error: HarnessError) -> HarnessError:
        if not self.failed:
            return error
        evidence = dict(error.evidence)
        for number, attempt in enumerate(self.failed, 1):
            evidence[f"attempt {number}"] = str(attempt)
        return type(error)(error.message, cause=error.cause, evidence=evidence, hint=error.hint)


def first_step(error: HarnessError) -> Rung | None:
    """None for what no step can help against."""
    if isinstance(error, HostTooSlow):
        return None
    rung = next((rung for kind, rung in _FIRST.items() if isinstance(error, kind)), None)
    if rung is None:
        return None
    return max(rung, _FIRST_OF_STAGE.get(str(error.evidence.get("stage", "")), rung))


def _is_the_kernels(failed: list[Attempt]) -> bool:
    """The core was still busy with the same op after a reset: that kernel hangs, and the way to the
    board is as good as it was."""
    stuck = [
        attempt
        for attempt in failed
        if isinstance(attempt.error, DeadlineError)
        and str(attempt.error.evidence.get("stage", "")).startswith("op ")
        and str(attempt.error.evidence.get("core", "")).startswith("running")
    ]
    again = [
        attempt for attempt in stuck if attempt.after is not None and attempt.after >= Rung.RESET
    ]
    stages = {attempt.error.evidence["stage"] for attempt in stuck}
    return bool(again) and len(stuck) > len(stages)
