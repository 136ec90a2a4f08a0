# SPDX-License-Identifier: Apache-2.0
"""Which series are one case, and why two of them are two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from harness.results import SeriesKey


def differences(key: SeriesKey, other: SeriesKey) -> tuple[str, ...]:
    """In words, why two series are not one; empty for one and the same."""
    return tuple(
        f"{field.name.replace('_', ' ')} changed from {getattr(key, field.name)!r} "
        f"to {getattr(other, field.name)!r}"
        for field in fields(SeriesKey)
        if getattr(key, field.name) != getattr(other, field.name)
    )


def case_of(key: SeriesKey) -> tuple[str, str, str, str, str]:
    """What is asked for, whatever chip, clock and compiler it runs with."""
    return key.board, key.kind, key.kernels, key.case, key.plan


def succession(key: SeriesKey, known: Iterable[SeriesKey]) -> str:
    """Why there is nothing before the first number of a series."""
    others = [other for other in known if other != key and case_of(other) == case_of(key)]
    if not others:
        return "new series: nothing before it"
    nearest = min(others, key=lambda other: len(differences(other, key)))
    return f"{'; '.join(differences(nearest, key))}: new series"
