# SPDX-License-Identifier: Apache-2.0
"""LiteRT as an independent oracle: int8 models of one convolution, built with the schema that LiteRT
carries and flatbuffers, without TensorFlow, and run by each of LiteRT's three sets of kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Pad
from harness.reference import ConvParameters, quantize_multiplier
from harness.schema.constants import Rounding

Int8s = NDArray[np.int8]
_ONE = np.float32(1)
_FILE_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3
_CONV_VERSION = 3  # of the operator: signed int8, per channel


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
class ConvModel:
    """A convolution as a .tflite file says it. Padding is SAME or VALID; scales are float32."""

    h_in: int
    w_in: int
    weights: Int8s  # [c_out, k_h, k_w, c_in]
    bias: NDArray[np.int32]
    filter_scales: NDArray[np.float32]
    input_scale: np.float32 = _ONE
    output_scale: np.float32 = _ONE
    input_zero_point: int = 0
    output_zero_point: int = 0
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    same: bool = False
    activation: Activation = Activation.NONE

    def geometry(self) -> ConvGeometry:
        """Errors: ConfigError for a VALID kernel larger than the input."""
        c_out, k_h, k_w, c_in = self.weights.shape
        top, bottom = self._pads(self.h_in, k_h, self.strides[0], self.dilations[0])
        left, right = self._pads(self.w_in, k_w, self.strides[1], self.dilations[1])
        return ConvGeometry(
            h_in=self.h_in, w_in=self.w_in, c_in=c_in, c_out=c_out, k_h=k_h, k_w=k_w,
            s_h=self.strides[0], s_w=self.strides[1], d_h=self.dilations[0], d_w=self.dilations[1],
            pad=Pad(top, left, bottom, right),
        )  # fmt: skip

    def _pads(self, size: int, taps: int, stride: int, dilation: int) -> tuple[int, int]:
        if not self.same:
            return 0, 0
        reach = (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1
        total = max(0, reach - size)
        return total // 2, total - total // 2

    def real_multipliers(self) -> NDArray[np.float64]:
        """input scale * filter scale / output scale, in double as LiteRT computes it."""
        product = np.float64(self.input_scale) * self.filter_scales.astype(np.float64)
        return product / np.float64(self.output_scale)

    def parameters(self, rounding: Rounding) -> ConvParameters:
        quantized = [quantize_multiplier(float(real)) for real in self.real_multipliers()]
        low, high = self._clamp()
        return ConvParameters(
            weights=self.weights,
            bias=self.bias,
            multiplier=np.array([multiplier for multiplier, _ in quantized], np.int32),
            shift=np.array([shift for _, shift in quantized], np.int32),
            input_zero_point=self.input_zero_point,
            output_zero_point=self.output_zero_point,
            activation_min=low,
            activation_max=high,
            rounding=rounding,
        )

    def _clamp(self) -> tuple[int, int]:
        low, high = -128, 127
        if self.activation is not Activation.NONE:
            low = max(low, self.output_zero_point)
        if self.activation is Activation.RELU6:
            six = math.floor(float(np.float32(6) / self.output_scale) + 0.5)
            high = min(high, self.output_zero_point + six)
        return low, high

    def flatbuffer(self) -> bytes:
        g = self.geometry()
        model = schema.ModelT()
        model.version = _SCHEMA_VERSION
        model.buffers = [
            _buffer(b""),
            _buffer(self.weights.tobytes()),
            _buffer(self.bias.tobytes()),
        ]
        model.operatorCodes = [_operator_code()]
        graph = schema.SubGraphT()
        zeros = [0] * g.c_out
        int8, int32 = schema.TensorType.INT8, schema.TensorType.INT32
        bias_scales = self.filter_scales * self.input_scale
        graph.tensors = [
            _tensor("x", int8, [1, g.h_in, g.w_in, g.c_in], 0,
                    [self.input_scale], [self.input_zero_point]),
            _tensor("w", int8, list(self.weights.shape), 1, self.filter_scales, zeros),
            _tensor("b", int32, [g.c_out], 2, bias_scales, zeros),
            _tensor("y", int8, [1, g.h_out, g.w_out, g.c_out], 0,
                    [self.output_scale], [self.output_zero_point]),
        ]  # fmt: skip
        graph.inputs, graph.outputs = [0], [3]
        graph.operators = [self._operator()]
        model.subgraphs = [graph]
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), _FILE_IDENTIFIER)
        return bytes(builder.Output())

    def _operator(self) -> schema.OperatorT:
        options = schema.Conv2DOptionsT()
        options.padding = schema.Padding.SAME if self.same else schema.Padding.VALID
        options.strideH, options.strideW = self.strides
        options.dilationHFactor, options.dilationWFactor = self.dilations
        options.fusedActivationFunction = self.activation.value
        operator = schema.OperatorT()
        operator.opcodeIndex = 0
        operator.inputs, operator.outputs = [0, 1, 2], [3]
        operator.builtinOptionsType = schema.BuiltinOptions.Conv2DOptions
        operator.builtinOptions = options
        return operator


def run(model: ConvModel, kernels: Kernels, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_out].

    Errors: RuntimeError or ValueError of LiteRT, which will not run the model."""
    interpreter = Interpreter(
        model_content=model.flatbuffer(),
        experimental_op_resolver_type=kernels.value,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    delegated = any(op["op_name"] == "DELEGATE" for op in interpreter._get_ops_details())
    if delegated is not (kernels is Kernels.XNNPACK):
        raise RuntimeError(f"{kernels.name}: delegated is {delegated}")
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x[None])
    interpreter.invoke()
    output: Int8s = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0]
    return output


def _buffer(data: bytes) -> schema.BufferT:
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(data, np.uint8) if data else None
    return buffer


def _operator_code() -> schema.OperatorCodeT:
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CONV_2D
    code.version = _CONV_VERSION
    return code


def _tensor(
    name: str, kind: int, shape: list[int], buffer: int, scales: object, zero_points: list[int]
) -> schema.TensorT:
    quantization = schema.QuantizationParametersT()
    quantization.scale = np.asarray(scales, np.float32)
    quantization.zeroPoint = np.asarray(zero_points, np.int64)
    quantization.quantizedDimension = 0
    tensor = schema.TensorT()
    tensor.name, tensor.type, tensor.shape, tensor.buffer = name, kind, shape, buffer
    tensor.quantization = quantization
    return tensor
