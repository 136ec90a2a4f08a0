# SPDX-License-Identifier: Apache-2.0
"""The eleven models fused on an emulated Pico 1, and on one with half of its SRAM: exact, in the planned
arena, within its flash."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.bench import Bench, BenchOptions, demand
from harness.bounds import round_up
from harness.case import NetworkCase
from harness.network import load_network
from harness.plan import Strategy
from tests.device.support import new_entry
from tests.plan.test_fused import PEAKS

PLANAR = {name: planar for name, _, _, planar, _ in PEAKS}
PLAIN = {
    "mcunet-in0": 18_268,
    "mcunet-in1": 30_198,
    "mcunet-in2": 80_982,
    "mcunet-in3": 97_518,
    "mcunet-in4": 115_450,
    "mbv2-w0.35": 65_982,
    "proxyless-w0.3": 97_518,
    "mcunet-vww0": 17_012,
    "mcunet-vww1": 21_342,
    "mcunet-vww2": 65_982,
    "person-det": 74_774,
}


HALF = 136 * 1024  # 128 KB and the two banks of 4 KB


def _run(name: str, kernels: str, sram_bytes: int | None = None) -> NetworkCase:
    """One seed, under either paint; what lies outside the arena stays as it was."""
    entry = replace(new_entry("rp2040"), sram_bytes=sram_bytes)
    bench = Bench(entry, BenchOptions(kernels=kernels, seeds=(1,), repeats=1))
    try:
        cases = bench.network_cases(load_network(name), [Strategy.FUSED])
        (verdict,) = bench.judge_network(cases)
    finally:
        bench.close()
    demand(verdict)
    (case,) = cases
    assert verdict.workspace_reached <= verdict.workspace_given == case.plan.peak
    assert case.scratch_bytes == 0
    return case


def _check(name: str, kernels: str, sram_bytes: int | None = None) -> None:
    """As large as said, and never larger than with the formulas of the fast planar kernels."""
    case = _run(name, kernels, sram_bytes)
    assert round_up(case.plan.peak, 4) <= PLANAR[name]
    if kernels == "plain":
        assert case.plan.peak == PLAIN[name]
    segments = [choice for choice in case.plan.choices if "segment" in choice.kernel.name]
    assert {choice.kernel.name for choice in segments} == {f"{kernels}_segment"}


@pytest.mark.parametrize("kernels", ["plain", "m0plus"])
def test_a_fused_model(kernels: str) -> None:
    _check("mcunet-vww0", kernels)


@pytest.mark.extra
@pytest.mark.parametrize("name", PLAIN)
def test_all_models_within_128_kb_by_plain_kernels(name: str) -> None:
    _check(name, "plain", HALF)


@pytest.mark.extra
@pytest.mark.parametrize("name", PLAIN)
def test_all_models_by_the_fast_kernels(name: str) -> None:
    """Of in4's late ops some have int8 weights: packed, all together take more than the flash."""
    _check(name, "m0plus")
