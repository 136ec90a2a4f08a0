# SPDX-License-Identifier: Apache-2.0
"""The whole path on an emulated board of each chip: flash, reset, identity, run, and how each fault is
told."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
import serial

from harness.boards import Board, BoardEntry
from harness.boards.config import FLASH_BYTES
from harness.build import RunnerImage
from harness.build.image import FLASH_BASE
from harness.errors import (
    ConfigError,
    DeadlineError,
    EnumerationError,
    FirmwareFault,
    HarnessError,
    ProbeError,
    ProtocolError,
)
from harness.geometry import ConvGeometry
from harness.measure.fit import bytes_needed, check_fit
from harness.network import Layer
from harness.plan import Strategy, plan_layer
from harness.schema.records import MailboxRequest
from tests.device.support import (
    BRANCH_TO_SELF,
    RETURN,
    UNDEFINED,
    emulated,
    new_entry,
    small_pack,
    with_instruction,
)

if "tests.device.urlhandler" not in serial.protocol_handler_packages:
    serial.protocol_handler_packages.append("tests.device.urlhandler")

PACK = small_pack()


def test_output_and_waters(entry: BoardEntry, image: RunnerImage) -> None:
    with Board(entry) as board:
        hello = board.start(image, PACK)
        assert (hello.chip, hello.clk_sys_hz) == (int(entry.chip[2:]), entry.clock_hz)
        for index, case in enumerate(PACK.cases):
            run = board.run(index, seed=5, repeats=2)
            for result in run.results:
                assert result.output_crc == zlib.crc32(case.expected(5).tobytes())
                assert result.input_crc == case.input_crc(5)
                assert (result.low_water, result.high_water) == (0, case.plan.arena_bytes)
                assert result.outside_count == 0
                assert 0 < result.stack_peak < hello.stack_bytes
            output = board.read(case.plan.output.offset, case.plan.layer.n_out)
            assert output == case.expected(5).tobytes()


def test_an_unchanged_image_is_not_flashed_again(entry: BoardEntry, image: RunnerImage) -> None:
    stages: list[str] = []
    with Board(entry, on_stage=stages.append) as board:
        board.start(image, PACK)
        programmed = emulated(entry).cycles
        board.start(image, PACK)
        first, second = programmed, emulated(entry).cycles - programmed
    assert "flash again: the header was right, the bytes are not" not in stages
    assert second < first  # no erase, no program


def test_an_unchanged_image_is_flashed_again_when_asked(
    entry: BoardEntry, image: RunnerImage
) -> None:
    with Board(entry) as board:
        board.start(image, PACK)
        board.start(image, PACK)
        before = emulated(entry).cycles
        board.start(image, PACK)
        skipping = emulated(entry).cycles - before
        board.start(image, PACK, reflash=True)
        assert emulated(entry).cycles - before - skipping > skipping


def test_a_stale_flash_behind_a_right_header_is_found_and_repaired(
    entry: BoardEntry, image: RunnerImage
) -> None:
    stages: list[str] = []
    with Board(entry, on_stage=stages.append) as board:
        board.start(image, PACK)
        machine = emulated(entry).machine
        stale = (image.symbols["case_prepare"] & ~1) - FLASH_BASE  # code that no start runs
        machine.flash()[stale] ^= 0x01
        machine.memory_changed(FLASH_BASE + stale, 1)
        board.start(image, PACK)
        assert board.run(0, seed=1).results[0].outside_count == 0
    assert "flash again: the header was right, the bytes are not" in stages


def _failure(entry: BoardEntry, image: RunnerImage, kind: type[HarnessError]) -> str:
    with Board(entry) as board, pytest.raises(kind) as caught:
        board.start(image, PACK, reflash=True)
        board.run(0, seed=1)
    assert type(caught.value) is kind
    assert caught.value.hint
    return str(caught.value)


def test_a_kernel_that_hangs(entry: BoardEntry, image: RunnerImage) -> None:
    text = _failure(
        entry, with_instruction(image, "plain_conv_gather_double", BRANCH_TO_SELF), DeadlineError
    )
    assert "no OP frame within" in text
    assert "in plain_conv_gather_double+0x0" in text
    assert "firmware stage: SERVING" in text


def test_a_kernel_that_faults(entry: BoardEntry, image: RunnerImage) -> None:
    text = _failure(
        entry, with_instruction(image, "plain_conv_gather_double", UNDEFINED), FirmwareFault
    )
    assert "faulted in plain_conv_gather_double+0x0 (run)" in text
    assert "undefined instruction" in text
    assert "case: odd-3x3/rip@48" in text
    assert "op: 0" in text


def test_firmware_that_never_enumerates(entry: BoardEntry, image: RunnerImage) -> None:
    text = _failure(entry, with_instruction(image, "usb_start", RETURN), EnumerationError)
    assert "did not appear within" in text


def test_firmware_that_hangs_before_usb(entry: BoardEntry, image: RunnerImage) -> None:
    text = _failure(
        entry, with_instruction(image, "clocks_start", BRANCH_TO_SELF), EnumerationError
    )
    assert "did not start within" in text
    assert "in clocks_start+0x0" in text


def test_a_broken_boot_block(entry: BoardEntry, image: RunnerImage) -> None:
    """Of boot2, which the RP2040 wants a CRC of; of the RP2350's IMAGE_DEF."""
    flash = bytearray(image.flash)
    flash[20 if entry.chip == "rp2040" else 0x114] ^= 0x04
    text = _failure(entry, replace(image, flash=bytes(flash)), EnumerationError)
    assert "last stage: NONE" in text


