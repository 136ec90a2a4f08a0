# SPDX-License-Identifier: Apache-2.0
"""pyOCD sessions on the boards of these tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyocd.core.helpers import ConnectHelper
from pyocd.core.session import Session
from pyocd.core.target import Target

from harness.emulator.board import EmulatedBoard
from tests.emulator.echo_firmware import boot_program

MS = 1_000_000
FLASH, SRAM = 0x10000000, 0x20000000
HALTED = Target.State.HALTED
CLK_REF_CTRL = {"rp2040": 0x40008030, "rp2350": 0x40010030}


@contextmanager
def session(board: EmulatedBoard, target: str = "", **options: object) -> Iterator[Session]:
    """An open pyOCD session on a board that looks at no file and shows no progress."""
    opened = ConnectHelper.session_with_chosen_probe(
        unique_id=f"emu:{board.name}",
        target_override=target or board.chip.pyocd_target,
        no_config=True,
        options={
            "connect_mode": "halt",
            "user_script": os.devnull,
            "hide_programming_progress": True,
            "reset.post_delay": 0.0,
            **options,
        },
    )
    with opened:
        yield opened


def program(board: EmulatedBoard, source: str) -> dict[str, int]:
    image, labels = boot_program(board.chip.name, source)
    board.machine.load_flash(0, image)
    return labels


def wait_halted(target: Target) -> int:
    """How often it had to be asked."""
    for polls in range(1000):
        if target.get_state() is HALTED:
            return polls
    pytest.fail("the core never halted")
