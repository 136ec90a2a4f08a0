# SPDX-License-Identifier: Apache-2.0
"""From a problem to offsets: bound, peeling, search, and where the bound is not met the program."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from harness.bounds import round_up
from harness.plan import milp
from harness.plan.bound import bounds_by_op
from harness.plan.edges import Edge
from harness.plan.firstfit import first_fit, put_back
from harness.plan.orders import highest_op, orders
from harness.plan.peel import Peeled, peel
from harness.plan.problem import Problem
from harness.plan.search import Effort, search
from harness.plan.shift import with_shift

_CAPS = 12  # halvings between the bound and the best peak
_AGAIN = 3  # programs, each with the tensors that the one before left no room for
_A_SEARCH, _A_PAIR = 20_000, 10  # comparisons of one search: at least, and for each pair
_SHIFTS = 8  # tried one by one, nearest to the highest op first


@dataclass(frozen=True)
class Budget:
    """How much may be tried before the best found is taken, without a proof. comparisons: of pairs of
    tensors, by all searches below one peak. restarts: searches at the bound beyond the usual orders.
    pairs: that are in memory together at all; above it first fit decides. milp: limits of the solver,
    or None to do without."""

    comparisons: int = 1_500_000
    restarts: int = 24
    pairs: int = 250_000
    milp: milp.Limits | None = field(default_factory=milp.Limits)


@dataclass(frozen=True)
class Solution:
    """offsets: of every tensor that is ever in memory. price: the peak and what its shifts cost, in
    bytes of peak. shifts: edges whose operand is moved. proof: as in NetworkPlan."""

    offsets: dict[int, int]
    peak: int
    lower_bound: int
    proof: str | None
    price: float
    shifts: tuple[Edge, ...] = ()


def solve(problem: Problem, shift_cost: float, budget: Budget) -> Solution:
    """The least price (peak, and shifts at shift_cost a byte) where that is found, with its proof;
    never worse than first fit."""
    by_op = bounds_by_op(problem)
    least = max(by_op)
    best = first_fit(problem)
    if problem.end(best) > least and _few(problem, budget.pairs):
        peeled = peel(problem, least)
        at_bound, missing = _parts(problem, by_op, peeled, least, budget, budget.restarts)
        if missing:
            best = _lower(problem, by_op, least, best, budget)
            known = _without_shifts(problem, best, least)
            return _priced(problem, peeled, at_bound, missing, known, shift_cost, budget)
        put_back(problem, at_bound, reversed(peeled.aside))
        best = at_bound
    return _without_shifts(problem, best, least)


def placed_below(problem: Problem, peak: int, budget: Budget) -> dict[int, int] | None:
    """Offsets of all tensors below a peak, without shifts; None where none are found, which proves
    nothing."""
    offsets = first_fit(problem)
    if problem.end(offsets) <= peak:
        return offsets
    by_op = bounds_by_op(problem)
    if max(by_op) > peak or not _few(problem, budget.pairs):
        return None
    peeled = peel(problem, peak)
    offsets, missing = _parts(problem, by_op, peeled, peak, budget, budget.restarts)
    if missing:
        return None
    put_back(problem, offsets, reversed(peeled.aside))
    return offsets


def _few(problem: Problem, pairs: int) -> bool:
    return sum(map(len, problem.neighbours)) // 2 <= pairs


def _without_shifts(problem: Problem, offsets: dict[int, int], least: int) -> Solution:
    peak = problem.end(offsets)
    return Solution(offsets, peak, least, "bound" if peak == least else None, peak)


def _parts(
    problem: Problem,
    by_op: list[int],
    peeled: Peeled,
    peak: int,
    budget: Budget,
    restarts: int,
) -> tuple[dict[int, int], list[tuple[int, ...]]]:
    """Offsets of all parts that are found to fit below the peak, and the other parts. A part that fits
    below the bound fits below anything."""
    offsets: dict[int, int] = {}
    missing = []
    effort = Effort(budget.comparisons)
    for part in peeled.core:
        most = _A_SEARCH + _A_PAIR * sum(len(problem.neighbours[tensor]) for tensor in part)
        for order in orders(problem, part, highest_op(problem, by_op, part), restarts):
            placement = search(problem, order, peak, most, effort)
            if placement is not None:
                offsets.update(placement.offsets)
                break
        else:
            missing.append(part)
    return offsets, missing


def _lower(
    problem: Problem, by_op: list[int], least: int, best: dict[int, int], budget: Budget
) -> dict[int, int]:
    """Searches below ever lower peaks between the bound and the best that is known."""
    low = least
    for _ in range(_CAPS):
        high = problem.end(best)
        cap = round_up((low + high) // 2, problem.alignment)
        if not low < cap < high:
            break
        peeled = peel(problem, cap)
        offsets, missing = _parts(problem, by_op, peeled, cap, budget, 0)
        if missing:
            low = cap
        else:
            put_back(problem, offsets, reversed(peeled.aside))
            best = offsets
    return best


def _priced(
    problem: Problem,
    peeled: Peeled,
    placed: dict[int, int],
    missing: list[tuple[int, ...]],
    known: Solution,
    shift_cost: float,
    budget: Budget,
) -> Solution:
    """With shifts, if they are worth it. placed: the parts that fit below the bound."""
    if budget.milp is not None:
        solved = _program(problem, peeled, placed, missing, known, shift_cost, budget.milp)
        if solved is not None and (solved.proof or solved.price < known.price):
            known = solved
    if known.proof is None and math.isfinite(shift_cost):
        found = _one_shift(problem, missing, known, shift_cost, budget)
        if found is not None:
            known = found
    return known


def _program(
    problem: Problem,
    peeled: Peeled,
    placed: dict[int, int],
    missing: list[tuple[int, ...]],
    known: Solution,
    shift_cost: float,
    limits: milp.Limits,
) -> Solution | None:
    """Of the parts that are missing; None where nothing came of it.

    The peeled tensors, left out, find their holes afterwards, but for copies that a shift makes: where
    one does not, it joins the program.
    """
    tensors = {tensor for part in missing for tensor in part}
    least = known.lower_bound
    for _ in range(_AGAIN):
        solved = milp.solve(problem, tensors, least, known.peak, shift_cost, limits)
        if solved is None:
            return None
        offsets = {**{t: at for t, at in placed.items() if t not in tensors}, **solved.offsets}
        blocks = [(edge.op, _block(problem, edge, offsets)) for edge in solved.shifts]
        wrong = {
            tensor
            for op, block in blocks
            for tensor in placed
            if tensor not in tensors and _meets(problem, tensor, op, block, offsets[tensor])
        }
        put_back(problem, offsets, (t for t in reversed(peeled.aside) if t not in offsets), blocks)
        wrong |= {t for t, at in offsets.items() if at + problem.sizes[t] > solved.peak}
        if not wrong:
            peak = max([problem.end(offsets), *(end for _, (_, end) in blocks)])
            proof = "milp" if solved.optimal else None
            if peak == least and (proof is None or not solved.shifts):
                proof = "bound"
            return Solution(offsets, peak, least, proof, solved.price, solved.shifts)
        tensors |= wrong
    return None


def _block(problem: Problem, edge: Edge, offsets: dict[int, int]) -> tuple[int, int]:
    """What output and moved operand take during the op."""
    start = offsets[edge.output]
    end = start + max(problem.sizes[edge.output], edge.at + problem.sizes[edge.source])
    return start + min(0, edge.at), end


def _meets(problem: Problem, tensor: int, op: int, block: tuple[int, int], offset: int) -> bool:
    life = problem.lives[tensor]
    assert life is not None
    there = life.first <= op <= life.last
    return there and offset < block[1] and block[0] < offset + problem.padded[tensor]


def _one_shift(
    problem: Problem,
    missing: list[tuple[int, ...]],
    known: Solution,
    shift_cost: float,
    budget: Budget,
) -> Solution | None:
    """The cheapest of a few single shifts that make the bound, if it is worth its price. The peak is
    then the least; that the price is, nothing says."""
    by_op = bounds_by_op(problem)
    here = {tensor for part in missing for tensor in part}
    highest = max(range(len(by_op)), key=by_op.__getitem__) - 1
    edges = [
        edge
        for edges in problem.edges_at
        for edge in edges
        if edge.source in here and edge.output in here
    ]
    edges.sort(key=lambda edge: abs(edge.op - highest))
    best: Solution | None = None
    for edge in edges[:_SHIFTS]:
        price = known.lower_bound + shift_cost * problem.sizes[edge.source]
        if price < (known if best is None else best).price:
            best = _shifted(problem, edge, known.lower_bound, price, budget) or best
    return best


def _shifted(
    problem: Problem, edge: Edge, least: int, price: float, budget: Budget
) -> Solution | None:
    moved = with_shift(problem, edge)
    by_op = bounds_by_op(moved)
    if max(by_op) > least:
        return None
    peeled = peel(moved, least)
    offsets, missing = _parts(moved, by_op, peeled, least, budget, 0)
    if missing:
        return None
    put_back(moved, offsets, reversed(peeled.aside))
    copy = offsets.pop(len(problem.sizes))
    if copy - offsets[edge.output] != edge.at:
        return None
    return Solution(offsets, least, least, "bound", price, (edge,))
