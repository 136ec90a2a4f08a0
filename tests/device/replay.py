# SPDX-License-Identifier: Apache-2.0
"""Runs a layer with a fixed nonce and prints what came over the wire:
`python -m tests.device.replay BOARD LAYER SLICE_CYCLES`. A process of its own for each replay."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from typing import Any

from harness.boards import Board, find_board, load_boards
from harness.build import build_runner
from harness.case import build_pack, make_case
from harness.emulator import registry
from harness.geometry import Execution
from harness.network import find_set, load_set
from harness.plan import LAYER_STRATEGIES, Mode, plan_layer
from harness.schema.constants import TapOrder
from harness.wire import Link


def main(board_name: str, layer_id: str, slice_cycles: int) -> None:
    received = hashlib.sha256()
    feed = Link.feed

    def recording(link: Link, data: bytes) -> Any:
        received.update(data)
        return feed(link, data)

    Link.feed = recording  # type: ignore[method-assign]
    layer = {layer.id: layer for layer in load_set(find_set("first"))}[layer_id]
    cases = [
        make_case(plan_layer(layer, strategy, Mode(Execution(tap_order=order))))
        for order in TapOrder
        for strategy in LAYER_STRATEGIES
    ]
    entry = find_board(board_name, load_boards())
    with Board(entry, nonce=0x5EED) as board:
        emulated = registry.board(entry.name)
        emulated.options = replace(emulated.options, slice_cycles=slice_cycles)
        board.start(build_runner(entry.chip), build_pack(cases))
        cycles = [r.cycles for n in range(len(cases)) for r in board.run(n, 1, repeats=2).results]
        print(
            json.dumps({"frames": received.hexdigest(), "cycles": cycles, "end": emulated.cycles})
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
