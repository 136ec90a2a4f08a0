# SPDX-License-Identifier: Apache-2.0
"""A backend may have a witness, and need not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from harness.boards.backend import Backend, Silicon
from harness.boards.witness import witness_of


def test_silicon_has_none() -> None:
    assert witness_of(Silicon(), "pico1") is None


def test_a_backend_that_has_one_is_asked_by_name() -> None:
    backend = SimpleNamespace(kind="rented", witness=lambda name: ("the witness of", name))
    witness: Any = witness_of(cast(Backend, backend), "b")
    assert witness == ("the witness of", "b")
