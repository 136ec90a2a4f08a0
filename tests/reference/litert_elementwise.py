# SPDX-License-Identifier: Apache-2.0
"""LiteRT models of one operator without weights: built as `litert.py` builds convolutions, run by any
of LiteRT's sets of kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from harness.geometry import Pad, Shape
from harness.reference import relu_range
from tests.reference.litert import Activation, Int8s, Kernels

_FILE_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
_VERSION = 2  # of an operator: it takes signed int8
_VERSIONS = {schema.BuiltinOperator.HARD_SWISH: 1}


@dataclass(frozen=True)
class Tensor:
    """An int8 tensor HWC with its quantisation."""

    shape: Shape
    scale: float = 1.0
    zero_point: int = 0

    @property
    def dims(self) -> list[int]:
        return [1, self.shape.h, self.shape.w, self.shape.c]


@dataclass(frozen=True, eq=False)
class Constant:
    """An operand that the file holds: int32, or int8 with the quantisation of `like`."""

    values: NDArray[np.int32] | Int8s
    like: Tensor | None = None


@dataclass(frozen=True, eq=False)
class OpModel:
    """One operator: kind is a schema.BuiltinOperator, options one of the schema's option objects and
    options_type its number in schema.BuiltinOptions (0: none)."""

    kind: int
    inputs: tuple[Tensor, ...]
    output: Tensor
    options: object = None
    options_type: int = 0
    constants: tuple[Constant, ...] = ()

    def flatbuffer(self) -> bytes:
        model = schema.ModelT()
        model.version = _SCHEMA_VERSION
        model.buffers = [_buffer(b"")] + [_buffer(c.values.tobytes()) for c in self.constants]
        code = schema.OperatorCodeT()
        code.builtinCode = self.kind
        code.version = _VERSIONS.get(self.kind, _VERSION)
        code.deprecatedBuiltinCode = min(self.kind, 127)
        model.operatorCodes = [code]
        graph = schema.SubGraphT()
        count = len(self.inputs)
        graph.tensors = [_activation(f"x{n}", tensor) for n, tensor in enumerate(self.inputs)]
        graph.tensors += [_constant(n, constant) for n, constant in enumerate(self.constants)]
        graph.tensors.append(_activation("y", self.output))
        graph.inputs = list(range(count))
        graph.outputs = [count + len(self.constants)]
        operator = schema.OperatorT()
        operator.opcodeIndex = 0
        operator.inputs = list(range(count + len(self.constants)))
        operator.outputs = graph.outputs
        operator.builtinOptionsType, operator.builtinOptions = self.options_type, self.options
        graph.operators = [operator]
        model.subgraphs = [graph]
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), _FILE_IDENTIFIER)
        return bytes(builder.Output())


def run(model: OpModel, kernels: Kernels, *xs: Int8s) -> Int8s:
    """xs: an int8 [h, w, c] for each of the model's inputs -> int8 [h, w, c].

    Errors: RuntimeError or ValueError of LiteRT, which will not run the model; RuntimeError when
    XNNPACK was asked for and leaves the operator to other kernels."""
    interpreter = Interpreter(
        model_content=model.flatbuffer(),
        experimental_op_resolver_type=kernels.value,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    delegated = any(op["op_name"] == "DELEGATE" for op in interpreter._get_ops_details())
    if delegated is not (kernels is Kernels.XNNPACK):
        raise RuntimeError(f"{kernels.name}: delegated is {delegated}")
    for details, x in zip(interpreter.get_input_details(), xs, strict=True):
        interpreter.set_tensor(details["index"], x[None])
    interpreter.invoke()
    output: Int8s = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0]
    return output


# ---- the operators ----


def add(a: Tensor, b: Tensor, y: Tensor, activation: Activation = Activation.NONE) -> OpModel:
    options = schema.AddOptionsT()
    options.fusedActivationFunction = activation.value
    kind = schema.BuiltinOperator.ADD
    return OpModel(kind, (a, b), y, options, schema.BuiltinOptions.AddOptions)


def multiply(a: Tensor, b: Tensor, y: Tensor, activation: Activation = Activation.NONE) -> OpModel:
    options = schema.MulOptionsT()
    options.fusedActivationFunction = activation.value
    kind = schema.BuiltinOperator.MUL
    return OpModel(kind, (a, b), y, options, schema.BuiltinOptions.MulOptions)


def logistic(x: Tensor, y: Tensor) -> OpModel:
    return OpModel(schema.BuiltinOperator.LOGISTIC, (x,), y)


def hard_swish(x: Tensor, y: Tensor) -> OpModel:
    options = schema.HardSwishOptionsT()
    kind = schema.BuiltinOperator.HARD_SWISH
    return OpModel(kind, (x,), y, options, schema.BuiltinOptions.HardSwishOptions)


def relu(x: Tensor, y: Tensor, activation: Activation) -> OpModel:
    """RELU or RELU6 as an operator of its own."""
    operators = {
        Activation.RELU: schema.BuiltinOperator.RELU,
        Activation.RELU6: schema.BuiltinOperator.RELU6,
    }
    return OpModel(operators[activation], (x,), y)


def softmax(x: Tensor, y: Tensor, beta: float = 1.0) -> OpModel:
    options = schema.SoftmaxOptionsT()
    options.beta = beta
    kind = schema.BuiltinOperator.SOFTMAX
    return OpModel(kind, (x,), y, options, schema.BuiltinOptions.SoftmaxOptions)


def upsample(x: Tensor, f_h: int, f_w: int, half_pixel_centers: bool = False) -> OpModel:
    options = schema.ResizeNearestNeighborOptionsT()
    options.halfPixelCenters = half_pixel_centers
    size = (x.shape.h * f_h, x.shape.w * f_w)
    return OpModel(
        schema.BuiltinOperator.RESIZE_NEAREST_NEIGHBOR,
        (x,),
        Tensor(Shape(*size, x.shape.c), x.scale, x.zero_point),
        options,
        schema.BuiltinOptions.ResizeNearestNeighborOptions,
        (Constant(np.array(size, np.int32)),),
    )


def concat(xs: tuple[Tensor, ...]) -> OpModel:
    options = schema.ConcatenationOptionsT()
    options.axis = 3
    first = xs[0]
    shape = Shape(first.shape.h, first.shape.w, sum(x.shape.c for x in xs))
    return OpModel(
        schema.BuiltinOperator.CONCATENATION,
        xs,
        Tensor(shape, first.scale, first.zero_point),
        options,
        schema.BuiltinOptions.ConcatenationOptions,
    )


def pad(x: Tensor, border: Pad, value: int | None = None) -> OpModel:
    """PAD, which fills with the zero point; with a value PADV2, which fills with that int8."""
    h = x.shape.h + border.top + border.bottom
    w = x.shape.w + border.left + border.right
    y = Tensor(Shape(h, w, x.shape.c), x.scale, x.zero_point)
    rows = [[0, 0], [border.top, border.bottom], [border.left, border.right], [0, 0]]
    paddings = Constant(np.array(rows, np.int32))
    if value is None:
        options = schema.PadOptionsT()
        kind = schema.BuiltinOperator.PAD
        return OpModel(kind, (x,), y, options, schema.BuiltinOptions.PadOptions, (paddings,))
    fill = Constant(np.array([value], np.int8), like=x)
    kind = schema.BuiltinOperator.PADV2
    return OpModel(
        kind, (x,), y, schema.PadV2OptionsT(), schema.BuiltinOptions.PadV2Options, (paddings, fill)
    )


# ---- for the tests of these operators ----


def zero_point(rng: np.random.Generator) -> int:
    return int(rng.choice([-128, 127, 0, rng.integers(-128, 128)]))


def int8s(rng: np.random.Generator, shape: Shape) -> Int8s:
    return rng.integers(-128, 128, (shape.h, shape.w, shape.c)).astype(np.int8)


def all_pairs() -> tuple[Int8s, Int8s]:
    """Two tensors 256 x 256 x 1 in which each pair of values is met once."""
    values = np.arange(-128, 128).astype(np.int8)
    return np.repeat(values, 256).reshape(256, 256, 1), np.tile(values, 256).reshape(256, 256, 1)


def every_value() -> Int8s:
    """16 x 16 x 1, from -128 to 127."""
    return np.arange(-128, 128).astype(np.int8).reshape(16, 16, 1)


def activation_range(activation: Activation, y: Tensor) -> tuple[int, int]:
    if activation is Activation.NONE:
        return -128, 127
    six = Activation.RELU6
    return relu_range(y.scale, y.zero_point, 6.0 if activation is six else math.inf)


def scaled(x: int, multiplier: int, shift: int) -> int:
    """x * m * 2^(shift - 31) with the rounding `double`, by its definition in whole numbers: to
    nearest, ties up, and then a right shift to nearest, ties away from zero."""
    high = ((x << max(shift, 0)) * multiplier + 2**30) // 2**31
    if shift >= 0:
        return high
    size = (abs(high) + 2 ** (-shift - 1)) // 2**-shift
    return size if high >= 0 else -size


# ---- parts of the file ----


def _buffer(data: bytes) -> schema.BufferT:
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(data, np.uint8) if data else None
    return buffer


def _activation(name: str, tensor: Tensor) -> schema.TensorT:
    return _int8(name, tensor.dims, tensor, 0)


def _constant(number: int, constant: Constant) -> schema.TensorT:
    name, shape = f"c{number}", list(constant.values.shape)
    if constant.like is not None:
        return _int8(name, shape, constant.like, number + 1)
    tensor = schema.TensorT()
    tensor.name, tensor.type, tensor.shape = name, schema.TensorType.INT32, shape
    tensor.buffer = number + 1
    return tensor


def _int8(name: str, shape: list[int], like: Tensor, buffer: int) -> schema.TensorT:
    quantization = schema.QuantizationParametersT()
    quantization.scale = np.array([like.scale], np.float32)
    quantization.zeroPoint = np.array([like.zero_point], np.int64)
    tensor = schema.TensorT()
    tensor.name, tensor.type, tensor.shape, tensor.buffer = (
        name,
        schema.TensorType.INT8,
        shape,
        buffer,
    )
    tensor.quantization = quantization
    return tensor
