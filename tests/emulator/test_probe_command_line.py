# SPDX-License-Identifier: Apache-2.0
"""`pyocd` in a plain shell, with nothing of ripbench but its entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.emulator.conftest import NAMES
from tests.emulator.echo_firmware import echo_elf, segments

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment in which ripbench counts as installed, with the entry points that its
    pyproject.toml declares."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    installed = tmp_path / "site" / "ripbench-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: ripbench\nVersion: 0\n")
    (installed / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
            for group, entries in groups.items()
        )
    )
    return {**os.environ, "PYTHONPATH": f"{installed.parent}{os.pathsep}{ROOT}"}


def pyocd(shell: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pyocd", *arguments],
        env=shell,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_list_shows_the_default_boards(shell: dict[str, str], tmp_path: Path) -> None:
    answer = pyocd(shell, tmp_path, "json", "--probes")
    assert answer.returncode == 0
    emulated = [b for b in json.loads(answer.stdout)["boards"] if b["vendor_name"] == "ripbench"]
    assert emulated == [
        {
            "unique_id": unique_id,
            "info": name,
            "board_vendor": None,
            "board_name": name,
            "target": target,
            "vendor_name": "ripbench",
            "product_name": "emulated debug probe",
        }
        for unique_id, name, target in (
            ("pico1-emu", "Raspberry Pi Pico (emulated)", "rp2040"),
            ("pico1-emu-half", "Raspberry Pi Pico (emulated)", "rp2040"),
            ("pico1-emu-xl", "Raspberry Pi Pico (emulated)", "rp2040"),
            ("pico2-emu", "Raspberry Pi Pico 2 (emulated)", "rp2350"),
        )
    ]


@pytest.mark.parametrize("explicit", [True, False])
def test_load_programs_an_elf(
    shell: dict[str, str], tmp_path: Path, chip: str, explicit: bool
) -> None:
    elf = tmp_path / "echo.elf"
    elf.write_bytes(echo_elf(chip))
    target = ["-t", chip] if explicit else []
    answer = pyocd(shell, tmp_path, "load", "-u", f"emu:{NAMES[chip]}", *target, str(elf))
    assert answer.returncode == 0, answer.stderr
    assert "Erased " in answer.stderr and " programmed " in answer.stderr


def test_what_was_loaded_reads_back(shell: dict[str, str], tmp_path: Path, chip: str) -> None:
    elf, saved = tmp_path / "echo.elf", tmp_path / "saved.bin"
    elf.write_bytes(echo_elf(chip))
    offset, data = max(segments(echo_elf(chip)), key=lambda segment: len(segment[1]))
    read = f"savemem {0x10000000 + offset:#x} {len(data)} {saved}"
    commands = ["-c", f"load {elf}", "-c", read]
    answer = pyocd(shell, tmp_path, "cmd", "-u", f"emu:{NAMES[chip]}", "-t", chip, *commands)
    assert answer.returncode == 0, answer.stderr
    assert saved.read_bytes() == data


def test_an_unknown_board_is_no_probe(shell: dict[str, str], tmp_path: Path) -> None:
    answer = pyocd(shell, tmp_path, "cmd", "-W", "-u", "emu:pico9-emu", "-c", "status")
    assert answer.returncode == 3
    assert "No connected debug probe matches unique ID 'emu:pico9-emu'" in answer.stdout
