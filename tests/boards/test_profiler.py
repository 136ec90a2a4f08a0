# SPDX-License-Identifier: Apache-2.0
"""A backend may have a profiler and a watchpoint, and need not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from harness.boards.backend import Backend, Silicon
from harness.boards.profiler import profiler_of, watchpoint_of


def test_silicon_has_neither() -> None:
    assert profiler_of(Silicon(), "pico1") is None
    assert watchpoint_of(Silicon(), "pico1") is None


def test_a_backend_that_has_them_is_asked_by_name() -> None:
    backend = SimpleNamespace(
        kind="rented",
        profiler=lambda name: ("the profiler of", name),
        watchpoint=lambda name: ("the watchpoint of", name),
    )
    profiler: Any = profiler_of(cast(Backend, backend), "b")
    watchpoint: Any = watchpoint_of(cast(Backend, backend), "b")
    assert profiler == ("the profiler of", "b")
    assert watchpoint == ("the watchpoint of", "b")
