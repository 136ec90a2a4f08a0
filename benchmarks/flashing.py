# SPDX-License-Identifier: Apache-2.0
"""Flash and reset on the emulated boards, through pyOCD: 64 KB, 800 KB, and an unchanged image."""

from __future__ import annotations

import random

from benchmarks.common import seconds, show
from harness.boards import BoardEntry, find_board, load_boards
from harness.boards.image import FLASH_BASE, RUNNER_BYTES
from harness.boards.probe import Probe
from harness.schema.constants import IMAGE_INFO_OFFSET
from harness.schema.records import ImageInfo, PackHeader

BOARDS = ("pico1-emu", "pico2-emu")
SIZES = ((64, "0.2"), (800, "1.5"))  # KB, seconds that are asked


def measure(entry: BoardEntry) -> list[tuple[str, list[float], str]]:
    rng = random.Random(1)
    rows = []
    with Probe(entry) as probe:
        for kilobytes, asked in SIZES:

            def write(size: int = kilobytes * 1024) -> None:
                probe.program([(FLASH_BASE, rng.randbytes(size))])
                probe.reset_and_halt()

            rows.append((f"flash + reset, {kilobytes} KB", seconds(write, 3), asked))

        def recognise() -> None:
            probe.read(FLASH_BASE + IMAGE_INFO_OFFSET, ImageInfo.size())
            probe.read(FLASH_BASE + RUNNER_BYTES, PackHeader.size())

        rows.append(("recognise an unchanged image", seconds(recognise), "0.03"))

    def attach() -> None:
        with Probe(entry) as again:
            again.read(FLASH_BASE, 64)

    return [*rows, ("attach and read 64 bytes", seconds(attach), "")]


def main() -> None:
    boards = load_boards()
    for name in BOARDS:
        show(f"Flashing, {name}", measure(find_board(name, boards)))


if __name__ == "__main__":
    main()
