# SPDX-License-Identifier: Apache-2.0
"""An int8 .tflite file as a network with its weights.

Folded away: PAD into the convolution or pool that reads it (where the result is the same), RESHAPE and
its kin, TRANSPOSE as far as readers do not care, QUANTIZE of float inputs and DEQUANTIZE of outputs.
What is not supported is named with its number. Nothing in a file is trusted: every mistake is a
ConfigError with the file and the offset.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.errors import ConfigError
from harness.network.model import Model
from harness.network.modelfile import slug_of
from harness.network.network import Network
from harness.network.tflite_file import CONVERSION, FLOAT32, INT8, FileOp, TfliteFile, read_tflite
from harness.network.tflite_graph import Graph, View, quantisation_of
from harness.network.tflite_others import (
    concatenation,
    mean,
    of_one,
    of_two,
    pad,
    quantize,
    reshape,
    resize,
    softmax,
    transpose,
)
from harness.network.tflite_windows import (
    average_pool,
    conv,
    depthwise,
    fully_connected,
    max_pool,
)
from harness.schema.constants import OpKind

_READ: dict[str, Callable[[Graph, FileOp], None]] = {
    "CONV_2D": conv,
    "DEPTHWISE_CONV_2D": depthwise,
    "FULLY_CONNECTED": fully_connected,
    "AVERAGE_POOL_2D": average_pool,
    "MAX_POOL_2D": max_pool,
    "ADD": of_two(OpKind.ADD),
    "MUL": of_two(OpKind.MUL),
    "MEAN": mean,
    "LOGISTIC": of_one("logistic"),
    "HARD_SWISH": of_one("hard_swish"),
    "RELU": of_one("relu"),
    "RELU6": of_one("relu6"),
    "SOFTMAX": softmax,
    "CONCATENATION": concatenation,
    "RESIZE_NEAREST_NEIGHBOR": resize,
    "PAD": pad,
    "QUANTIZE": quantize,
    "RESHAPE": reshape,
    "SQUEEZE": reshape,
    "EXPAND_DIMS": reshape,
    "TRANSPOSE": transpose,
}


def load_tflite(path: Path) -> Model:
    """Errors: ConfigError for a file that is damaged, not int8, or has an op without a kernel."""
    return model_of(read_tflite(path), slug_of(path.stem))


def model_of(file: TfliteFile, slug: str) -> Model:
    graph = Graph(file, slug)
    entered, float_inputs = _inputs(graph)
    dequantized: dict[int, int] = {}  # of float outputs, the int8 tensors that they are
    for op in file.ops:
        if op.name == "QUANTIZE" and op.inputs and op.inputs[0] in entered:
            if entered[op.inputs[0]] != graph.output(op).index:
                raise op.fail("a float input that is quantized twice")
        elif op.name == "DEQUANTIZE":
            graph.view(op, 0)
            dequantized[graph.output(op).index] = op.inputs[0]
        elif op.name in _READ:
            _READ[op.name](graph, op)
        else:
            raise op.fail("not supported", "supported: " + ", ".join(sorted(_READ)))
    outputs = tuple(dequantized.get(index, index) for index in file.outputs)
    numbers = tuple(_leave(graph, index) for index in outputs)
    try:
        network = Network(
            slug,
            tuple(graph.tensors),
            tuple(graph.nodes),
            tuple(range(len(file.inputs))),
            numbers,
            file.name,
        )
    except ConfigError as error:
        raise ConfigError(f"{file.name}: {error.message}", evidence=error.evidence) from error
    inputs = [entered.get(index, index) for index in file.inputs]
    return Model(
        network,
        tuple(graph.facts),
        tuple(quantisation_of(file.tensors[index]) for index in inputs),
        tuple(quantisation_of(file.tensors[index]) for index in outputs),
        float_inputs,
        tuple(index in dequantized for index in file.outputs),
    )


def _inputs(graph: Graph) -> tuple[dict[int, int], tuple[bool, ...]]:
    """Of float inputs, the tensors that QUANTIZE makes of them; and which inputs are float."""
    file = graph.file
    if len(set(file.inputs)) != len(file.inputs):
        raise file.graph.fail("an input twice")
    quantized: dict[int, int] = {}
    for op in file.ops:
        if op.name == "QUANTIZE" and op.inputs and op.inputs[0] in file.inputs:
            quantized.setdefault(op.inputs[0], graph.output(op).index)
    floats = []
    for index in file.inputs:
        tensor = file.tensors[index]
        if tensor.type == INT8:
            quantized.pop(index, None)  # between two int8 tensors it is an op like others
        elif tensor.type != FLOAT32 or index not in quantized:
            raise tensor.fail(
                f"an input of {tensor.type_name}, which nothing quantizes", CONVERSION
            )
        floats.append(tensor.type == FLOAT32)
        inside = file.tensors[quantized.get(index, index)]
        quantisation_of(inside)
        graph.enter(inside)
    return quantized, tuple(floats)


def _leave(graph: Graph, index: int) -> int:
    """The tensor of the network that an output of the file is."""
    tensor = graph.file.tensors[index]
    quantisation_of(tensor)
    view: View | None = graph.views.get(index)
    if view is None:
        raise tensor.fail("an output that nothing makes")
    if not view.in_order or view.dimensions() != tensor.shape:
        raise tensor.fail("an output that is transposed, which is not supported")
    if view.pad.top or view.pad.left or view.pad.bottom or view.pad.right:
        raise tensor.fail("an output that is padded, which is not supported")
    return view.tensor
