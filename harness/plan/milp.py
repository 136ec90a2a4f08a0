# SPDX-License-Identifier: Apache-2.0
"""The program solved by HiGHS, where it is installed.

The solver's numbers are floating point, and its tolerance times a large constant may be a word. So only
its choices are taken; the offsets are computed from them again, in integers.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import ConfigError
from harness.plan.problem import Problem
from harness.plan.program import Program, Solved

_FEASIBLE = 2  # a point was found, as HiGHS numbers it


@dataclass(frozen=True)
class Limits:
    """binaries: a larger program is not tried. nodes: of the solver's tree; they end it on any machine
    alike. seconds: ends it in any case."""

    binaries: int = 4_000
    nodes: int = 20_000
    seconds: float = 20.0


def available() -> bool:
    """Is HiGHS installed?"""
    return _highs() is not None


def require() -> None:
    """Errors: ConfigError where HiGHS is not installed."""
    if not available():
        raise ConfigError("HiGHS is not installed", hint="pip install 'ripbench[milp]'")


def _highs() -> ModuleType | None:
    try:
        import highspy
    except ImportError:
        return None
    return highspy


def solve(
    problem: Problem,
    tensors: Iterable[int],
    least: int,
    most: int,
    shift_cost: float,
    limits: Limits,
) -> Solved | None:
    """A placement of `tensors` with least <= peak <= most (bytes) and the least price; None where HiGHS
    is missing, the program is too large, or nothing was found within the limits. shift_cost: of each
    byte moved, in bytes of peak; infinite forbids shifts."""
    highspy = _highs()
    if highspy is None:
        return None
    here = set(tensors)
    if sum(len(here.intersection(problem.neighbours[t])) for t in here) > limits.binaries:
        return None  # two for each pair, before there are any edges
    program = Program(problem, sorted(here), most, shift_cost)
    if len(program.choices) > limits.binaries:
        return None
    chosen, bound = _run(highspy, program, least, most, shift_cost, limits)
    if chosen is None:
        return None
    return program.exact(chosen, least, shift_cost, bound)


def _run(
    highspy: Any, program: Program, least: int, most: int, shift_cost: float, limits: Limits
) -> tuple[set[int] | None, float]:
    """The choices that hold, None if none were found, and the solver's own bound of the price, which is
    one wherever it ends."""
    problem = program.problem
    v = problem.alignment
    with _quiet():  # the first one made prints who it is
        highs = highspy.Highs()
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", 0),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 1e-6),
        ("mip_max_nodes", limits.nodes),
        ("time_limit", limits.seconds),
    ):
        highs.setOptionValue(name, value)
    place = {tensor: column for column, tensor in enumerate(program.tensors)}
    for tensor in program.tensors:
        highs.addVar(0, (most - problem.sizes[tensor]) // v)
    peak = len(place)
    highs.addVar(least / v, most / v)
    highs.changeColCost(peak, v)
    first = peak + 1
    for number, choice in enumerate(program.choices):
        highs.addVar(0, 1)
        highs.changeColIntegrality(first + number, highspy.HighsVarType.kInteger)
        if choice.moved and choice.edge is not None:
            highs.changeColCost(first + number, shift_cost * problem.sizes[choice.edge.source])
    infinite = highspy.kHighsInf
    for item in program.least:
        terms = {first + given: -float(program.large(item)) for given in item.given}
        if item.upper >= 0:
            terms[place[item.upper]] = 1.0
        if item.lower >= 0:
            terms[place[item.lower]] = -1.0
        least_words = item.words - len(item.given) * program.large(item)
        highs.addRow(least_words, infinite, len(terms), list(terms), list(terms.values()))
    for tensor, size, given in program.ends():
        terms = {peak: 1.0, place[tensor]: -1.0}
        slack = 0.0
        if given is not None:
            slack = program.words + abs(size) / v
            terms[first + given] = -slack
        highs.addRow(size / v - slack, infinite, len(terms), list(terms), list(terms.values()))
    for numbers in program.of_pair.values():
        columns = [first + number for number in numbers]
        highs.addRow(1.0, 1.0, len(columns), columns, [1.0] * len(columns))
    for numbers in program.at_op.values():
        columns = [first + number for number in numbers]
        highs.addRow(0.0, 1.0, len(columns), columns, [1.0] * len(columns))
    highs.run()
    info = highs.getInfo()
    if info.primal_solution_status != _FEASIBLE:
        return None, -math.inf
    values = highs.getSolution().col_value
    chosen = {n for n in range(len(program.choices)) if values[first + n] > 0.5}
    return chosen, info.mip_dual_bound


@contextmanager
def _quiet() -> Iterator[None]:
    """Standard output of this process, C's too, goes nowhere."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
