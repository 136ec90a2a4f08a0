# SPDX-License-Identifier: Apache-2.0
"""How long each stage may take, in seconds of the board's own time. The one place with these numbers.

A single transfer of the probe cannot be cut short: it is bounded by the probe driver's own time-outs,
and the stage is over at the transfer after. docs/recovery.md has this table in words.
"""

from __future__ import annotations

from dataclasses import dataclass

SECTOR_BYTES = 4096
PAGE_BYTES = 256

ATTACH = 10.0  # discovery of two cores over a slow probe takes 1 s
DETACH = 5.0
FLASH_BASE_SECONDS = 5.0  # loading the algorithm, comparing what is there, slow probes
ERASE_PER_SECTOR = 0.5  # W25Q16JV: 0.4 s at most, 0.045 typically
PROGRAM_PER_PAGE = 0.02  # W25Q16JV: 3 ms at most; a probe of 20 KB/s needs 13 for the bytes
RESET = 5.0
BOOT = 2.0
ENUMERATE = 6.0  # hosts wait up to 5 s on a device that does not answer
HELLO = 3.0
FRAME = 2.0  # for what is ready to be sent
POST_MORTEM = 5.0
READ_BYTES_PER_SECOND = 20_000

_CYCLES_PER_MAC = 100  # four times what the plain kernel needs: beyond it the board hangs
_CYCLES_PER_OUTPUT = 2000  # whatever the kernel
_CYCLES_PER_BYTE = 60  # paint, scan and CRC of the pool and of the flash slices

# What to try when a stage is over its time, by stage.
HINTS = {
    "attach": "check the probe's cables and that the board has power; `ripbench doctor` tests it alone",
    "erase": "flash that erases this slowly is worn out or write-protected",
    "program": "a slow hub between host and probe, or flash that fails",
    "reset": "the debug port answers and the core does not; unplug the board once",
    "hello": "the port is open and nobody answers: the firmware hangs or the cable only charges",
    "total": "each frame came in time, the whole did not: a kernel far slower than it should be",
}
OP_HINT = "the firmware hangs or its kernel is far slower than it should be"


@dataclass(frozen=True)
class RunBudget:
    """Of one RUN. case: until the firmware has verified what it will execute. op: until the first frame
    of a repeat, which comes when all of its ops are done; each later frame has FRAME. total: of all."""

    case: float
    op: float
    total: float


def erase(flash_bytes: int) -> float:
    """Of so many bytes, in whole sectors."""
    return FLASH_BASE_SECONDS + -(-flash_bytes // SECTOR_BYTES) * ERASE_PER_SECTOR


def program(flash_bytes: int) -> float:
    """Of so many bytes, in whole pages."""
    return FLASH_BASE_SECONDS + -(-flash_bytes // PAGE_BYTES) * PROGRAM_PER_PAGE


def run(
    *, macs: int, n_out: int, pool_bytes: int, flash_bytes: int, repeats: int, clock_hz: int
) -> RunBudget:
    """pool_bytes: painted and scanned each repeat. flash_bytes: whose CRC is computed once."""
    case = flash_bytes * _CYCLES_PER_BYTE / clock_hz
    work = macs * _CYCLES_PER_MAC + n_out * _CYCLES_PER_OUTPUT + pool_bytes * _CYCLES_PER_BYTE
    repeat = work / clock_hz
    return RunBudget(FRAME + case, FRAME + repeat, FRAME + case + repeats * repeat)


def read(length: int) -> float:
    return FRAME + length / READ_BYTES_PER_SECOND
