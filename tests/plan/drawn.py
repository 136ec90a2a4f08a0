# SPDX-License-Identifier: Apache-2.0
"""Random small networks: residuals, concatenations, squeeze-and-excitation, swish, upsampling, dilation,
padding beyond the kernel, tensors that many ops or one op twice reads, several inputs and outputs."""

from __future__ import annotations

import random
from collections.abc import Callable

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
from harness.network import Layer, Network, Node
from harness.schema.constants import OpKind

_CHANNELS = (1, 2, 3, 4, 5, 8)
_LARGEST = 700  # scalars of a tensor
_POOLS = (OpKind.AVERAGE_POOL, OpKind.MAX_POOL)


class _Graph:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"network {seed}")
        self.shapes: list[Shape] = []
        self.nodes: list[Node] = []
        self.inputs = [self.tensor(self.shape()) for _ in range(self.rng.choice((1, 1, 1, 2)))]

    def shape(self) -> Shape:
        rng = self.rng
        return Shape(rng.randint(1, 9), rng.randint(1, 9), rng.choice(_CHANNELS))

    def tensor(self, shape: Shape) -> int:
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def any(self) -> int:
        """A tensor, mostly one of the latest."""
        count = len(self.shapes)
        return self.rng.randrange(max(0, count - 3) if self.rng.random() < 0.7 else 0, count)

    def like(self, tensor: int) -> int:
        """One of the same shape, which may be itself."""
        shape = self.shapes[tensor]
        return self.rng.choice([n for n, other in enumerate(self.shapes) if other == shape])

    def op(self, kind: OpKind, geometry: Geometry, *inputs: int, function: str = "") -> int:
        if geometry.output.size > _LARGEST:
            raise ConfigError("too large for a test")
        output = self.tensor(geometry.output)
        layer = Layer(f"op-{len(self.nodes)}", geometry, kind, function)
        self.nodes.append(Node(layer, inputs, output))
        return output


def draw_network(seed: int, ops: int = 14) -> Network:
    """The same one for the same seed, of about so many ops."""
    graph = _Graph(seed)
    while len(graph.nodes) < ops:
        try:
            graph.rng.choice(_MAKERS)(graph, graph.any())
        except ConfigError:  # no output, or a large one
            continue
    read = {tensor for node in graph.nodes for tensor in node.inputs}
    made = [node.output for node in graph.nodes]
    outputs = [n for n in made if n not in read and graph.rng.random() < 0.8]
    outputs += [n for n in made if n in read and graph.rng.random() < 0.05]
    outputs = outputs or made[-1:]
    return Network(
        f"drawn-{seed}",
        tuple(graph.shapes),
        tuple(graph.nodes),
        tuple(graph.inputs),
        tuple(outputs),
    )


def _hwc(graph: _Graph, tensor: int) -> tuple[int, int, int]:
    shape = graph.shapes[tensor]
    return shape.h, shape.w, shape.c


def _conv(graph: _Graph, tensor: int) -> int:
    c_out = graph.rng.choice(_CHANNELS)
    return graph.op(OpKind.CONV, _window(graph, tensor, c_out), tensor)


def _window(graph: _Graph, tensor: int, c_out: int) -> ConvGeometry:
    rng = graph.rng
    pad = Pad(*(rng.choice((0, 1, 1, 2, 3)) for _ in range(4)))
    return ConvGeometry(
        *_hwc(graph, tensor),
        c_out,
        *(rng.choice((1, 2, 3, 3)) for _ in range(2)),
        *(rng.choice((1, 1, 2, 3)) for _ in range(2)),
        *(rng.choice((1, 1, 1, 2)) for _ in range(2)),
        pad=pad if rng.random() < 0.7 else Pad(),
    )


def _pointwise(graph: _Graph, tensor: int) -> int:
    geometry = ConvGeometry(*_hwc(graph, tensor), graph.rng.choice(_CHANNELS))
    return graph.op(OpKind.CONV, geometry, tensor)


def _depthwise(graph: _Graph, tensor: int) -> int:
    multiplier = graph.rng.choice((1, 1, 1, 2))
    geometry = _window(graph, tensor, graph.shapes[tensor].c * multiplier)
    return graph.op(OpKind.DEPTHWISE, geometry, tensor)


