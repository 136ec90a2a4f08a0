# SPDX-License-Identifier: Apache-2.0
"""Every operator behind one function: what must come out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.geometry import (
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    PadGeometry,
    UpsampleGeometry,
)
from harness.reference.conv import ConvParameters, convolve, convolve_in_place
from harness.reference.depthwise import depthwise
from harness.reference.depthwise_in_place import depthwise_in_place
from harness.reference.elementwise import AddParameters, MulParameters, add, multiply
from harness.reference.fully_connected import fully_connected
from harness.reference.layout import concat, pad
from harness.reference.mean import MeanParameters, mean
from harness.reference.operators_in_place import (
    concat_in_place,
    copy_in_place,
    elementwise_in_place,
    pool_in_place,
    softmax_in_place,
)
from harness.reference.pool import PoolParameters, average_pool, max_pool, pool_of_windows
from harness.reference.resample import upsample
from harness.reference.softmax import SoftmaxParameters, probabilities, softmax
from harness.reference.table import apply_table, clamp
from harness.schema.constants import OpKind

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TableParameters:
    """table: int8 [256], of which entry x + 128 belongs to x."""

    table: Int8s


@dataclass(frozen=True)
class ClampParameters:
    low: int
    high: int


@dataclass(frozen=True)
class MoveParameters:
    """Of ops that only move values. zero_point: what padding is filled with."""

    zero_point: int = 0


Parameters = (
    ConvParameters
    | PoolParameters
    | MeanParameters
    | AddParameters
    | MulParameters
    | SoftmaxParameters
    | TableParameters
    | ClampParameters
    | MoveParameters
)


_BELONG: dict[OpKind, tuple[type, type]] = {
    OpKind.CONV: (ConvGeometry, ConvParameters),
    OpKind.DEPTHWISE: (ConvGeometry, ConvParameters),
    OpKind.FULLY_CONNECTED: (ConvGeometry, ConvParameters),
    OpKind.AVERAGE_POOL: (ConvGeometry, PoolParameters),
    OpKind.MAX_POOL: (ConvGeometry, PoolParameters),
    OpKind.MEAN: (MeanGeometry, MeanParameters),
    OpKind.ADD: (ElementwiseGeometry, AddParameters),
    OpKind.MUL: (ElementwiseGeometry, MulParameters),
    OpKind.SOFTMAX: (ElementwiseGeometry, SoftmaxParameters),
    OpKind.TABLE: (ElementwiseGeometry, TableParameters),
    OpKind.CLAMP: (ElementwiseGeometry, ClampParameters),
    OpKind.UPSAMPLE: (UpsampleGeometry, MoveParameters),
    OpKind.CONCAT: (ConcatGeometry, MoveParameters),
    OpKind.PAD: (PadGeometry, MoveParameters),
}


def _check(kind: OpKind, g: Geometry, p: Parameters) -> None:
    if _BELONG.get(kind) != (type(g), type(p)):
        raise TypeError(f"{kind.name} of {type(g).__name__} with {type(p).__name__}")


def compute(kind: OpKind, g: Geometry, p: Parameters, *inputs: Int8s) -> Int8s:
    """int8 operands [h, w, c] -> int8 [h_out, w_out, c_out].

    Errors: TypeError when kind, geometry and parameters do not belong together."""
    _check(kind, g, p)
    x = inputs[0]
    match g, p:
        case ConvGeometry(), ConvParameters():
            if kind is OpKind.FULLY_CONNECTED:
                return fully_connected(p, x).reshape(1, 1, -1)
            return depthwise(g, p, x) if kind is OpKind.DEPTHWISE else convolve(g, p, x)
        case ConvGeometry(), PoolParameters():
            return average_pool(g, p, x) if kind is OpKind.AVERAGE_POOL else max_pool(g, p, x)
        case MeanGeometry(), MeanParameters():
            return mean(g, p, x)
        case ElementwiseGeometry(), AddParameters():
            return add(g, p, x, inputs[1])
        case ElementwiseGeometry(), MulParameters():
            return multiply(g, p, x, inputs[1])
        case ElementwiseGeometry(), SoftmaxParameters():
            return softmax(g, p, x)
        case ElementwiseGeometry(), TableParameters():
            return apply_table(p.table, x)
        case ElementwiseGeometry(), ClampParameters():
            return clamp(x, p.low, p.high)
        case UpsampleGeometry(), MoveParameters():
            return upsample(g, x)
        case ConcatGeometry(), MoveParameters():
            return concat(g, *inputs)
        case PadGeometry(), MoveParameters():
            return pad(g, x, p.zero_point)
    raise TypeError(f"{kind.name} of {type(g).__name__} with {type(p).__name__}")


def compute_in_place(
    kind: OpKind,
    g: Geometry,
    p: Parameters,
    inputs: tuple[Int8s, ...],
    distance: int,
    execution: Execution,
    onto: int = 0,
) -> Int8s:
    """What the plain kernel leaves as the output with operand `onto` `distance` scalars above it in one
    memory, right or wrong: int8 [h_out, w_out, c_out]. Errors: as `compute`."""
    _check(kind, g, p)
    x = inputs[onto]
    match g, p:
        case ConvGeometry(), ConvParameters() if kind is OpKind.DEPTHWISE:
            return depthwise_in_place(g, p, x, distance, execution)
        case ConvGeometry(), ConvParameters() if kind is OpKind.CONV:
            return convolve_in_place(g, p, x, distance, execution)
        case ConvGeometry(), PoolParameters():
            return pool_in_place(
                g,
                x,
                distance,
                execution,
                lambda values, real: pool_of_windows(kind, p, values, real),
            )
        case ElementwiseGeometry(), SoftmaxParameters():
            return softmax_in_place(
                g, x, distance, execution, lambda pixels, some: probabilities(p, pixels, some)
            )
        case ElementwiseGeometry(), _:
            return elementwise_in_place(
                g, x, distance, execution, _elements(kind, g, p, inputs, onto)
            )
        case MeanGeometry(), MeanParameters():
            return mean(g, p, x)  # all is read before the first write
        case UpsampleGeometry(), MoveParameters():
            return copy_in_place(g, x, distance, execution)
        case PadGeometry(), MoveParameters():
            return copy_in_place(g, x, distance, execution, p.zero_point)
        case ConcatGeometry(), MoveParameters():
            return concat_in_place(g, inputs, distance, execution, onto)
    raise TypeError(f"{kind.name} of {type(g).__name__} with {type(p).__name__} in place")


def _elements(
    kind: OpKind, g: ElementwiseGeometry, p: Parameters, inputs: tuple[Int8s, ...], onto: int
) -> Callable[[Int8s, Int64s], Int8s]:
    """Of values [n] of the shared operand and their indices in it: the outputs [n]."""
    whole = [np.broadcast_to(x, (g.h, g.w, g.c)).ravel() for x in inputs]

    def of_some(values: Int8s, where: Int64s) -> Int8s:
        line = ElementwiseGeometry(1, 1, len(values), len(inputs))
        operands = [values if n == onto else x[where] for n, x in enumerate(whole)]
        return compute(kind, line, p, *(x.reshape(1, 1, -1) for x in operands)).ravel()

    return of_some
