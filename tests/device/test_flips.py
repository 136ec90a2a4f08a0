# SPDX-License-Identifier: Apache-2.0
"""One byte of flash flipped behind the firmware's back after HELLO: a number never comes back."""

from __future__ import annotations

import itertools
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

    def __init__(self, chip: str, image: RunnerImage) -> None:
        self.image = image
        self.entry = new_entry(chip)
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
def bench(chip: str, image: RunnerImage) -> Iterator[_Bench]:
    bench = _Bench(chip, image)
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


def test_kernels_and_tables_are_refused(bench: _Bench, image: RunnerImage) -> None:
    """The load image of the RAM code (the kernels) and the initialised data, one byte in 97."""
    start = image.symbols["__ram_code_load"] - FLASH_BASE
    for offset in range(start, len(image.flash), 97):
        error = bench.error_after_flip(offset)
        assert isinstance(error, FlashError), f"flash offset {offset:#x}: {error!r}"


@pytest.mark.parametrize("offset", _slices(PACK))
def test_what_the_case_reads_is_refused(bench: _Bench, offset: int) -> None:
    error = bench.error_after_flip(PACK_OFFSET + offset)
    assert isinstance(error, FlashError), f"pack offset {offset:#x}: {error!r}"


def test_each_byte_that_the_boot_rom_reads(bench: _Bench) -> None:
    """boot2 of an RP2040; initial stack pointer, reset vector and IMAGE_DEF of an RP2350."""
    start_of_image = range(256)
    if bench.entry.chip == "rp2350":
        start_of_image = itertools.chain(range(8), range(0x110, 0x124))
    for offset in start_of_image:
        error = bench.error_after_flip(offset)
        assert isinstance(error, FlashError), f"byte {offset}: {error!r}"


def test_one_byte_in_64_of_everything(bench: _Bench, image: RunnerImage) -> None:
    kinds = set()
    for offset in range(256, len(image.flash), 64):
        error = bench.error_after_flip(offset)
        assert error is not None, f"a number came back with flash offset {offset:#x} flipped"
        kinds.add(type(error))
        bench.recover(error)
    assert FlashError in kinds
