# SPDX-License-Identifier: Apache-2.0
"""The firmware's USB device code under drawn control transfers, with both sanitizers.

The sources are the firmware's own, compiled for the host over a controller made of two arrays
(fuzz_usb_main.c). Three lines of them are Arm's and replaced: the two base addresses and a barrier.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.schema.header import header
from tests.firmware.support import FIRMWARE, HERE, WARNINGS
from tests.firmware.test_fuzz import SANITIZERS, host_compiler

_SECONDS = 240
_REPLACED = {
    "controller.h": {
        "#define USB_DPRAM_BASE 0x50100000u": "extern uint8_t mock_dpram[];\n"
        "#define USB_DPRAM_BASE ((uintptr_t)mock_dpram)",
        "#define USB_REGS_BASE 0x50110000u": "extern uint8_t mock_registers[];\n"
        "#define USB_REGS_BASE ((uintptr_t)mock_registers)",
    },
    "device.c": {'__asm volatile("dmb" ::: "memory");': ""},
}
_CORE = """\
#include <stdint.h>
#include "port/placement.h"
ALWAYS_INLINE uint32_t interrupts_disable(void) { return 0; }
ALWAYS_INLINE void interrupts_restore(uint32_t primask) { (void)primask; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz_usb")
    usb = folder / "port" / "usb"
    usb.mkdir(parents=True)
    for path in (FIRMWARE / "port" / "usb").iterdir():
        text = path.read_text()
        for old, new in _REPLACED.get(path.name, {}).items():
            assert text.count(old) == 1, f"{path.name}: {old}"
            text = text.replace(old, new)
        (usb / path.name).write_text(text)
    core = folder / "port" / "cortex_m" / "core.h"
    core.parent.mkdir()
    core.write_text(_CORE)
    (folder / "ripbench_schema.h").write_text(header())
    built = folder / "fuzz_usb_main"
    sources = [str(path) for path in sorted(usb.glob("*.c"))]
    command = [host_compiler(), *WARNINGS, *SANITIZERS, f"-I{folder}", f"-I{FIRMWARE}", *sources]
    done = subprocess.run(
        [*command, str(HERE / "fuzz_usb_main.c"), "-o", str(built)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return built


def _check(program: Path, seed: int, transfers: int) -> dict[str, int]:
    """Nothing was wrong, and every way that a transfer can go was gone."""
    done = subprocess.run(
        [str(program), str(seed), str(transfers)], capture_output=True, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    counts: dict[str, int] = json.loads(done.stdout)
    assert counts["transfers"] >= transfers
    for way in ("answered", "acknowledged", "stalled"):
        assert counts[way] > transfers / 10
    assert counts["abandoned"] > transfers / 40
    for way in ("resets", "spurious", "alive"):
        assert counts[way] > transfers / 400
    assert counts["bytes_out"] > transfers
    assert counts["bytes_in"] > transfers
    return counts


def test_control_transfers(program: Path) -> None:
    _check(program, seed=1, transfers=20_000)


@pytest.mark.extra
def test_a_hundred_thousand_control_transfers(program: Path) -> None:
    print(_check(program, seed=2, transfers=100_000))
