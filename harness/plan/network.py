# SPDX-License-Identifier: Apache-2.0
"""A plan of a whole network: where every tensor lies, and how every step runs."""

from __future__ import annotations

from dataclasses import dataclass

from harness.geometry import Execution
from harness.kernels import PLAIN, Choice, KernelTraits, Selection
from harness.network import Network
from harness.plan.layer import Strategy


@dataclass(frozen=True)
class Step:
    """Ops that run as one, so far one each. ops: their numbers. onto: the operand onto whose memory the
    output is laid, None where it has its own. gap: bytes by which that operand must start above the
    output (reversed: end below the output's end), of the kernel that runs, not rounded up. moved_to:
    where that operand is shifted by memmove before the step, None where it stays."""

    ops: tuple[int, ...]
    execution: Execution
    onto: int | None = None
    gap: int = 0
    moved_to: int | None = None


@dataclass(frozen=True)
class NetworkPlan:
    """offsets: of each tensor, in bytes from the arena's base (before a step moves it). peak: one past
    the highest byte that any tensor takes, copies made by a shift included. lower_bound: no placement of
    this strategy, in this order of ops, has a lower peak. proof: `bound`, the peak equals the lower
    bound; `milp`, the solver has shown that no plan has a lower price, peak and shifts together; None
    where there may be a better one. alignment: V, of every offset. kernel: the set whose kernels run
    the steps."""

    network: Network
    strategy: Strategy
    steps: tuple[Step, ...]
    offsets: tuple[int, ...]
    peak: int
    lower_bound: int
    proof: str | None
    scratch_bytes: int
    alignment: int = 4
    kernel: KernelTraits = PLAIN

    @property
    def name(self) -> str:
        return self.network.name

    @property
    def label(self) -> str:
        return str(self.strategy)

    @property
    def kernels(self) -> Selection:
        """What a runner needs to run it, and nothing else."""
        return self.kernel.only(self.choices)

    @property
    def arena_bytes(self) -> int:
        return self.peak

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Of each op that runs: before it the memmove, where there is one."""
        found = []
        for step in self.steps:
            nodes = [self.network.nodes[op] for op in step.ops]
            if step.onto is not None and step.moved_to is not None:
                moved = nodes[0].inputs[step.onto]
                found.append(self.kernel.mover(self.network.tensors[moved]))
            found += [
                self.kernel.choose(layer.kind, layer.geometry, step.execution, layer.rounding)
                for layer in (node.layer for node in nodes)
            ]
        return tuple(found)
