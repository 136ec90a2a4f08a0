# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.fused [--kernels m33] [MODEL ...]`: every fused segment of the eleven networks
by the set m0plus, or m33, beside the same ops one by one by the same set, in emulated cycles of its
chip, of an RP2350 by the conservative model. Both run the network up to its last segment.

Core cycles are those without the misses of the flash cache; misses are those of a first run, of which
the cache is empty as it begins. The ops one by one are of the strategy `rip`, with all the scratch that
their steps may want, in 520 KB of SRAM: an RP2350 has as much, an RP2040 does not, and some would not
fit a real one. Both outputs are compared with the host's."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tabulate import tabulate

from harness.boards import Board
from harness.build import build_runner
from harness.case import NetworkCase, build_pack
from harness.case.network import network_case
from harness.kernels import KernelTraits
from harness.network import Network
from harness.plan import NetworkPlan, Strategy, plan_network
from harness.schema.constants import OpKind
from harness.selection import choose_models
from tests.device.support import MISS_CYCLES, new_entry

_CHIPS = {"m0plus": "rp2040", "m33": "rp2350"}
_SRAM = {"rp2040": 520 * 1024, "rp2350": None}  # None: as much as there is
_ASKED = 1.03


@dataclass(frozen=True)
class Cost:
    """Of one step or several. cycles: of a first run; core: without misses."""

    cycles: int = 0
    core: int = 0
    misses: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cycles + other.cycles, self.core + other.core, self.misses + other.misses)


@dataclass(frozen=True)
class Segment:
    """kernel: that ran it."""

    model: str
    ops: tuple[int, ...]
    kinds: str
    kernel: str
    fused: Cost
    apart: Cost

    @property
    def ratio(self) -> float:
        return self.fused.cycles / self.apart.cycles


def segments(network: Network, kernels: KernelTraits) -> Iterator[Segment]:
    """Of its plan of strategy fused."""
    plan = plan_network(network, Strategy.FUSED, kernel=kernels)
    end = 1 + max(step.ops[-1] for step in plan.steps if len(step.ops) > 1)
    whole = plan, plan_network(network, Strategy.RIP, kernel=kernels)
    plan, one_by_one = (_beginning(whole_plan, end) for whole_plan in whole)
    together, apart = (_costs(network_case(p.network, p)) for p in (plan, one_by_one))
    for step, choice in zip(plan.steps, plan.step_choices, strict=True):
        if len(step.ops) > 1:
            ones = sum((apart[(op,)] for op in step.ops), Cost())
            kinds = "-".join(_kind(plan.network, op) for op in step.ops)
            name = choice.kernel.name
            yield Segment(network.name, step.ops, kinds, name, together[step.ops], ones)


def _beginning(plan: NetworkPlan, end: int) -> NetworkPlan:
    """Its first `end` ops: packed, some networks have more constants than a Pico 1 has flash."""
    nodes = plan.network.nodes[:end]
    network = replace(plan.network, nodes=nodes, outputs=(nodes[-1].output,), budget=())
    steps = tuple(step for step in plan.steps if step.ops[-1] < end)
    return replace(plan, network=network, steps=steps)


def _kind(network: Network, op: int) -> str:
    """What an op is, and its kernel's size and stride where it has a window of more than a pixel."""
    layer = network.nodes[op].layer
    k, s = (getattr(layer.geometry, name, 1) for name in ("k_h", "s_h"))
    word = {OpKind.CONV: "c", OpKind.DEPTHWISE: "d", OpKind.ADD: "a"}[layer.kind]
    return word if k == 1 else f"{word}{k}" + ("" if s == 1 else f"s{s}")


def _costs(case: NetworkCase) -> dict[tuple[int, ...], Cost]:
    """By the ops of each step; what a step is moved by is part of it."""
    chip = case.plan.kernel.chip
    assert chip is not None
    sram = _SRAM[chip]
    entry = replace(new_entry(chip), sram_bytes=sram)
    image = build_runner(chip, kernels=case.plan.kernels, sram_bytes=sram)
    with Board(entry) as board:
        board.start(image, build_pack([case]))
        run = board.run(0, seed=1, repeats=1, keep_interrupts=True)
    assert run.results[0].output_crc == case.output_crc(case.tensors(1)), case.id
    ops = iter(run.ops[0])
    found = {}
    for step in case.plan.steps:
        cost = Cost()
        for _ in range(1 if step.moved_to is None else 2):
            op = next(ops)
            misses = op.xip_accesses - op.xip_hits
            cost += Cost(op.cycles, op.cycles - MISS_CYCLES[chip] * misses, misses)
        found[step.ops] = cost
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fused")
    parser.add_argument("--kernels", choices=_CHIPS, default="m0plus")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    words = parser.parse_args()
    kernels = KernelTraits(words.kernels, _CHIPS[words.kernels])
    models = choose_models(",".join(words.models) or None)
    found = [one for network in models for one in segments(network, kernels)]
    body = [
        (
            one.model, f"{one.ops[0]}-{one.ops[-1]}", one.kinds, one.kernel,
            f"{one.fused.core:,}", f"{one.apart.core:,}", f"{one.fused.core / one.apart.core:.3f}",
            f"{one.fused.misses:,}", f"{one.apart.misses:,}", f"{one.ratio:.3f}",
        )
        for one in found
    ]  # fmt: skip
    heads = ("", "ops", "stages", "kernel", "fused", "apart", "ratio", "misses", "apart",
             "with misses")  # fmt: skip
    print(tabulate(body, headers=heads, disable_numparse=True))
    missed = sum(one.ratio > _ASKED for one in found)
    print(f"{len(found)} segments, {missed} of them above {_ASKED}")


if __name__ == "__main__":
    main()
