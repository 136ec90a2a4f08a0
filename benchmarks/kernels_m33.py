# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.kernels_m33`: cycles per MAC of set m33 and of the plain kernels on an emulated
Pico 2, by both models of the core, without the cache's misses; and what the code takes of SRAM.

Weights are in the cache where they fit in it. Elementwise layers count values read as MACs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabulate import tabulate

from harness.boards import Board
from harness.build import RunnerImage, build_runner
from harness.case import build_pack, make_case
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.kernels import PLAIN, KernelTraits
from harness.network import Layer
from harness.plan import Strategy, modes, plan_layer
from harness.schema.constants import OpKind
from tests.device.support import new_entry


@dataclass(frozen=True)
class Row:
    """A layer, and the cycles per MAC that it must reach and should reach then; empty: not asked."""

    layer: Layer
    asked: str = ""


def _conv(c_in: int, c_out: int, h: int, k: int = 1, s: int = 1) -> Layer:
    name = f"{h}x{h} {c_in}->{c_out}" + (f", {k}x{k} / {s}" if k > 1 else "")
    g = ConvGeometry(h, h, c_in, c_out, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    return Layer(name, g, activation="relu6")


def _depthwise(k: int, h: int, s: int = 1, c: int = 16) -> Layer:
    g = ConvGeometry(h, h, c, c, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    return Layer(f"{h}x{h}, {k}x{k} / {s}", g, OpKind.DEPTHWISE, activation="relu6")


def _add(h: int, c: int) -> Layer:
    return Layer(f"{h}x{h}x{c}", ElementwiseGeometry(h, h, c, 2), OpKind.ADD)


ROWS = (
    Row(_conv(144, 24, 20), "1.7, 1.4"),
    Row(_conv(16, 96, 40), "2.3, 2.0"),
    Row(_conv(240, 40, 10)),
    Row(_conv(96, 480, 5)),
    Row(_conv(18, 30, 9)),
    Row(_conv(3, 16, 64, 3, 2)),
    Row(_conv(16, 32, 8, 3)),
    Row(_depthwise(3, 20), "5.2, 4"),
    Row(_depthwise(5, 20), "2.9, 2.5"),
    Row(_depthwise(7, 20), "2.2, 1.9"),
    Row(_depthwise(3, 40, 2)),
    Row(_depthwise(5, 40, 2)),
    Row(_depthwise(7, 40, 2)),
    Row(_depthwise(3, 5)),
    Row(_depthwise(7, 5)),
    Row(_depthwise(3, 80, c=6)),
    Row(_add(20, 24)),
    Row(_add(44, 16)),
)


def cycles(image: RunnerImage, layers: Sequence[Layer], kernel: KernelTraits) -> list[list[float]]:
    """Per MAC, by layer and model: of the second run, less what its misses cost."""
    cases = [make_case(plan_layer(n, Strategy.RIP, modes(n)[0], kernel)) for n in layers]
    found: list[list[float]] = [[] for _ in layers]
    entry = new_entry("rp2350")
    with Board(entry) as board:
        board.start(image, build_pack(cases))
        timings = board.timings
        assert timings is not None, "an emulated Pico 2 has two"
        for model in timings.models:
            timings.select(model)
            for index, layer in enumerate(layers):
                op = board.run(index, seed=1, repeats=2, keep_interrupts=True).ops[-1][0]
                misses = (op.xip_accesses - op.xip_hits) * entry.xip_miss_cycles
                found[index].append((op.cycles - op.interrupt_cycles - misses) / layer.macs)
    return found


def code_bytes(image: RunnerImage) -> dict[str, int]:
    """Of the set's global functions, which lie in SRAM."""
    code = zip(image.functions, image.function_ends, strict=True)
    return {
        name: end - start
        for (start, name), end in code
        if name.startswith("m33_") and start >> 28 == 2
    }


def main() -> None:
    layers = [row.layer for row in ROWS]
    kernel = KernelTraits("m33", "rp2350")
    image = build_runner("rp2350", kernels=kernel.kernels.all())
    ours = cycles(image, layers, kernel)
    usual = build_runner("rp2350")
    plain = cycles(usual, layers, PLAIN)
    body = []
    for row, fast, slow in zip(ROWS, ours, plain, strict=True):
        layer, mode = row.layer, modes(row.layer)[0]
        choice = kernel.choose(layer.kind, layer.geometry, mode.execution, layer.rounding)
        bracket = [f"{a:.2f}..{b:.2f}" for a, b in (fast, slow)]
        steps, scratch = choice.step.pixels, choice.scratch_bytes
        name = choice.kernel.name
        body.append((name, layer.id, bracket[0], row.asked, bracket[1], steps, scratch))
    print(
        "\nSet m33, emulated Pico 2: cycles per MAC, optimistic..conservative, without XIP misses"
    )
    headers = ("kernel", "layer", "m33", "asked, then", "plain", "pixels a step", "scratch")
    print(tabulate(body, headers=headers, disable_numparse=True))
    sizes = code_bytes(image)
    taken = usual.pool_bytes - image.pool_bytes
    print(f"\nSRAM that the set takes: {taken} bytes, of which its global functions")
    print(tabulate(sorted(sizes.items(), key=lambda item: -item[1])))


if __name__ == "__main__":
    main()
