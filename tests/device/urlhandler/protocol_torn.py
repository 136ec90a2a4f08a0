# SPDX-License-Identifier: Apache-2.0
"""`torn://BOARD/flip/N` flips a bit of the N-th byte read; `torn://BOARD/lose/N` loses the N-th frame.

A layer below pyserial's interface: the bench above it is the real one.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from harness.emulator import registry
from harness.emulator.board import EmulatedBoard
from harness.emulator.urlhandler import protocol_emu


class Serial(protocol_emu.Serial):
    """An emulated port on a bad cable. Counts from 0: byte, or frame, since it was opened."""

    _bytes = _frames = 0
    _inside = False

    def _find_board(self) -> EmulatedBoard:
        parts = urlsplit(str(self.port))
        _, self._what, number = parts.path.split("/")
        self._number = int(number)
        return registry.board(parts.netloc)

    def read(self, size: int = 1) -> bytes:
        kept = bytearray()
        for byte in super().read(size):
            if self._what == "flip" and self._bytes == self._number:
                byte ^= 0x10
            self._bytes += 1
            if not (self._what == "lose" and self._frames == self._number):
                kept.append(byte)
            if byte == 0 and self._inside:
                self._frames += 1
            self._inside = byte != 0
        return bytes(kept)
