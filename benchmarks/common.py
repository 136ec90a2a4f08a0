# SPDX-License-Identifier: Apache-2.0
"""Timing and tables for the benchmarks. They assert nothing: a reader judges them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from tabulate import tabulate


def seconds(action: Callable[[], object], runs: int = 5) -> list[float]:
    """Wall seconds of each of `runs` calls, after one that is not counted."""
    action()
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return taken


def show(title: str, rows: Sequence[tuple[str, Sequence[float], str]]) -> None:
    """rows: what, seconds of each run, what is asked."""
    body = [
        (what, f"{min(runs):.3f}", f"{statistics.median(runs):.3f}", f"{max(runs):.3f}", asked)
        for what, runs, asked in rows
    ]
    print(f"\n{title}")
    print(
        tabulate(body, headers=("", "min s", "median s", "max s", "asked"), disable_numparse=True)
    )
