# SPDX-License-Identifier: Apache-2.0
"""What waiting costs: 10 s of emulated silence on a started board of each chip."""

from __future__ import annotations

from benchmarks.common import seconds, show
from harness.boards import Board, find_board, load_boards
from harness.boards.backend import backend_for
from harness.build import build_runner
from harness.case import build_pack, make_case
from harness.network import find_set, load_set
from harness.plan import Strategy, plan_layer

BOARDS = ("pico1-emu", "pico2-emu")


def silence(name: str) -> list[float]:
    entry = find_board(name, load_boards())
    layer = load_set(find_set("first"))[-1]
    pack = build_pack([make_case(plan_layer(layer, Strategy.RIP))])
    clock = backend_for(entry).clock(entry.name)
    with Board(entry) as board:
        board.start(build_runner(entry.chip), pack)
        return seconds(lambda: clock.sleep(10.0))


def main() -> None:
    show("10 s of emulated silence", [(name, silence(name), "0.2") for name in BOARDS])


if __name__ == "__main__":
    main()
