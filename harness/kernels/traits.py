# SPDX-License-Identifier: Apache-2.0
"""Kernels: how they go through an op, and the gap and the scratch that each of them needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from harness.bounds import Bound, bound_of
from harness.geometry import (
    DIRECT,
    GATHER,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    Pad,
)
from harness.liveness import Schedule, schedule
from harness.schema.constants import Layout, OpKind, Rounding, TapOrder, Traversal

_WALK = 0  # bit of convolutions by other ways than rows
_SUM_BYTES = 4  # of a mean's accumulator
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
def schedule_of(kind: OpKind, geometry: Geometry, execution: Execution, onto: int = 0) -> Schedule:
    """The reads and writes of a kernel that produces one scalar at a time, kept for the next asker."""
    return schedule(kind, geometry, execution, onto)


@dataclass(frozen=True)
class KernelTraits:
    """A kernel that makes `pixels` output pixels by `channels` output channels a step.

    alignment: input and output base must be multiples of it, in bytes.
    """

    name: str
    pixels: int
    channels: int
    alignment: int

    def bound(self, kind: OpKind, geometry: Geometry, execution: Execution, onto: int = 0) -> Bound:
        """Gap, debt and workspace of the operand that shares memory with the output, for this kernel's
        own order of reads and writes, by formula. REVERSE: mirrored (harness.liveness.schedule)."""
        return bound_of(kind, geometry, execution, onto)

    def scratch_bytes(self, kind: OpKind, geometry: Geometry, execution: Execution) -> int:
        """As the kernel's C file asks for."""
        if isinstance(geometry, ConvGeometry):
            return self._window_scratch(kind, geometry, execution)
        if isinstance(geometry, MeanGeometry):
            return _SUM_BYTES * geometry.c
        if kind in (OpKind.UPSAMPLE, OpKind.CONCAT, OpKind.PAD):
            return geometry.output.c
        return 0

    def _window_scratch(self, kind: OpKind, g: ConvGeometry, execution: Execution) -> int:
        if execution.traversal is Traversal.CHANNEL:
            return g.k_h_eff * g.w_in
        if execution.direct or kind is OpKind.FULLY_CONNECTED:
            return 0
        return g.field * self.pixels


def kernel_set(kind: OpKind, execution: Execution, rounding: Rounding) -> frozenset[int]:
    """What a runner needs to run an op and to shift its operand: bits of KERNELS in kernels/table.c."""
    needed = {int(kind), int(OpKind.MOVE)}
    walks = execution.traversal is not Traversal.ROW or rounding is Rounding.TRUNCATE
    if kind is OpKind.CONV and walks:
        needed = {_WALK, int(OpKind.MOVE)}
    return frozenset(needed)


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


# V of the design: everything is placed on 4 bytes, though these kernels read and write single bytes.
PLAIN = KernelTraits("plain", pixels=1, channels=1, alignment=4)
