# SPDX-License-Identifier: Apache-2.0
"""Drawn weights of whole networks: always the same, consistent from op to op, and no tensor saturated
or flat, on the input that they were calibrated on and on another."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
import pytest

from harness.case import draw_network_parameters, generate_input
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, MeanGeometry, Pad, Shape
from harness.network import Layer, Network, Node, load_network, model_files
from harness.network.shapes import Window, geometry_of
from harness.reference import (
    AddParameters,
    ConvParameters,
    MeanParameters,
    MoveParameters,
    MulParameters,
    Parameters,
    PoolParameters,
    TableParameters,
    compute_network,
)
from harness.schema.constants import OpKind, Rounding

MODELS = [name for name, path in model_files().items() if path.suffix == ".yaml"]
_LEAST_INSIDE, _LEAST_DISTINCT = 0.9, 100
DIGEST_IN0, OUTPUT_IN0 = 0xFB15EF3C, 0xE1D96125
_FILTERS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.FULLY_CONNECTED)


def _shipped(name: str) -> Network:
    made = load_network(name)
    assert isinstance(made, Network)
    return made


def _inputs(network: Network, seed: int) -> list[np.ndarray]:
    return [generate_input(seed + t, network.tensors[t].size) for t in network.inputs]


@cache
def _computed(name: str, seed: int) -> list[np.ndarray]:
    network = _shipped(name)
    return compute_network(network, draw_network_parameters(network), _inputs(network, seed))


@pytest.mark.parametrize("seed", [1, 1000])
@pytest.mark.parametrize("name", MODELS)
def test_no_tensor_is_saturated_or_flat(name: str, seed: int) -> None:
    network = _shipped(name)
    for number, values in enumerate(_computed(name, seed)):
        inside = ((values > -128) & (values < 127)).mean()
        assert inside >= _LEAST_INSIDE, (number, inside)
        if values.size > _LEAST_DISTINCT:
            assert len(np.unique(values)) > _LEAST_DISTINCT, (number, network.tensors[number])


@pytest.mark.parametrize("name", MODELS)
def test_another_input_gives_another_value_of_every_tensor(name: str) -> None:
    """In a third of its scalars at least: no op forgets what it read."""
    for a, b in zip(_computed(name, 1), _computed(name, 1000), strict=True):
        assert (a != b).mean() > 1 / 3


@pytest.mark.parametrize("name", MODELS)
def test_clamps_are_inside(name: str) -> None:
    """RELU6 from zero point to ceiling, both reached, neither by the most."""
    network = _shipped(name)
    parameters = draw_network_parameters(network)
    tensors = _computed(name, 1)
    seen = 0
    for node, p in zip(network.nodes, parameters, strict=True):
        if node.layer.activation == "relu6":
            assert isinstance(p, ConvParameters)
            assert (p.activation_min, p.activation_max) == (-100, 100)
            values = tensors[node.output]
            assert values.min() == -100
            assert 0.01 < (values == -100).mean() < 0.4
            assert (values == 100).mean() < 0.2
            seen += 1
    assert seen > 10


def _zero_points(p: Parameters) -> tuple[tuple[int | None, ...], int | None]:
    """Of the operands and of the output, where the parameters say."""
    match p:
        case ConvParameters() | MeanParameters():
            return (p.input_zero_point,), p.output_zero_point
        case AddParameters() | MulParameters():
            return (p.zero_point_1, p.zero_point_2), p.output_zero_point
        case MoveParameters():
            return (p.zero_point,) * 4, p.zero_point
    return (None,) * 4, None


@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_has_one_zero_point(name: str) -> None:
    """Of its maker and of all its readers; pools and upsampling hand it on."""
    network = _shipped(name)
    known: dict[int, int] = {}
    for node, p in zip(network.nodes, draw_network_parameters(network), strict=True):
        reads, makes = _zero_points(p)
        if isinstance(p, PoolParameters | MoveParameters) and node.inputs[0] in known:
            known[node.output] = known[node.inputs[0]]
        for tensor, zero in zip(node.inputs, reads, strict=False):
            if zero is not None:
                assert known.setdefault(tensor, zero) == zero, (node.layer.id, tensor)
        if makes is not None:
            assert known.setdefault(node.output, makes) == makes, node.layer.id


def _digest(parameters: tuple[Parameters, ...]) -> int:
    crc = 0
    for p in parameters:
        for value in vars(p).values():
            data = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            crc = zlib.crc32(data, crc)
    return crc


def test_they_never_change() -> None:
    """A history compares runs of them over years: another value is another model."""
    network = _shipped("mcunet-in0")
    drawn = draw_network_parameters(network)
    draw_network_parameters.cache_clear()
    assert _digest(draw_network_parameters(network)) == _digest(drawn) == DIGEST_IN0
    assert zlib.crc32(_computed("mcunet-in0", 1)[-1].tobytes()) == OUTPUT_IN0


# ---- every operator ----


class Chain:
    """A network in the making, over tensors of 8 x 8."""

    def __init__(self) -> None:
        self.tensors = [Shape(8, 8, 6)]
        self.nodes: list[Node] = []

    def add(
        self,
        kind: OpKind,
        inputs: tuple[int, ...],
        output: tuple[int, int, int],
        window: Window | None = None,
        **labels: str,
    ) -> int:
        shapes = [self.tensors[n] for n in inputs]
        geometry = geometry_of(kind, shapes, Shape(*output), window)
        rounding = Rounding.SINGLE if kind is OpKind.FULLY_CONNECTED else Rounding.DOUBLE
        layer = Layer(f"chain.op{len(self.nodes)}", geometry, kind, rounding=rounding, **labels)
        self.tensors.append(Shape(*output))
        self.nodes.append(Node(layer, inputs, len(self.tensors) - 1))
        return len(self.tensors) - 1

    def network(self, *outputs: int) -> Network:
        return Network("chain", tuple(self.tensors), tuple(self.nodes), (0,), outputs)


_SAME = Window((3, 3), pad=Pad(1, 1, 1, 1))
_EIGHT = (8, 8, 6)


def _every_operator() -> Network:
    c = Chain()
    a = c.add(OpKind.CONV, (0,), _EIGHT, _SAME)
    gate = c.add(OpKind.TABLE, (a,), _EIGHT, function="logistic")
    b = c.add(OpKind.MUL, (a, gate), _EIGHT)
    d = c.add(OpKind.DEPTHWISE, (b,), _EIGHT, _SAME, activation="relu")
    e = c.add(OpKind.TABLE, (d,), _EIGHT, function="hard_swish")
    f = c.add(OpKind.ADD, (e, b), _EIGHT)
    g = c.add(OpKind.AVERAGE_POOL, (f,), _EIGHT, _SAME)
    h = c.add(OpKind.CONV, (f,), (8, 8, 5), activation="relu6")
    i = c.add(OpKind.CONCAT, (g, h), (8, 8, 11))
    j = c.add(OpKind.PAD, (i,), (9, 10, 11), Window(pad=Pad(1, 1, 0, 1)))
    k = c.add(OpKind.MAX_POOL, (j,), (4, 5, 11), Window((2, 2), (2, 2)))
    m = c.add(OpKind.UPSAMPLE, (k,), (8, 10, 11), Window(s=(2, 2)))
    n = c.add(OpKind.TABLE, (m,), (8, 10, 11), function="relu")
    o = c.add(OpKind.CLAMP, (n,), (8, 10, 11), activation="relu6")
    p = c.add(OpKind.TABLE, (o,), (8, 10, 11), function="swish")
    q = c.add(OpKind.TABLE, (p,), (8, 10, 11), function="relu6")
    r = c.add(OpKind.MEAN, (q,), (1, 1, 11))
    s = c.add(OpKind.FULLY_CONNECTED, (r,), (1, 1, 9))
    t = c.add(OpKind.SOFTMAX, (s,), (1, 1, 9))
    return c.network(t)


def test_every_operator() -> None:
    network = _every_operator()
    assert {node.layer.kind for node in network.nodes} == set(OpKind) - {
        OpKind.MOVE,
        OpKind.SEGMENT,
    }
    parameters = draw_network_parameters(network)
    tensors = compute_network(network, parameters, _inputs(network, 3))
    for node, p in zip(network.nodes, parameters, strict=True):
        values = tensors[node.output]
        assert values.shape == (node.layer.output.h, node.layer.output.w, node.layer.output.c)
        if values.size > 300:
            inside = ((values > -128) & (values < 127)).mean()
            assert inside > 0.8 or node.layer.function == "relu6", (node.layer.id, p)
            assert len(np.unique(values)) > 20, node.layer.id


def test_operands_of_a_concatenation_have_one_scale() -> None:
    network = _every_operator()
    parameters = draw_network_parameters(network)
    add, conv, concat = parameters[5], parameters[7], parameters[8]
    assert isinstance(add, AddParameters)
    assert isinstance(conv, ConvParameters)
    assert isinstance(concat, MoveParameters)
    assert add.output_zero_point == conv.output_zero_point == concat.zero_point


def test_swish_is_what_its_two_ops_are() -> None:
    """One table in the place of LOGISTIC and MUL changes no value of any later tensor."""
    two, one = Chain(), Chain()
    a = two.add(OpKind.CONV, (0,), _EIGHT, _SAME)
    gate = two.add(OpKind.TABLE, (a,), _EIGHT, function="logistic")
    b = two.add(OpKind.MUL, (a, gate), _EIGHT)
    last = two.add(OpKind.CONV, (b,), (8, 8, 7))
    one.add(OpKind.CONV, (0,), _EIGHT, _SAME)
    one.add(OpKind.TABLE, (1,), _EIGHT, function="swish")
    one.add(OpKind.CONV, (2,), (8, 8, 7))
    final = one.nodes[-1]
    layer = Layer(**{**vars(final.layer), "id": two.nodes[-1].layer.id})
    one.nodes[-1] = Node(layer, final.inputs, final.output)
    apart, together = two.network(last), one.network(3)
    x = _inputs(apart, 5)
    seen = compute_network(apart, draw_network_parameters(apart), x)
    got = compute_network(together, draw_network_parameters(together), x)
    assert seen[b].tolist() == got[2].tolist()
    assert seen[last].tolist() == got[3].tolist()
    assert isinstance(draw_network_parameters(together)[1], TableParameters)


def test_what_no_kernel_computes() -> None:
    c = Chain()
    a = c.add(OpKind.TABLE, (0,), _EIGHT, function="affine")
    with pytest.raises(ConfigError, match="no kernel computes 'affine'"):
        draw_network_parameters(c.network(a))


def test_other_numbers_of_parameters_or_inputs() -> None:
    network = _every_operator()
    parameters = draw_network_parameters(network)
    x = _inputs(network, 1)
    with pytest.raises(ConfigError, match="18 parameters for 19 ops"):
        compute_network(network, parameters[1:], x)
    with pytest.raises(ConfigError, match="2 inputs for 1"):
        compute_network(network, parameters, [*x, *x])
    with pytest.raises(ConfigError, match="an input of 383 int8 where 8x8x6 is due"):
        compute_network(network, parameters, [x[0][1:]])
    with pytest.raises(ConfigError, match="an input of 384 int16"):
        compute_network(network, parameters, [x[0].astype(np.int16)])


@pytest.mark.parametrize("pixels", [1, 2, 3, 4, 8, 9])
def test_few_pixels(pixels: int) -> None:
    """One pixel has no deviation of a channel: the tensor's is taken."""
    shape = Shape(1, pixels, 40)
    geometry = ConvGeometry(1, pixels, 40, 200)
    layer = Layer(f"few.op{pixels}", geometry)
    network = Network("few", (shape, geometry.output), (Node(layer, (0,), 1),), (0,), (1,))
    (p,) = draw_network_parameters(network)
    for seed in (1, 2):
        values = compute_network(network, (p,), _inputs(network, seed))[1]
        assert ((values > -128) & (values < 127)).mean() > 0.8
        assert len(np.unique(values)) > 80


