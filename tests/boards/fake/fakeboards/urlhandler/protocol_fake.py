# SPDX-License-Identifier: Apache-2.0
"""`fake://NAME`: the port of the emulated board behind a fake one."""

from __future__ import annotations

from serial import SerialException

from fakeboards import behind, faults
from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.emulator.urlhandler import protocol_emu


class Serial(protocol_emu.Serial):
    def _find_board(self) -> EmulatedBoard:
        return registry.board(behind(str(self.port).removeprefix("fake://")))

    def open(self) -> None:
        _may_fail()
        super().open()

    def read(self, size: int = 1) -> bytes:
        _may_fail()
        return super().read(size)

    def write(self, data: bytes | bytearray | memoryview) -> int:  # type: ignore[override]
        _may_fail()
        return super().write(data)

    @property
    def in_waiting(self) -> int:
        _may_fail()
        return super().in_waiting


def _may_fail() -> None:
    if faults.plan.fails("port"):
        raise SerialException("device reports readiness to read but returned no data")
