# SPDX-License-Identifier: Apache-2.0
"""One byte of flash flipped behind the firmware's back after HELLO: a number never comes back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.boards import Board
from harness.build import RunnerImage
from harness.build.image import FLASH_BASE
from harness.case import Pack
from harness.emulator.machine import Machine
from harness.errors import (
    DeadlineError,
    EnumerationError,
    FirmwareFault,
    FlashError,
    ProtocolError,
)
from tests.device.support import emulated, new_entry, small_pack

PACK = small_pack()
PACK_OFFSET = 0x1_0000
REFUSALS = (FlashError, EnumerationError, ProtocolError, FirmwareFault, DeadlineError)


def _flip(machine: Machine, offset: int) -> None:
    machine.flash()[offset] ^= 0x20
    machine.memory_changed(FLASH_BASE + offset, 1)


class _Bench:
    """A started board; started again only when a flip has killed its firmware."""

    def __init__(self, image: RunnerImage) -> None:
        self.image = image
        self.entry = new_entry()
        self.board = Board(self.entry).__enter__()
        self.board.start(image, PACK)

    def error_after_flip(self, offset: int) -> BaseException | None:
        machine = emulated(self.entry).machine
        _flip(machine, offset)
        try:
            self.board.run(0, seed=1)
        except REFUSALS as error:
            return error
        finally:
            _flip(machine, offset)
        return None

    def recover(self, error: BaseException | None) -> None:
        if not isinstance(error, FlashError):
            self.board.start(self.image, PACK)


@pytest.fixture(scope="module")
def bench(runner_image: RunnerImage) -> Iterator[_Bench]:
    bench = _Bench(runner_image)
    yield bench
    bench.board.__exit__(None, None, None)


def _slices(pack: Pack) -> list[int]:
    """One byte of each part that case 0 reads: header, directory, and its four slices."""
    h, e = pack.header, pack.entries[0]
    return [
        20,
        h.directory_offset + 4,
        h.ops_offset + e.ops.offset + 3,
        h.tensors_offset + e.tensors.offset,
        h.quants_offset + e.quants.offset + e.quants.bytes - 1,
        h.weights_offset + e.weights.offset,
        h.weights_offset + e.weights.offset + e.weights.bytes // 2,
        h.weights_offset + e.weights.offset + e.weights.bytes - 1,
    ]


def test_kernels_and_tables_are_refused(bench: _Bench, runner_image: RunnerImage) -> None:
    """The load image of the RAM code (the kernels) and the initialised data, one byte in 97."""
    start = runner_image.symbols["__ram_code_load"] - FLASH_BASE
    for offset in range(start, len(runner_image.flash), 97):
        error = bench.error_after_flip(offset)
        assert isinstance(error, FlashError), f"flash offset {offset:#x}: {error!r}"


@pytest.mark.parametrize("offset", _slices(PACK))
def test_what_the_case_reads_is_refused(bench: _Bench, offset: int) -> None:
    error = bench.error_after_flip(PACK_OFFSET + offset)
    assert isinstance(error, FlashError), f"pack offset {offset:#x}: {error!r}"


def test_each_byte_of_boot2(bench: _Bench) -> None:
    for offset in range(256):
        error = bench.error_after_flip(offset)
        assert isinstance(error, FlashError), f"boot2 byte {offset}: {error!r}"


def test_one_byte_in_64_of_everything(bench: _Bench, runner_image: RunnerImage) -> None:
    kinds = set()
    for offset in range(256, len(runner_image.flash), 64):
        error = bench.error_after_flip(offset)
        assert error is not None, f"a number came back with flash offset {offset:#x} flipped"
        kinds.add(type(error))
        bench.recover(error)
    assert FlashError in kinds
