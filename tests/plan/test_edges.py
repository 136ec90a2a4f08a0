# SPDX-License-Identifier: Apache-2.0
"""Which output may lie on which operand, and at what distance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.geometry import (
    DIRECT,
    GATHER,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.kernels import PLAIN, executions
from harness.network import Layer, Network, Node, network_of
from harness.plan import Strategy
from harness.plan.edges import CHANNEL, REVERSED, Edge, edges_of, usual_execution
from harness.schema.constants import OpKind
from tests.plan.drawn import draw_network
from tests.plan.graphs import keras

SAME = Pad.same(1, 1)
VGG_CONV1_2 = ConvGeometry(224, 224, 64, 64, 3, 3, pad=SAME)
INCEPTION_POOL = ConvGeometry(35, 35, 192, 192, 3, 3, pad=SAME)
INCEPTION_STEM = ConvGeometry(147, 147, 32, 64, 3, 3, pad=SAME)
DEPTHWISE = ConvGeometry(147, 147, 128, 128, 3, 3, pad=SAME)
TWO = ElementwiseGeometry(3, 4, 5, 2)

# op, (strategy, operand, execution, gap, least distance, largest distance) of each edge
RIP = [
    (OpKind.CONV, VGG_CONV1_2, [(0, GATHER, 14_400, 14_400, None)]),
    (OpKind.CONV, INCEPTION_STEM, [(0, GATHER, 1_387_680 - 691_488, 696_192, None)]),
    (OpKind.AVERAGE_POOL, INCEPTION_POOL, [(0, DIRECT, 6_912, 6_912, None)]),
    (OpKind.MAX_POOL, ConvGeometry(8, 8, 5, 5, 2, 2, 2, 2), [(0, DIRECT, 0, 0, None)]),
    (OpKind.CONV, ConvGeometry(3, 3, 2, 3), [(0, GATHER, 8, 8, None)]),
    (OpKind.CONV, ConvGeometry(12, 12, 64, 16), [(0, GATHER, 0, 0, None)]),
    (OpKind.DEPTHWISE, DEPTHWISE, [(0, CHANNEL, 0, 0, 0)]),
    (OpKind.ADD, TWO, [(0, GATHER, 0, 0, None), (1, GATHER, 0, 0, None)]),
    (OpKind.MUL, replace(TWO, broadcast=True), [(0, GATHER, 0, 0, None)]),
    (OpKind.TABLE, ElementwiseGeometry(3, 4, 5), [(0, GATHER, 0, 0, None)]),
    (OpKind.SOFTMAX, ElementwiseGeometry(1, 1, 5), [(0, GATHER, 0, 0, None)]),
    # 72 in, 288 out: from end to end 216 = 288 - 72, so the bases meet
    (OpKind.UPSAMPLE, UpsampleGeometry(3, 4, 6), [(0, REVERSED, 216, None, 0)]),
    (OpKind.FULLY_CONNECTED, ConvGeometry(1, 1, 20, 10), []),
    (OpKind.CONCAT, ConcatGeometry(3, 4, (2, 6)), []),
    (OpKind.MEAN, MeanGeometry(3, 4, 8), []),
    (OpKind.PAD, PadGeometry(3, 4, 8, SAME), []),
]
EXTENDED = [
    # trailing padding is seen first: as much as the leading one
    (
        OpKind.CONV,
        VGG_CONV1_2,
        [(0, GATHER, 14_400, 14_400, None), (0, REVERSED, 14_400, None, -14_400)],
    ),
    (
        OpKind.CONCAT,
        ConcatGeometry(3, 4, (2, 6)),  # (pixels - 1) * (c_out - c) in either direction
        [
            (0, GATHER, 66, 68, None),
            (0, REVERSED, 66, None, 96 - 24 - 66 - 2),
            (1, GATHER, 22, 24, None),
            (1, REVERSED, 22, None, 0),
        ],
    ),
    (OpKind.TABLE, ElementwiseGeometry(3, 4, 5), [(0, GATHER, 0, 0, None), (0, REVERSED, 0, None, 0)]),
    (OpKind.MEAN, MeanGeometry(3, 4, 8), [(0, GATHER, 0, 0, None)]),
    (
        OpKind.UPSAMPLE,
        UpsampleGeometry(3, 4, 6),
        [(0, REVERSED, 216, None, 0), (0, GATHER, 216, 216, None)],
    ),
    (OpKind.DEPTHWISE, DEPTHWISE, [(0, CHANNEL, 0, 0, 0)]),
]  # fmt: skip


def _edges(kind: OpKind, geometry: Geometry, way: Strategy, **options: bool) -> list[object]:
    network = network_of(Layer("a", geometry, kind))
    return [_row(edge) for edge in edges_of(network, way, PLAIN, 4, **options)]


def _row(edge: Edge) -> tuple[int, Execution, int, int | None, int | None]:
    return edge.onto, edge.execution, edge.gap, edge.low, edge.high


@pytest.mark.parametrize(("kind", "geometry", "rows"), RIP)
def test_rip(kind: OpKind, geometry: Geometry, rows: list[object]) -> None:
    assert _edges(kind, geometry, Strategy.RIP) == rows
    assert _edges(kind, geometry, Strategy.DUAL) == []
    channel = [row for row in rows if row == (0, CHANNEL, 0, 0, 0)]
    assert _edges(kind, geometry, Strategy.BASELINE) == channel


@pytest.mark.parametrize(("kind", "geometry", "rows"), EXTENDED)
def test_extended(kind: OpKind, geometry: Geometry, rows: list[object]) -> None:
    assert sorted(map(str, _edges(kind, geometry, Strategy.EXTENDED))) == sorted(map(str, rows))


def test_depthwise_by_pixels() -> None:
    """(p_h W + p_w) C at stride 1; nothing at stride 2 without leading padding."""
    rows = _edges(OpKind.DEPTHWISE, DEPTHWISE, Strategy.RIP, spatial_depthwise=True)
    assert rows == [(0, GATHER, 18_944, 18_944, None)]
    down = ConvGeometry(8, 8, 4, 4, 3, 3, 2, 2, pad=Pad(0, 0, 1, 1))
    rows = _edges(OpKind.DEPTHWISE, down, Strategy.RIP, spatial_depthwise=True)
    assert rows == [(0, GATHER, 0, 0, None)]
    assert _edges(OpKind.DEPTHWISE, DEPTHWISE, Strategy.BASELINE, spatial_depthwise=True) == [
        (0, CHANNEL, 0, 0, 0)
    ]


def test_depthwise_that_overtakes_its_input_goes_by_pixels() -> None:
    """Padding beyond the kernel: more output rows than input rows are written before those are read."""
    wide = ConvGeometry(4, 4, 3, 3, pad=Pad.same(2, 2))
    ((_, way, gap, _, _),) = _edges(OpKind.DEPTHWISE, wide, Strategy.RIP)
    assert (way, gap) == (GATHER, (5 * 8 + 5) * 3 - 15 * 3)
    assert usual_execution(Layer("a", wide, OpKind.DEPTHWISE)) == GATHER
    assert _edges(OpKind.DEPTHWISE, wide, Strategy.BASELINE) == []


def _chain(*readers: tuple[int, ...], outputs: tuple[int, ...]) -> Network:
    """Ops on 3 x 4 x 5: of one operand a table, of two an add; op n makes tensor n + 1."""
    nodes = []
    for n, inputs in enumerate(readers):
        kind = OpKind.TABLE if len(inputs) == 1 else OpKind.ADD
        layer = Layer(f"op-{n}", replace(TWO, operands=len(inputs)), kind, "relu")
        nodes.append(Node(layer, inputs, n + 1))
    shapes = (TWO.output,) * (len(readers) + 1)
    return Network("chain", shapes, tuple(nodes), (0,), outputs)


def _pairs(network: Network, way: Strategy = Strategy.RIP) -> set[tuple[int, int]]:
    return {(edge.output, edge.source) for edge in edges_of(network, way, PLAIN, 4)}


def test_only_the_last_reader_may_overwrite() -> None:
    skip = _chain((0,), (1,), (0, 2), outputs=(3,))
    assert _pairs(skip) == {(2, 1), (3, 0), (3, 2)}


def test_an_output_of_the_network_is_never_overwritten() -> None:
    assert _pairs(_chain((0,), (1,), outputs=(1, 2))) == {(1, 0)}


def test_an_operand_that_is_read_twice_by_an_op_is_one_edge() -> None:
    network = _chain((0, 0), outputs=(1,))
    (edge,) = edges_of(network, Strategy.RIP, PLAIN, 4)
    assert (edge.onto, edge.source, edge.gap) == (0, 0, 0)
    gate = ElementwiseGeometry(1, 1, 5, 2, broadcast=True)  # the second place may not be shared
    layer = Layer("gate", gate, OpKind.MUL)
    network = Network("g", (gate.output,) * 2, (Node(layer, (0, 0), 1),), (0,), (1,))
    assert edges_of(network, Strategy.EXTENDED, PLAIN, 4) == ()


def test_concat_of_one_tensor_twice_takes_the_larger_gap() -> None:
    geometry = ConcatGeometry(3, 4, (2, 2))
    layer = Layer("twice", geometry, OpKind.CONCAT)
    shapes = (geometry.inputs[0], geometry.output)
    network = Network("t", shapes, (Node(layer, (0, 0), 1),), (0,), (1,))
    gaps = {edge.gap for edge in edges_of(network, Strategy.EXTENDED, PLAIN, 4)}
    assert gaps == {11 * 2}


@pytest.mark.parametrize("way", list(Strategy))
def test_every_execution_is_one_that_kernels_offer(way: Strategy) -> None:
    for network in (*map(draw_network, range(40)), keras("InceptionV3")):
        for edge in edges_of(network, way, PLAIN, 4):
            layer = network.nodes[edge.op].layer
            assert edge.execution in executions(layer.kind, layer.geometry)
        for node in network.nodes:
            offered = executions(node.layer.kind, node.layer.geometry) or (DIRECT,)
            assert usual_execution(node.layer) in offered
            assert usual_execution(node.layer, spatial_depthwise=True) in offered


@pytest.mark.parametrize("alignment", [4, 8, 16])
def test_distances_are_multiples_of_the_alignment_on_the_safe_side(alignment: int) -> None:
    for network in map(draw_network, range(40)):
        exact = edges_of(network, Strategy.EXTENDED, PLAIN, 1)
        for one, edge in zip(
            exact, edges_of(network, Strategy.EXTENDED, PLAIN, alignment), strict=True
        ):
            assert one.gap == edge.gap
            if edge.low is not None:
                assert one.low is not None
                assert one.low <= edge.low < one.low + alignment
                assert edge.low % alignment == 0
            if edge.high is not None:
                assert one.high is not None
                assert one.high - alignment < edge.high <= one.high
                assert edge.high % alignment == 0
