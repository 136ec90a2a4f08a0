# SPDX-License-Identifier: Apache-2.0
"""The debt of the herringbone traversal, closed: O(k_h k_w) whatever the extents.

The input is stored in order of release, so before turn t the inputs that are not needed any more lie
below the live ones, and the write frontier t * c_out may come as far as

    gap + c_in * (stored pixels - live(t)),   live(t): pixels that a turn from t on still releases.

While a leg runs, the outputs left are a rectangle and the rest of the leg beside it. Let the shorter
output axis be a, of h outputs, the other one b, of w, and let A(i) and B(j) be the inputs along each
that outputs from an index on release. Leg p along b, then leg p along a:

    turn p (h + w) - p^2 + j - p,             live A(p+1) B(p) + (A(p) - A(p+1)) B(j),     p <= j < w
    turn p (h + w) - p^2 + w - p + i - p - 1, live A(p+1) B(p+1) + (B(p) - B(p+1)) A(i),   p < i < h

A and B are straight between edges, at most two a tap. So along a leg t * c_out + live * c_in has its
maximum at the leg's ends or an edge, and over legs between two edges each of these is a quadratic in p.

Under literal liveness an input is released by its last reader. Block release, the accounting of the
paper's Theorem 11, gives each output the s_h x s_w block that it steps over and the last one of a leg
the residual; that theorem is its O(1) form at sigma = c_out (harness.bounds.published).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from harness.bounds.axis import Axis, axes
from harness.geometry import ConvGeometry, Execution
from harness.schema.constants import Layout, TapOrder, Traversal


def literal_debt(g: ConvGeometry, layout: Layout, sigma: int, *, first: bool) -> int | None:
    """Exact for tensors stored as harness.geometry.traversal says. first: does turn 0 count
    (harness.bounds.axis)?"""
    return _debt(g, layout, _read, sigma, 0 if first else 1)


def block_debt(g: ConvGeometry, sigma: int) -> int:
    """Under block release, which needs the padding stored."""
    debt = _debt(g, Layout.PADDED, _stepped, sigma, 0)
    assert debt is not None, "the first output releases something"
    return debt


@dataclass(frozen=True)
class _Releases:
    """Along an axis of n_out outputs: runs (first, last, inputs that each of these outputs releases)."""

    n_out: int
    runs: tuple[tuple[int, int, int], ...]

    @property
    def last(self) -> int:
        """The last output that releases anything, or -1."""
        return max((last for _, last, _ in self.runs), default=-1)

    @property
    def edges(self) -> set[int]:
        """Where `at` may change, so that `since` is straight between two neighbours."""
        return {edge for first, last, _ in self.runs for edge in (first, last + 1)}

    def at(self, output: int) -> int:
        return sum(count for first, last, count in self.runs if first <= output <= last)

    def since(self, output: int) -> int:
        """By all outputs from this one on."""
        return sum(
            count * max(0, last + 1 - max(first, output)) for first, last, count in self.runs
        )


def _read(axis: Axis) -> _Releases:
    """By the last reader.

    Tap t of output i is tap t - s / g of output i + d / g, g = gcd(s, d), where both exist: so it is the
    last reader there if t < s / g, or if that output does not exist, and an input has one last reader.
    """
    common = gcd(axis.s, axis.d)
    runs = []
    for tap in range(axis.k):
        low, high = axis.run(tap)
        if tap >= axis.s // common:
            low = max(low, axis.n_out - axis.d // common)
        if low <= high:
            runs.append((low, high, 1))
    return _Releases(axis.n_out, tuple(runs))


def _stepped(axis: Axis) -> _Releases:
    """Each output s inputs, the last one all that are left (Eq. 23)."""
    last = axis.n_out - 1
    rest = (last, last, axis.n - axis.s * last)
    return _Releases(axis.n_out, ((0, last - 1, axis.s), rest) if last else (rest,))


def _debt(
    g: ConvGeometry,
    layout: Layout,
    released: Callable[[Axis], _Releases],
    sigma: int,
    first_turn: int,
) -> int | None:
    """The maximum over turns from `first_turn` on that release anything or come before one that does."""
    rows, columns = axes(g, Execution(layout, TapOrder.DIRECT, Traversal.HERRINGBONE))
    a, b = released(rows), released(columns)
    if b.n_out < a.n_out:
        a, b = b, a
    worst = max(_candidates(a, b, g.c_out, g.c_in, first_turn), default=None)
    return None if worst is None else sigma + worst - rows.n * columns.n * g.c_in


def _candidates(
    a: _Releases, b: _Releases, c_out: int, c_in: int, first_turn: int
) -> Iterator[int]:
    """Of t * c_out + live * c_in; a: of the shorter axis. The last output that releases anything ends
    one of the legs `last_pair`, or would do so on a longer grid."""
    last_pair = min(a.last, b.last)
    if last_pair < 0:
        return
    legs = _Legs(a, b, c_out, c_in)
    if a.last <= b.last:
        yield from legs.along_b(last_pair, last_pair, b.last, first_turn)
    else:
        yield from legs.along_b(last_pair, last_pair, b.n_out - 1, first_turn)
        yield from legs.along_a(last_pair, last_pair + 1, a.last)
    start = min(first_turn, last_pair)
    for pair in range(start):
        yield from legs.along_b(pair, pair, b.n_out - 1, first_turn)
        yield from legs.along_a(pair, pair + 1, a.n_out - 1)
    cuts = {start, last_pair} | {e for e in a.edges | b.edges if start < e < last_pair}
    for first, end in pairwise(sorted(cuts)):
        yield from legs.pairs(first, end - 1)


@dataclass(frozen=True)
class _Legs:
    a: _Releases
    b: _Releases
    c_out: int
    c_in: int

    def before(self, pair: int) -> int:
        """Turns."""
        return pair * (self.a.n_out + self.b.n_out - pair)

    def along_b(self, pair: int, first: int, last: int, first_turn: int) -> Iterator[int]:
        """One leg, from output `first` to `last` of it; turn 0 is left out if it does not count."""
        first = max(first, first_turn) if pair == 0 else first
        here = self.c_out * (self.before(pair) - pair)
        rest = self.c_in * self.a.since(pair + 1) * self.b.since(pair)
        if first <= last:
            yield here + rest + self.best(self.b, self.a.at(pair), first, last)

    def along_a(self, pair: int, first: int, last: int) -> Iterator[int]:
        here = self.c_out * (self.before(pair) + self.b.n_out - 2 * pair - 1)
        rest = self.c_in * self.a.since(pair + 1) * self.b.since(pair + 1)
        if first <= last:
            yield here + rest + self.best(self.a, self.b.at(pair), first, last)

    def best(self, axis: _Releases, width: int, first: int, last: int) -> int:
        """The maximum, along a leg, of what its place adds; width: inputs across it."""
        places = {first, last} | {e for e in axis.edges if first < e < last}
        return max(self.c_out * i + self.c_in * width * axis.since(i) for i in places)

    def pairs(self, first: int, last: int) -> Iterator[int]:
        """Whole legs, of pairs between two edges: along b and then, across, along a; each at its own
        first output, and at the best of the places that lie behind the first one of all of them."""
        a, b, c_out, c_in = self.a, self.b, self.c_out, self.c_in
        at_a, at_b = a.at(first), b.at(first)
        since_a, since_b = a.since(first) + at_a * first, b.since(first) + at_b * first
        best_b = self.best(b, at_a, last + 1, b.n_out - 1)
        best_a = self.best(a, at_b, last + 1, a.n_out - 1)

        def left_a(p: int) -> int:
            return since_a - at_a * p

        def left_b(p: int) -> int:
            return since_b - at_b * p

        def at_its_first(p: int) -> int:
            return c_out * self.before(p) + c_in * left_a(p) * left_b(p)

        def further(p: int) -> int:
            return c_out * (self.before(p) - p) + c_in * left_a(p + 1) * left_b(p)

        def across_at_its_first(p: int) -> int:
            return c_out * (self.before(p) + b.n_out - p) + c_in * left_a(p + 1) * left_b(p)

        def across_further(p: int) -> int:
            turns = self.before(p) + b.n_out - 2 * p - 1
            return c_out * turns + c_in * left_a(p + 1) * left_b(p + 1)

        yield _peak(at_its_first, first, last)
        yield _peak(further, first, last) + best_b
        yield _peak(across_at_its_first, first, last)
        yield _peak(across_further, first, last) + best_a


def _peak(quadratic: Callable[[int], int], first: int, last: int) -> int:
    """Its maximum over first to last."""
    if last - first < 3:
        return max(quadratic(p) for p in range(first, last + 1))
    start, following, third = (quadratic(first + n) for n in range(3))
    rise = following - start
    bend = third - following - rise
    if bend >= 0:
        return max(start, quadratic(last))
    steps = max(0, -(rise // bend))  # up to here each step rises
    return quadratic(min(last, first + steps))
