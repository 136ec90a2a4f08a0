# SPDX-License-Identifier: Apache-2.0
"""Which ops of a network may be a segment, and the theorem on all that may."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.geometry.segment import Segment, Stage
from harness.network import Layer, Network, Node
from harness.plan import FUSED_KERNELS, RingForm
from harness.plan.segments import Fused, fuse
from harness.schema.constants import STAGES_MAX, OpKind
from tests.bounds.test_fused import bottleneck, check
from tests.plan.graphs import model
from tests.plan.test_fused import PEAKS, fused, segments

CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD


def fusable(network: Network) -> list[Fused]:
    """Every run of at most STAGES_MAX ops that is a segment."""
    ops = len(network.nodes)
    runs = [
        range(first, end)
        for first in range(ops)
        for end in range(first + 2, min(first + STAGES_MAX, ops) + 1)
    ]
    return [found for run in runs if (found := fuse(network, run)) is not None]


@pytest.mark.parametrize("name", ["mcunet-in0", "person-det"])
def test_the_theorem_on_segments_of_models(name: str) -> None:
    found = fusable(model(name))
    assert sum(check(one.segment) for one in found) >= len(found) > 100


@pytest.mark.extra
def test_the_theorem_on_every_segment_of_the_eleven_models() -> None:
    found = [one for name, *_ in PEAKS for one in fusable(model(name))]
    assert sum(check(one.segment) for one in found) >= len(found) == 3_546


def residual(readers: tuple[int, ...] = (), outputs: tuple[int, ...] = (4,)) -> Network:
    """Expand 8x8x2 to 4, depthwise, project, add; readers: of tensors, by ops at the end."""
    block = bottleneck(8, 2, 4, 2, 3, 1)
    layers = [Layer(f"op{n}", s.window, s.kind) for n, s in enumerate(block.stages)]
    layers.append(Layer("add", ElementwiseGeometry(8, 8, 2, 2), ADD))
    inputs = [(0,), (1,), (2,), (3, 0)]
    shapes = [layers[0].inputs[0], *(layer.output for layer in layers)]
    for tensor in readers:
        layers.append(Layer(f"more{tensor}", ConvGeometry(8, 8, shapes[tensor].c, 1)))
        inputs.append((tensor,))
        shapes.append(layers[-1].output)
    nodes = tuple(
        Node(layer, operands, n + 1)
        for n, (layer, operands) in enumerate(zip(layers, inputs, strict=True))
    )
    return Network("residual", tuple(shapes), nodes, (0,), outputs)


def test_a_block_with_its_add() -> None:
    found = fuse(residual(), range(4))
    assert found is not None
    assert found.segment == bottleneck(8, 2, 4, 2, 3, 1, adds=True)
    assert (found.operands, found.inner) == ((0,), {1, 2, 3})
    assert found.tensors == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}


def test_what_is_added_from_outside() -> None:
    """Depthwise, project, add: X is the expanded tensor, the block's input comes from outside."""
    found = fuse(residual(), range(1, 4))
    assert found is not None
    assert found.operands == (1, 0)
    assert found.segment.stages[-1] == Stage(ADD, ConvGeometry(8, 8, 2, 2), -1)


def test_a_tensor_that_somebody_outside_reads_is_not_inside() -> None:
    for tensor in (1, 2, 3):
        network = residual((tensor,))
        assert fuse(network, range(4)) is None
        assert fuse(network, range(tensor, 4)) is not None or tensor == 3
    assert fuse(residual(outputs=(4, 2)), range(4)) is None
    assert fuse(residual((0,)), range(4)) is not None  # X may be read later


def test_what_is_no_chain() -> None:
    network = residual((0,))
    assert fuse(network, (3, 4)) is None  # the last op does not read what the add makes
    assert fuse(network, (0,)) is None
    # tensors that the models' graphs add elsewhere are not inside
    detector = model("person-det")
    for one in fusable(detector):
        assert not one.inner & {13, 19}


def test_what_the_fused_kernels_take() -> None:
    kernel = FUSED_KERNELS[RingForm.PLANAR]
    assert kernel.takes(bottleneck(20, 24, 120, 24, 3, 1, adds=True), ())
    stem = Stage(CONV, ConvGeometry(20, 20, 3, 8, 3, 3, 2, 2, pad=Pad.same(1, 1)))
    dense = Stage(CONV, ConvGeometry(10, 10, 8, 8, 3, 3, pad=Pad.same(1, 1)))
    assert kernel.takes(Segment((stem, Stage(CONV, ConvGeometry(10, 10, 8, 4)))), ())
    assert not kernel.takes(Segment((stem, dense)), ())  # a window in front only
    dilated = ConvGeometry(10, 10, 8, 8, 3, 3, d_h=2, d_w=2, pad=Pad.same(2, 2))
    assert not kernel.takes(Segment((stem, Stage(DEPTHWISE, dilated))), ())
    # 96 in and out, twice: 18,432 bytes of weights
    assert not kernel.takes(bottleneck(20, 96, 96, 96, 3, 1), ())
    pool = Stage(OpKind.MAX_POOL, ConvGeometry(10, 10, 8, 8, 2, 2, 2, 2))
    assert not kernel.takes(Segment((stem, pool)), ())


def test_rings_and_scratch_of_each_form() -> None:
    """Of 20 x 20, 24 to 120 and back by 5 x 5: five rows and the project's one; planar with two pixels
    of padding on either side."""
    block = bottleneck(20, 24, 120, 24, 5, 1, adds=True)
    planar, pixel, least = (FUSED_KERNELS[form] for form in RingForm)
    assert [ring.size for ring in planar.rings(block)] == [5 * 24 * 120, 20 * 24]
    assert [ring.size for ring in pixel.rings(block)] == [5 * 20 * 120, 20 * 24]
    assert least.rings(block) == pixel.rings(block)
    # project: 8 * 120 + 2 * 20 * 120; depthwise: 4 * 5 * 24
    assert planar.scratch_bytes(block, ()) == pixel.scratch_bytes(block, ()) == 5_760
    assert least.scratch_bytes(block, ()) == 5 * 24


def test_the_kinds_of_segments_that_a_kernel_must_run() -> None:
    """Of the eleven models' plans, as docs/fused.md counts them for whoever writes the kernel."""
    kinds: Counter[tuple[str, ...]] = Counter()
    kept = 0
    for name, *_ in PEAKS:
        plan = fused(model(name))
        for step in segments(plan):
            found = plan.fused(step)
            assert found is not None
            kept += plan.network.last_readers[found.operands[0]] > step.ops[-1]
            kinds[tuple(_kind(stage) for stage in found.segment.stages)] += 1
    assert kinds == {
        ("conv", "depthwise", "conv"): 19,
        ("conv", "depthwise"): 12,
        ("stem", "depthwise", "conv"): 7,
        ("stem", "depthwise", "conv", "conv", "depthwise"): 2,
        ("conv", "depthwise", "conv", "add 0"): 1,
    }
    assert kept == 16


def _kind(stage: Stage) -> str:
    if stage.kind is CONV and stage.window.k_h > 1:
        return "stem"
    return stage.kind.name.lower() + ("" if stage.other is None else f" {stage.other}")
