# SPDX-License-Identifier: Apache-2.0
"""The file behind a served board's flash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.emulator import flashfile
from harness.emulator.board import EmulatedBoard, unique_id_of
from harness.emulator.chips import CHIPS, RP2040, RP2350
from harness.emulator.flashfile import LABEL_BYTES, FlashFile, Label
from harness.errors import ConfigError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "flash.bin"


def test_a_new_file_is_erased(path: Path, chip: str) -> None:
    file = FlashFile(path, "desk", CHIPS[chip])
    size = CHIPS[chip].flash_bytes
    assert path.read_bytes()[:size] == b"\xff" * size
    assert path.stat().st_size == size + LABEL_BYTES
    assert file.label == Label(chip, unique_id_of("desk"), "desk")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    file.close()


def test_what_the_flash_holds_is_in_the_file_at_once(path: Path, chip: str) -> None:
    file = FlashFile(path, "desk", CHIPS[chip])
    board = EmulatedBoard("desk", chip, file.label.unique_id, flash=file.memory)
    board.machine.load_flash(0x1000, b"here")
    assert path.read_bytes()[0x1000:0x1004] == b"here"
    file.close()
    again = FlashFile(path, "another name", CHIPS[chip])
    other = EmulatedBoard("desk", chip, again.label.unique_id, flash=again.memory)
    assert bytes(other.machine.flash()[0x1000:0x1004]) == b"here"
    assert other.machine.bus_read_block(0x10001000, 4) is not None
    assert again.label.unique_id == unique_id_of("desk")  # the chip's, whatever the board is called
    again.close()


def test_memory_of_another_size_is_no_flash() -> None:
    with pytest.raises(ValueError, match="a flash of 2097152 bytes, not 16"):
        EmulatedBoard("desk", "rp2040", flash=bytearray(16))


def test_a_file_of_another_chip(path: Path) -> None:
    FlashFile(path, "desk", RP2350).close()
    with pytest.raises(ConfigError, match="cannot be this board's flash") as refused:
        FlashFile(path, "desk", RP2040)
    assert "the flash of an rp2350" in refused.value.cause


def damaged(raw: bytes, how: str) -> bytes:
    at = RP2040.flash_bytes
    return {
        "empty": b"",
        "short": raw[:-1],
        "no label": raw[:at] + bytes(LABEL_BYTES),
        "version": raw[: at + 8] + b"\2" + raw[at + 9 :],
        "a bit of the unique id": raw[: at + 30] + bytes([raw[at + 30] ^ 1]) + raw[at + 31 :],
        "a flash too small": raw[: at - 4096] + raw[at:],
        "an ELF": b"\x7fELF" + bytes(20_000),
    }[how]


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ("empty", "too short"),
        ("short", "no label"),
        ("no label", "no label"),
        ("version", "version 2"),
        ("a bit of the unique id", "CRC"),
        ("a flash too small", "bytes, not"),
        ("an ELF", "no label"),
    ],
)
def test_a_file_that_is_none(path: Path, how: str, cause: str) -> None:
    FlashFile(path, "desk", RP2040).close()
    raw = damaged(path.read_bytes(), how)
    path.write_bytes(raw)
    with pytest.raises(ConfigError) as refused:
        FlashFile(path, "desk", RP2040)
    assert cause in refused.value.cause
    assert path.read_bytes() == raw  # nothing of it was touched


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be opened"):
        FlashFile(tmp_path, "desk", RP2040)
    with pytest.raises(ConfigError, match="cannot be made"):
        FlashFile(tmp_path / "none" / "flash.bin", "desk", RP2040)


def test_one_process_at_a_time(path: Path) -> None:
    file = FlashFile(path, "desk", RP2040)
    program = (
        "import sys; from pathlib import Path; from harness.emulator.flashfile import FlashFile\n"
        "from harness.emulator.chips import RP2040; FlashFile(Path(sys.argv[1]), 'desk', RP2040)"
    )
    words = [sys.executable, "-c", program, str(path)]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert "is the flash of a board that is served now" in refused.stderr
    file.close()
    assert subprocess.run(words).returncode == 0


def test_the_label_has_room_for_every_chip() -> None:
    for chip in CHIPS:
        label = Label(chip, bytes(range(8)), "n" * 64)
        assert Label.unpack(label.pack()) == label
    assert flashfile.LABEL.size + 4 <= LABEL_BYTES
