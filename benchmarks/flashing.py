# SPDX-License-Identifier: Apache-2.0
"""Flash and reset on the emulated Pico 1, through pyOCD: 64 KB, 800 KB, and an unchanged image."""

from __future__ import annotations

import random

from benchmarks.common import seconds, show
from harness.boards import find_board, load_boards
from harness.boards.image import FLASH_BASE
from harness.boards.probe import Probe


def main() -> None:
    rng = random.Random(1)
    entry = find_board("pico1-emu", load_boards())
    from harness.boards.backend import backend_for

    backend_for(entry)
    rows = []
    with Probe(entry) as probe:
        for kilobytes, asked in ((64, "0.2"), (800, "1.5")):

            def write(size: int = kilobytes * 1024) -> None:
                probe.program([(FLASH_BASE, rng.randbytes(size))])
                probe.reset_and_halt()

            rows.append((f"flash + reset, {kilobytes} KB", seconds(write, 3), asked))

    def attach() -> None:
        with Probe(entry) as again:
            again.read(FLASH_BASE, 64)

    rows.append(("attach and read 64 bytes", seconds(attach), ""))
    with Probe(entry) as probe:

        def recognise() -> None:
            probe.read(FLASH_BASE + 0x1C0, 24)
            probe.read(FLASH_BASE + 0x1_0000, 48)

        rows.append(("recognise an unchanged image", seconds(recognise), "0.03"))
    show("Flashing, emulated Pico 1", rows)


if __name__ == "__main__":
    main()
