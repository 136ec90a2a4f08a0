# SPDX-License-Identifier: Apache-2.0
"""The order of ops of the least bound: against all orders of small graphs, and the Keras graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.kernels import PLAIN
from harness.network import Network
from harness.plan import Reordered, Strategy, plan_network, reorder
from harness.plan.bound import lower_bound
from harness.plan.edges import edges_of
from harness.plan.problem import problem_of
from tests.plan.drawn import draw_network
from tests.plan.graphs import keras, keras_names, model


def bound_of(network: Network, strategy: Strategy) -> int:
    return lower_bound(problem_of(network, edges_of(network, strategy, PLAIN, 4), 4))


def orders(network: Network, done: tuple[int, ...] = ()) -> Iterator[Network]:
    """Every order that the graph allows."""
    if len(done) == len(network.nodes):
        yield replace(network, nodes=tuple(network.nodes[op] for op in done))
    there = {*network.inputs, *(network.nodes[op].output for op in done)}
    for op, node in enumerate(network.nodes):
        if op not in done and there.issuperset(node.inputs):
            yield from orders(network, (*done, op))


@pytest.mark.parametrize("strategy", [Strategy.DUAL, Strategy.RIP])
def test_no_order_needs_less(strategy: Strategy) -> None:
    changed = 0
    for seed in range(40):
        network = draw_network(seed, ops=6)
        found = reorder(network, strategy)
        least = min(bound_of(other, strategy) for other in orders(network))
        assert (found.exact, found.after) == (True, least)
        assert (found.before, bound_of(found.network, strategy)) == (
            bound_of(network, strategy),
            least,
        )
        assert found.changed == (found.network != network)
        changed += found.changed
    assert changed > 3


def test_xception() -> None:
    """The 1x1 shortcut of the first block that shrinks goes before its main branch."""
    network = keras("Xception")
    found = reorder(network, Strategy.RIP)
    assert (found.before, found.after, found.exact) == (4_148_928, 3_466_880, True)
    plan = plan_network(found.network, Strategy.RIP)
    assert (plan.peak, plan.proof) == (3_466_880, "bound")
    assert all(step.moved_to is None for step in plan.steps)
    assert sorted(node.layer.id for node in found.network.nodes) == sorted(
        node.layer.id for node in network.nodes
    )
    assert reorder(network, Strategy.DUAL).after == 6_232_832
    assert "changed, which needs 3,466,880 bytes instead of 4,148,928" in str(found)


def _kept(network: Network) -> Reordered:
    found = reorder(network, Strategy.RIP)
    assert (found.exact, found.changed, found.network) == (True, False, network)
    return found


def test_some_graphs_whose_order_is_the_best() -> None:
    for network in (keras("MobileNetV2"), keras("InceptionV3"), model("person-det")):
        found = _kept(network)
        assert found.states < 200
        assert "no order needs less" in str(found)


@pytest.mark.extra
def test_the_other_keras_graphs_are_in_their_best_order() -> None:
    names = [name for name in keras_names() if name != "Xception"]
    assert len(names) == 32
    assert max(_kept(keras(name)).states for name in names) == 1_005


def test_a_search_that_is_cut_off_keeps_the_order_and_says_so() -> None:
    network = keras("Xception")
    found = reorder(network, Strategy.RIP, most_work=150)
    assert (found.exact, found.changed, found.network) == (False, False, network)
    assert found.after == 4_148_928
    assert 10 < found.states < 104
    assert f"kept; the search ended at its limit, after {found.states} sets of ops" in str(found)


def test_a_hostile_graph_ends_in_bounded_work() -> None:
    """300 ops of which some hundred can go first: far too many sets, and each weighs them all."""
    found = reorder(draw_network(1, 300), Strategy.RIP, most_work=100_000)
    assert (found.exact, found.changed) == (False, False)
    assert found.states < 100_000
