# SPDX-License-Identifier: Apache-2.0
"""Kernels as a planner sees them: which one runs an op, and the gap and the scratch that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from harness.bounds import Bound, stepped_bound
from harness.errors import ConfigError
from harness.geometry import (
    DIRECT,
    GATHER,
    SINGLE,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    Pad,
    Shape,
    Step,
)
from harness.geometry.segment import Segment
from harness.kernels.cost import SCRATCHES, USUAL, Limits, Option, cheapest, cycles
from harness.kernels.declared import Kernel, Situation, situation_of
from harness.kernels.kernelset import PLAIN_SET, KernelSet, Selection, find_kernels
from harness.kernels.segments import segment_scratch, segment_spare, takes_segment
from harness.liveness import Schedule, schedule, stepped_schedule
from harness.schema.constants import Layout, OpKind, Rounding, TapOrder, Traversal

ALIGNMENT = 4  # V of the design: everything is placed on 4 bytes, whatever the kernels need
_REVERSED = Execution(traversal=Traversal.REVERSE)
_CHANNEL = Execution(traversal=Traversal.CHANNEL)
_POOLS = (OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_BOTH_WAYS = (
    OpKind.ADD,
    OpKind.MUL,
    OpKind.TABLE,
    OpKind.CLAMP,
    OpKind.CONCAT,
    OpKind.PAD,
)


@lru_cache(maxsize=64)
def schedule_of(
    kind: OpKind, geometry: Geometry, execution: Execution, onto: int = 0, step: Step = SINGLE
) -> Schedule:
    """The reads and writes of a kernel that makes such steps, kept for the next asker."""
    if step.single:
        return schedule(kind, geometry, execution, onto)
    return stepped_schedule(kind, geometry, execution, onto, step)


@dataclass(frozen=True)
class Choice:
    """How an op is run. index: the kernel's number in the set. step: between two readings of its input;
    step.pixels is B. cycles: the estimate of harness.kernels.cost, None where the declaration has
    none. spare_bytes: of scratch, beyond scratch_bytes, that it makes use of."""

    kernel: Kernel
    index: int
    step: Step
    scratch_bytes: int
    cycles: int | None = None
    spare_bytes: int = 0

    @property
    def ordered(self) -> bool:
        """Does the host know the order of every read and write? With a ring an output row is a step,
        inside which only the plain kernels' order is known."""
        return self.step.single and (self.kernel.set == PLAIN_SET or not self.kernel.has_ring)

    def slower_than(self, other: Choice) -> bool:
        """Of two for one op. A set's own kernel is quicker than a plain one, as the order in which they
        are asked says; among equals the estimates decide, where there are both."""
        plain = self.kernel.set == PLAIN_SET, other.kernel.set == PLAIN_SET
        if plain[0] != plain[1]:
            return plain[0]
        known = self.cycles is not None and other.cycles is not None
        return known and (self.cycles or 0) > (other.cycles or 0)


