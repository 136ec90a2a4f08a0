# SPDX-License-Identifier: Apache-2.0
"""Small programs on the Cortex-M33 of the emulated RP2350; core_program has the rest."""

from __future__ import annotations

from tests.emulator.core_program import XPSR, Core

CPU = ("-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=softfp", "-mfpu=fpv5-sp-d16")
FLAGS = ("N", "Z", "C", "V", "Q")
MSPLIM, PSPLIM = 28, 29
CPACR, CFSR, CCR = 0xE000ED88, 0xE000ED28, 0xE000ED14


class CoreV8M(Core):
    CHIP = "rp2350"
    CPU = CPU

    @property
    def flags(self) -> str:
        """The set ones of N, Z, C, V, Q."""
        return "".join(name for k, name in enumerate(FLAGS) if self.get(XPSR) >> (31 - k) & 1)

    @property
    def ge(self) -> int:
        return self.get(XPSR) >> 16 & 0xF
