# SPDX-License-Identifier: Apache-2.0
"""The paper's program (Sec. 4.3), without a solver.

Variables: x_t, the offset of each tensor in words of V bytes; of each pair that is in memory together a
binary for `the first lies below the second`, one for the converse, and one for every edge (d_i of the
paper, without shift); of each edge one more for `with a shift` (r_i). One of a pair's binaries holds,
and of an op's edges at most one. With a shift the operand lies anywhere before its op, and is then
moved to its distance from the output, where all else that is in memory keeps clear. Minimised:
max(x_t + size_t) + shift_cost * sum(size_i r_i).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.plan.edges import Edge
from harness.plan.problem import Problem

_SOUND = 1e-6  # of the objective: how far the solver's own bound may lie below it


@dataclass(frozen=True)
class Solved:
    """offsets: in bytes. shifts: edges whose operand is moved. optimal: has no placement a lower price
    (peak and shifts)."""

    offsets: dict[int, int]
    shifts: tuple[Edge, ...]
    peak: int
    price: float
    optimal: bool


@dataclass(frozen=True)
class Choice:
    """One binary. apart: (lower, upper), else an edge, moved or not."""

    pair: tuple[int, int]
    apart: tuple[int, int] | None = None
    edge: Edge | None = None
    moved: bool = False


@dataclass(frozen=True)
class Least:
    """x[upper] >= x[lower] + words where all of `given` hold. lower may be -1, the arena's base."""

    lower: int
    upper: int
    words: int
    given: tuple[int, ...]


class Program:
    """The program, as lists of choices and of what they ask for."""

    def __init__(self, problem: Problem, tensors: list[int], most: int, shift_cost: float) -> None:
        self.problem = problem
        self.tensors = tensors
        self.words = most // problem.alignment + 1  # more than any offset
        self.choices: list[Choice] = []
        self.of_pair: dict[tuple[int, int], list[int]] = {}
        self.at_op: dict[int, list[int]] = {}
        self.least: list[Least] = []
        here = set(tensors)
        for a in tensors:
            for b in problem.neighbours[a]:
                if a < b and b in here:
                    self._pair(a, b, math.isfinite(shift_cost))
        for number in range(len(self.choices)):
            choice = self.choices[number]
            if choice.moved and choice.edge is not None:
                self._room(number, choice.edge, here)

    def _pair(self, a: int, b: int, shifts: bool) -> None:
        for lower, upper in ((a, b), (b, a)):
            number = self._choose(Choice((a, b), apart=(lower, upper)))
            self._ask(lower, upper, self.problem.padded[lower], number)
        for edge in self.problem.between(a, b):
            number = self._choose(Choice((a, b), edge=edge))
            if edge.low is not None:
                self._ask(edge.output, edge.source, edge.low, number)
            if edge.high is not None:
                self._ask(edge.source, edge.output, -edge.high, number)
            if shifts:
                self._choose(Choice((a, b), edge=edge, moved=True))

    def _choose(self, choice: Choice) -> int:
        number = len(self.choices)
        self.choices.append(choice)
        self.of_pair.setdefault(choice.pair, []).append(number)
        if choice.edge is not None:
            self.at_op.setdefault(choice.edge.op, []).append(number)
        return number

    def _room(self, number: int, edge: Edge, here: set[int]) -> None:
        """What a shift asks for: the moved operand within the arena, and all others clear of it."""
        problem = self.problem
        below = min(0, edge.at)
        top = edge.at + problem.padded[edge.source]
        self._ask(-1, edge.output, -below, number)
        for other in problem.during[edge.op + 1]:
            if other not in here or other in (edge.output, edge.source):
                continue
            pair = (min(other, edge.output), max(other, edge.output))
            for apart in self.of_pair[pair]:
                if self.choices[apart].apart == (edge.output, other):
                    self._ask(edge.output, other, top, number, apart)
                elif self.choices[apart].apart == (other, edge.output):
                    self._ask(other, edge.output, problem.padded[other] - below, number, apart)

    def _ask(self, lower: int, upper: int, size: int, *given: int) -> None:
        self.least.append(Least(lower, upper, size // self.problem.alignment, given))

    def large(self, item: Least) -> int:
        """So many words that the row says nothing where one of its choices does not hold."""
        return self.words + max(0, item.words)

    def ends(self) -> Iterator[tuple[int, int, int | None]]:
        """(tensor, bytes from its offset to an end that counts, the choice that it hangs on)."""
        for tensor in self.tensors:
            yield tensor, self.problem.sizes[tensor], None
        for number, choice in enumerate(self.choices):
            if choice.moved and choice.edge is not None:
                edge = choice.edge
                yield edge.output, edge.at + self.problem.sizes[edge.source], number

    def exact(self, chosen: set[int], least: int, shift_cost: float, bound: float) -> Solved | None:
        """The lowest offsets that the choices allow, by longest paths; None where they contradict.
        Their peak counts as `least` where it is below it: other tensors do not go lower."""
        asked = [item for item in self.least if chosen.issuperset(item.given)]
        at = dict.fromkeys((-1, *self.tensors), 0)
        for _ in range(len(at) + 1):
            moved = False
            for item in asked:
                start = at[item.lower] + item.words
                if start > at[item.upper]:
                    at[item.upper] = start
                    moved = True
            if not moved:
                break
        else:
            return None
        v = self.problem.alignment
        offsets = {tensor: at[tensor] * v for tensor in self.tensors}
        ends = (
            offsets[tensor] + size
            for tensor, size, given in self.ends()
            if given is None or given in chosen
        )
        peak = max(least, *ends)
        shifts = tuple(
            choice.edge
            for number, choice in enumerate(self.choices)
            if number in chosen and choice.moved and choice.edge is not None
        )
        moved_bytes = sum(self.problem.sizes[edge.source] for edge in shifts)
        price = peak + (shift_cost * moved_bytes if moved_bytes else 0.0)
        return Solved(offsets, shifts, peak, price, price <= bound + _SOUND * max(1.0, price))
