# SPDX-License-Identifier: Apache-2.0
"""`fake://NAME`: the port of the emulated board behind a fake one."""

from __future__ import annotations

from fakeboards import behind
from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.emulator.urlhandler import protocol_emu


class Serial(protocol_emu.Serial):
    def _find_board(self) -> EmulatedBoard:
        return registry.board(behind(str(self.port).removeprefix("fake://")))
