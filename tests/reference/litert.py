# SPDX-License-Identifier: Apache-2.0
"""LiteRT as an independent oracle: int8 models of one convolution, and running them (litert_ops.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Pad
from harness.reference import ConvParameters, quantize_multiplier
from harness.schema.constants import Rounding
from tests.reference.litert_ops import (
    Activation,
    Int8s,
    Kernels,
    Operator,
    Tensor,
    clamp,
    one_op_model,
    run_model,
    same_pads,
)

_ONE = np.float32(1)
_CONV_VERSION = 3  # of the operators: signed int8, per channel
_DEPTHWISE_VERSION = 3


@dataclass(frozen=True, eq=False)
class WindowModel(ABC):
    """A convolution, depthwise or not, as a .tflite file says it. Padding is SAME or VALID; scales
    are float32."""

    h_in: int
    w_in: int
    weights: Int8s  # shaped as the reference's parameters want it
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

    @property
    @abstractmethod
    def kernel(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def c_in(self) -> int: ...

    @abstractmethod
    def channel(self, index: int) -> Int8s:
        """A view of the weights of an output channel."""

    @abstractmethod
    def _filter(self) -> Tensor: ...

    @abstractmethod
    def _operator(self) -> Operator: ...

    def geometry(self) -> ConvGeometry:
        """Errors: ConfigError for a VALID kernel larger than the input."""
        top, bottom = self._pads(self.h_in, 0)
        left, right = self._pads(self.w_in, 1)
        return ConvGeometry(
            h_in=self.h_in, w_in=self.w_in, c_in=self.c_in, c_out=len(self.bias),
            k_h=self.kernel[0], k_w=self.kernel[1],
            s_h=self.strides[0], s_w=self.strides[1], d_h=self.dilations[0], d_w=self.dilations[1],
            pad=Pad(top, left, bottom, right),
        )  # fmt: skip

    def _pads(self, size: int, axis: int) -> tuple[int, int]:
        if not self.same:
            return 0, 0
        return same_pads(size, self.kernel[axis], self.strides[axis], self.dilations[axis])

    def real_multipliers(self) -> NDArray[np.float64]:
        """input scale * filter scale / output scale, in double as LiteRT computes it."""
        product = np.float64(self.input_scale) * self.filter_scales.astype(np.float64)
        return product / np.float64(self.output_scale)

    def parameters(self, rounding: Rounding) -> ConvParameters:
        quantized = [quantize_multiplier(float(real)) for real in self.real_multipliers()]
        low, high = clamp(self.activation, self.output_scale, self.output_zero_point)
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

    def flatbuffer(self) -> bytes:
        g = self.geometry()
        bias = Tensor((g.c_out,), self.filter_scales * self.input_scale, data=self.bias)
        x = Tensor((1, g.h_in, g.w_in, g.c_in), [self.input_scale], self.input_zero_point)
        y = Tensor((1, g.h_out, g.w_out, g.c_out), [self.output_scale], self.output_zero_point)
        return one_op_model(self._operator(), [x, self._filter(), bias], y)

    def _say_windows(self, options: schema.Conv2DOptionsT | schema.DepthwiseConv2DOptionsT) -> None:
        options.padding = schema.Padding.SAME if self.same else schema.Padding.VALID
        options.strideH, options.strideW = self.strides
        options.dilationHFactor, options.dilationWFactor = self.dilations
        options.fusedActivationFunction = self.activation.value


class ConvModel(WindowModel):
    """weights [c_out, k_h, k_w, c_in]."""

    @property
    def kernel(self) -> tuple[int, int]:
        return self.weights.shape[1], self.weights.shape[2]

    @property
    def c_in(self) -> int:
        return self.weights.shape[3]

    def channel(self, index: int) -> Int8s:
        return self.weights[index]

    def _filter(self) -> Tensor:
        return Tensor(self.weights.shape, self.filter_scales, data=self.weights)

    def _operator(self) -> Operator:
        options = schema.Conv2DOptionsT()
        self._say_windows(options)
        return Operator(schema.BuiltinOperator.CONV_2D, _CONV_VERSION, options)


@dataclass(frozen=True, eq=False)
class DepthwiseModel(WindowModel):
    """weights [k_h, k_w, c_out], c_out = depth_multiplier * c_in."""

    depth_multiplier: int = 1

    @property
    def kernel(self) -> tuple[int, int]:
        return self.weights.shape[0], self.weights.shape[1]

    @property
    def c_in(self) -> int:
        return self.weights.shape[2] // self.depth_multiplier

    def channel(self, index: int) -> Int8s:
        return self.weights[:, :, index]

    def _filter(self) -> Tensor:
        return Tensor((1, *self.weights.shape), self.filter_scales, data=self.weights, axis=3)

    def _operator(self) -> Operator:
        options = schema.DepthwiseConv2DOptionsT()
        self._say_windows(options)
        options.depthMultiplier = self.depth_multiplier
        return Operator(schema.BuiltinOperator.DEPTHWISE_CONV_2D, _DEPTHWISE_VERSION, options)


def run(model: WindowModel, kernels: Kernels, x: Int8s) -> Int8s:
    """x int8 [h_in, w_in, c_in] -> int8 [h_out, w_out, c_out].

    Errors: RuntimeError or ValueError of LiteRT, which will not run the model."""
    return run_model(model.flatbuffer(), kernels, x)
