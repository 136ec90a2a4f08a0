# SPDX-License-Identifier: Apache-2.0
"""Each kernel of the fast sets from both sides of its debt, as people's own kernels are proved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.bench import Bench, BenchOptions
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.kernels import FAST
from harness.network import Layer
from harness.schema.constants import OpKind
from tests.device.support import new_entry


def _conv(c_in: int, c_out: int, h: int, k: int, s: int) -> Layer:
    g = ConvGeometry(h, h + 1, c_in, c_out, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    return Layer(f"conv-{k}-{s}-{c_in}-{c_out}", g)


def _depthwise(k: int, s: int) -> Layer:
    g = ConvGeometry(9, 8, 8, 8, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    return Layer(f"depthwise-{k}-{s}", g, OpKind.DEPTHWISE)


LAYERS = (
    # too large for one step, which would have no debt
    _conv(24, 8, 33, 1, 1),
    _conv(16, 24, 33, 1, 1),
    _conv(8, 8, 33, 3, 2),
    _conv(8, 8, 20, 3, 1),
    *(_depthwise(k, s) for k in (3, 5, 7) for s in (1, 2)),
    Layer("add", ElementwiseGeometry(6, 7, 8, 2), OpKind.ADD),
)


@pytest.fixture(scope="module")
def bench(chip: str) -> Iterator[Bench]:
    made = Bench(new_entry(chip), BenchOptions(kernels=FAST))
    yield made
    made.close()


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.id)
def test_both_sides_of_the_debt(bench: Bench, layer: Layer) -> None:
    verdict = bench.prove(layer)
    assert not verdict.kernel.startswith("plain"), "a fast kernel takes it"
    assert "seeds" in verdict.debt
