# SPDX-License-Identifier: Apache-2.0
"""Operators of a .tflite file that are no windows: element by element, moved, averaged or renamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.geometry import Pad, Shape
from harness.network.model import Facts, Quantisation
from harness.network.shapes import Window
from harness.network.tflite_file import INT32, INT64, FileOp
from harness.network.tflite_graph import (
    NO_PAD,
    Graph,
    Operand,
    View,
    activation_of,
    image_of,
    quantisation_of,
)
from harness.schema.constants import OpKind

_PROBABILITY = Quantisation(1 / 256, -128)


# ---- element by element ----


def of_two(kind: OpKind) -> Callable[[Graph, FileOp], None]:
    """The smaller operand of a broadcast is the second."""

    def read(graph: Graph, op: FileOp) -> None:
        first, second = graph.operand(op, 0), graph.operand(op, 1)
        if first.shape.size < second.shape.size:
            first, second = second, first
        graph.emit(op, kind, [first, second], activation=activation_of(op, 0))

    return read


def of_one(function: str) -> Callable[[Graph, FileOp], None]:
    def read(graph: Graph, op: FileOp) -> None:
        if function == "logistic":
            _probability(graph, op)
        graph.emit(op, OpKind.TABLE, [graph.operand(op, 0)], function=function)

    return read


def softmax(graph: Graph, op: FileOp) -> None:
    _probability(graph, op)
    beta = op.options.real(0) if op.options else 1.0
    if not 0 < beta < float("inf"):
        raise op.fail(f"beta {beta:g}")
    graph.emit(op, OpKind.SOFTMAX, [graph.operand(op, 0)], facts=Facts((), _PROBABILITY, beta=beta))


def _probability(graph: Graph, op: FileOp) -> None:
    if quantisation_of(graph.output(op), op) != _PROBABILITY:
        raise op.fail("an output that is not of scale 1/256 with zero point -128")


# ---- moved ----


def concatenation(graph: Graph, op: FileOp) -> None:
    """Along the channels, of one quantisation."""
    operands = [graph.operand(op, n) for n in range(len(op.inputs))]
    axis = op.options.integer(0, "i") if op.options else 0
    output = quantisation_of(graph.output(op), op)
    if not operands or activation_of(op, 1) != "none":
        raise op.fail("without operands, or with an activation")
    for operand in operands:
        axes = operand.view.axes
        if not -len(axes) <= axis < len(axes) or axes[axis] != 3:
            raise op.fail(f"along axis {axis}; only channels are supported")
        if operand.quantisation != output:
            raise op.fail("operands and output differ in scale or zero point")
    graph.emit(op, OpKind.CONCAT, operands)


def resize(graph: Graph, op: FileOp) -> None:
    """By whole factors, which is asserted of every row and column as LiteRT computes it in float32."""
    x = graph.operand(op, 0)
    size = graph.constant(op, 1, INT32).ravel()
    _same_quantisation(graph, op, x.quantisation)
    if len(size) != 2 or op.options is None or op.options.boolean(0):
        raise op.fail("without a size, or with aligned corners, which is not supported")
    half = op.options.boolean(1)
    factors = []
    for extent, wanted in ((x.shape.h, int(size[0])), (x.shape.w, int(size[1]))):
        factor = wanted // extent
        if not 1 <= wanted <= 0xFFFF or factor * extent != wanted:
            raise op.fail(f"from {extent} to {wanted}; only whole factors are supported")
        scale = np.float32(extent) / np.float32(wanted)
        positions = np.arange(wanted, dtype=np.float32) + np.float32(0.5 if half else 0)
        if (np.floor(positions * scale) != np.arange(wanted) // factor).any():
            raise op.fail(f"from {extent} to {wanted} is no plain repetition in float32")
        factors.append(factor)
    graph.emit(op, OpKind.UPSAMPLE, [x], Window(s=(factors[0], factors[1])))


def pad(graph: Graph, op: FileOp) -> None:
    """A border of the zero point, which the reader supplies itself if it can."""
    view = graph.view(op, 0)
    tensor = graph.tensor(op, 1)
    kind = INT64 if tensor.type == INT64 else INT32
    sides = graph.constant(op, 1, kind)
    _same_quantisation(graph, op, quantisation_of(graph.tensor(op, 0), op))
    if sides.shape != (len(view.axes), 2):
        raise op.fail(f"paddings of shape {list(sides.shape)}")
    around = dict.fromkeys(range(4), (0, 0))
    for axis, (before, after) in zip(view.axes, sides.tolist(), strict=True):
        if not (0 <= before <= 0xFFFF and 0 <= after <= 0xFFFF):
            raise op.fail(f"a padding of {before} and {after}")
        around[axis] = before, after
    if around[0] != (0, 0) or around[3] != (0, 0):
        raise op.fail("padding of batch or channels is not supported")
    border = Pad(around[1][0], around[2][0], around[1][1], around[2][1])
    if border != NO_PAD and (view.pad != NO_PAD or view.shape != graph.tensors[view.tensor]):
        view = graph.operand(op, 0).view
    graph.alias(op, replace(view, pad=border if border != NO_PAD else view.pad))


def quantize(graph: Graph, op: FileOp) -> None:
    """Between two int8 tensors: a table. The one of a float input is read with the inputs."""
    graph.emit(op, OpKind.TABLE, [graph.operand(op, 0)], function="requantize")


def _same_quantisation(graph: Graph, op: FileOp, wanted: Quantisation) -> None:
    if quantisation_of(graph.output(op), op) != wanted:
        raise op.fail("input and output differ in scale or zero point")


# ---- renamed ----


def reshape(graph: Graph, op: FileOp) -> None:
    view = graph.operand(op, 0, flat=True).view
    extents, axes = image_of(graph.output(op))
    made = View(view.tensor, extents, axes)
    if made.shape.size != view.shape.size:
        raise op.fail(f"from {view.shape} to {made.shape}")
    graph.alias(op, made)


def transpose(graph: Graph, op: FileOp) -> None:
    """No op: a reader that needs the bytes in another order refuses."""
    view = graph.view(op, 0)
    order = [int(n) for n in graph.constant(op, 1, INT32).ravel().tolist()]
    if sorted(order) != list(range(len(view.axes))):
        raise op.fail(f"a permutation {order[:8]} of {len(view.axes)} axes")
    graph.alias(op, replace(view, axes=tuple(view.axes[n] for n in order)))


# ---- averaged ----


def mean(graph: Graph, op: FileOp) -> None:
    """Over all pixels; or over rows or columns alone, as an average pool of one quantisation."""
    view = graph.view(op, 0)
    if view.pad != NO_PAD:
        view = graph.operand(op, 0).view
    if view.shape != graph.tensors[view.tensor]:
        raise op.fail(f"of a tensor that was reshaped to {view.shape}")
    x = quantisation_of(graph.tensor(op, 0), op)
    rank, listed = len(view.axes), graph.constant(op, 1, INT32).ravel().tolist()
    if len(listed) > 4 or any(not -rank <= n < rank for n in listed):
        raise op.fail(f"over axes {listed[:8]} of {rank}")
    dropped = {n % rank for n in listed}
    reduced = {view.axes[n] for n in dropped}
    if 3 in reduced:
        raise op.fail("over channels, which is not supported")
    n, h, w, c = view.extents
    extents = (n, 1 if 1 in reduced else h, 1 if 2 in reduced else w, c)
    keep = op.options is not None and op.options.boolean(0)
    axes = tuple(axis for n, axis in enumerate(view.axes) if keep or n not in dropped)
    made = View(-1, extents, axes)
    plain = Operand(view, x)
    if made.shape == Shape(1, 1, c):
        graph.emit(op, OpKind.MEAN, [plain], made=made)
        return
    if x != quantisation_of(graph.output(op), op):
        raise op.fail("over one axis, between two quantisations")
    k = h // extents[1], w // extents[2]
    facts = Facts((), x, mean_of_axis=True)
    graph.emit(op, OpKind.AVERAGE_POOL, [plain], Window(k, k), facts=facts, made=made)
