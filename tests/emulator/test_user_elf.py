# SPDX-License-Identifier: Apache-2.0
"""An ELF as a user has it goes through pyOCD onto the board of its chip, boots and enumerates.

The runner of each chip always; and every ELF below the folder that RIPBENCH_SDK_ELF_DIR names, which
are meant to be programs built with a stock pico-sdk 2.2 that keep stdio on USB (TinyUSB).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial
from elftools.elf.elffile import ELFFile
from pyocd.core.helpers import ConnectHelper
from pyocd.flash.file_programmer import FileProgrammer

from harness.build import build_runner
from harness.emulator import backend, registry
from harness.emulator.usbhost import HostState
from tests.emulator.conftest import NAMES

VARIABLE = "RIPBENCH_SDK_ELF_DIR"
ENUMERATE_NS = 2_000_000_000
CHIP_OF_ARCHITECTURE = {12: "rp2040", 17: "rp2350"}  # Tag_CPU_arch: v6S-M, v8-M.mainline


def chip_of(elf: Path) -> str:
    """By the build attribute Tag_CPU_arch (Addenda to the Arm ABI, 3.3.5.2)."""
    with elf.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".ARM.attributes")
        assert section is not None, f"{elf} is not for Arm"
        for vendor in section.iter_subsections():
            for scope in vendor.iter_subsubsections():
                for attribute in scope.iter_attributes("TAG_CPU_ARCH"):
                    return CHIP_OF_ARCHITECTURE[attribute.value]
    raise AssertionError(f"{elf} does not say for which architecture it is")


def user_elfs() -> Iterator[object]:
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return
    found = sorted(Path(folder).rglob("*.elf"))
    assert found, f"{VARIABLE}={folder} holds no .elf"
    for path in found:
        name = str(path.relative_to(folder))
        yield pytest.param(lambda path=path: path, id=name, marks=pytest.mark.extra)


RUNNERS = [
    pytest.param(lambda chip=chip: build_runner(chip).elf, id=f"runner-{chip}") for chip in NAMES
]


@pytest.mark.parametrize("elf_of", [*RUNNERS, *user_elfs()])
def test_it_boots_and_enumerates(elf_of: object) -> None:
    elf: Path = elf_of()  # type: ignore[operator]
    chip = chip_of(elf)
    name = NAMES[chip]
    registry.remove(name)
    backend.configure({"name": name, "chip": chip})
    try:
        board = registry.board(name)
        session = ConnectHelper.session_with_chosen_probe(
            unique_id=f"emu:{name}",
            target_override=chip,
            no_config=True,
            options={"user_script": os.devnull, "hide_programming_progress": True},
        )
        logging.getLogger("pyocd").setLevel(logging.ERROR)
        with session:
            FileProgrammer(session).program(str(elf))
            session.target.reset()
        board.advance_until(
            lambda: board.host.state is HostState.READY, board.now_ns + ENUMERATE_NS
        )
        evidence = board.host.evidence
        assert board.host.state is HostState.READY, (
            board.host.why_no_port(),
            board.machine.boot_state(),
            board.machine.last_fault(),
            evidence.transcript[-5:],
        )
        assert evidence.complaints == []
        assert board.host.device is not None
        assert board.host.device.serial_number == board.unique_id.hex().upper()
        with serial.serial_for_url(f"emu://{name}", timeout=0.5) as port:
            port.read(4096)  # whatever the program has to say
            assert board.standing == ""
    finally:
        registry.remove(name)
