# SPDX-License-Identifier: Apache-2.0
"""A plan of a whole network: where every tensor lies, and how every step runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry import Execution
from harness.geometry.segment import Ring
from harness.kernels import PLAIN, Choice, KernelTraits, Selection
from harness.network import Network
from harness.plan.layer import Strategy
from harness.plan.segments import Fused, fuse


@dataclass(frozen=True)
class Buffer:
    """Memory of the arena that a step has to itself while it runs, dirty at first: the rows of an inner
    tensor of a segment (`ring`, of that tensor's number in the segment), or scratch (None)."""

    offset: int
    size: int
    ring: Ring | None = None

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True)
class Step:
    """One op, or several that run as a segment. ops: their numbers. onto: the operand (of
    NetworkPlan.operands) onto whose memory the output is laid, None where it has its own. gap: bytes by
    which that operand must start above the output (reversed: end below the output's end), of the kernel
    that runs, not rounded up. moved_to: where that operand is shifted by memmove before the step, None
    where it stays. buffers: of strategy fused, its rings and its scratch. kernel: the plan's with
    another limit of scratch; None: as it is."""

    ops: tuple[int, ...]
    execution: Execution
    onto: int | None = None
    gap: int = 0
    moved_to: int | None = None
    buffers: tuple[Buffer, ...] = ()
    kernel: KernelTraits | None = None


@dataclass(frozen=True)
class NetworkPlan:
    """offsets: of each tensor, in bytes from the arena's base (before a step moves it); 0 of one that is
    never whole. peak: one past the highest byte that any tensor takes, copies made by a shift and
    buffers included. lower_bound: no placement of this strategy, in this order of ops, has a lower peak.
    proof: `bound`, the peak equals the lower bound; `milp`, the solver has shown that no plan has a
    lower price, peak and shifts together (of strategy fused: by these steps); None where there may be a
    better one. scratch_bytes: beside the arena; 0 where each step has it as a buffer. alignment: V, of
    every offset. kernel: the set whose kernels run the steps."""

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
        return self.kernel.only((*self.choices, *self._stage_choices()))

    @property
    def arena_bytes(self) -> int:
        return self.peak

    def kernel_of(self, step: Step) -> KernelTraits:
        """What runs a step."""
        return step.kernel or self.kernel

    def fused(self, step: Step) -> Fused | None:
        """A step of several ops as a segment; None of a single op. Errors: ConfigError for ops that are
        no segment."""
        if len(step.ops) == 1:
            return None
        found = fuse(self.network, step.ops)
        if found is None:
            raise ConfigError(f"ops {step.ops[0]} to {step.ops[-1]} are no segment")
        return found

    def operands(self, step: Step) -> tuple[int, ...]:
        """Tensors that a step reads and does not make: an op's as they are, of a segment each once, X
        first. Errors: as fused."""
        found = self.fused(step)
        return self.network.nodes[step.ops[0]].inputs if found is None else found.operands

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Of each op that runs, a segment being one: before it the memmove, where there is one. Errors:
        ConfigError for a segment that no kernel takes."""
        found = []
        for step, choice in zip(self.steps, self.step_choices, strict=True):
            if step.onto is not None and step.moved_to is not None:
                moved = self.operands(step)[step.onto]
                found.append(self.kernel.mover(self.network.tensors[moved]))
            found.append(choice)
        return tuple(found)

    def _stage_choices(self) -> Iterator[Choice]:
        """Of segments whose stages have their constants as those kernels do."""
        for step, choice in zip(self.steps, self.step_choices, strict=True):
            if choice.kernel.packed_stages:
                for op in step.ops:
                    layer = self.network.nodes[op].layer
                    yield self.kernel.choose_stage(layer.kind, layer.geometry, layer.rounding)

    @property
    def step_choices(self) -> tuple[Choice, ...]:
        """Of each step, without the memmoves. Errors: as choices."""
        found = []
        for step in self.steps:
            layers = [self.network.nodes[op].layer for op in step.ops]
            fused, (layer, *_) = self.fused(step), layers
            found.append(
                self.kernel_of(step).choose(
                    layer.kind, layer.geometry, step.execution, layer.rounding
                )
                if fused is None
                else self.kernel.choose_segment(fused.segment, [one.rounding for one in layers])
            )
        return tuple(found)
