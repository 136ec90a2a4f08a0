# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.planner`: what the plans of the 33 Keras graphs cost, and what they come to.

CPU seconds of this process, each with its check; the graphs are read before. Run twice, the faster one
is shown, so that a library's first import does not count.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import starmap

from tabulate import tabulate

from harness.network import Network
from harness.plan import NetworkPlan, Strategy, plan_network
from tests.plan.graphs import keras, keras_names

_ASKED = 5.0  # seconds, of dual and rip together
_THEN = 2.0
_WAYS = (Strategy.DUAL, Strategy.RIP, Strategy.EXTENDED)


def _plan(network: Network, way: Strategy) -> tuple[NetworkPlan, float]:
    taken = []
    for _ in range(2):
        start = time.process_time()
        plan = plan_network(network, way)
        taken.append(time.process_time() - start)
    return plan, min(taken)


def _cell(plan: NetworkPlan, seconds: float) -> str:
    return f"{plan.peak / 1024:,.1f} {plan.proof or '-'} {seconds:.3f}"


def main() -> None:
    rows: list[Sequence[object]] = []
    total = dict.fromkeys(_WAYS, 0.0)
    proven = dict.fromkeys(_WAYS, 0)
    names = keras_names()
    for name in names:
        found = {way: _plan(keras(name), way) for way in _WAYS}
        for way, (plan, seconds) in found.items():
            total[way] += seconds
            proven[way] += plan.proof is not None
        shifts = sum(step.moved_to is not None for step in found[Strategy.RIP][0].steps)
        ops = len(keras(name).nodes)
        rows.append((name, ops, *starmap(_cell, found.values()), shifts or ""))
    rows.append(("all", "", *(f"{proven[way]} proven {total[way]:.3f}" for way in _WAYS), ""))
    print("\nPlans of 33 graphs: KB, proof, CPU seconds")
    heads = ("", "ops", *(str(way) for way in _WAYS), "shifts of rip")
    print(tabulate(rows, headers=heads, disable_numparse=True))
    both = total[Strategy.DUAL] + total[Strategy.RIP]
    print(f"dual and rip: {both:.2f} s of CPU; asked {_ASKED:.0f} s, then {_THEN:.0f} s")


if __name__ == "__main__":
    main()
