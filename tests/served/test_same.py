# SPDX-License-Identifier: Apache-2.0
"""A served board answers as one of this process does: same bytes, same cycles, same errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import serial

from harness import history
from harness.boards.probe import Probe
from harness.emulator import backend, registry
from harness.emulator.board import BoardOptions
from harness.errors import HarnessError
from tests.device.support import MISS_CYCLES
from tests.emulator.conftest import new_echo_board
from tests.emulator.echo_firmware import DEAF, RESET, SEND, STRICT, echo_elf, segments
from tests.served.conftest import Serve
from tests.served.support import NAMES, ROOT, entry_of, fill_flash

Transcript = list[Any]


def said(call: Callable[[], object]) -> object:
    """What a call answers, or how it fails."""
    try:
        return call()
    except HarnessError as error:
        return type(error).__name__, str(error)
    except Exception as error:
        return type(error).__name__, str(error)


def calls(chip: str) -> Transcript:
    """Much of what can be asked of the port and the clock of a board with the echo firmware."""
    name = NAMES[chip]
    clock, url = backend.clock(name), f"emu://{name}"
    found: Transcript = [clock.now()]

    def note(call: Callable[[], object]) -> None:
        found.append((said(call), clock.now()))

    note(lambda: serial.serial_for_url(url))
    note(lambda: clock.sleep(0.3))
    port = serial.serial_for_url(url, timeout=0.25, write_timeout=0.5)
    note(lambda: port.write(b"hello\n"))
    note(port.readline)
    note(lambda: port.in_waiting)
    note(lambda: port.read(1))
    note(lambda: port.write(SEND))
    note(lambda: port.read(10_000))
    for settings in ({"baudrate": 115200}, {"parity": "E"}, {"dtr": False}, {"timeout": None}):
        for key, value in settings.items():
            note(lambda key=key, value=value: setattr(port, key, value))
    note(lambda: (port.cts, port.dsr, port.ri, port.cd))
    note(lambda: serial.serial_for_url(url).close() and None)
    note(lambda: port.write(b"x" * 1000))
    note(port.flush)
    note(lambda: port.read(1000))
    note(port.close)
    note(lambda: port.read(1))
    note(port.open)
    note(lambda: port.write(DEAF) and port.flush())
    note(lambda: port.write(bytes(20_000)))
    note(lambda: port.out_waiting)
    note(port.flush)
    note(port.reset_output_buffer)
    note(port.close)
    return found


def debugging(chip: str) -> Transcript:
    """The same for the debug port, and for firmware that goes wrong."""
    name = NAMES[chip]
    clock, url = backend.clock(name), f"emu://{name}"
    found: Transcript = []
    with Probe(entry_of(chip)) as probe:
        for step in (
            lambda: probe.read(0x10000000, 300),
            lambda: probe.write(0x20001000, bytes(range(256)) * 9),
            lambda: probe.read(0x20001000, 2304),
            lambda: probe.read(0x30000000, 4),
            lambda: probe.write(0x30000000, b"1234"),
            lambda: probe.write(0x30000001, b"1"),
            lambda: probe.read(0x20001000, 16),
            probe.reset_and_halt,
            probe.halted_registers,
            lambda: probe.program([(0x10040000, bytes(range(256)) * 33)]),
            lambda: probe.read(0x10040000, 8448) == bytes(range(256)) * 33,
            probe.reset_and_halt,
            probe.resume,
            probe.state,
            lambda: clock.sleep(0.3),
            probe.state,
        ):
            found.append((said(step), clock.now()))
        for order in (RESET, STRICT):
            port = serial.serial_for_url(url, timeout=1)
            found.append((said(lambda p=port, o=order: p.write(o) and p.read(5)), clock.now()))
            found.append((said(port.close), clock.now()))
            found.append((said(lambda: clock.sleep(0.3)), clock.now()))
    return found


@pytest.mark.parametrize("asked", [calls, debugging])
def test_every_call_answers_the_same(
    chip: str, serve: Serve, flash_file: Path, asked: Callable[[str], Transcript]
) -> None:
    new_echo_board(chip, BoardOptions(xip_miss_cycles=MISS_CYCLES[chip]))
    here = asked(chip)
    registry.remove(NAMES[chip])
    fill_flash(flash_file, chip, segments(echo_elf(chip)))
    server = serve(chip)
    there = asked(chip)
    assert registry.served(NAMES[chip]) is not None
    for n, (wanted, got) in enumerate(zip(here, there, strict=True)):
        assert got == wanted, f"step {n}"
    assert server.is_running()


def layers(board: str, rows: Path, *options: str) -> list[dict[str, Any]]:
    """Verdicts of the device suite in a process of its own, as it runs for everybody."""
    words = ["layers", "-q", "-p", "no:cacheprovider", "--nonce", "1234abcd", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--board", board, "--history", str(rows)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(json.dumps(row)) for row in history.read(rows)]
    for row in found:
        row.pop("time", None)
    return found


QUICK = ("--layers", "first#odd-3x3,first#mcunet-in0.0", "--seeds", "1", "--tap-order", "gather")


def check_layers(chip: str, serve: Serve, tmp_path: Path, options: tuple[str, ...]) -> None:
    here = layers(NAMES[chip], tmp_path / "here.jsonl", *options)
    server = serve(chip)
    there = layers(NAMES[chip], tmp_path / "there.jsonl", *options)
    again = layers(NAMES[chip], tmp_path / "again.jsonl", *options)  # nothing is flashed
    assert len(here) >= 4 and all(row["ok"] for row in here)
    assert there == here
    assert again == here
    assert server.stop() == 0


def test_layers_have_the_same_numbers(serve: Serve, tmp_path: Path) -> None:
    check_layers("rp2040", serve, tmp_path, QUICK)


@pytest.mark.extra
def test_all_quick_layers_have_the_same_numbers(chip: str, serve: Serve, tmp_path: Path) -> None:
    check_layers(chip, serve, tmp_path, ("-m", "not slow", *QUICK[2:]))
