# SPDX-License-Identifier: Apache-2.0
"""Layers of the paper's Table 6, proved on a board: all that fit it, with two buffers and in place.

pytest layers --board pico2-emu -m paper84
pytest layers --board pico2-emu -m paper84 --input copy --strategy rip     with the right shift
"""

from __future__ import annotations

import pytest

from harness.bench import Bench, demand
from harness.network import Layer
from harness.paper.cost import MOST


@pytest.mark.paper84
@pytest.mark.layer_set("paper84", that_fit=True, tap_order="gather")
def test_layer_of_table_6(bench: Bench, layer: Layer, plan: str) -> None:
    verdict = bench.judge(layer, plan)
    assert verdict is not None, "what fits can be judged"
    demand(verdict)
    assert verdict.ratio is None or verdict.ratio <= MOST, "Sec. 5.3: within 1 % of two buffers"
