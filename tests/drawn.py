# SPDX-License-Identifier: Apache-2.0
"""Every operator in every execution that it has, and small hostile geometries of it by seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

WINDOWS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_OVER_PIXELS = (Traversal.ROW, Traversal.COLUMN, Traversal.REVERSE, Traversal.HERRINGBONE)


@dataclass(frozen=True)
class Way:
    """An operator, how it is executed, and the operand under its output."""

    kind: OpKind
    execution: Execution
    onto: int = 0

    def __str__(self) -> str:
        onto = f"-onto-{self.onto}" if self.onto else ""
        return f"{self.kind.name.lower()}{self.execution.label}{onto}"


def _ways() -> list[Way]:
    found = []
    for kind in WINDOWS:
        layouts = list(Layout) if kind in (OpKind.CONV, OpKind.DEPTHWISE) else [Layout.DENSE]
        for layout in layouts:
            for traversal in _OVER_PIXELS:
                for order in TapOrder:
                    found.append(Way(kind, Execution(layout, order, traversal)))
    for layout in Layout:
        found.append(Way(OpKind.DEPTHWISE, Execution(layout, traversal=Traversal.CHANNEL)))
    found.append(Way(OpKind.FULLY_CONNECTED, Execution(tap_order=TapOrder.DIRECT)))
    for traversal in (Traversal.ROW, Traversal.REVERSE):
        execution = Execution(traversal=traversal)
        for kind, operands in (
            (OpKind.ADD, 2), (OpKind.MUL, 2), (OpKind.TABLE, 1), (OpKind.CLAMP, 1),
            (OpKind.SOFTMAX, 1), (OpKind.MEAN, 1), (OpKind.UPSAMPLE, 1), (OpKind.CONCAT, 3),
            (OpKind.PAD, 1),
        ):  # fmt: skip
            found += [Way(kind, execution, onto) for onto in range(operands)]
    return found


WAYS = _ways()


def draw_geometry(way: Way, rng: random.Random) -> Geometry:
    """One that the operator can have."""
    number = rng.randint
    h, w, c = number(1, 5), number(1, 5), number(1, 4)
    if way.kind in WINDOWS:
        g = _draw_window(rng)
        if way.kind is OpKind.CONV:
            return g
        once = way.kind is not OpKind.DEPTHWISE or way.execution.traversal is Traversal.CHANNEL
        return replace(g, c_out=g.c_in * (1 if once else number(1, 3)))
    match way.kind:
        case OpKind.FULLY_CONNECTED:
            return ConvGeometry(1, 1, number(1, 20), number(1, 20))
        case OpKind.ADD | OpKind.MUL:
            return ElementwiseGeometry(h, w, c, 2, broadcast=way.onto == 0 and rng.random() < 0.5)
        case OpKind.TABLE | OpKind.CLAMP | OpKind.SOFTMAX:
            return ElementwiseGeometry(h, w, c)
        case OpKind.MEAN:
            return MeanGeometry(h, w, c)
        case OpKind.UPSAMPLE:
            return UpsampleGeometry(h, w, c, number(1, 3), number(1, 3))
        case OpKind.CONCAT:
            return ConcatGeometry(h, w, tuple(number(1, 4) for _ in range(number(way.onto + 1, 4))))
    return PadGeometry(h, w, c, Pad(number(0, 2), number(0, 2), number(0, 2), number(0, 2)))


def _draw_window(rng: random.Random) -> ConvGeometry:
    """Padding beyond the kernel, strides over it, dilation, ragged edges."""
    number = rng.randint
    while True:
        try:
            return ConvGeometry(
                number(1, 5), number(1, 5), number(1, 4), number(1, 4),
                number(1, 3), number(1, 3), number(1, 3), number(1, 3), number(1, 2), number(1, 2),
                Pad(number(0, 3), number(0, 3), number(0, 3), number(0, 3)),
            )  # fmt: skip
        except ConfigError:
            continue
