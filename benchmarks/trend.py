# SPDX-License-Identifier: Apache-2.0
"""How often noise of known shapes is called a change, and how often a change is found, by seed.

python -m benchmarks.trend [SERIES]     of each shape, deviation and drift; 2 without a word
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product

from tabulate import tabulate

from harness.judge import State, TrendVerdict
from tests.judge.nights import DRIFTS, FOUND, SHAPES, Noisy, found, verdicts

NIGHTS = 45
DEVIATIONS = (0.0005, 0.001, 0.005, 0.02)
BEGIN = 20  # the night of the change
SEEDS = 40


def main(series: int = 2) -> None:
    rows = []
    for drift, deviation in product(DRIFTS, DEVIATIONS):
        states = [
            verdict
            for shape, seed in product(SHAPES, range(series))
            for verdict in verdicts(Noisy(shape, deviation, drift), NIGHTS, 7, seed)
        ]
        again = sum(bool(verdict.confirmation) for verdict in states)
        alarms = sum(verdict.state in FOUND for verdict in states)
        rows.append((drift, f"{deviation:.2%}", len(states), again, alarms))
    total = [sum(row[n] for row in rows) for n in (2, 3, 4)]
    rows.append(("all", "", *total))
    print(f"\nFalse alarms, {len(SHAPES)} shapes of noise each; asked: 1 in 10,000")
    headers = ("drift to 0.5 %", "noise", "comparisons", "run again", "alarms")
    print(tabulate(rows, headers=headers, disable_numparse=True))
    _changes()


def _changes() -> None:
    rows = []
    for what, level in _LEVELS.items():
        by = BEGIN + (4 if "five" in what else 1)
        for shape, deviation in (
            *product(SHAPES, (0.001,)),
            ("Gaussian", 0.01),
            ("Gaussian", 0.02),
        ):
            if "five" not in what and deviation > 0.001:
                continue
            hits = 0
            for seed in range(SEEDS):
                every = found(Noisy(shape, deviation, level=level), BEGIN + 6, 8, seed)
                first = next(iter(every), None)
                hits += first is not None and BEGIN <= first[0] <= by and _named(what, first[1])
            rows.append((what, shape, f"{deviation:.1%}", f"{hits} of {SEEDS}"))
    print("\nChanges found in time, right commit named")
    print(tabulate(rows, headers=("", "shape", "noise", "found"), disable_numparse=True))


def _named(what: str, verdict: TrendVerdict) -> bool:
    last = BEGIN + 4 if "five" in what else BEGIN
    state = State.IMPROVED if "-" in what else State.REGRESSED
    commits = [f"c{night}" for night in range(BEGIN, last + 1)]
    return verdict.state is state and verdict.commit in commits


_LEVELS: dict[str, Callable[[int], float]] = {
    "+0.5 %, by the next night": lambda night: 1 + 0.005 * (night >= BEGIN),
    "-0.5 %, by the next night": lambda night: 1 - 0.005 * (night >= BEGIN),
    "five times +0.9 %, by the fifth": lambda night: 1.009 ** min(5, max(0, night - BEGIN + 1)),
}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
