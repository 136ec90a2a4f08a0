# SPDX-License-Identifier: Apache-2.0
"""Small .tflite files: what becomes of their ops, and that it computes what LiteRT computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from harness.case import quantised_parameters
from harness.errors import ConfigError
from harness.geometry import Pad
from harness.network import Model
from harness.network.tflite import model_of
from harness.network.tflite_file import TfliteFile
from harness.reference import ConvParameters, compute_network, quantize_multiplier
from harness.schema.constants import OpKind, Rounding
from tests.network.tflite_models import BUILTIN, FLOAT, Maker, run_reference, small_model

_ONES = ((0, 0), (1, 2), (2, 1), (0, 0))


def read(content: bytes) -> Model:
    return model_of(TfliteFile(content, "small.tflite"), "small")


def compare(content: bytes, seed: int) -> Model:
    """Every output of the network is LiteRT's, bit for bit."""
    model = read(content)
    network = model.network
    rng = np.random.default_rng(seed)
    inputs, fed = [], []
    for tensor, q, real in zip(network.inputs, model.inputs, model.float_inputs, strict=True):
        shape = network.tensors[tensor]
        x = rng.integers(-128, 128, shape.size).astype(np.int8)
        inputs.append(x)
        fed.append((x.astype(np.float32) - q.zero_point) * np.float32(q.scale) if real else x)
    tensors = compute_network(network, quantised_parameters(model), inputs)
    outputs = zip(network.outputs, model.outputs, model.float_outputs, strict=True)
    for (tensor, q, real), y in zip(outputs, run_reference(content, fed), strict=True):
        steps = np.rint(y / np.float32(q.scale)) + q.zero_point if real else y
        assert steps.ravel().tolist() == tensors[tensor].ravel().tolist()
    return model


@pytest.mark.parametrize("seed", range(20))
def test_a_small_network(seed: int) -> None:
    model = compare(small_model(seed), seed)
    assert [node.layer.kind.name for node in model.network.nodes] == [
        "CONV", "DEPTHWISE", "CONV", "ADD", "MAX_POOL", "UPSAMPLE", "CONCAT", "TABLE", "MEAN",
        "FULLY_CONNECTED", "SOFTMAX",
    ]  # fmt: skip
    assert model.network.nodes[0].layer.window.pad == Pad(1, 1, 1, 1)
    assert model.network.nodes[9].layer.rounding is Rounding.SINGLE
    assert [node.layer.activation for node in model.network.nodes[:3]] == ["relu6", "relu", "none"]
    assert (model.float_inputs, model.float_outputs) == ((True,), (True,))
    assert [node.layer.id for node in model.network.nodes][:2] == ["small.op0", "small.op1"]


@dataclass(frozen=True)
class Sample:
    """kinds: of the network's ops. build: answers inputs and outputs."""

    kinds: str
    build: Callable[[Maker], tuple[list[int], list[int]]]


