# SPDX-License-Identifier: Apache-2.0
"""A network in the making from a .tflite file: which of its tensors is where in the network.

A tensor of the file is a *view* of one of the network: a reshape, a transposition that moves no byte,
a border of zero points that the next convolution supplies itself, cost nothing and become no op.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.geometry import Pad, PadGeometry, Shape
from harness.network.graph import Layer
from harness.network.model import Facts, Quantisation
from harness.network.modelfile import layer_id
from harness.network.network import Node
from harness.network.shapes import Window, geometry_of
from harness.network.tflite_file import CONVERSION, INT8, FileOp, FileTensor, TfliteFile
from harness.schema.constants import OpKind, Rounding

_AXES = {1: (3,), 2: (0, 3), 3: (0, 2, 3), 4: (0, 1, 2, 3)}  # of NHWC, by rank
ACTIVATIONS = {0: "none", 1: "relu", 3: "relu6"}
NO_PAD = Pad()


@dataclass(frozen=True)
class View:
    """tensor: of the network. extents: N, H, W, C of it as seen here, N being 1. axes: which of them
    each dimension of the file's tensor is; those left out are 1. pad: a border around it that is not
    stored."""

    tensor: int
    extents: tuple[int, int, int, int]
    axes: tuple[int, ...]
    pad: Pad = NO_PAD

    @property
    def shape(self) -> Shape:
        """Without the border."""
        _, h, w, c = self.extents
        return Shape(h, w, c)

    @property
    def in_order(self) -> bool:
        """Do the bytes lie as the file's tensor has them?"""
        moved = [axis for axis in self.axes if self.extents[axis] > 1]
        return moved == sorted(moved)

    def dimensions(self) -> tuple[int, ...]:
        _, h, w, c = self.extents
        padded = (1, h + self.pad.top + self.pad.bottom, w + self.pad.left + self.pad.right, c)
        return tuple(padded[axis] for axis in self.axes)


@dataclass(frozen=True)
class Operand:
    view: View
    quantisation: Quantisation

    @property
    def shape(self) -> Shape:
        return self.view.shape


@dataclass
class Graph:
    """tensors, nodes, facts: of the network. views: of the file's tensors, by number."""

    file: TfliteFile
    slug: str
    tensors: list[Shape] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)
    views: dict[int, View] = field(default_factory=dict)

    # ---- reading ----

    def tensor(self, op: FileOp, number: int) -> FileTensor:
        """Operand `number`, constant or not. Errors: ConfigError where the op has none."""
        if number >= len(op.inputs) or op.inputs[number] < 0:
            raise op.fail(f"operand {number} is missing")
        return self.file.tensors[op.inputs[number]]

    def output(self, op: FileOp) -> FileTensor:
        if len(op.outputs) != 1:
            raise op.fail(f"{len(op.outputs)} outputs")
        return self.file.tensors[op.outputs[0]]

    def constant(self, op: FileOp, number: int, kind: int) -> NDArray[np.generic]:
        """In its shape. Errors: ConfigError for a tensor that is none, or of another type."""
        tensor = self.tensor(op, number)
        if not tensor.constant or tensor.type != kind:
            raise op.fail(f"operand {number} ({tensor.type_name}) is not a constant of its type")
        return tensor.data

    def view(self, op: FileOp, number: int) -> View:
        """Of an operand, as it comes: in any order of axes, or with a border."""
        tensor = self.tensor(op, number)
        if tensor.constant:
            raise op.fail(f"operand {number} is a constant, which is not supported")
        quantisation_of(tensor, op)
        if tensor.index not in self.views:
            raise op.fail(f"reads tensor {tensor.index} before anything makes it")
        return self.views[tensor.index]

    def operand(
        self, op: FileOp, number: int, *, border: bool = False, flat: bool = False
    ) -> Operand:
        """A tensor as it lies in memory. border: may it have one? Otherwise a PAD is put in, which
        makes it. flat: may it have been reshaped? Errors: ConfigError."""
        view = self.view(op, number)
        tensor = self.tensor(op, number)
        if view.pad != NO_PAD and not border:
            view = self._pad(tensor, view, op)
        if not view.in_order:
            raise op.fail(f"operand {number} is transposed, which is not supported here")
        if not flat and view.shape != self.tensors[view.tensor]:
            made = self.tensors[view.tensor]
            raise op.fail(f"operand {number} was reshaped from {made} to {view.shape}")
        return Operand(view, quantisation_of(tensor, op))

    def _pad(self, tensor: FileTensor, view: View, op: FileOp) -> View:
        shape = view.shape
        geometry = PadGeometry(shape.h, shape.w, shape.c, view.pad)
        quantisation = quantisation_of(tensor, op)
        layer = Layer(layer_id(self.slug, len(self.nodes)), geometry, OpKind.PAD)
        made = self._add(layer, (view.tensor,), Facts((quantisation,), quantisation))
        out = geometry.output
        self.views[tensor.index] = View(made, (1, out.h, out.w, out.c), view.axes)
        return self.views[tensor.index]

    # ---- making ----

    def enter(self, tensor: FileTensor) -> int:
        """An input of the network."""
        extents, axes = image_of(tensor)
        self.tensors.append(Shape(*extents[1:]))
        self.views[tensor.index] = View(len(self.tensors) - 1, extents, axes)
        return len(self.tensors) - 1

    def alias(self, op: FileOp, view: View) -> None:
        """The op's output is this view, and no op is made of it."""
        tensor = self.output(op)
        quantisation_of(tensor, op)
        self._set(op, tensor, view)

    def _set(self, op: FileOp, tensor: FileTensor, view: View) -> None:
        if tensor.index in self.views:
            raise op.fail(f"makes tensor {tensor.index} a second time")
        if view.dimensions() != tensor.shape:
            raise op.fail(f"makes {list(view.dimensions())}, not {list(tensor.shape)}")
        self.views[tensor.index] = view

    def emit(
        self,
        op: FileOp,
        kind: OpKind,
        operands: list[Operand],
        window: Window | None = None,
        *,
        function: str = "",
        activation: str = "none",
        facts: Facts | None = None,
        made: View | None = None,
    ) -> None:
        """facts: what there is besides the quantisations. made: the output as seen by the file, where
        that is not its plain shape; its tensor is set here."""
        tensor = self.output(op)
        quantisation = quantisation_of(tensor, op)
        if made is None:
            made = View(-1, *image_of(tensor))
        single = kind is OpKind.FULLY_CONNECTED
        try:
            layer = Layer(
                layer_id(self.slug, len(self.nodes)),
                geometry_of(kind, [one.shape for one in operands], made.shape, window),
                kind,
                function,
                Rounding.SINGLE if single else Rounding.DOUBLE,
                activation,
            )
        except ConfigError as error:
            raise op.fail(error.message, error.hint) from error
        seen = tuple(one.quantisation for one in operands)
        known = replace(facts or Facts((), quantisation), inputs=seen, output=quantisation)
        view = replace(made, tensor=len(self.tensors))
        self._set(op, tensor, view)
        self._add(layer, tuple(one.view.tensor for one in operands), known)

    def _add(self, layer: Layer, inputs: tuple[int, ...], facts: Facts) -> int:
        self.tensors.append(layer.output)
        self.nodes.append(Node(layer, inputs, len(self.tensors) - 1))
        self.facts.append(facts)
        return len(self.tensors) - 1


