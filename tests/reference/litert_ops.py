# SPDX-License-Identifier: Apache-2.0
"""One-op int8 models for LiteRT, of any operator: built with the schema that LiteRT carries and
flatbuffers, without TensorFlow, and run by one of LiteRT's three sets of kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

Int8s = NDArray[np.int8]
_FILE_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
_KINDS = {np.dtype(np.int8): schema.TensorType.INT8, np.dtype(np.int32): schema.TensorType.INT32}


class Kernels(Enum):
    """Which kernels LiteRT runs."""

    REFERENCE = OpResolverType.BUILTIN_REF
    OPTIMIZED = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    XNNPACK = OpResolverType.AUTO


class Activation(Enum):
    NONE = schema.ActivationFunctionType.NONE
    RELU = schema.ActivationFunctionType.RELU
    RELU6 = schema.ActivationFunctionType.RELU6


@dataclass(frozen=True, eq=False)
class Tensor:
    """data: what the file holds of a constant. scales: one, or one for each index of `axis`, and none
    for a tensor that is not quantized (axes of a reduction)."""

    shape: tuple[int, ...]
    scales: Sequence[Any] | NDArray[np.float32] = ()
    zero_point: int = 0
    data: NDArray[Any] | None = None
    axis: int = 0

    def encoded(self, name: str, buffer: int) -> schema.TensorT:
        tensor = schema.TensorT()
        dtype = np.dtype(np.int8) if self.data is None else self.data.dtype
        tensor.name, tensor.type = name, _KINDS[dtype]
        tensor.shape, tensor.buffer = list(self.shape), buffer
        if len(self.scales):
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = np.asarray(self.scales, np.float32)
            tensor.quantization.zeroPoint = np.full(len(self.scales), self.zero_point, np.int64)
            tensor.quantization.quantizedDimension = self.axis
        return tensor


@dataclass(frozen=True, eq=False)
class Operator:
    """builtin: BuiltinOperator. version: of the operator, for signed int8. options: the schema's
    ...OptionsT object, which names its own type."""

    builtin: int
    version: int
    options: Any

    def options_type(self) -> int:
        name = type(self.options).__name__.removesuffix("T")
        return int(getattr(schema.BuiltinOptions, name))


def one_op_model(operator: Operator, inputs: Sequence[Tensor], output: Tensor) -> bytes:
    """A .tflite file. Inputs without data are the model's inputs, in order."""
    model = schema.ModelT()
    model.version = _SCHEMA_VERSION
    model.buffers = [_buffer(None)]  # by convention the empty one
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = operator.builtin
    code.version = operator.version
    model.operatorCodes = [code]
    graph = schema.SubGraphT()
    graph.tensors = []
    for index, tensor in enumerate((*inputs, output)):
        buffer = 0
        if tensor.data is not None:
            buffer = len(model.buffers)
            model.buffers.append(_buffer(tensor.data))
        graph.tensors.append(tensor.encoded(f"t{index}", buffer))
    graph.inputs = [n for n, tensor in enumerate(inputs) if tensor.data is None]
    graph.outputs = [len(inputs)]
    node = schema.OperatorT()
    node.opcodeIndex = 0
    node.inputs, node.outputs = list(range(len(inputs))), [len(inputs)]
    node.builtinOptionsType = operator.options_type()
    node.builtinOptions = operator.options
    graph.operators = [node]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(4096)
    builder.Finish(model.Pack(builder), _FILE_IDENTIFIER)
    return bytes(builder.Output())


def run_model(content: bytes, kernels: Kernels, *inputs: Int8s) -> Int8s:
    """inputs and output without the batch dimension.

    Errors: RuntimeError or ValueError of LiteRT, which will not run the model."""
    interpreter = Interpreter(
        model_content=content, experimental_op_resolver_type=kernels.value, num_threads=1
    )
    interpreter.allocate_tensors()
    delegated = any(op["op_name"] == "DELEGATE" for op in interpreter._get_ops_details())
    if delegated is not (kernels is Kernels.XNNPACK):
        raise RuntimeError(f"{kernels.name}: delegated is {delegated}")
    for details, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], x[None])
    interpreter.invoke()
    output: Int8s = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0]
    return output


def same_pads(size: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
    """Padding before and after one axis with SAME: the odd one goes after."""
    reach = (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1
    total = max(0, reach - size)
    return total // 2, total - total // 2


def clamp(activation: Activation, scale: np.float32, zero_point: int) -> tuple[int, int]:
    """activation_min and activation_max of an int8 output."""
    low, high = -128, 127
    if activation is not Activation.NONE:
        low = max(low, zero_point)
    if activation is Activation.RELU6:
        high = min(high, zero_point + math.floor(float(np.float32(6) / scale) + 0.5))
    return low, high


def _buffer(data: NDArray[Any] | None) -> schema.BufferT:
    buffer = schema.BufferT()
    buffer.data = None if data is None else np.frombuffer(data.tobytes(), np.uint8)
    return buffer
