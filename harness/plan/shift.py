# SPDX-License-Identifier: Apache-2.0
"""One shift without a solver: the operand ends before its op, and a copy of it lives during that op,
at its distance from the output. That is a problem like any other."""

from __future__ import annotations

from dataclasses import replace

from harness.plan.edges import Edge
from harness.plan.lifetimes import Life, live_during, neighbours_of
from harness.plan.problem import Problem


def with_shift(problem: Problem, edge: Edge) -> Problem:
    """The copy is the last tensor. The op's output is laid onto nothing else."""
    copy = len(problem.sizes)
    life = problem.lives[edge.source]
    assert life is not None
    ops = len(problem.edges_at)
    lives = list(problem.lives)
    lives[edge.source] = Life(life.first, edge.op - 1)
    lives.append(Life(edge.op, edge.op))
    fixed = replace(edge, source=copy, low=edge.at, high=edge.at)
    edges = {pair: ways for pair, ways in problem.edges.items() if ways[0].op != edge.op}
    edges_at = list(problem.edges_at)
    edges_at[edge.op] = [fixed]
    return replace(
        problem,
        sizes=(*problem.sizes, problem.sizes[edge.source]),
        padded=(*problem.padded, problem.padded[edge.source]),
        lives=tuple(lives),
        neighbours=neighbours_of(tuple(lives), ops),
        during=live_during(tuple(lives), ops),
        edges={**edges, (edge.output, copy): (fixed,)},
        edges_at=edges_at,
    )