def _pool(graph: _Graph, tensor: int) -> int:
    k, rng = graph.rng.choice((2, 3)), graph.rng
    pad = Pad(*(rng.randint(0, k - 1) for _ in range(4))) if rng.random() < 0.6 else Pad()
    strides = rng.choice((1, 2)), rng.choice((1, 2))
    geometry = ConvGeometry(
        *_hwc(graph, tensor), graph.shapes[tensor].c, k, k, *strides, pad=pad
    )  # fmt: skip
    return graph.op(rng.choice(_POOLS), geometry, tensor)


def _residual(graph: _Graph, tensor: int) -> int:
    """A convolution that keeps the shape, and its input added to its output."""
    h, w, c = _hwc(graph, tensor)
    same = ConvGeometry(h, w, c, c, 3, 3, pad=Pad.same(1, 1))
    made = graph.op(OpKind.CONV, same, tensor)
    operands = (tensor, made) if graph.rng.random() < 0.5 else (made, tensor)
    return graph.op(OpKind.ADD, ElementwiseGeometry(h, w, c, 2), *operands)


def _two(graph: _Graph, tensor: int) -> int:
    geometry = ElementwiseGeometry(*_hwc(graph, tensor), 2)
    kind = graph.rng.choice((OpKind.ADD, OpKind.MUL))
    return graph.op(kind, geometry, tensor, graph.like(tensor))


def _concat(graph: _Graph, tensor: int) -> int:
    h, w, _ = _hwc(graph, tensor)
    fitting = [n for n, shape in enumerate(graph.shapes) if (shape.h, shape.w) == (h, w)]
    operands = [tensor, *graph.rng.choices(fitting, k=graph.rng.randint(1, 2))]
    graph.rng.shuffle(operands)
    channels = tuple(graph.shapes[n].c for n in operands)
    return graph.op(OpKind.CONCAT, ConcatGeometry(h, w, channels), *operands)


def _squeeze(graph: _Graph, tensor: int) -> int:
    h, w, c = _hwc(graph, tensor)
    mean = graph.op(OpKind.MEAN, MeanGeometry(h, w, c), tensor)
    small = graph.op(OpKind.CONV, ConvGeometry(1, 1, c, 2), mean)
    large = graph.op(OpKind.FULLY_CONNECTED, ConvGeometry(1, 1, 2, c), small)
    gate = graph.op(OpKind.TABLE, ElementwiseGeometry(1, 1, c), large, function="logistic")
    geometry = ElementwiseGeometry(h, w, c, 2, broadcast=True)
    return graph.op(OpKind.MUL, geometry, tensor, gate)


def _swish(graph: _Graph, tensor: int) -> int:
    h, w, c = _hwc(graph, tensor)
    gate = graph.op(OpKind.TABLE, ElementwiseGeometry(h, w, c), tensor, function="logistic")
    operands = (tensor, gate) if graph.rng.random() < 0.5 else (gate, tensor)
    return graph.op(OpKind.MUL, ElementwiseGeometry(h, w, c, 2), *operands)


def _one(graph: _Graph, tensor: int) -> int:
    kind = graph.rng.choice((OpKind.TABLE, OpKind.CLAMP, OpKind.SOFTMAX))
    function = "relu" if kind is OpKind.TABLE else ""
    geometry = ElementwiseGeometry(*_hwc(graph, tensor))
    return graph.op(kind, geometry, tensor, function=function)


def _upsample(graph: _Graph, tensor: int) -> int:
    factors = graph.rng.randint(1, 3), graph.rng.randint(1, 2)
    return graph.op(OpKind.UPSAMPLE, UpsampleGeometry(*_hwc(graph, tensor), *factors), tensor)


def _pad(graph: _Graph, tensor: int) -> int:
    pad = Pad(*(graph.rng.randint(0, 2) for _ in range(4)))
    return graph.op(OpKind.PAD, PadGeometry(*_hwc(graph, tensor), pad), tensor)


_MAKERS: tuple[Callable[[_Graph, int], int], ...] = (
    _conv, _conv, _pointwise, _pointwise, _depthwise, _depthwise, _pool, _residual, _residual,
    _two, _concat, _squeeze, _swish, _one, _upsample, _pad,
)  # fmt: skip
