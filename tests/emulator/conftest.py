# SPDX-License-Identifier: Apache-2.0
"""Fresh emulated boards for the tests of the board's Python half."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.emulator import registry
from harness.emulator.board import BoardOptions, EmulatedBoard
from tests.emulator.echo_firmware import boot2_program, echo_elf, segments

NAME = "pico1-emu"


@pytest.fixture
def board() -> Iterator[EmulatedBoard]:
    """pico1-emu as the process finds it at first: powered, with erased flash."""
    registry.remove(NAME)
    yield registry.board(NAME)
    registry.remove(NAME)


@pytest.fixture
def echo_board(board: EmulatedBoard) -> EmulatedBoard:
    """The same with the echo firmware in its flash, not yet started."""
    return with_echo(board)


@pytest.fixture
def program_board() -> Callable[[str], tuple[EmulatedBoard, dict[str, int]]]:
    """A board of its own that boots a piece of assembly, and the labels of the code."""

    def build(source: str) -> tuple[EmulatedBoard, dict[str, int]]:
        image, labels = boot2_program(source)
        board = EmulatedBoard("program", "rp2040")
        board.machine.load_flash(0, image)
        return board, labels

    return build


def with_echo(board: EmulatedBoard) -> EmulatedBoard:
    for offset, data in segments(echo_elf()):
        board.machine.load_flash(offset, data)
    return board


def new_echo_board(options: BoardOptions | None = None) -> EmulatedBoard:
    """An echo board under the name pico1-emu with other options than the default."""
    registry.remove(NAME)
    entry = next(entry for entry in registry.known() if entry.name == NAME)
    registry.configure(registry.BoardEntry(NAME, entry.chip, options or BoardOptions()))
    return with_echo(registry.board(NAME))
