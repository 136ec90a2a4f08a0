# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools and fully connected layers of a .tflite file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.geometry import Pad
from harness.network.flatbuffer import Table
from harness.network.model import Facts
from harness.network.shapes import Window
from harness.network.tflite_file import INT8, INT32, FileOp
from harness.network.tflite_graph import (
    Graph,
    Operand,
    activation_of,
    quantisation_of,
)
from harness.schema.constants import OpKind

_SAME, _VALID = 0, 1
_LEAST = -128  # of int8: a border of it changes no maximum


def conv(graph: Graph, op: FileOp) -> None:
    """Filter [c_out, k_h, k_w, c_in]."""
    options = _options(op)
    x = graph.operand(op, 0, border=True)
    weights = _weights(graph, op, rank=4)
    c_out, k_h, k_w, c_in = weights.shape
    if c_in != x.shape.c:
        raise op.fail(f"a filter of {c_in} channels on {x.shape}: groups are not supported")
    window = _window(op, x, (k_h, k_w), dilations=_dilations(options, 4))
    facts = _facts(graph, op, weights, c_out, axis=0)
    graph.emit(op, OpKind.CONV, [x], window, activation=activation_of(op, 3), facts=facts)


def depthwise(graph: Graph, op: FileOp) -> None:
    """Filter [1, k_h, k_w, c_out]."""
    options = _options(op)
    x = graph.operand(op, 0, border=True)
    weights = _weights(graph, op, rank=4)
    n, k_h, k_w, c_out = weights.shape
    if n != 1:
        raise op.fail(f"a filter of shape {list(weights.shape)}")
    window = _window(op, x, (k_h, k_w), dilations=_dilations(options, 5))
    facts = _facts(graph, op, weights[0], c_out, axis=3)
    graph.emit(op, OpKind.DEPTHWISE, [x], window, activation=activation_of(op, 4), facts=facts)


def fully_connected(graph: Graph, op: FileOp) -> None:
    """Filter [c_out, n_in]."""
    options = _options(op)
    x = graph.operand(op, 0, flat=True)
    weights = _weights(graph, op, rank=2)
    c_out, n_in = weights.shape
    if n_in != x.shape.size or options.integer(1, "b") != 0:
        raise op.fail(f"a filter for {n_in} inputs on {x.shape}, or one that is shuffled")
    facts = _facts(graph, op, weights, c_out, axis=0)
    graph.emit(op, OpKind.FULLY_CONNECTED, [x], activation=activation_of(op, 0), facts=facts)


def average_pool(graph: Graph, op: FileOp) -> None:
    """A border that the file makes counts in the average; one of SAME does not."""
    _pool(graph, op, OpKind.AVERAGE_POOL, graph.operand(op, 0))


def max_pool(graph: Graph, op: FileOp) -> None:
    """A border of the least value is none."""
    zero_point = quantisation_of(graph.tensor(op, 0), op).zero_point
    _pool(graph, op, OpKind.MAX_POOL, graph.operand(op, 0, border=zero_point == _LEAST))


def _pool(graph: Graph, op: FileOp, kind: OpKind, x: Operand) -> None:
    options = _options(op)
    if x.quantisation != quantisation_of(graph.output(op), op):
        raise op.fail("input and output differ in scale or zero point")
    kernel = _positive(op, options, 4), _positive(op, options, 3)
    window = _window(op, x, kernel, dilations=(1, 1))
    pad = window.pad
    if max(pad.top, pad.bottom) >= kernel[0] or max(pad.left, pad.right) >= kernel[1]:
        # a window without a tap on the image has no maximum: the border stays an op of its own
        x = graph.operand(op, 0)
        window = _window(op, x, kernel, dilations=(1, 1))
    graph.emit(op, kind, [x], window, activation=activation_of(op, 5))


def _options(op: FileOp) -> Table:
    if op.options is None:
        raise op.fail("its options are missing")
    return op.options


def _positive(op: FileOp, options: Table, number: int, default: int = 0) -> int:
    value = options.integer(number, "i", default)
    if not 1 <= value <= 0xFFFF:
        raise op.fail(f"a stride, dilation or kernel of {value}")
    return value


def _dilations(options: Table, first: int) -> tuple[int, int]:
    """Rows and columns; the file has columns first. 1 where it says nothing."""
    return options.integer(first + 1, "i", 1), options.integer(first, "i", 1)


def _window(op: FileOp, x: Operand, k: tuple[int, int], dilations: tuple[int, int]) -> Window:
    """Its padding is the border of the operand and what SAME adds around that."""
    options = _options(op)
    strides = _positive(op, options, 2), _positive(op, options, 1)
    padding = options.integer(0, "b")
    if padding not in (_SAME, _VALID):
        raise op.fail(f"padding {padding}")
    if min(*k, *dilations) < 1 or max(*k, *dilations) > 0xFFFF:
        raise op.fail(f"a kernel {k[0]}x{k[1]} with dilation {dilations[0]}x{dilations[1]}")
    border, shape = x.view.pad, x.shape
    top, bottom = border.top, border.bottom
    left, right = border.left, border.right
    if padding == _SAME:
        before, after = same_pads(shape.h + top + bottom, k[0], strides[0], dilations[0])
        top, bottom = top + before, bottom + after
        before, after = same_pads(shape.w + left + right, k[1], strides[1], dilations[1])
        left, right = left + before, right + after
    return Window(k, strides, dilations, Pad(top, left, bottom, right))


def same_pads(size: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
    """Before and after: as few as give ceil(size / stride) outputs, the odd one after."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + (taps - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def _weights(graph: Graph, op: FileOp, rank: int) -> NDArray[np.int8]:
    weights = graph.constant(op, 1, INT8)
    if weights.ndim != rank or 0 in weights.shape or max(weights.shape) > 0xFFFF:
        raise op.fail(f"a filter of shape {list(weights.shape)}")
    return weights.astype(np.int8, copy=False)


def _facts(graph: Graph, op: FileOp, weights: NDArray[np.int8], c_out: int, axis: int) -> Facts:
    """With one filter scale for each output channel, and 0 for a bias that is left out."""
    tensor = graph.tensor(op, 1)
    scales = tensor.scales
    if len(scales) not in (1, c_out) or (len(scales) > 1 and tensor.axis != axis):
        raise op.fail(f"{len(scales)} filter scales for {c_out} channels")
    if not np.isfinite(scales).all():  # a negative one is, in files of good repute
        raise op.fail("a filter scale that is no number")
    if tensor.zero_points.any():
        raise op.fail("a filter with a zero point")
    bias = np.zeros(c_out, np.int32)
    if len(op.inputs) > 2 and op.inputs[2] >= 0:
        bias = graph.constant(op, 2, INT32).astype(np.int32, copy=False)
        if bias.shape != (c_out,):
            raise op.fail(f"a bias of shape {list(bias.shape)} for {c_out} channels")
    output = quantisation_of(graph.output(op), op)
    spread = np.broadcast_to(scales, c_out)
    return Facts((), output, weights=weights, bias=bias, filter_scales=spread)
