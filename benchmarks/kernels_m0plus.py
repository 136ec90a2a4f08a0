# SPDX-License-Identifier: Apache-2.0
"""The kernels of the set m0plus beside the plain ones, in emulated cycles of an RP2040: a MAC (an
addition: a scalar), of the core alone and with what the flash cache misses. They are the same on every
machine."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from tabulate import tabulate

from harness.boards import Board
from harness.build import RunnerImage, build_runner
from harness.case import Case, build_pack, make_case
from harness.case.records import records_of
from harness.geometry import ConvGeometry, ElementwiseGeometry, Pad
from harness.kernels import PLAIN, KernelTraits
from harness.network import Layer
from harness.plan import Strategy, plan_layer
from harness.schema.constants import OpKind
from tests.device.support import MISS_CYCLES, new_entry

_MISS = MISS_CYCLES["rp2040"]
_KERNELS = KernelTraits("m0plus", "rp2040")


@dataclass(frozen=True)
class Row:
    """asked: in cycles a MAC."""

    layer: Layer
    asked: str = ""


def _conv(h: int, c_in: int, c_out: int, k: int = 1, s: int = 1) -> Layer:
    geometry = ConvGeometry(h, h, c_in, c_out, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    return Layer(f"conv {k}x{k} s{s} {h}x{h} {c_in}->{c_out}", geometry)


def _depthwise(h: int, c: int, k: int, s: int = 1) -> Layer:
    geometry = ConvGeometry(h, h, c, c, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    return Layer(f"depthwise {k}x{k} s{s} {h}x{h} {c}", geometry, OpKind.DEPTHWISE)


ROWS = (
    Row(_conv(20, 144, 24), "3.8, then 3.2"),
    Row(_conv(40, 16, 96), "6.5, then 5.5"),
    Row(_conv(20, 24, 144)),
    Row(_conv(10, 240, 40)),
    Row(_conv(10, 96, 480)),
    Row(_conv(5, 240, 40)),
    Row(_conv(3, 384, 96)),
    Row(_conv(80, 3, 16, 3, 2)),
    Row(_conv(16, 16, 32, 3)),
    Row(_depthwise(20, 16, 3), "9.5, then 8"),
    Row(_depthwise(20, 16, 5), "6.5, then 5"),
    Row(_depthwise(20, 16, 7), "5.5, then 4.5"),
    *(Row(_depthwise(40, 4, k, 2)) for k in (3, 5, 7)),
    *(Row(_depthwise(10, 16, k)) for k in (3, 5, 7)),
    *(Row(_depthwise(5, 16, k)) for k in (3, 5, 7)),
    Row(Layer("add 20x20 24", ElementwiseGeometry(20, 20, 24, 2), OpKind.ADD)),
)


def _run(image: RunnerImage, case: Case) -> tuple[float, float]:
    """Cycles a MAC of the second run, of the core alone and with its misses."""
    with Board(new_entry()) as board:
        board.start(image, build_pack([case]))
        run = board.run(0, seed=1, repeats=2, keep_interrupts=True)
    result, (op,) = run.results[-1], run.ops[-1]
    assert result.output_crc == zlib.crc32(case.expected(1).tobytes()), case.id
    work = case.macs if case.plan.layer.kind is not OpKind.ADD else case.n_out
    missed = _MISS * (op.xip_accesses - op.xip_hits)
    return (result.cycles - missed) / work, result.cycles / work


def _bytes_per_weight(case: Case) -> str:
    layer = case.plan.layer
    if layer.kind is OpKind.ADD:
        return ""
    weights = layer.macs // layer.output.pixels
    return f"{len(records_of(case).weights) / weights:.2f}"


def main() -> None:
    plain = build_runner("rp2040")
    fast = build_runner("rp2040", kernels=_KERNELS.kernels.all())
    body = []
    for row in ROWS:
        case, usual = (
            make_case(plan_layer(row.layer, Strategy.RIP, kernel=k)) for k in (_KERNELS, PLAIN)
        )
        core, with_misses = _run(fast, case)
        other, _ = _run(plain, usual)
        body.append(
            (
                row.layer.id, case.plan.choice.step.pixels, case.scratch_bytes, _bytes_per_weight(case),
                f"{other:.2f}", f"{core:.2f}", f"{with_misses:.2f}", f"{other / core:.1f}",
                row.asked,
            )
        )  # fmt: skip
    heads = ("op", "step", "scratch", "B/weight", "plain", "m0plus", "with XIP", "x", "asked")
    print("\nset m0plus, cycles a MAC on an emulated RP2040")
    print(tabulate(body, headers=heads, disable_numparse=True))
    code = fast.symbols["__ram_code_end"] - fast.symbols["__ram_code_start"]
    before = plain.symbols["__ram_code_end"] - plain.symbols["__ram_code_start"]
    print(f"code in SRAM: {code - before} bytes beside {before} of the plain kernels")


if __name__ == "__main__":
    main()