def test_dead_inputs_divide_by_nothing() -> None:
    """A constant tensor: a mean of one value, added to itself; nothing is infinite."""
    c = Chain()
    a = c.add(OpKind.MEAN, (0,), (1, 1, 6))
    b = c.add(OpKind.CONV, (a,), (1, 1, 1))
    d = c.add(OpKind.ADD, (b, b), (1, 1, 1))
    e = c.add(OpKind.MUL, (d, d), (1, 1, 1))
    f = c.add(OpKind.TABLE, (e,), (1, 1, 1), function="relu")
    network = c.network(f)
    tensors = compute_network(network, draw_network_parameters(network), _inputs(network, 1))
    assert [t.size for t in tensors[1:]] == [6, 1, 1, 1, 1]
    assert isinstance(c.nodes[0].layer.geometry, MeanGeometry)
    assert isinstance(c.nodes[2].layer.geometry, ElementwiseGeometry)


def test_filters_are_drawn_from_the_layer_s_id() -> None:
    network = _shipped("mcunet-in0")
    (first, *_) = draw_network_parameters(network)
    assert isinstance(first, ConvParameters)
    rng = np.random.default_rng(network.nodes[0].layer.weight_seed)
    wanted = rng.integers(-127, 128, (24, 3, 3, 3))
    assert first.weights.tolist() == wanted.tolist()
    assert {n.layer.kind for n in network.nodes} & set(_FILTERS)
