# SPDX-License-Identifier: Apache-2.0
"""What the right shift costs: the memmove to the gap beside each layer of the set `first`, in emulated
cycles. They are the same on every machine."""

from __future__ import annotations

import statistics

from tabulate import tabulate

from harness.bench import Bench, BenchOptions
from harness.boards import find_board, load_boards
from harness.network import find_set, load_set

BOARDS = ("pico1-emu", "pico2-emu")


def main() -> None:
    rows = []
    shares: dict[str, list[float]] = {name: [] for name in BOARDS}
    options = BenchOptions(seeds=(1,), repeats=2, witness=False)
    benches = {name: Bench(find_board(name, load_boards()), options) for name in BOARDS}
    for layer in load_set(find_set("first")):
        row: list[object] = [layer.id]
        for name, bench in benches.items():
            dual, copied = bench.run(layer, "dual"), bench.run(layer, "rip-copy")
            shares[name].append(100 * (copied.cycles / dual.cycles - 1))
            row += [dual.cycles, copied.shift_cycles, f"{shares[name][-1]:.3f} %"]
        rows.append(row)
    for bench in benches.values():
        bench.close()
    print("\nright shift by memmove, conservative model on the M33")
    heads = [f"{name} {word}" for name in BOARDS for word in ("dual cycles", "shift", "cost")]
    print(tabulate(rows, headers=["layer", *heads], disable_numparse=True))
    for name, found in shares.items():
        print(f"{name}: median {statistics.median(found):.3f} %, worst {max(found):.3f} %")


if __name__ == "__main__":
    main()
