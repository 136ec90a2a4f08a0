# SPDX-License-Identifier: Apache-2.0
"""Boards: found, flashed, reset, talked to. Real and emulated ones by the same code."""

from harness.boards.backend import keys_of
from harness.boards.board import Board
from harness.boards.config import BoardEntry, find_board, load_boards
from harness.boards.gdb import GdbServer
from harness.boards.image import pack_room
from harness.boards.probe import attached, is_attached, require_attached
from harness.boards.profiler import Profiler, ProfileWindow, Watchpoint
from harness.boards.run import Run
from harness.boards.witness import Window, Witness, Zone

__all__ = [
    "Board",
    "BoardEntry",
    "GdbServer",
    "ProfileWindow",
    "Profiler",
    "Run",
    "Watchpoint",
    "Window",
    "Witness",
    "Zone",
    "attached",
    "find_board",
    "is_attached",
    "keys_of",
    "load_boards",
    "pack_room",
    "require_attached",
]
