# SPDX-License-Identifier: Apache-2.0
"""Small .tflite files of several ops, built with the schema that LiteRT carries, and LiteRT's reference
kernels on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

from tests.reference.litert_ops import Tensor

BUILTIN = schema.BuiltinOperator
FLOAT = schema.TensorType.FLOAT32


@dataclass
class Maker:
    """A model in the making. Methods answer tensor numbers."""

    seed: int = 0
    tensors: list[tuple[Tensor, int | None]] = field(default_factory=list)
    ops: list[tuple[int, int, Any, list[int], list[int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def tensor(
        self, *shape: int, scale: float = 0.05, zero_point: int = 3, kind: int | None = None
    ) -> int:
        """kind: another type than int8; float32 has no scale."""
        scales = [] if kind == FLOAT else [np.float32(scale)]
        self.tensors.append((Tensor(shape, scales, zero_point), kind))
        return len(self.tensors) - 1

    def constant(self, data: NDArray[Any], scales: Sequence[float] = (), axis: int = 0) -> int:
        values = np.array(scales, np.float32)
        self.tensors.append((Tensor(data.shape, values, data=data, axis=axis), None))
        return len(self.tensors) - 1

    def integers(self, *values: Any) -> int:
        return self.constant(np.array(values, np.int32))

    def op(
        self,
        builtin: int,
        inputs: list[int],
        output: int,
        options: Any = None,
        *,
        version: int = 2,
        **settings: Any,
    ) -> int:
        """settings: fields of `options`."""
        for name, value in settings.items():
            assert hasattr(options, name)
            setattr(options, name, value)
        self.ops.append((builtin, version, options, inputs, [output]))
        return output

    def conv(self, x: int, y: int, k: int = 3, bias: bool = True, **settings: Any) -> int:
        c_in, c_out = self.shape(x)[3], self.shape(y)[3]
        scales = self.rng.uniform(0.002, 0.006, c_out)
        weights = self.rng.integers(-127, 128, (c_out, k, k, c_in)).astype(np.int8)
        inputs = [x, self.constant(weights, list(scales))]
        if bias:
            values = self.rng.integers(-900, 900, c_out).astype(np.int32)
            inputs.append(self.constant(values, [1.0] * c_out))
        usual = {"padding": 1, "strideH": 1, "strideW": 1}
        options = schema.Conv2DOptionsT()
        return self.op(BUILTIN.CONV_2D, inputs, y, options, version=3, **{**usual, **settings})

    def depthwise(self, x: int, y: int, k: int = 3, **settings: Any) -> int:
        c = self.shape(y)[3]
        weights = self.rng.integers(-127, 128, (1, k, k, c)).astype(np.int8)
        filters = self.constant(weights, list(self.rng.uniform(0.004, 0.02, c)), axis=3)
        bias = self.constant(self.rng.integers(-900, 900, c).astype(np.int32), [1.0] * c)
        usual = {"padding": 0, "strideH": 1, "strideW": 1, "depthMultiplier": c // self.shape(x)[3]}
        options = schema.DepthwiseConv2DOptionsT()
        return self.op(
            BUILTIN.DEPTHWISE_CONV_2D, [x, filters, bias], y, options, version=3,
            **{**usual, **settings},
        )  # fmt: skip

    def fully_connected(self, x: int, y: int, n_in: int, **settings: Any) -> int:
        c = self.shape(y)[-1]
        weights = self.rng.integers(-127, 128, (c, n_in)).astype(np.int8)
        filters = self.constant(weights, [0.004])
        scale = float(self.tensors[x][0].scales[0]) * 0.004
        bias = self.constant(self.rng.integers(-900, 900, c).astype(np.int32), [scale])
        options = schema.FullyConnectedOptionsT()
        inputs = [x, filters, bias]
        return self.op(BUILTIN.FULLY_CONNECTED, inputs, y, options, version=4, **settings)

    def pad(self, x: int, y: int, *sides: tuple[int, int]) -> int:
        return self.op(BUILTIN.PAD, [x, self.integers(*sides)], y, schema.PadOptionsT())

    def pool(self, builtin: int, x: int, y: int, k: int, s: int, **settings: Any) -> int:
        usual = {"padding": 1, "strideH": s, "strideW": s, "filterHeight": k, "filterWidth": k}
        return self.op(builtin, [x], y, schema.Pool2DOptionsT(), **{**usual, **settings})

    def shape(self, tensor: int) -> tuple[int, ...]:
        return self.tensors[tensor][0].shape

    def file(self, inputs: list[int], outputs: list[int]) -> bytes:
        model = schema.ModelT()
        model.version = 3
        model.buffers = [schema.BufferT()]
        graph = schema.SubGraphT()
        graph.tensors = []
        for number, (tensor, kind) in enumerate(self.tensors):
            place = 0
            if tensor.data is not None:
                buffer = schema.BufferT()
                buffer.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
                place = len(model.buffers)
                model.buffers.append(buffer)
            encoded = tensor.encoded(f"t{number}", place)
            if kind is not None:
                encoded.type = kind
            graph.tensors.append(encoded)
        graph.inputs, graph.outputs, graph.operators = inputs, outputs, []
        model.operatorCodes = []
        for builtin, version, options, ins, outs in self.ops:
            code = schema.OperatorCodeT()
            code.builtinCode = builtin
            code.deprecatedBuiltinCode = min(builtin, 127)
            code.version = version
            node = schema.OperatorT()
            node.opcodeIndex = len(model.operatorCodes)
            model.operatorCodes.append(code)
            node.inputs, node.outputs = ins, outs
            if options is not None:
                name = type(options).__name__.removesuffix("T")
                node.builtinOptionsType = int(getattr(schema.BuiltinOptions, name))
                node.builtinOptions = options
            graph.operators.append(node)
        model.subgraphs = [graph]
        builder = flatbuffers.Builder(4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def run_reference(content: bytes, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """LiteRT's reference kernels: outputs in the file's order, as the file has them."""
    interpreter = Interpreter(
        model_content=content, experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        num_threads=1,
    )  # fmt: skip
    interpreter.allocate_tensors()
    for details, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], x.reshape(details["shape"]))
    interpreter.invoke()
    return [interpreter.get_tensor(one["index"]) for one in interpreter.get_output_details()]


def small_model(seed: int = 0) -> bytes:
    """Most of what the reader knows, in 16 ops: PAD, convolutions, pools, a residual, a gate, a table,
    upsampling, concatenation, a mean over transposed axes, fully connected, softmax, float ends."""
    m = Maker(seed)
    image = m.tensor(1, 8, 8, 3, kind=FLOAT)
    x = m.op(BUILTIN.QUANTIZE, [image], m.tensor(1, 8, 8, 3), schema.QuantizeOptionsT())
    bordered = m.pad(x, m.tensor(1, 10, 10, 3), (0, 0), (1, 1), (1, 1), (0, 0))
    a = m.conv(
        bordered, m.tensor(1, 4, 4, 6, zero_point=-128), strideH=2, strideW=2,
        fusedActivationFunction=3,
    )  # fmt: skip
    b = m.depthwise(a, m.tensor(1, 4, 4, 6, zero_point=-20), fusedActivationFunction=1)
    c = m.conv(b, m.tensor(1, 4, 4, 6), k=1)
    d = m.op(BUILTIN.ADD, [c, a], m.tensor(1, 4, 4, 6, scale=0.09), schema.AddOptionsT())
    small = m.pool(BUILTIN.MAX_POOL_2D, d, m.tensor(1, 2, 2, 6, scale=0.09), 2, 2)
    large = m.op(
        BUILTIN.RESIZE_NEAREST_NEIGHBOR, [small, m.integers(4, 4)],
        m.tensor(1, 4, 4, 6, scale=0.09), schema.ResizeNearestNeighborOptionsT(),
    )  # fmt: skip
    both = m.op(
        BUILTIN.CONCATENATION, [large, d], m.tensor(1, 4, 4, 12, scale=0.09),
        schema.ConcatenationOptionsT(), axis=3,
    )  # fmt: skip
    swished = m.op(
        BUILTIN.HARD_SWISH, [both], m.tensor(1, 4, 4, 12, scale=0.06, zero_point=-90),
        schema.HardSwishOptionsT(), version=1,
    )  # fmt: skip
    turned = m.op(
        BUILTIN.TRANSPOSE, [swished, m.integers(0, 3, 1, 2)],
        m.tensor(1, 12, 4, 4, scale=0.06, zero_point=-90), schema.TransposeOptionsT(),
    )  # fmt: skip
    row = m.op(
        BUILTIN.MEAN, [turned, m.integers(2, 3)], m.tensor(1, 12, scale=0.03),
        schema.ReducerOptionsT(),
    )  # fmt: skip
    out = m.fully_connected(row, m.tensor(1, 5, scale=0.02), 12)
    p = m.op(
        BUILTIN.SOFTMAX, [out], m.tensor(1, 5, scale=1 / 256, zero_point=-128),
        schema.SoftmaxOptionsT(), beta=1.0,
    )  # fmt: skip
    real = m.op(BUILTIN.DEQUANTIZE, [p], m.tensor(1, 5, kind=FLOAT), schema.DequantizeOptionsT())
    return m.file([image], [real])
