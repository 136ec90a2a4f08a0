# SPDX-License-Identifier: Apache-2.0
"""The serial wire of a multi-drop port: ADIv5.2 (Arm IHI 0031E) B4.3 and B5.3.

Debug ports sleep until the selection alert wakes them. After a line reset every port on the wire
listens, and a write to TARGETSEL leaves only the one that has this id. An RP2040 hangs three ports
on its wire, an RP2350 one.
"""

from __future__ import annotations

from enum import Enum

SELECTION_ALERT = 0x19BC0EA2E3DDAFE986852D956209F392  # B5.3.4, first bit lowest
SWD_ACTIVATION = 0x1A0  # four low cycles and the SWD activation code
SWD_TO_DORMANT = 0xE3BC
LINE_RESET_BITS = 50
TARGETSEL_WRITE = 0x99  # packet request: write DP register 0xC
WINDOW_BITS = 256


class WireState(Enum):
    DORMANT = "dormant"
    ALERTED = "alerted"
    SWD = "swd"


class SerialWire:
    """SWDIO as the targets see it: B5.3 (dormant operation) and B4.3 (line reset, TARGETSEL).

    selected: what TARGETSEL was written, None if nothing that a port accepts. everybody: all ports
    listen, since no TARGETSEL came after the last line reset.
    """

    def __init__(self) -> None:
        self.state = WireState.DORMANT
        self.selected: int | None = None
        self.everybody = False
        self._window = 0
        self._targetsel_request = False

    def drive(self, length: int, bits: int) -> None:
        """`length` cycles with the host driving `bits`, lowest bit first."""
        bits &= (1 << length) - 1
        self._window = (self._window | bits << WINDOW_BITS) >> length
        if self._latest(128) == SELECTION_ALERT:
            self.state = WireState.ALERTED
        elif self.state is WireState.ALERTED and self._latest(12) == SWD_ACTIVATION:
            self.state = WireState.SWD
        elif self.state is WireState.SWD:
            self._drive_swd(length, bits)

    def _drive_swd(self, length: int, bits: int) -> None:
        if self._latest(LINE_RESET_BITS) == (1 << LINE_RESET_BITS) - 1:
            self.selected, self.everybody = None, True
        elif self._latest(16) == SWD_TO_DORMANT:
            self.state, self.selected, self.everybody = WireState.DORMANT, None, False
        elif self._targetsel_request and length == 33:
            self.everybody = False
            target, parity = bits & 0xFFFFFFFF, bits >> 32
            self.selected = target if target.bit_count() & 1 == parity else None
        self._targetsel_request = length == 8 and bits == TARGETSEL_WRITE

    def _latest(self, count: int) -> int:
        return self._window >> (WINDOW_BITS - count)
