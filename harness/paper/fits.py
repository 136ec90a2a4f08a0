# SPDX-License-Identifier: Apache-2.0
"""Which of Table 6's layers a board can run: with two buffers, and in place.

The answer is the bench's own, asked before it flashes: arena, scratch and guards of the plain kernel's
plan against the SRAM that its runner leaves, padding not stored, taps gathered.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from harness.build import build_runner
from harness.geometry import GATHER
from harness.kernels import kernel_set, schedule_of
from harness.measure.fit import bytes_needed, fits
from harness.network import find_set, load_set
from harness.paper.table6 import SET
from harness.plan import LAYER_STRATEGIES, Strategy, plan_layer

CHIPS = ("rp2040", "rp2350")


@dataclass(frozen=True)
class LayerFit:
    """Bytes of the runner's pool that a layer's plan takes, and whether it has them."""

    layer: str
    needed: int
    fits: bool


@dataclass(frozen=True)
class BoardFit:
    chip: str
    strategy: Strategy
    pool_bytes: int
    layers: tuple[LayerFit, ...]

    @property
    def count(self) -> int:
        return sum(layer.fits for layer in self.layers)


@lru_cache(maxsize=1)
def board_fits() -> tuple[BoardFit, ...]:
    """Every chip under every strategy. Errors: BuildError without the cross compiler."""
    layers = load_set(find_set(SET))
    first = layers[0]
    kernels = kernel_set(first.kind, GATHER, first.rounding)
    plans = {
        strategy: [plan_layer(layer, strategy) for layer in layers] for strategy in LAYER_STRATEGIES
    }
    schedule_of.cache_clear()  # of layers too large to keep
    found = []
    for chip in CHIPS:
        image = build_runner(chip, kernels=kernels)
        for strategy in LAYER_STRATEGIES:
            rows = tuple(
                LayerFit(plan.layer.id, bytes_needed(plan), fits(plan, image))
                for plan in plans[strategy]
            )
            found.append(BoardFit(chip, strategy, image.pool_bytes, rows))
    return tuple(found)
