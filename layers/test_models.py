# SPDX-License-Identifier: Apache-2.0
"""Whole networks: every one under every strategy, on every board that is asked for.

pytest --board pico2-emu -m models
"""

from __future__ import annotations

import pytest

from harness.bench import Bench, demand
from harness.network import Model, Network
from harness.plan import Strategy

# rip to baseline, the same kernels: only where tensors lie differs. On silicon the paper has 0.4 %.
TOLERANCE = {"board": 0.004}
USUAL_TOLERANCE = 0.002


@pytest.mark.models
@pytest.mark.model_set(quick=("mcunet-in0", "mcunet-vww0", "person-det"))
def test_model(bench: Bench, model: Network | Model, strategies: tuple[Strategy, ...]) -> None:
    """Outputs equal to the host's in every place, and nothing touched beyond the plan's peak. What does
    not fit the board is not run; the summary says so, with the bytes that are missing."""
    verdicts = bench.judge_network(bench.network_cases(model, strategies))
    for verdict in verdicts:
        demand(verdict)
    assert len({verdict.output_crc for verdict in verdicts}) <= 1
    for verdict in verdicts:
        if verdict.plan == Strategy.RIP and verdict.ratio is not None:
            allowed = TOLERANCE.get(verdict.provenance.kind, USUAL_TOLERANCE)
            assert abs(verdict.ratio - 1) <= allowed