def _samples() -> dict[str, Sample]:
    samples: dict[str, Sample] = {}

    def sample(kinds: str) -> Callable[[Any], Any]:
        def keep(build: Callable[[Maker], tuple[list[int], list[int]]]) -> Any:
            samples[build.__name__] = Sample(kinds, build)
            return build

        return keep

    @sample("CONV")
    def pad_into_valid(m: Maker) -> Any:
        x = m.tensor(1, 6, 7, 3)
        bordered = m.pad(x, m.tensor(1, 9, 10, 3), *_ONES)
        return [x], [m.conv(bordered, m.tensor(1, 4, 4, 5), strideH=2, strideW=2)]

    @sample("CONV")
    def pad_into_same(m: Maker) -> Any:
        x = m.tensor(1, 6, 7, 3)
        bordered = m.pad(x, m.tensor(1, 9, 10, 3), *_ONES)
        y = m.tensor(1, 5, 5, 4)
        return [x], [m.conv(bordered, y, padding=0, strideH=2, strideW=2)]

    @sample("DEPTHWISE")
    def pad_into_depthwise(m: Maker) -> Any:
        x = m.tensor(1, 6, 7, 3)
        bordered = m.pad(x, m.tensor(1, 9, 10, 3), *_ONES)
        return [x], [m.depthwise(bordered, m.tensor(1, 7, 8, 6), padding=1)]

    @sample("CONV")
    def dilated_same(m: Maker) -> Any:
        x = m.tensor(1, 6, 7, 3)
        y = m.tensor(1, 6, 7, 4)
        return [x], [m.conv(x, y, padding=0, dilationHFactor=2, dilationWFactor=3)]

    @sample("MAX_POOL")
    def pad_of_the_least_value_into_max_pool(m: Maker) -> Any:
        x = m.tensor(1, 6, 7, 3, zero_point=-128)
        bordered = m.pad(x, m.tensor(1, 8, 9, 3, zero_point=-128), (0, 0), (1, 1), (1, 1), (0, 0))
        y = m.tensor(1, 3, 4, 3, zero_point=-128)
        return [x], [m.pool(BUILTIN.MAX_POOL_2D, bordered, y, 3, 2)]

    @sample("PAD MAX_POOL")
    def pad_of_another_value_into_max_pool(m: Maker) -> Any:
        x = m.tensor(1, 6, 7, 3, zero_point=100)
        bordered = m.pad(x, m.tensor(1, 8, 9, 3, zero_point=100), (0, 0), (1, 1), (1, 1), (0, 0))
        y = m.tensor(1, 3, 4, 3, zero_point=100)
        return [x], [m.pool(BUILTIN.MAX_POOL_2D, bordered, y, 3, 2)]

    @sample("PAD MAX_POOL")
    def pad_beyond_the_window_into_max_pool(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3, zero_point=-128)
        bordered = m.pad(x, m.tensor(1, 8, 8, 3, zero_point=-128), (0, 0), (2, 2), (2, 2), (0, 0))
        y = m.tensor(1, 4, 4, 3, zero_point=-128)
        return [x], [m.pool(BUILTIN.MAX_POOL_2D, bordered, y, 2, 2)]

    @sample("PAD AVERAGE_POOL")
    def pad_into_average_pool(m: Maker) -> Any:
        """The border counts."""
        x = m.tensor(1, 6, 7, 3)
        bordered = m.pad(x, m.tensor(1, 8, 9, 3), (0, 0), (1, 1), (1, 1), (0, 0))
        return [x], [m.pool(BUILTIN.AVERAGE_POOL_2D, bordered, m.tensor(1, 3, 4, 3), 3, 2)]

    @sample("CONV PAD ADD")
    def pad_with_two_readers(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        bordered = m.pad(x, m.tensor(1, 6, 6, 3), (0, 0), (1, 1), (1, 1), (0, 0))
        y = m.conv(bordered, m.tensor(1, 6, 6, 3), padding=0)
        z = m.tensor(1, 6, 6, 3, scale=0.08)
        return [x], [m.op(BUILTIN.ADD, [y, bordered], z, schema.AddOptionsT())]

    @sample("PAD CONV")
    def two_pads(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        once = m.pad(x, m.tensor(1, 6, 6, 3), (0, 0), (1, 1), (1, 1), (0, 0))
        twice = m.pad(once, m.tensor(1, 8, 7, 3), (0, 0), (1, 1), (1, 0), (0, 0))
        return [x], [m.conv(twice, m.tensor(1, 6, 5, 3))]

    @sample("FULLY_CONNECTED")
    def reshape_into_fully_connected(m: Maker) -> Any:
        x = m.tensor(1, 3, 4, 5)
        row = m.op(
            BUILTIN.RESHAPE, [x, m.integers(1, 60)], m.tensor(1, 60), schema.ReshapeOptionsT(),
            version=1,
        )  # fmt: skip
        return [x], [m.fully_connected(row, m.tensor(1, 7), 60)]

    @sample("MUL")
    def gate_first(m: Maker) -> Any:
        gate, x = m.tensor(1, 1, 1, 5, scale=1 / 256, zero_point=-128), m.tensor(1, 3, 4, 5)
        y = m.tensor(1, 3, 4, 5, scale=0.03)
        return [gate, x], [m.op(BUILTIN.MUL, [gate, x], y, schema.MulOptionsT())]

    @sample("ADD")
    def the_same_twice(m: Maker) -> Any:
        x, y = m.tensor(1, 3, 4, 5), m.tensor(1, 3, 4, 5, scale=0.1, zero_point=-60)
        options = schema.AddOptionsT()
        return [x], [m.op(BUILTIN.ADD, [x, x], y, options, fusedActivationFunction=1)]

    @sample("AVERAGE_POOL MEAN")
    def means_one_after_the_other(m: Maker) -> Any:
        """As converters from NCHW write a global average."""
        x = m.tensor(1, 5, 3, 7)
        turned = m.op(
            BUILTIN.TRANSPOSE, [x, m.integers(0, 3, 1, 2)], m.tensor(1, 7, 5, 3),
            schema.TransposeOptionsT(),
        )  # fmt: skip
        options = schema.ReducerOptionsT
        once = m.op(BUILTIN.MEAN, [turned, m.integers(3)], m.tensor(1, 7, 5), options())
        return [x], [m.op(BUILTIN.MEAN, [once, m.integers(-1)], m.tensor(1, 7), options())]

    @sample("AVERAGE_POOL")
    def mean_over_columns(m: Maker) -> Any:
        x, y = m.tensor(1, 5, 3, 7), m.tensor(1, 5, 1, 7)
        return [x], [
            m.op(BUILTIN.MEAN, [x, m.integers(2)], y, schema.ReducerOptionsT(), keepDims=True)
        ]

    @sample("MEAN")
    def mean_of_one_row(m: Maker) -> Any:
        """An even number of values, but all of them."""
        x, y = m.tensor(1, 1, 4, 7), m.tensor(1, 1, 1, 7, scale=0.02)
        return [x], [
            m.op(BUILTIN.MEAN, [x, m.integers(2)], y, schema.ReducerOptionsT(), keepDims=True)
        ]

    @sample("TABLE")
    def between_two_scales(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 8, 8), m.tensor(1, 4, 8, 8, scale=0.031, zero_point=-7)
        return [x], [m.op(BUILTIN.QUANTIZE, [x], y, schema.QuantizeOptionsT())]

    @sample("TABLE")
    def logistic(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 8, 8), m.tensor(1, 4, 8, 8, scale=1 / 256, zero_point=-128)
        return [x], [m.op(BUILTIN.LOGISTIC, [x], y)]

    @sample("TABLE")
    def relu(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 8, 8), m.tensor(1, 4, 8, 8, scale=0.03, zero_point=-100)
        return [x], [m.op(BUILTIN.RELU, [x], y)]

    @sample("TABLE")
    def relu6(m: Maker) -> Any:
        x, y = m.tensor(1, 4, 8, 8), m.tensor(1, 4, 8, 8, scale=0.03, zero_point=-100)
        return [x], [m.op(BUILTIN.RELU6, [x], y)]

    @sample("SOFTMAX")
    def softmax_of_pixels(m: Maker) -> Any:
        x, y = m.tensor(1, 2, 3, 9), m.tensor(1, 2, 3, 9, scale=1 / 256, zero_point=-128)
        return [x], [m.op(BUILTIN.SOFTMAX, [x], y, schema.SoftmaxOptionsT(), beta=0.7)]

    @sample("UPSAMPLE")
    def upsample_with_half_pixels(m: Maker) -> Any:
        x, y = m.tensor(1, 2, 3, 4), m.tensor(1, 6, 6, 4)
        options = schema.ResizeNearestNeighborOptionsT()
        return [x], [
            m.op(
                BUILTIN.RESIZE_NEAREST_NEIGHBOR, [x, m.integers(6, 6)], y, options, version=3,
                halfPixelCenters=True,
            )
        ]  # fmt: skip

    @sample("TABLE TABLE TABLE")
    def squeezed_and_turned_without_effect(m: Maker) -> Any:
        x = m.tensor(1, 1, 1, 9)
        a = m.op(BUILTIN.RELU, [x], m.tensor(1, 1, 1, 9))
        flat = m.op(
            BUILTIN.SQUEEZE,
            [a],
            m.tensor(1, 9),
            schema.SqueezeOptionsT(),
            version=1,
            squeezeDims=[1, 2],
        )
        b = m.op(BUILTIN.RELU, [flat], m.tensor(1, 9, scale=0.06))
        up = m.op(
            BUILTIN.EXPAND_DIMS, [b, m.integers(1)], m.tensor(1, 1, 9, scale=0.06),
            schema.ExpandDimsOptionsT(), version=1,
        )  # fmt: skip
        turned = m.op(
            BUILTIN.TRANSPOSE, [up, m.integers(1, 0, 2)], m.tensor(1, 1, 9, scale=0.06),
            schema.TransposeOptionsT(),
        )  # fmt: skip
        return [x], [m.op(BUILTIN.RELU, [turned], m.tensor(1, 1, 9, scale=0.07))]

    @sample("CONV CONV")
    def several_outputs_in_another_order(m: Maker) -> Any:
        x = m.tensor(1, 4, 4, 3)
        a = m.conv(x, m.tensor(1, 2, 2, 3))
        b = m.conv(x, m.tensor(1, 4, 4, 2), k=1)
        real = m.op(BUILTIN.DEQUANTIZE, [b], m.tensor(1, 4, 4, 2, kind=FLOAT))
        return [x], [real, a]

    return samples


SAMPLES = _samples()


@pytest.mark.parametrize("name", SAMPLES)
def test_ops(name: str) -> None:
    for seed in range(5):
        m = Maker(seed)
        inputs, outputs = SAMPLES[name].build(m)
        model = compare(m.file(inputs, outputs), seed)
        kinds = " ".join(node.layer.kind.name for node in model.network.nodes)
        assert kinds == SAMPLES[name].kinds


@pytest.mark.parametrize("count", [2, 4, 5, 7])
def test_means_over_one_axis_that_round_in_another_way(count: int) -> None:
    """Can be planned, not run."""
    m = Maker()
    x, y = m.tensor(1, 3, count, 7), m.tensor(1, 3, 7)
    m.op(BUILTIN.MEAN, [x, m.integers(2)], y, schema.ReducerOptionsT())
    model = read(m.file([x], [y]))
    assert model.network.nodes[0].layer.kind is OpKind.AVERAGE_POOL
    with pytest.raises(ConfigError, match=f"of {count} values"):
        quantised_parameters(model)


def test_pads_add_up() -> None:
    m = Maker()
    inputs, outputs = SAMPLES["pad_into_same"].build(m)
    (node,) = read(m.file(inputs, outputs)).network.nodes
    # 9 rows: SAME adds 1 + 1 around the border 1, 2; 10 columns: 0 + 1 beside 2, 1
    assert node.layer.window.pad == Pad(2, 2, 3, 2)


def test_the_smaller_operand_is_the_second() -> None:
    m = Maker()
    inputs, outputs = SAMPLES["gate_first"].build(m)
    model = read(m.file(inputs, outputs))
    assert model.network.nodes[0].inputs == (1, 0)
    assert model.facts[0].inputs[1].zero_point == -128


def test_a_bias_may_be_left_out() -> None:
    m = Maker()
    x = m.tensor(1, 4, 4, 3)
    y = m.conv(x, m.tensor(1, 2, 2, 3), bias=False)
    (facts,) = read(m.file([x], [y])).facts
    assert facts.bias is not None
    assert facts.bias.tolist() == [0, 0, 0]


def test_one_filter_scale_is_that_of_all() -> None:
    m = Maker()
    x = m.tensor(1, 5)
    model = read(m.file([x], [m.fully_connected(x, m.tensor(1, 3), 5)]))
    assert model.facts[0].filter_scales is not None
    assert model.facts[0].filter_scales.tolist() == [float(np.float32(0.004))] * 3
    assert model.network.nodes[0].layer.kind is OpKind.FULLY_CONNECTED


def test_a_reshape_may_say_another_scale_of_the_same_bytes() -> None:
    """As the published MCUNet-in3 has it: the reader's scale counts."""
    m = Maker()
    x = m.tensor(1, 2, 3, 4, scale=0.05, zero_point=3)
    row = m.tensor(1, 24, scale=0.04, zero_point=-9)
    m.op(BUILTIN.RESHAPE, [x, m.integers(1, 24)], row, schema.ReshapeOptionsT(), version=1)
    model = read(m.file([x], [m.fully_connected(row, m.tensor(1, 3), 24)]))
    assert (model.inputs[0].zero_point, model.facts[0].inputs[0].zero_point) == (3, -9)


def test_multipliers_are_quotients_in_double() -> None:
    """In float32 some would have another last bit."""
    m = Maker()
    x = m.tensor(1, 4, 4, 3, scale=0.0517)
    model = read(m.file([x], [m.conv(x, m.tensor(1, 2, 2, 40, scale=0.0313))]))
    (p,), (facts,) = quantised_parameters(model), model.facts
    assert isinstance(p, ConvParameters)
    assert facts.filter_scales is not None
    single = np.float32(facts.inputs[0].scale) * facts.filter_scales / np.float32(0.0313)
    scales = [float(s) for s in facts.filter_scales]
    exact = [facts.inputs[0].scale * s / facts.output.scale for s in scales]
    wanted = [quantize_multiplier(real) for real in exact]
    assert list(zip(p.multiplier.tolist(), p.shift.tolist(), strict=True)) == wanted
    assert wanted != [quantize_multiplier(float(real)) for real in single]
