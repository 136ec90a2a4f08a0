# SPDX-License-Identifier: Apache-2.0
"""An independent emulator runs the unmodified image: it enumerates, answers, and computes the same."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from harness.build import RunnerImage
from harness.build.image import FLASH_BASE
from harness.emulator.machine import Counter, Machine
from harness.schema.constants import (
    MAILBOX_MAGIC,
    PROTOCOL_VERSION,
    FrameType,
)
from harness.schema.records import Hello, MailboxRequest, RunRequest, RunResult
from harness.wire import Link
from tests.device.support import small_pack

pytestmark = pytest.mark.extra
SCRIPT = Path(__file__).with_name("rp2040js.mjs")
NODE = Path(sys.prefix) / "node"  # where `make test-all` installs rp2040js
NONCE = 0x1234_5678
PACK_OFFSET = 0x1_0000
PACK = small_pack()


def _node(job: dict[str, object]) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(SCRIPT)], cwd=NODE, input=json.dumps(job), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_enumerates_and_computes(runner_image: RunnerImage) -> None:
    flash = runner_image.flash.ljust(PACK_OFFSET, b"\xff") + PACK.data
    mailbox = MailboxRequest(
        MAILBOX_MAGIC, PROTOCOL_VERSION, NONCE, FLASH_BASE + PACK_OFFSET, "rp2040js"
    )
    link = Link(NONCE)
    hello_request = link.request(FrameType.ASK_HELLO)
    run_request = link.request(FrameType.RUN, RunRequest(0, 1, 1, 0, 0, 0, 0).pack())
    answer = _node(
        {
            "mode": "talk",
            "flash": flash.hex(),
            "mailbox": mailbox.pack().hex(),
            "requests": [
                {"bytes": hello_request.hex(), "frames": 1},
                {"bytes": run_request.hex(), "frames": 3},
            ],
        }
    )
    assert answer["connected"]
    frames = list(link.feed(bytes.fromhex(answer["received"])))
    assert [frame.type for frame in frames] == [
        FrameType.HELLO,
        FrameType.CASE,
        FrameType.OP,
        FrameType.RESULT,
    ]
    hello = Hello.unpack(frames[0].payload)
    assert (hello.board, hello.image_crc) == ("rp2040js", runner_image.crc)
    result = RunResult.unpack(frames[3].payload)
    assert result.output_crc == zlib.crc32(PACK.cases[0].expected(1).tobytes())
    assert (result.outside_count, result.low_water) == (0, 0)


def test_cycles_of_a_loop_in_sram(runner_image: RunnerImage) -> None:
    """paint_pool over 64 KB: code and data in SRAM, so neither engine's flash matters."""
    symbols = runner_image.symbols
    start, load = symbols["__ram_code_start"], symbols["__ram_code_load"] - FLASH_BASE
    code = runner_image.flash[load : load + symbols["__ram_code_end"] - start]
    registers = [0x2001_0000, 0x1_0000, 0]
    function = symbols["paint_pool"]
    theirs = _node(
        {
            "mode": "call",
            "sram": [[start, code.hex()]],
            "registers": registers,
            "function": function,
        }
    )
    assert theirs["returned"]
    ours = _call(start, code, function, registers)
    assert abs(ours - theirs["cycles"]) <= 0.003 * theirs["cycles"]


def _call(start: int, code: bytes, function: int, registers: list[int]) -> int:
    """Cycles of a function in SRAM on our core, up to a BKPT at its return address."""
    stop = 0x2000_0000
    machine = Machine("rp2040", 2 << 20)
    machine.power_on()
    machine.bus_write_block(start, code)
    machine.bus_write(stop, 2, 0xBE00)
    machine.memory_changed(stop, len(code) + 0x200)
    machine.bus_write(0xE000_EDF0, 4, 0xA05F_0003)
    machine.run(machine.counter(Counter.CYCLES))
    for number, value in enumerate(registers):
        machine.set_register(number, value)
    for number, value in ((13, 0x2004_1000), (14, stop | 1), (15, function & ~1), (16, 1 << 24)):
        machine.set_register(number, value)
    before = machine.counter(Counter.CYCLES)
    machine.bus_write(0xE000_EDF0, 4, 0xA05F_0001)
    machine.run(before + 100_000_000)
    return machine.counter(Counter.CYCLES) - before
