# SPDX-License-Identifier: Apache-2.0
"""What the witness costs: the same runs with it and without."""

from __future__ import annotations

from benchmarks.common import seconds, show
from harness.boards import Board, find_board, load_boards
from harness.build import build_runner
from harness.case import build_pack, make_case
from harness.geometry import Execution
from harness.measure.observer import Observer
from harness.network import find_set, load_set
from harness.plan import Mode, Strategy, plan_layer
from harness.schema.constants import TapOrder

LAYER = "resnet56-3x3"


def main() -> None:
    entry = find_board("pico1-emu", load_boards())
    image = build_runner(entry.chip)
    layer = next(layer for layer in load_set(find_set("first")) if layer.id == LAYER)
    plans = [
        plan_layer(layer, Strategy.RIP, Mode(Execution(tap_order=order))) for order in TapOrder
    ]
    rows = []
    with Board(entry) as board:
        board.start(image, build_pack([make_case(plan) for plan in plans]))
        assert board.witness is not None, "an emulated board has one"
        observer = Observer(board.witness, image)
        for index, plan in enumerate(plans):

            def run(index: int = index) -> None:
                board.run(index, seed=1)

            observer.stop()
            rows.append((f"{LAYER} {plan.label}", seconds(run), ""))
            observer.watch(plan)
            rows.append(("  with the witness", seconds(run), ""))
    show("Witness, emulated Pico 1", rows)


if __name__ == "__main__":
    main()
