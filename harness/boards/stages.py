# SPDX-License-Identifier: Apache-2.0
"""What a board is doing, until when it may, and the probe's transfers held to that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.boards import budgets
from harness.boards.backend import Clock
from harness.boards.deadline import Deadline
from harness.errors import DeadlineError

_TRANSFERS = (
    "read_dp", "write_dp", "read_ap", "write_ap", "read_ap_multiple", "write_ap_multiple",
)  # fmt: skip


class Stages:
    """The stages of one board. announce: called with the name of each as it begins."""

    def __init__(self, clock: Clock, announce: Callable[[str], None]) -> None:
        self._clock = clock
        self.announce = announce
        self.name = "nothing yet"
        self._deadline: Deadline | None = None

    def say(self, name: str) -> None:
        """A stage that has no deadline of its own."""
        self.name = name
        self.announce(name)

    def begin(self, name: str, seconds: float) -> Deadline:
        self.say(name)
        return self.quietly(name, seconds)

    def quietly(self, name: str, seconds: float) -> Deadline:
        """The same for what is not the stage that a reader wants to know: post-mortem, hanging up."""
        self._deadline = Deadline(self._clock, seconds, name)
        return self._deadline

    def end(self) -> None:
        self._deadline = None

    def check(self) -> None:
        """Errors: DeadlineError when the stage that began last is over its time."""
        deadline = self._deadline
        if deadline is not None and deadline.over:
            self._deadline = None  # what follows, such as closing the probe, is not to fail by it
            raise overdue(deadline)

    def hold(self, probe: Any) -> None:
        """From now on each transfer of a pyOCD probe is held to the deadline of the stage."""
        for name in _TRANSFERS:
            setattr(probe, name, self._checked(getattr(probe, name)))

    def _checked(self, transfer: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*arguments: Any, **options: Any) -> Any:
            self.check()
            return transfer(*arguments, **options)

        return checked


def overdue(deadline: Deadline) -> DeadlineError:
    stage = deadline.stage
    return DeadlineError(
        f"{stage} took more than {deadline.seconds:.3g} s of the board's time",
        evidence={"stage": stage},
        hint=budgets.HINTS.get(stage, ""),
    )


def held_flash(stages: Stages, flash_bytes: Callable[[], int]) -> Any:
    """A class of pyOCD's flash driver that begins the stages `erase` and `program`. flash_bytes: how
    many bytes are being written now."""
    from pyocd.flash.flash import Flash

    class HeldFlash(Flash):  # type: ignore[misc]
        def init(self, operation: Any, *arguments: Any, **options: Any) -> None:
            if operation is self.Operation.ERASE:
                stages.begin("erase", budgets.erase(flash_bytes()))
            elif operation is self.Operation.PROGRAM:
                stages.begin("program", budgets.program(flash_bytes()))
            super().init(operation, *arguments, **options)

    return HeldFlash
