# SPDX-License-Identifier: Apache-2.0
"""The timing models of the Cortex-M33, for which Arm publishes no cycle table (core/cycles_v8m.h)."""

from __future__ import annotations

from harness.emulator.machine import Machine

M33_MODELS = ("optimistic", "conservative")  # by the number of the core's switch


class Timings:
    """models: by name, the most careful one last; it is in force unless another is selected."""

    models = M33_MODELS

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def select(self, model: str) -> None:
        """From the next instruction on. Raises ValueError for an unknown name."""
        self._machine.set_switch("m33_timing", M33_MODELS.index(model))