@pytest.mark.parametrize("number", [3, 40, 90, 150, 250])
def test_a_flipped_bit(entry: BoardEntry, image: RunnerImage, number: int) -> None:
    """In HELLO it ends in silence, since what precedes HELLO may be noise; behind it, at once."""
    url = f"torn://{entry.name}/flip/{number}"
    expected = ProtocolError if number > 120 else DeadlineError
    with Board(replace(entry, serial=url)) as board, pytest.raises(expected) as caught:
        board.start(image, PACK)
        board.run(0, seed=1)
    assert caught.value.hint


@pytest.mark.parametrize(("number", "kind"), [(1, ProtocolError), (2, ProtocolError)])
def test_a_lost_frame(
    entry: BoardEntry, image: RunnerImage, number: int, kind: type[HarnessError]
) -> None:
    url = f"torn://{entry.name}/lose/{number}"
    with (
        Board(replace(entry, serial=url)) as board,
        pytest.raises(kind, match="1 frames are missing"),
    ):
        board.start(image, PACK)
        board.run(0, seed=1)


def test_another_nonce(entry: BoardEntry, image: RunnerImage) -> None:
    """Somebody else resets the board between our reset and HELLO: its mailbox says another nonce."""
    with Board(entry) as board:

        def meddle(stage: str) -> None:
            if stage == "hello":
                nonce_at = 0x2000_0000 + next(
                    m.offset for m in MailboxRequest.members() if m.name == "nonce"
                )
                emulated(entry).machine.bus_write(nonce_at, 4, 0x0BAD_0BAD)

        board._on_stage = meddle
        with pytest.raises(ProtocolError, match="another nonce"):
            board.start(image, PACK)


def test_a_port_of_another_board(chip: str, image: RunnerImage) -> None:
    """Two boards, the serial lines swapped in boards.yaml."""
    mine, other = new_entry(chip), new_entry(chip)
    with Board(other) as neighbour:
        neighbour.start(image, PACK)
        neighbour._hang_up()
        swapped = replace(mine, serial=other.serial)
        with Board(swapped) as board, pytest.raises(EnumerationError) as caught:
            board.start(image, PACK)
    assert caught.value.cause.startswith("swapped cables")
    assert repr(other.name) in str(caught.value.evidence["board by the port"])


def test_a_wrong_clock(entry: BoardEntry, image: RunnerImage) -> None:
    with (
        Board(replace(entry, clock_hz=133_000_000)) as board,
        pytest.raises(
            ConfigError, match=rf"runs at {entry.clock_hz} Hz, boards\.yaml says 133000000"
        ),
    ):
        board.start(image, PACK)


def test_a_wrong_miss_cost(entry: BoardEntry, image: RunnerImage) -> None:
    with (
        Board(replace(entry, xip_miss_cycles=60)) as board,
        pytest.raises(ConfigError, match=r"boards\.yaml says 60"),
    ):
        board.start(image, PACK)


def test_a_probe_that_is_not_there() -> None:
    entry = replace(new_entry(), probe="cmsisdap:0000FFFF")
    with pytest.raises(ProbeError, match="is not attached") as caught, Board(entry):
        pass
    assert "emu:pico1-emu" in str(caught.value)
    assert "--board pico1-emu" in caught.value.hint


def test_a_kind_of_probe_that_nobody_knows(entry: BoardEntry) -> None:
    entry = replace(entry, probe="cmsisdab:0000FFFF")
    with pytest.raises(ProbeError, match="no probe of the kind 'cmsisdab'"), Board(entry):
        pass


def test_a_case_that_does_not_fit(chip: str, image: RunnerImage) -> None:
    big = Layer("big", ConvGeometry(160 if chip == "rp2040" else 200, 200, 8, 16))
    plan = plan_layer(big, Strategy.RIP)
    missing = bytes_needed(plan) - image.pool_bytes
    with pytest.raises(ConfigError, match=f"{missing} bytes too large"):
        check_fit(plan, image)


def test_a_pack_that_does_not_fit_the_flash(entry: BoardEntry, image: RunnerImage) -> None:
    megabytes = FLASH_BYTES[entry.chip] >> 20
    heavy = Layer("heavy", ConvGeometry(5, 5, 1024, 256 * megabytes, 2, 2))
    pack = small_pack(heavy)
    with Board(entry) as board, pytest.raises(ConfigError, match="too large for the flash"):
        board.start(image, pack)
    assert emulated(entry).machine.flash()[0] == 0xFF  # nothing was erased or written
