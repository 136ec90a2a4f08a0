# SPDX-License-Identifier: Apache-2.0
"""Table 3: the memory columns of the eleven deployed models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.errors import BoundViolation
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.network import Layer, Network, Node
from harness.plan import Placer, Strategy, check_plan, plan_network, tinyengine_peak
from harness.schema.constants import OpKind
from tests.plan.graphs import model

# name, peaks in bytes: dual (the optimum), Base, RiP; dual by first fit; the kernels' own buffer
TABLE_3 = [
    ("mcunet-in0", 46_080, 46_080, 36_864, 46_080, 3_984),
    ("mcunet-in1", 92_160, 92_160, 73_728, 92_160, 5_864),
    ("mcunet-in2", 332_800, 204_800, 179_200, 332_800, 14_976),
    ("mcunet-in3", 340_736, 247_808, 185_856, 371_712, 18_536),
    ("mcunet-in4", 422_400, 409_600, 307_200, 512_000, 16_520),
    ("mbv2-w0.35", 311_040, 290_304, 248_832, 311_040, 11_816),
    ("proxyless-w0.3", 247_808, 247_808, 185_856, 309_760, 17_792),
    ("mcunet-vww0", 61_440, 57_344, 49_152, 61_440, 3_456),
    ("mcunet-vww1", 96_000, 89_600, 76_800, 96_000, 4_392),
    ("mcunet-vww2", 269_568, 165_888, 145_152, 269_568, 11_816),
    ("person-det", 245_760, 245_760, 163_840, 245_760, 11_688),
]
SPATIAL = [
    ("mcunet-in3", 196_656), ("mcunet-in4", 309_168), ("person-det", 163_840),
    ("mcunet-vww1", 76_800), ("mcunet-vww0", 49_968),
]  # fmt: skip
PICO_1 = 262_144
_REST = 7_964 + 2_048  # static data and stack of the paper's firmware


@pytest.mark.parametrize(("name", "dual", "base", "rip", "first_fit", "buffer"), TABLE_3)
def test_peaks(name: str, dual: int, base: int, rip: int, first_fit: int, buffer: int) -> None:
    network = model(name)
    for way, peak in ((Strategy.DUAL, dual), (Strategy.BASELINE, base), (Strategy.RIP, rip)):
        plan = plan_network(network, way)
        assert (plan.peak, plan.lower_bound, plan.proof) == (peak, peak, "bound")
        assert all(step.moved_to is None for step in plan.steps)
    plan = plan_network(network, Strategy.BASELINE, placer=Placer.FIRST_FIT)
    assert (plan.peak, plan.proof) == (base, "bound")
    assert tinyengine_peak(network) == base
    plan = plan_network(network, Strategy.DUAL, placer=Placer.FIRST_FIT)
    assert (plan.peak, plan.proof) == (first_fit, "bound" if first_fit == dual else None)
    fits = base + buffer + _REST <= PICO_1, rip + buffer + _REST <= PICO_1
    six = ("in0", "in1", "in2", "vww0", "vww1", "vww2")
    nine = (*six, "in3", "less-w0.3", "det")
    assert fits == (name.endswith(six), name.endswith(nine))


def test_margins_on_a_pico_1() -> None:
    """What RiP leaves free on the three models that only it fits, as the paper says."""
    rows = {name: (base, rip, buffer) for name, _, base, rip, _, buffer in TABLE_3}
    free = {
        name: PICO_1 - _REST - rip - buffer
        for name, (base, rip, buffer) in rows.items()
        if base + buffer + _REST > PICO_1 >= rip + buffer + _REST
    }
    assert free == {"mcunet-in3": 47_740, "proxyless-w0.3": 48_484, "person-det": 76_604}


@pytest.mark.parametrize(("name", "peak"), SPATIAL)
def test_depthwise_by_pixels(name: str, peak: int) -> None:
    plan = plan_network(model(name), Strategy.RIP, spatial_depthwise=True)
    assert (plan.peak, plan.proof) == (peak, "bound")


def _odd_plane() -> Network:
    """A depthwise convolution of stride 2 over 5 x 5, whose output has 9 pixels and not 25 / 4, and
    behind it two tensors twice as large."""
    down = ConvGeometry(5, 5, 16, 16, 3, 3, 2, 2, pad=Pad.same(1, 1))
    wide = ConvGeometry(3, 3, 16, 32)
    layers = [
        Layer("down", down, OpKind.DEPTHWISE),
        Layer("wide", wide),
        Layer("act", ElementwiseGeometry(3, 3, 32), OpKind.TABLE, "relu"),
    ]
    shapes = (down.inputs[0], down.output, wide.output, wide.output)
    nodes = tuple(Node(layer, (n,), n + 1) for n, layer in enumerate(layers))
    return Network("odd", shapes, nodes, (0,), (3,))


def test_the_quarter_rule_is_too_small_for_an_odd_plane() -> None:
    """400 bytes in, 144 out, counted as 100, and then two of 288, each above the one before."""
    network = _odd_plane()
    plan = plan_network(network, Strategy.BASELINE, placer=Placer.FIRST_FIT)
    assert (plan.offsets, plan.peak) == ((0, 0, 144, 144 + 288), 144 + 288 + 288)
    assert tinyengine_peak(network) == 100 + 288 + 288
    quartered = replace(plan, offsets=(0, 0, 100, 388), peak=676)
    with pytest.raises(BoundViolation):
        check_plan(quartered)


def test_baseline_lays_depthwise_onto_its_input_and_nothing_else() -> None:
    network = model("mcunet-in2")
    for placer in Placer:
        plan = plan_network(network, Strategy.BASELINE, placer=placer)
        shared = [step for step in plan.steps if step.onto is not None]
        assert shared
        for step in shared:
            node = network.nodes[step.ops[0]]
            assert node.layer.kind is OpKind.DEPTHWISE
            assert plan.offsets[node.inputs[0]] == plan.offsets[node.output]
    first_fit = plan_network(network, Strategy.BASELINE, placer=Placer.FIRST_FIT)
    kinds = [node.layer.kind for node in network.nodes]
    laid = [step.onto is not None for step in first_fit.steps]
    assert laid == [kind is OpKind.DEPTHWISE for kind in kinds]
