# SPDX-License-Identifier: Apache-2.0
"""Swish as one table."""

from __future__ import annotations

import pytest

from harness.geometry import ElementwiseGeometry
from harness.network import Layer, Network, Node
from harness.plan import Strategy, plan_network, with_tables
from harness.schema.constants import OpKind
from tests.plan.graphs import keras

ONE, TWO = ElementwiseGeometry(3, 4, 5), ElementwiseGeometry(3, 4, 5, 2)
GATE = Layer("gate", ONE, OpKind.TABLE, "logistic")
RELU = Layer("relu", ONE, OpKind.TABLE, "relu")
PRODUCT = Layer("product", TWO, OpKind.MUL)


def _network(*ops: tuple[Layer, tuple[int, ...]], outputs: tuple[int, ...]) -> Network:
    """Op n makes tensor n + 1."""
    nodes = tuple(Node(layer, inputs, n + 1) for n, (layer, inputs) in enumerate(ops))
    return Network("n", (ONE.output,) * (len(ops) + 1), nodes, (0,), outputs)


@pytest.mark.parametrize("operands", [(1, 2), (2, 1)])
def test_swish_becomes_a_table(operands: tuple[int, int]) -> None:
    """In the product's place, with its name; the tensor between is gone, later ones move down."""
    network = _network((RELU, (0,)), (GATE, (1,)), (PRODUCT, operands), (RELU, (3,)), outputs=(4,))
    found = with_tables(network)
    layer = Layer("product", ONE, OpKind.TABLE, "swish")
    assert found.nodes == (Node(RELU, (0,), 1), Node(layer, (1,), 2), Node(RELU, (2,), 3))
    assert (found.inputs, found.outputs, len(found.tensors)) == ((0,), (3,), 4)


@pytest.mark.parametrize(
    "network",
    [
        _network((GATE, (0,)), (PRODUCT, (0, 1)), outputs=(1, 2)),  # the gate is an output
        _network((GATE, (0,)), (PRODUCT, (0, 1)), (PRODUCT, (2, 1)), outputs=(3,)),  # read twice
        _network((RELU, (0,)), (GATE, (1,)), (PRODUCT, (0, 2)), outputs=(3,)),  # of another tensor
        _network((RELU, (0,)), (PRODUCT, (0, 1)), outputs=(2,)),
        _network((GATE, (0,)), (Layer("sum", TWO, OpKind.ADD), (0, 1)), outputs=(2,)),
        _network(
            (GATE, (0,)),
            (Layer("clamped", TWO, OpKind.MUL, activation="relu"), (0, 1)),
            outputs=(2,),
        ),
    ],
)
def test_what_is_no_swish_stays(network: Network) -> None:
    assert with_tables(network) is network


def test_squeeze_and_excitation_stays() -> None:
    """Of EfficientNet-B0's 242 ops 49 pairs are swishes; the gates of its 16 blocks stay."""
    network = keras("EfficientNetB0")
    found = with_tables(network)
    functions = [node.layer.function for node in found.nodes if node.layer.kind is OpKind.TABLE]
    assert (functions.count("swish"), len(found.nodes)) == (49, 242 - 49)
    assert functions.count("logistic") == 16
    assert found.macs < network.macs


def test_a_plan_of_extended_is_of_the_network_with_tables() -> None:
    network = _network((GATE, (0,)), (PRODUCT, (0, 1)), outputs=(2,))
    assert plan_network(network, Strategy.RIP).network is network
    plan = plan_network(network, Strategy.EXTENDED)
    assert plan.network == with_tables(network)
    assert (plan.peak, plan.steps[0].onto) == (60, 0)
