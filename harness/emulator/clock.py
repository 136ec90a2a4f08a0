# SPDX-License-Identifier: Apache-2.0
"""The clock by which deadlines of an emulated board are kept."""

from __future__ import annotations

from harness.emulator.board import NS_PER_SECOND, EmulatedBoard


class Clock:
    """Emulated seconds since the board's power-on; sleeping lets exactly that much of them pass."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board

    def now(self) -> float:
        return self._board.now_ns / NS_PER_SECOND

    def sleep(self, seconds: float) -> None:
        """Raises FirmwareFault or ConfigError as `EmulatedBoard.advance`."""
        self._board.advance(ns=round(seconds * NS_PER_SECOND))
