# SPDX-License-Identifier: Apache-2.0
"""The USB host's end of the cable to a machine: `usb_pipes.DeviceBus` over the emulator core.

Besides the transactions of emu.h it looks at two registers of the device's controller (RP2040 data
sheet 4.1.4): the address that the device listens to, and whether it asked for start-of-frame
interrupts. Both are readable without side effects.
"""

from __future__ import annotations

from harness.emulator.machine import Machine
from harness.emulator.usb_pipes import Handshake

ADDR_ENDP, ADDRESS_BITS = 0x50110000, 0x7F
INTE, INTE_DEV_SOF = 0x50110090, 1 << 17


class MachineBus:
    """Implements `DeviceBus`."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def attached(self) -> bool:
        return self._machine.usb_attached()

    def why_not_attached(self) -> str:
        return self._machine.usb_why_not()

    def device_address(self) -> int:
        return self._register(ADDR_ENDP) & ADDRESS_BITS

    def wants_sof(self) -> bool:
        return bool(self._register(INTE) & INTE_DEV_SOF)

    def bus_reset(self, asserted: bool) -> None:
        self._machine.usb_bus_reset(asserted)

    def setup(self, packet: bytes) -> None:
        self._machine.usb_setup(packet)

    def read(self, endpoint: int) -> tuple[bytes, int] | Handshake:
        answer = self._machine.usb_in(endpoint)
        return Handshake(answer) if isinstance(answer, int) else answer

    def write(self, endpoint: int, data: bytes, data_pid: int) -> int | Handshake:
        answer = self._machine.usb_out(endpoint, data, data_pid)
        return Handshake(answer) if answer < 0 else answer

    def sof(self, frame: int) -> None:
        self._machine.usb_sof(frame)

    def _register(self, address: int) -> int:
        value = self._machine.bus_read(address, 4)
        return 0 if value is None else value
