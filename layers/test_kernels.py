# SPDX-License-Identifier: Apache-2.0
"""Kernels of one's own, validated on every board that is asked for (docs/kernels.md).

pytest --board pico2-emu --kernels my_conv/
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.judge import KernelVerdict
from harness.validation import demand_kernel


@pytest.mark.kernels
def test_kernel(validate_kernel: Callable[[str], KernelVerdict], kernel: str) -> None:
    demand_kernel(validate_kernel(kernel))
