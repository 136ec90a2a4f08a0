# SPDX-License-Identifier: Apache-2.0
"""The cost model: misses of the flash cache by the size of a step."""

from __future__ import annotations

from pathlib import Path

from harness.geometry import GATHER, ConvGeometry
from harness.kernels import KernelTraits
from harness.kernels.cost import Limits, Option, cheapest, cycles, misses
from harness.schema.constants import OpKind

LATE = ConvGeometry(6, 6, 96, 480)  # 46,080 bytes of weights
EARLY = ConvGeometry(40, 40, 16, 96)  # 1,536 bytes


def test_misses() -> None:
    assert misses(0, 5) == 0
    assert misses(1, 5) == 1
    assert misses(16384, 100) == 2048  # fit the cache: each line once
    assert misses(16385, 100) == 204_900  # 2,049 lines in every step
    assert misses(46_080, 18) == 103_680


def test_seven_cycles_a_mac_shared_by_the_pixels_of_a_step() -> None:
    """56 cycles for 8 weights, each used B times."""
    for pixels in (1, 2, 6, 36):
        option = Option(pixels, 0, 36 // pixels)
        assert cycles(option, 46_080, Limits(56)) * pixels == 7 * LATE.macs


def test_the_cheapest() -> None:
    pair, row, whole = Option(2, 100, 18, 50), Option(6, 300, 6, 40), Option(36, 1800, 1, 40)
    options = (pair, row, whole)
    assert cheapest(options, 46_080, Limits(56, 2000)) is whole
    assert cheapest(options, 46_080, Limits(56, 1799)) is row
    assert cheapest(options, 46_080, Limits(56, 299)) is pair
    assert cheapest(options, 46_080, Limits(56, 99)) is None
    assert cheapest(options, 1_536, Limits(56, 2000)) is row  # of two as fast the smaller one
    assert cheapest(options, 46_080, Limits(0, 2000)) is row


def test_a_layer_gets_the_step_that_its_weights_ask_for(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("")
    (tmp_path / "kernels.yaml").write_text(
        "kernels: [{name: streamed, op: conv, sources: [a.c], channels: 4, over_rows: true,\n"
        "  pixels: [2, w_out, h_out * w_out], scratch: 2 * b * c_in,\n"
        "  cycles: h_out * w_out * c_out * c_in + h_out * w_out / b * 100}]"
    )
    kernels = KernelTraits(str(tmp_path), "rp2040", Limits(56, 24_000))
    late = kernels.choose(OpKind.CONV, LATE, GATHER)
    assert (late.step.pixels, late.scratch_bytes) == (36, 6912)
    early = kernels.choose(OpKind.CONV, EARLY, GATHER)
    assert (early.step.pixels, early.scratch_bytes) == (40, 1280)  # all 1,600 need 51,200
    small = KernelTraits(str(tmp_path), "rp2040", Limits(56, 3_000))
    assert small.choose(OpKind.CONV, LATE, GATHER).step.pixels == 6
    assert small.bound(OpKind.CONV, LATE, GATHER).gap == LATE.n_out - LATE.n_in
