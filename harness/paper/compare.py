# SPDX-License-Identifier: Apache-2.0
"""A table of ours beside the paper's, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """ours and stated: column to cell, both as text in the paper's precision. stated lacks what the
    paper does not say. corrected: columns where the paper is wrong, as docs/errata.md shows."""

    name: str
    ours: Mapping[str, str]
    stated: Mapping[str, str]
    corrected: frozenset[str] = frozenset()

    @property
    def differences(self) -> list[str]:
        """Columns that are stated and not corrected, and whose cells are not equal."""
        return [
            column
            for column, cell in self.stated.items()
            if cell != self.ours[column] and column not in self.corrected
        ]


@dataclass(frozen=True)
class Comparison:
    """title: what the rows are. facts: statements of the text around the table, with what we find."""

    title: str
    rows: tuple[Row, ...]
    facts: tuple[Row, ...] = ()

    @property
    def differences(self) -> list[str]:
        """`row: column is X, the paper has Y` of every cell that differs."""
        return [
            f"{row.name}: {column} is {row.ours[column]}, the paper has {row.stated[column]}"
            for row in (*self.rows, *self.facts)
            for column in row.differences
        ]

    @property
    def corrected(self) -> int:
        """Cells where we differ because the paper is wrong."""
        return sum(
            column in row.corrected and cell != row.ours[column]
            for row in (*self.rows, *self.facts)
            for column, cell in row.stated.items()
        )


def cells(**values: object) -> dict[str, str]:
    """Cells as text; a float must be formatted before it comes here."""
    return {name: str(value) for name, value in values.items()}
