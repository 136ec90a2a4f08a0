# SPDX-License-Identifier: Apache-2.0
"""One tensor's shape."""

from __future__ import annotations

from dataclasses import dataclass

from harness.errors import ConfigError

MAX_EXTENT = 65_535  # every extent travels to the board as 16 bits


@dataclass(frozen=True)
class Shape:
    """A tensor of h x w pixels with c channels."""

    h: int
    w: int
    c: int

    def __post_init__(self) -> None:
        for name in ("h", "w", "c"):
            check_range(name, getattr(self, name), 1)

    @property
    def pixels(self) -> int:
        return self.h * self.w

    @property
    def size(self) -> int:
        """Scalars."""
        return self.h * self.w * self.c

    def __str__(self) -> str:
        return f"{self.h}x{self.w}x{self.c}"


def check_range(name: str, value: int, least: int) -> None:
    """Errors: ConfigError unless `value` is a whole number from `least` to MAX_EXTENT."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MAX_EXTENT:
        raise ConfigError(
            f"{name} is {value!r}",
            hint=f"it must be a whole number from {least} to {MAX_EXTENT}",
        )
