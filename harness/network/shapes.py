# SPDX-License-Identifier: Apache-2.0
"""From an op's kind, the tensors around it and its window to its geometry: one way for all readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    Shape,
    UpsampleGeometry,
)
from harness.schema.constants import OPERANDS_MAX, OpKind

MAX_OPS = 4096  # of one network; the largest that is shipped has 1005
MAX_SCALARS = (
    1 << 26
)  # of one tensor: twice the largest of the shipped graphs, too much for any board

_WINDOWS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_POOLS = (OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_TWO = (OpKind.ADD, OpKind.MUL)
_ONE = (OpKind.TABLE, OpKind.CLAMP, OpKind.SOFTMAX)


_NO_PAD = Pad()


@dataclass(frozen=True)
class Window:
    """Each as (rows, columns). s is also the factor of an upsampling, pad that of a PAD."""

    k: tuple[int, int] = (1, 1)
    s: tuple[int, int] = (1, 1)
    d: tuple[int, int] = (1, 1)
    pad: Pad = _NO_PAD


def geometry_of(
    kind: OpKind, inputs: Sequence[Shape], output: Shape, window: Window | None = None
) -> Geometry:
    """The geometry that reads `inputs` and makes `output`. Errors: ConfigError when the operands are
    too many or too few, or do not fit together, or something else comes out than `output`."""
    _check_count(kind, len(inputs))
    for shape in (*inputs, output):
        check_size(shape)
    made = _geometry(kind, inputs, output, window or Window())
    if made.output != output:
        raise ConfigError(
            f"this {kind.name.lower()} makes {made.output}, and its output is {output}",
            evidence={"inputs": " ".join(map(str, inputs))},
        )
    return made


def check_size(shape: Shape) -> None:
    """Errors: ConfigError for a tensor of more than MAX_SCALARS."""
    if shape.size > MAX_SCALARS:
        raise ConfigError(f"a tensor {shape} has more than {MAX_SCALARS} scalars")


def _check_count(kind: OpKind, count: int) -> None:
    least, most = (2, 2) if kind in _TWO else (1, 1)
    if kind is OpKind.CONCAT:
        least, most = 1, OPERANDS_MAX
    if not least <= count <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ConfigError(f"{kind.name.lower()} of {count} operands", hint=f"it takes {wanted}")


def _geometry(kind: OpKind, inputs: Sequence[Shape], output: Shape, window: Window) -> Geometry:
    x = inputs[0]
    if kind in _WINDOWS:
        return _windowed(kind, x, output, window)
    if kind is OpKind.FULLY_CONNECTED:
        if x.size > 0xFFFF:
            raise ConfigError(f"fully connected from {x}: more than 65535 inputs")
        return ConvGeometry(1, 1, x.size, output.c)
    if kind in _TWO:
        broadcast = inputs[1] != x
        if broadcast and inputs[1] != Shape(1, 1, x.c):
            raise ConfigError(f"{kind.name.lower()} of {x} and {inputs[1]}")
        return ElementwiseGeometry(x.h, x.w, x.c, operands=2, broadcast=broadcast)
    if kind in _ONE:
        return ElementwiseGeometry(x.h, x.w, x.c)
    if kind is OpKind.MEAN:
        return MeanGeometry(x.h, x.w, x.c)
    if kind is OpKind.UPSAMPLE:
        return UpsampleGeometry(x.h, x.w, x.c, *window.s)
    if kind is OpKind.PAD:
        return PadGeometry(x.h, x.w, x.c, window.pad)
    if any((shape.h, shape.w) != (x.h, x.w) for shape in inputs):
        raise ConfigError("a concatenation of " + " and ".join(map(str, inputs)))
    return ConcatGeometry(x.h, x.w, tuple(shape.c for shape in inputs))


def _windowed(kind: OpKind, x: Shape, output: Shape, window: Window) -> ConvGeometry:
    made = ConvGeometry(
        x.h, x.w, x.c, output.c, *window.k, *window.s, *window.d, window.pad,
    )  # fmt: skip
    if kind is OpKind.DEPTHWISE and output.c % x.c:
        raise ConfigError(f"a depthwise convolution from {x.c} to {output.c} channels")
    if kind in _POOLS:
        pad = made.pad
        if output.c != x.c or (made.d_h, made.d_w) != (1, 1):
            raise ConfigError(f"a pool from {x.c} to {output.c} channels, or with dilation")
        if max(pad.top, pad.bottom) >= made.k_h or max(pad.left, pad.right) >= made.k_w:
            raise ConfigError("a pool's padding is less than its kernel")
    return made