def quantisation_of(tensor: FileTensor, op: FileOp | None = None) -> Quantisation:
    """Errors: ConfigError for a tensor that is not int8 with one positive scale."""
    where = f"{op.name} of op {op.index}: " if op else ""
    if tensor.type != INT8:
        raise tensor.fail(f"{where}{tensor.type_name} where only INT8 is supported", CONVERSION)
    if len(tensor.scales) != 1 or len(tensor.zero_points) != 1:
        raise tensor.fail(f"{where}{len(tensor.scales)} scales of a tensor that is computed")
    scale, zero_point = float(tensor.scales[0]), int(tensor.zero_points[0])
    if not 0 < scale < float("inf") or not -128 <= zero_point <= 127:
        raise tensor.fail(f"{where}scale {scale:g} with zero point {zero_point}")
    return Quantisation(scale, zero_point)


def image_of(tensor: FileTensor) -> tuple[tuple[int, int, int, int], tuple[int, ...]]:
    """N, H, W, C of a tensor of up to four dimensions, and which of them it has. Errors: ConfigError
    for more dimensions, an extent of 0, or a batch."""
    rank = len(tensor.shape)
    if rank not in _AXES:
        raise tensor.fail(f"{rank} dimensions; 1 to 4 are supported")
    extents = [1, 1, 1, 1]
    for axis, extent in zip(_AXES[rank], tensor.shape, strict=True):
        extents[axis] = extent
    n, h, w, c = extents
    if n != 1:
        raise tensor.fail(f"a batch of {n}; only 1 is supported")
    try:
        Shape(h, w, c)
    except ConfigError as error:
        raise tensor.fail(error.message, error.hint) from error
    return (n, h, w, c), _AXES[rank]


def activation_of(op: FileOp, field_number: int) -> str:
    """Errors: ConfigError for another than NONE, RELU and RELU6."""
    code = op.options.integer(field_number, "b") if op.options else 0
    if code not in ACTIVATIONS:
        raise op.fail(f"fused activation {code}; only NONE, RELU and RELU6 are supported")
    return ACTIVATIONS[code]
