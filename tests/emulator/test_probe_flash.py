# SPDX-License-Identifier: Apache-2.0
"""pyOCD writes the flash of an emulated board by its own algorithm, whatever the board was doing."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyocd.core.session import Session
from pyocd.core.target import Target
from pyocd.flash.file_programmer import FileProgrammer
from pyocd.flash.loader import FlashLoader

from harness.build import build_runner
from harness.emulator.board import EmulatedBoard
from harness.emulator.usbhost import HostState
from harness.errors import FirmwareFault
from tests.emulator.debugger import (
    CLK_REF_CTRL,
    FLASH,
    HALTED,
    MS,
    program,
    session,
    wait_halted,
)
from tests.emulator.echo_firmware import echo_elf, segments


@pytest.fixture
def echo_file(chip: str, tmp_path: Path) -> Path:
    path = tmp_path / "echo.elf"
    path.write_bytes(echo_elf(chip))
    return path


# ---- flash ----


def summary(caplog: pytest.LogCaptureFixture) -> str:
    """pyOCD's last word on a programming job, without its speed."""
    lines = [record.getMessage() for record in caplog.records if "Erased" in record.getMessage()]
    return lines[-1].split(" at ")[0]


def test_programming_an_elf(
    board: EmulatedBoard, echo_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pyocd")
    with session(board) as opened:
        FileProgrammer(opened).program(str(echo_file))
        for offset, data in segments(echo_elf(board.chip.name)):
            assert bytes(opened.target.read_memory_block8(FLASH + offset, len(data))) == data
            assert bytes(board.machine.flash()[offset : offset + len(data)]) == data
        first = summary(caplog)
        assert first.startswith("Erased ") and "identical 0 bytes" in first
        FileProgrammer(opened).program(str(echo_file))
        assert summary(caplog).startswith(
            "Erased 0 bytes (0 sectors), programmed 0 bytes (0 pages)"
        )
        opened.target.reset()
    board.advance(ns=300 * MS)
    assert board.host.state is HostState.READY


def test_the_runner_boots_after_programming(board: EmulatedBoard) -> None:
    with session(board) as opened:
        FileProgrammer(opened).program(str(build_runner(board.chip.name).elf))
        opened.target.reset()
    board.advance(ns=300 * MS)
    assert board.host.state is HostState.READY
    assert board.host.device is not None
    assert board.host.device.serial_number == board.unique_id.hex().upper()
    assert board.host.evidence.complaints == []


def write(opened: Session, offset: int, data: bytes) -> None:
    loader = FlashLoader(opened)
    loader.add_data(FLASH + offset, data)
    loader.commit()


def test_smart_flash_programs_only_the_sector_that_differs(
    board: EmulatedBoard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pyocd")
    image = bytes(k * 13 & 0xFF for k in range(65536))
    with session(board) as opened:
        write(opened, 0, image)
        changed = bytearray(image)
        changed[30_000] ^= 1
        write(opened, 0, bytes(changed))
    assert "Erased 4096 bytes (1 sector), programmed 4096 bytes (16 pages)" in summary(caplog)
    assert bytes(board.machine.flash()[:65536]) == changed


@pytest.mark.parametrize("keep", [True, False])
def test_keep_unwritten(board: EmulatedBoard, keep: bool) -> None:
    board.machine.load_flash(0x8000, b"\x5a" * 4096)
    with session(board, keep_unwritten=keep) as opened:
        write(opened, 0x8100, b"\x11" * 256)
    sector = bytes(board.machine.flash()[0x8000:0x9000])
    kept = b"\x5a" if keep else b"\xff"
    assert sector == kept * 256 + b"\x11" * 256 + kept * 3584


def test_flash_is_not_writable_over_the_bus(board: EmulatedBoard) -> None:
    with session(board) as opened:
        opened.target.write32(FLASH, 0)
        assert opened.target.read32(FLASH) == 0xFFFFFFFF


# ---- a board whose firmware is wrong ----

BROKEN = """
    ldr r0, =CLK_REF_CTRL
    movs r1, #2
    str r1, [r0]             @ clk_ref from the crystal oscillator, which was never started
loop: b loop
    .ltorg
"""


def broken(board: EmulatedBoard) -> None:
    address = CLK_REF_CTRL[board.chip.name]
    program(board, BROKEN.replace("CLK_REF_CTRL", f"{address:#x}"))


def test_a_debugger_can_repair_what_stands_in_an_error(
    board: EmulatedBoard, echo_file: Path
) -> None:
    broken(board)
    with pytest.raises(FirmwareFault):
        board.advance(ns=100 * MS)
    with session(board) as opened:
        assert board.fault is None  # halting took the board over
        opened.target.reset_and_halt()
        FileProgrammer(opened).program(str(echo_file))
        opened.target.reset()
    board.advance(ns=300 * MS)
    assert board.host.state is HostState.READY


def test_an_error_while_connecting_does_not_stop_the_debugger(
    board: EmulatedBoard, echo_file: Path
) -> None:
    broken(board)
    with session(board) as opened:  # discovery lets the broken program run into its error
        opened.target.reset_and_halt()
        FileProgrammer(opened).program(str(echo_file))


def test_a_debugger_that_only_waits_is_told(board: EmulatedBoard) -> None:
    broken(board)
    with session(board) as opened:
        opened.target.reset()
        with pytest.raises(FirmwareFault, match="clk_ref"):
            wait_halted(opened.target)
        opened.target.halt()
        assert opened.target.get_state() is HALTED


def test_locked_up_core_is_seen_as_such(board: EmulatedBoard) -> None:
    lock_up = "ldr r0, =0x20000000\nmovs r1, #0\nstr r1, [r0, #12]\nldr r2, =0xe000ed08\n"
    program(board, lock_up + "str r0, [r2]\nudf #0\n.ltorg")
    board.advance(ns=100 * MS)
    with session(board, connect_mode="attach") as opened:
        assert opened.target.get_state() is Target.State.LOCKUP
        opened.target.halt()
        assert opened.target.get_state() is HALTED