@dataclass(frozen=True)
class KernelTraits:
    """A kernel set on a chip. name: as find_kernels takes it. chip: None for kernels that run on any.
    as_int8: ops (kind, geometry, rounding) that no kernel with packed constants runs, for want of flash.

    What is asked of an op depends on the kernel that runs it, and that on its rounding, too; where none
    is given it is what TFLite has: single for fully connected, double for all others.
    """

    name: str
    chip: str | None = None
    limits: Limits = USUAL
    as_int8: frozenset[tuple[OpKind, Geometry, Rounding]] = frozenset()

    @property
    def kernels(self) -> KernelSet:
        """Errors: ConfigError, see find_kernels."""
        return find_kernels(self.name)

    @property
    def alignment(self) -> int:
        """Input and output bases must be multiples of it, in bytes: V, or what a kernel needs."""
        return _alignment(self.kernels)

    def choose(
        self,
        kind: OpKind,
        geometry: Geometry,
        execution: Execution,
        rounding: Rounding | None = None,
    ) -> Choice:
        """The first kernel of the set that takes the op, in its cheapest steps. Errors: ConfigError
        where there is none."""
        usual = Rounding.SINGLE if kind is OpKind.FULLY_CONNECTED else Rounding.DOUBLE
        return _choose(self, kind, geometry, execution, usual if rounding is None else rounding)

    def choose_segment(self, segment: Segment, roundings: Sequence[Rounding]) -> Choice:
        """The first kernel of the set that takes all stages. roundings: of each. Errors: ConfigError
        where there is none."""
        for kernel in self.kernels.preferred:
            if kernel.runs_on(self.chip) and takes_segment(kernel, segment, roundings):
                scratch = segment_scratch(kernel, segment)
                spare = segment_spare(kernel, segment)
                index = self.kernels.index(kernel)
                return Choice(kernel, index, SINGLE, scratch, spare_bytes=spare)
        raise ConfigError(
            f"no kernel of {self.name} runs this segment",
            evidence={
                "stages": ", ".join(str(stage.kind.name.lower()) for stage in segment.stages)
            },
        )

    def choose_stage(self, kind: OpKind, geometry: Geometry, rounding: Rounding) -> Choice:
        """What would run a segment's stage alone, whatever scratch that takes. Errors: as choose."""
        execution = _CHANNEL if kind is OpKind.DEPTHWISE else GATHER
        return replace(self, limits=USUAL, as_int8=frozenset()).choose(
            kind, geometry, execution, rounding
        )

    def bound(
        self,
        kind: OpKind,
        geometry: Geometry,
        execution: Execution,
        onto: int = 0,
        rounding: Rounding | None = None,
    ) -> Bound:
        """Gap, debt and workspace of the operand that shares memory with the output, for the kernel's
        own order of reads and writes, by formula. REVERSE: mirrored (harness.liveness.schedule)."""
        step = self.choose(kind, geometry, execution, rounding).step
        return stepped_bound(kind, geometry, execution, onto, step)

    def schedule(
        self,
        kind: OpKind,
        geometry: Geometry,
        execution: Execution,
        onto: int = 0,
        rounding: Rounding | None = None,
    ) -> Schedule:
        """Of the same kernel the reads and writes, for the simulator."""
        step = self.choose(kind, geometry, execution, rounding).step
        return schedule_of(kind, geometry, execution, onto, step)

    def scratch_bytes(
        self,
        kind: OpKind,
        geometry: Geometry,
        execution: Execution,
        rounding: Rounding | None = None,
    ) -> int:
        """As the kernel's declaration says."""
        return self.choose(kind, geometry, execution, rounding).scratch_bytes

    def mover(self, shape: Shape) -> Choice:
        """What brings a tensor of this shape, as stored, to another place."""
        return self.choose(OpKind.MOVE, ElementwiseGeometry(shape.h, shape.w, shape.c), GATHER)

    def select(self, chosen: Iterable[Choice]) -> Selection:
        """What a runner needs to run these, and to shift their operands."""
        return self.kernels.select(choice.kernel for choice in chosen)

    def only(self, chosen: Iterable[Choice]) -> Selection:
        """These and no others: of a network, which wants all the SRAM that there is."""
        return Selection(self.kernels, frozenset(choice.kernel.name for choice in chosen))

    def with_less_scratch(self) -> tuple[KernelTraits, ...]:
        """These, then the same with less and less scratch to choose steps for. Plain kernels have no
        choice."""
        if self.name == PLAIN_SET:
            return (self,)
        most = self.limits.scratch_bytes
        sizes = (most, *(size for size in SCRATCHES if size < most))
        return tuple(replace(self, limits=replace(self.limits, scratch_bytes=n)) for n in sizes)


@lru_cache(maxsize=32)
def _alignment(kernels: KernelSet) -> int:
    return max(ALIGNMENT, *(kernel.alignment for kernel in kernels.kernels))


@lru_cache(maxsize=8192)
def _choose(
    traits: KernelTraits,
    kind: OpKind,
    geometry: Geometry,
    execution: Execution,
    rounding: Rounding,
) -> Choice:
    asked = situation_of(kind, geometry, execution, rounding)
    kernels = traits.kernels
    for kernel in kernels.preferred:
        if not (kernel.runs_on(traits.chip) and kernel.takes(asked)):
            continue
        if kernel.packed and (kind, geometry, rounding) in traits.as_int8:
            continue
        option = _option(kernel, asked, traits.limits)
        if option is not None:
            step = kernel.step(asked, option.pixels)
            estimate = cycles(option, _weights_bytes(kernel, asked), traits.limits)
            known = None if kernel.cycles is None else estimate
            return Choice(kernel, kernels.index(kernel), step, option.scratch_bytes, known)
    kernels.choose(asked, traits.chip)
    raise ConfigError(
        f"the kernels of {traits.name} that take {kind.name.lower()} need more scratch than there is",
        evidence={"geometry": str(geometry), "scratch": traits.limits.scratch_bytes},
    )


