# SPDX-License-Identifier: Apache-2.0
"""Fresh emulated boards for the tests of the board's Python half, one of each chip."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.emulator import registry
from harness.emulator.board import BoardOptions, EmulatedBoard
from tests.emulator.echo_firmware import boot_program, echo_elf, segments

NAMES = {"rp2040": "pico1-emu", "rp2350": "pico2-emu"}


@pytest.fixture(params=NAMES)
def chip(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def board(chip: str) -> Iterator[EmulatedBoard]:
    """pico1-emu or pico2-emu as the process finds it at first: powered, with erased flash."""
    registry.remove(NAMES[chip])
    yield registry.board(NAMES[chip])
    registry.remove(NAMES[chip])


@pytest.fixture
def echo_board(board: EmulatedBoard) -> EmulatedBoard:
    """The same with the echo firmware in its flash, not yet started."""
    return with_echo(board)


@pytest.fixture
def program_board(chip: str) -> Callable[[str], tuple[EmulatedBoard, dict[str, int]]]:
    """A board of its own that boots a piece of assembly, and the labels of the code."""

    def build(source: str) -> tuple[EmulatedBoard, dict[str, int]]:
        image, labels = boot_program(chip, source)
        board = EmulatedBoard("program", chip)
        board.machine.load_flash(0, image)
        return board, labels

    return build


def with_echo(board: EmulatedBoard) -> EmulatedBoard:
    for offset, data in segments(echo_elf(board.chip.name)):
        board.machine.load_flash(offset, data)
    return board


def new_echo_board(chip: str, options: BoardOptions | None = None) -> EmulatedBoard:
    """An echo board under its chip's default name with other options than the default."""
    name = NAMES[chip]
    registry.remove(name)
    entry = next(entry for entry in registry.known() if entry.name == name)
    registry.configure(registry.BoardEntry(name, entry.chip, options or BoardOptions()))
    return with_echo(registry.board(name))
