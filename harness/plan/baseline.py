# SPDX-License-Identifier: Apache-2.0
"""TinyEngine's allocator: first fit over rectangles, depthwise convolutions in their input's.

A rectangle is a tensor, in time from its maker to its last reader; of a depthwise convolution that runs
in place, input and output are one rectangle, as large as the input, also at stride 2. The largest is
placed first, ties in order of registration, each at the lowest address that is free.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.bounds import round_up
from harness.geometry import ConvGeometry
from harness.kernels import PLAIN
from harness.network import Network
from harness.plan.edges import edges_of
from harness.plan.firstfit import lowest_hole
from harness.plan.layer import Strategy
from harness.plan.problem import Problem, problem_of


def tinyengine_first_fit(problem: Problem) -> dict[int, int]:
    """Offsets, where an output counts with its own size behind a depthwise convolution."""
    return _first_fit(problem, problem.padded)


def tinyengine_peak(network: Network, alignment: int = 4) -> int:
    """The peak by the original rule: behind a depthwise convolution of stride 2 a rectangle counts
    with a quarter of its size, rounded up, though an odd plane needs more than that. A number for
    comparison: no such plan is used."""
    problem = problem_of(network, edges_of(network, Strategy.BASELINE, PLAIN, alignment), alignment)
    heights = list(problem.padded)
    for (output, source), (edge,) in problem.edges.items():
        g = network.nodes[edge.op].layer.geometry
        assert isinstance(g, ConvGeometry)
        quartered = (g.s_h, g.s_w) == (2, 2)
        heights[output] = -(-problem.padded[source] // 4) if quartered else problem.padded[source]
    offsets = _first_fit(problem, heights)
    return max(at + heights[tensor] for tensor, at in offsets.items())


def _first_fit(problem: Problem, heights: Sequence[int]) -> dict[int, int]:
    """heights: what each tensor counts with."""
    rectangles = _rectangles(problem)
    rectangles.sort(key=lambda tensors: -max(heights[tensor] for tensor in tensors))
    offsets: dict[int, int] = {}
    rounded = [round_up(height, problem.alignment) for height in heights]
    for tensors in rectangles:
        tallest = max(rounded[tensor] for tensor in tensors)
        taken = []
        for tensor in tensors:
            for other in problem.neighbours[tensor]:
                if other in offsets:
                    # a lower member may lie higher within a hole that the tallest cannot use
                    start = offsets[other] - rounded[tensor]
                    taken.append((start + tallest, offsets[other] + rounded[other]))
        at = lowest_hole(tallest, taken, problem.alignment)
        for tensor in tensors:
            offsets[tensor] = at
    return offsets


def _rectangles(problem: Problem) -> list[list[int]]:
    """In the order in which they are first registered: inputs, then op by op."""
    first = {}
    for output, source in problem.edges:
        first[output] = source
    found: dict[int, list[int]] = {}
    for tensor in sorted(problem.tensors, key=lambda t: _made(problem, t)):
        root = tensor
        while root in first:
            root = first[root]
        found.setdefault(root, []).append(tensor)
    return list(found.values())


def _made(problem: Problem, tensor: int) -> tuple[int, int]:
    life = problem.lives[tensor]
    assert life is not None
    return life.first, tensor