def _option(kernel: Kernel, asked: Situation, limits: Limits) -> Option | None:
    """A plain kernel takes what it needs: there is none after it."""
    weights = _weights_bytes(kernel, asked)
    outputs = asked.names["h_out"] * asked.names["w_out"]
    options = [
        Option(
            pixels,
            kernel.scratch_bytes(asked, pixels),
            -(-outputs // pixels),
            kernel.cycles.evaluate({**asked.names, "b": pixels}) if kernel.cycles else 0,
        )
        for pixels in kernel.step_sizes(asked)
    ]
    if kernel.set == PLAIN_SET:
        return options[0]
    return cheapest(options, weights, limits)


def _weights_bytes(kernel: Kernel, asked: Situation) -> int:
    """That each step reads of flash."""
    n = asked.names
    if kernel.weights_bytes is not None:
        return kernel.weights_bytes.evaluate({**n, "b": 1})
    per_channel = n["k_h"] * n["k_w"]
    if asked.kind is OpKind.FULLY_CONNECTED:
        per_channel = n["h_in"] * n["w_in"]
    has = asked.kind in (OpKind.CONV, OpKind.DEPTHWISE, OpKind.FULLY_CONNECTED)
    inputs = 1 if asked.kind is OpKind.DEPTHWISE else n["c_in"]
    return per_channel * inputs * n["c_out"] if has else 0


def kernel_set(kind: OpKind, execution: Execution, rounding: Rounding) -> Selection:
    """The plain kernels that a runner needs to run an op of any geometry and to shift its operand."""
    plain = find_kernels(PLAIN_SET)
    fitting = [kernel for kernel in plain.kernels if kernel.runs_as(kind, execution, rounding)]
    return plain.select(fitting[:1])


def closed_form(execution: Execution) -> bool:
    """Is the bound's cost independent of the output's size? Herringbone's goes through all pixels.
    The simulator has to confirm either."""
    return execution.traversal is not Traversal.HERRINGBONE


def executions(kind: OpKind, geometry: Geometry) -> tuple[Execution, ...]:
    """All ways in which the plain kernels run an op in one memory with its input, the usual one first;
    empty for an op whose output shares no memory. A padded layout only where there is padding."""
    if isinstance(geometry, ConvGeometry):
        return tuple(_windows(kind, geometry))
    if kind is OpKind.UPSAMPLE:
        return (_REVERSED, GATHER)
    return (GATHER, _REVERSED) if kind in _BOTH_WAYS else (GATHER,)


def _windows(kind: OpKind, g: ConvGeometry) -> Iterator[Execution]:
    if kind in _POOLS:
        yield DIRECT
        return
    if kind is OpKind.FULLY_CONNECTED:
        return
    layouts = (Layout.DENSE, Layout.PADDED) if g.pad != Pad() else (Layout.DENSE,)
    if kind is OpKind.DEPTHWISE:
        if g.c_in == g.c_out:
            yield _CHANNEL
        yield from (Execution(layout, order) for layout in layouts for order in TapOrder)
        return
    for traversal in (Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE):
        for layout in layouts:
            yield from (Execution(layout, order, traversal) for order in TapOrder)
    for layout in layouts:
        yield Execution(layout, TapOrder.DIRECT, Traversal.HERRINGBONE)


def operands_to_share(kind: OpKind, geometry: Geometry) -> tuple[int, ...]:
    """Operands onto which the output may be laid: those that are not read by every pixel."""
    if isinstance(geometry, ElementwiseGeometry) and kind in (OpKind.ADD, OpKind.MUL):
        return (0,) if geometry.broadcast else tuple(range(geometry.operands))
    return tuple(range(len(geometry.inputs)))


PLAIN = KernelTraits(PLAIN_SET)
