# SPDX-License-Identifier: Apache-2.0
"""Convolutions: `bound_of` is the simulator's debt on 200,000 hostile layers in each execution.

Apart from test_exact_depthwise.py so that two processes share the work.
"""

from __future__ import annotations

import pytest

from harness.schema.constants import OpKind
from tests.bounds.judge import Judge, Window, check_window, windows

COUNT = 200_000


@pytest.mark.extra
@pytest.mark.parametrize("window", [w for w in windows() if w.kind is OpKind.CONV], ids=str)
def test_equals_the_simulator_at_length(judge: Judge, window: Window) -> None:
    check_window(judge, window, COUNT)
