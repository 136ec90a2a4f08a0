# SPDX-License-Identifier: Apache-2.0
"""What a kernel makes between two readings of its input."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import ConfigError


@dataclass(frozen=True)
class Step:
    """B pixels of which, in direct order, Q channels are written between two readings of the field.

    over_rows: do steps run on over the ends of output rows? Larger than a row they always do. prefetch:
    are the fields of the next step copied before a step is written? ring: is each input row copied,
    once, before the first output row that reads it? Of an op that goes over scalars, Q scalars of one
    pixel make a step; channel by channel (Traversal.CHANNEL), an output row of Q channels, or a band of
    rows that B is. What the writes of a step's block are among each other is not said, but where a step
    is one scalar.
    """

    pixels: int = 1
    channels: int = 1
    over_rows: bool = False
    prefetch: bool = False
    ring: bool = False

    def __post_init__(self) -> None:
        if self.pixels < 1 or self.channels < 1:
            raise ConfigError(f"steps of {self.pixels} pixels by {self.channels} channels")

    @property
    def single(self) -> bool:
        """One scalar a step: the plain kernels' order, of which the host knows every read and write."""
        return self.pixels == self.channels == 1 and not (self.prefetch or self.ring)

    def runs_on(self, w_out: int) -> bool:
        """Over the ends of rows of `w_out` pixels?"""
        return self.over_rows or self.pixels > w_out

    def rows(self, w_out: int) -> int | None:
        """Of a band, channel by channel: whole ones. A single pixel stands for a row; None for what is
        no band."""
        if self.pixels == 1:
            return 1
        return None if self.pixels % w_out else self.pixels // w_out


SINGLE = Step()
