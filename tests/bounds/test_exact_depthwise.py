# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions and pools: `bound_of` is the simulator's debt on 200,000 hostile layers in
each execution.

A maximum pool is an average pool to form and simulator alike, and test_exact.py looks at both.
"""

from __future__ import annotations

import pytest

from harness.schema.constants import OpKind
from tests.bounds.judge import Judge, Window, check_window, windows

COUNT = 200_000
KINDS = (OpKind.DEPTHWISE, OpKind.AVERAGE_POOL)


@pytest.mark.extra
@pytest.mark.parametrize("window", [w for w in windows() if w.kind in KINDS], ids=str)
def test_equals_the_simulator_at_length(judge: Judge, window: Window) -> None:
    check_window(judge, window, COUNT)
