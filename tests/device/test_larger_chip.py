# SPDX-License-Identifier: Apache-2.0
"""MCUNet-in4, op 3: in place it needs 307,200 bytes, which a Pico 2 has and a Pico 1 has not."""

from __future__ import annotations

import pytest

from harness.bench import Bench, BenchOptions
from harness.boards import BoardEntry
from harness.build import build_runner
from harness.errors import ConfigError
from harness.geometry import GATHER, ConvGeometry
from harness.kernels import kernel_set
from harness.measure.fit import bytes_needed
from harness.network import Layer
from harness.plan import Strategy, plan_layer
from harness.schema.constants import OpKind, Rounding

LAYER = Layer("mcunet-in4.3", ConvGeometry(80, 80, 16, 48))
OPTIONS = BenchOptions(seeds=(1,), repeats=1)


def test_what_the_layer_needs() -> None:
    rip = plan_layer(LAYER, Strategy.RIP)
    dual = plan_layer(LAYER, Strategy.DUAL)
    assert (rip.arena_bytes, dual.arena_bytes) == (307_200, 409_600)


@pytest.mark.parametrize("chip", ["rp2350"], indirect=True)
def test_a_pico_2_runs_it(entry: BoardEntry) -> None:
    bench = Bench(entry, OPTIONS)
    try:
        assert bench.prove(LAYER, "rip").ok
    finally:
        bench.close()


@pytest.mark.parametrize("chip", ["rp2040"], indirect=True)
def test_a_pico_1_says_how_many_bytes_are_missing(entry: BoardEntry) -> None:
    plan = plan_layer(LAYER, Strategy.RIP)
    image = build_runner(entry.chip, kernels=kernel_set(OpKind.CONV, GATHER, Rounding.DOUBLE))
    missing = bytes_needed(plan) - image.pool_bytes
    bench = Bench(entry, OPTIONS)
    try:
        with pytest.raises(ConfigError, match=f"{missing} bytes too large"):
            bench.prove(LAYER, "rip")
    finally:
        bench.close()
