# SPDX-License-Identifier: Apache-2.0
"""Of plans with one peak the one whose ops run by quick kernels: set m33 has no reversed convolution."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import pytest

from harness.geometry import GATHER, ConvGeometry, ElementwiseGeometry, Execution, Pad, Shape
from harness.kernels import PLAIN, KernelTraits
from harness.kernels.cost import Limits
from harness.network import Layer, Network, Node, network_of
from harness.plan import NetworkPlan, Strategy, plan_network, slow_steps
from harness.plan.edges import edges_of
from harness.plan.problem import problem_of
from harness.plan.quicker import slow_edges, without
from harness.plan.solve import Budget, solve
from harness.schema.constants import OpKind, Traversal

M33 = KernelTraits("m33", "rp2350", Limits(scratch_bytes=2 << 10))  # steps of a row of these layers
REVERSE = Execution(traversal=Traversal.REVERSE)
ABOVE = Pad(2, 2, 0, 0)  # forward each output needs two rows that lie before it, reversed none
BELOW = Pad(0, 0, 2, 2)


def _window(pad: Pad, side: int = 8) -> Layer:
    return Layer("window", ConvGeometry(side, side, 8, 8, 3, 3, pad=pad))


def _chain(*layers: Layer) -> Network:
    nodes = tuple(Node(layer, (n,), n + 1) for n, layer in enumerate(layers))
    shapes = (layers[0].inputs[0], *(layer.output for layer in layers))
    return Network("chain", shapes, nodes, (0,), (len(layers),))


def _extended(network: Network, *, only_quick: bool = False) -> NetworkPlan:
    return plan_network(
        network, Strategy.EXTENDED, kernel=M33, shift_cost=math.inf, only_quick=only_quick
    )


def _ways(plan: NetworkPlan) -> list[Execution]:
    return [step.execution for step in plan.steps]


def test_the_peak_comes_first() -> None:
    """Reversed it needs no more than the 512 bytes of either tensor; forward, a row a step, the two rows
    above are read again for each: 2 * 8 * 8 bytes more."""
    network = network_of(_window(ABOVE))
    plan = _extended(network)
    assert (plan.peak, plan.lower_bound, plan.proof) == (512, 512, "bound")
    assert _ways(plan) == [REVERSE]
    (slow,) = slow_steps(plan)
    assert (slow.chosen.kernel.name, slow.quickest.kernel.name) == (
        "plain_conv_walk_gather",
        "m33_conv",
    )
    quick = _extended(network, only_quick=True)
    assert _ways(quick) == [GATHER] and slow_steps(quick) == ()
    assert quick.peak == 640


def test_of_one_peak_the_quick_one() -> None:
    """The last one could run reversed, too: 128 bytes or 256, it is below the first one's 512."""
    smaller = Layer("smaller", ConvGeometry(8, 8, 8, 8, s_h=2, s_w=2))
    plan = _extended(_chain(_window(ABOVE), smaller, _window(ABOVE, side=4)))
    assert plan.peak == 512
    assert _ways(plan) == [REVERSE, GATHER, GATHER]
    assert _ways(_extended(_chain(_window(BELOW), _window(BELOW)))) == [GATHER, GATHER]


def test_plain_kernels_are_quicker_forward_too() -> None:
    """Reversed they are one that does any traversal: 9 cycles a MAC, and 50 more an output. Either reads
    72 lines of weights, at 56 cycles."""
    layer = _window(BELOW)
    costs = [PLAIN.choose(layer.kind, layer.geometry, way).cycles for way in (GATHER, REVERSE)]
    assert costs == [512 * (9 * 72 + 140) + 72 * 56, 512 * (9 * 72 + 190) + 72 * 56]
    plan = plan_network(network_of(layer), Strategy.EXTENDED)
    assert (plan.peak, _ways(plan)) == (512, [GATHER])


def test_a_plain_kernel_is_slower_than_the_sets_own() -> None:
    """Also where the set does not say what its own takes."""
    ours = M33.choose(OpKind.ADD, ElementwiseGeometry(4, 4, 4, 2), GATHER)
    plain = M33.choose(OpKind.ADD, ElementwiseGeometry(4, 4, 4, 2), REVERSE)
    assert (ours.kernel.name, plain.kernel.name) == ("m33_add", "plain_add_double")
    assert (ours.cycles, plain.cycles) == (11_152, 16_128)
    assert plain.slower_than(ours) and not ours.slower_than(plain)
    assert not ours.slower_than(ours)


def _drawn(seed: int) -> Network:
    """Convolutions with padding on either side, some read again by an addition."""
    rng = random.Random(seed)
    shapes, nodes = [Shape(7, 7, rng.choice((4, 8)))], list[Node]()
    while len(nodes) < 5:
        source = rng.randrange(max(0, len(shapes) - 2), len(shapes))
        shape = shapes[source]
        pad = rng.choice((ABOVE, BELOW, Pad.same(1, 1)))
        same = [n for n, other in enumerate(shapes) if other == shape and n != source]
        if same and rng.random() < 0.4:
            geometry = ElementwiseGeometry(shape.h, shape.w, shape.c, 2)
            layer = Layer(f"op-{len(nodes)}", geometry, OpKind.ADD)
            inputs: tuple[int, ...] = (source, rng.choice(same))
        else:
            c_out = rng.choice((shape.c, shape.c, 4, 12))
            window = ConvGeometry(shape.h, shape.w, shape.c, c_out, 3, 3, pad=pad)
            layer, inputs = Layer(f"op-{len(nodes)}", window), (source,)
        nodes.append(Node(layer, inputs, len(shapes)))
        shapes.append(layer.output)
    read = {tensor for node in nodes for tensor in node.inputs}
    outputs = tuple(n for n in range(1, len(shapes)) if n not in read)
    return Network(f"drawn-{seed}", tuple(shapes), tuple(nodes), (0,), outputs)


SEEDS = [
    # in the last two one of several ops has to be slow, and no bound says which
    pytest.param((*range(8), 44, 131), id="some"),
    pytest.param(range(8, 150), id="many", marks=pytest.mark.extra),
]


@pytest.mark.parametrize("seeds", SEEDS)
def test_no_op_is_slow_that_need_not_be(seeds: Sequence[int]) -> None:
    """By trying every set of ops that may be slow, with the solver's proofs."""
    slow_ones = 0
    for seed in seeds:
        network = _drawn(seed)
        edges = edges_of(network, Strategy.EXTENDED, M33, 4)
        slow = slow_edges(network, M33, edges)
        problem = problem_of(network, edges, 4)
        peak = solve(problem, math.inf, Budget()).peak
        plan = _extended(network)
        assert plan.peak == peak
        used = {item.edge.op for item in slow_steps(plan)}
        slow_ones += len(used)
        ops = sorted({item.edge.op for item in slow})
        for count in range(len(used)):
            for kept in itertools.combinations(ops, count):
                gone = frozenset(item.edge for item in slow if item.edge.op not in kept)
                assert solve(without(problem, gone), math.inf, Budget()).peak > peak, (seed, kept)
    assert slow_ones >= len(seeds) // 4
