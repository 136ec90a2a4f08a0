# SPDX-License-Identifier: Apache-2.0
"""A run as a whole: what is not there is red too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.judge.trend import TrendVerdict, vanished
from harness.results import SeriesKey


@dataclass(frozen=True)
class RunVerdict:
    """expected, seen: how many series. missing: a verdict for each that vanished."""

    expected: int
    seen: int
    missing: tuple[TrendVerdict, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        if not self.seen:
            return ("no case was measured",)
        return tuple(
            f"{verdict.key.case} under {verdict.key.plan} on {verdict.key.board}: {verdict.reason}"
            for verdict in self.missing
        )

    @property
    def ok(self) -> bool:
        return not self.failures


def judge_run(expected: Collection[SeriesKey], seen: Collection[SeriesKey]) -> RunVerdict:
    """expected: the series that the run was to measure, those of the last run for example."""
    return RunVerdict(len(expected), len(seen), vanished(expected, seen))
