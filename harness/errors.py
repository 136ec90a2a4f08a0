# SPDX-License-Identifier: Apache-2.0
"""The one tree of errors. Each says what happened, what was seen, and what to try.

`BoundViolation` and `Mismatch` are test failures: the bench worked and the kernel or the theory did
not. Every other class means that no number could be had, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class HarnessError(Exception):
    """Something the bench can explain.

    message: one sentence, what happened. cause: why, where that is known. evidence: what was seen,
    name to value, shown as it is. hint: what the reader can do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        cause: str = "",
        evidence: Mapping[str, object] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.cause = cause
        self.evidence: Mapping[str, object] = MappingProxyType(dict(evidence or {}))
        self.hint = hint

    def __str__(self) -> str:
        """Safe to show: what a board or a file says may be in it."""
        lines = [_shown(self.message)]
        if self.cause:
            lines.append(f"  cause: {_shown(self.cause)}")
        lines.extend(f"  {_shown(name)}: {_shown(value)}" for name, value in self.evidence.items())
        if self.hint:
            lines.append(f"  try: {_shown(self.hint)}")
        return "\n".join(lines)


def _shown(value: object) -> str:
    """Without characters that a terminal obeys. Lines after the first, as of a compiler's output, are
    indented deeper than ours, so that none of them can pass for one."""
    lines = str(value).split("\n")
    return "\n    ".join("".join(c if c.isprintable() else "?" for c in line) for line in lines)


class ConfigError(HarnessError):
    """boards.yaml, a layer set, an option or a case asks for something that cannot be."""


class BuildError(HarnessError):
    """The firmware or the emulator core could not be compiled."""


class ProbeError(HarnessError):
    """The debug probe or the target behind it does not answer."""


class BusyError(HarnessError):
    """The board is another run's; who that is is in the cause."""


class QuarantineError(HarnessError):
    """The board did not come back by any means a while ago, and is left alone for now."""


class FlashError(HarnessError):
    """The image could not be written, or what the firmware found in flash is not what was written."""


class EnumerationError(HarnessError):
    """The board's serial port did not appear, or the wrong one did."""


class ProtocolError(HarnessError):
    """Bytes came that are not the frames that were due: torn, lost, out of order, of another run."""


class FirmwareFault(HarnessError):
    """The firmware stopped in a fault handler, or the core locked up."""


class DeadlineError(HarnessError):
    """A stage took longer than it may; the stage and both clocks are in the evidence."""


class HostTooSlow(DeadlineError):
    """This machine gave the harness too little time; the board is not at fault."""


class BoundViolation(HarnessError, AssertionError):
    """A kernel left its workspace, or the claimed bound does not hold on the device."""


class Mismatch(HarnessError, AssertionError):
    """An output differs from the reference."""
