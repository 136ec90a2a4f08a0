# SPDX-License-Identifier: Apache-2.0
"""Thousands of cases in one flash: 2,000 random convolutions on one emulated board of each chip."""

from __future__ import annotations

import time
import zlib

from tabulate import tabulate

from harness.boards import Board, find_board, load_boards
from harness.build import build_runner
from harness.case import Case, build_pack, make_case
from harness.network import find_set, load_set
from harness.plan import Strategy, plan_layer
from harness.schema.constants import OpKind

COUNT = 2000
BOARDS = ("pico1-emu", "pico2-emu")


def cases() -> list[Case]:
    """The last of layers/sets/ops.yaml, one op each, in place."""
    drawn = [layer for layer in load_set(find_set("ops")) if layer.kind is OpKind.CONV]
    return [make_case(plan_layer(layer, Strategy.RIP)) for layer in drawn[-COUNT:]]


def main() -> None:
    made = cases()
    rows = []
    for name in BOARDS:
        entry = find_board(name, load_boards())
        image = build_runner(entry.chip)
        start = time.perf_counter()
        pack = build_pack(made)
        with Board(entry) as board:
            board.start(image, pack)
            flashed = time.perf_counter()
            found = [board.run(index, seed=index).results[0] for index in range(len(made))]
        ran = time.perf_counter()
        right = sum(
            result.output_crc == zlib.crc32(case.expected(index).tobytes())
            for index, (case, result) in enumerate(zip(made, found, strict=True))
        )
        rows.append(
            (
                name,
                len(pack.data),
                f"{flashed - start:.2f}",
                f"{ran - flashed:.1f}",
                f"{right}",
                "90",
            )
        )
    print(f"\n{COUNT} one-op cases in one flash")
    headers = ("", "pack bytes", "build and flash s", "run s", "right", "asked s")
    print(tabulate(rows, headers=headers, disable_numparse=True))


if __name__ == "__main__":
    main()
