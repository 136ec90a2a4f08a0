# SPDX-License-Identifier: Apache-2.0
"""The device suite: every layer of a set, proved on every board that is asked for.

pytest --board pico1-emu --layers first -m "not slow"
"""

from __future__ import annotations

import pytest

from harness.bench import Bench, demand
from harness.network import Layer


@pytest.mark.layer_set("first")
def test_layer(bench: Bench, layer: Layer, plan: str) -> None:
    verdict = bench.judge(layer, plan)
    if verdict is None:
        pytest.skip(
            f"{layer.id} does not fit {bench.entry.name} with two buffers: nothing to compare"
        )
    demand(verdict)
