# SPDX-License-Identifier: Apache-2.0
"""What the parts of the plugin share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from harness.bench import Bench

DEFAULT_BOARD = "pico1-emu"
NOTHING: Any = object()  # in the place of a layer where none is wanted
BENCHES = pytest.StashKey[dict[str, "Bench"]]()
FITTING = pytest.StashKey[list[str]]()
_Found = TypeVar("_Found")


def parameters(item: pytest.Item) -> dict[str, Any]:
    found: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    return found


def boards_file(config: pytest.Config) -> Path | None:
    named = config.getoption("--boards")
    return Path(named) if named else None


def checked(action: Callable[[], _Found]) -> _Found:
    """What the user got wrong is a usage error."""
    from harness.errors import HarnessError

    try:
        return action()
    except HarnessError as error:
        raise pytest.UsageError(f"{type(error).__name__}: {error}") from error
