# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.models`: the eleven networks under rip with each chip's own fast set, in
emulated cycles: of the core alone, and with the misses of the flash cache at 56 cycles a line.

Misses are those of a first run: the cache is empty as it begins, and each op finds what those before
it left. `warm` is of a second run, for which the runner reads through each op's constants beforehand,
as far as the cache holds them. A miss adds its cycles and changes nothing else: that both runs have the
same cycles without theirs is checked. `floor` is of kernels that read every line of the constants once
and find none in the cache. An RP2350's cycles are those of the conservative model of its core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tabulate import tabulate

from harness.bench import Bench, BenchOptions
from harness.boards import Board, BoardEntry
from harness.build import RunnerImage, build_runner
from harness.case import NetworkCase, build_pack
from harness.kernels.cost import LINE_BYTES
from harness.measure.fit import fits
from harness.plan import Strategy
from harness.selection import choose_models
from tests.device.support import new_entry

MISS_CYCLES = 56
SETS = {"rp2350": "m33", "rp2040": "m0plus"}
ASKED = {
    ("rp2350", "mcunet-in3"): "190, then 150",
    ("rp2350", "mcunet-vww1"): "33, then 26",
    ("rp2040", "mcunet-in3"): "450, then 370",
    ("rp2040", "mcunet-vww1"): "75, then 60",
}
_M = 1e6


@dataclass(frozen=True)
class Cost:
    """Of one network. core: cycles without misses. misses, warm_misses: lines of the flash cache.
    constants: bytes of the flash that its ops read."""

    name: str
    macs: int
    core: int
    misses: int
    warm_misses: int
    constants: int

    @property
    def cycles(self) -> int:
        """Of a first run."""
        return self.core + self.misses * MISS_CYCLES

    @property
    def lines(self) -> int:
        """That a run has to read at least, but for what is in the cache already."""
        return -(-self.constants // LINE_BYTES)

    def ratio(self, misses: int) -> float:
        return 1 + misses * MISS_CYCLES / self.core


def costs(chip: str, strategy: Strategy = Strategy.RIP) -> Iterator[Cost]:
    """Of each of the eleven that fits the chip's board."""
    entry = new_entry(chip)
    bench = Bench(entry, BenchOptions(kernels=SETS[chip]))
    for model in choose_models(None):
        (case,) = bench.network_cases(model, [strategy])
        image = build_runner(chip, kernels=case.plan.kernels)
        if fits(case.plan, image):
            yield _cost(entry, image, case)


def _cost(entry: BoardEntry, image: RunnerImage, case: NetworkCase) -> Cost:
    """Of two runs, whose outputs are the host's."""
    pack = build_pack([case])
    with Board(entry) as board:
        board.start(image, pack)
        run = board.run(0, seed=1, repeats=2, keep_interrupts=True)
    expected = case.output_crc(case.tensors(1))
    assert all(result.output_crc == expected for result in run.results), case.id
    misses = [sum(op.xip_accesses - op.xip_hits for op in ops) for ops in run.ops]
    miss_cycles = entry.xip_miss_cycles or 0
    cores = [r.cycles - n * miss_cycles for r, n in zip(run.results, misses, strict=True)]
    assert cores[0] == cores[1], f"{case.id}: {cores} cycles without misses, cold and warm"
    (constants,) = (entry.weights.bytes + entry.quants.bytes for entry in pack.entries)
    return Cost(case.plan.name, case.macs, cores[0], misses[0], misses[1], constants)


def main() -> None:
    for chip, kernels in SETS.items():
        body = [
            (
                cost.name, f"{cost.macs / _M:.1f}", f"{cost.core / _M:.1f}",
                f"{cost.core / cost.macs:.2f}", ASKED.get((chip, cost.name), ""),
                f"{cost.constants:,}", f"{cost.misses:,}", f"{cost.cycles / _M:.1f}",
                *(f"{cost.ratio(n):.3f}" for n in (cost.misses, cost.lines, cost.warm_misses)),
            )
            for cost in costs(chip)
        ]  # fmt: skip
        heads = ("", "M MAC", "core", "c/MAC", "asked", "constants", "misses", "with XIP", "ratio",
                 "floor", "warm")  # fmt: skip
        print(f"\nrip with {kernels} on an emulated {chip}, M cycles; ratio asked: 1.25, then 1.1")
        print(tabulate(body, headers=heads, disable_numparse=True))


if __name__ == "__main__":
    main()
