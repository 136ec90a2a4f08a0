# SPDX-License-Identifier: Apache-2.0
"""Table 3: arenas and buffers of the eleven models, and which of them the paper's Pico 1 holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from harness.geometry import ConvGeometry
from harness.network import Network, load_network
from harness.paper.compare import Comparison, Row, cells
from harness.paper.stated_networks import TABLE3
from harness.plan import NetworkPlan, Strategy, plan_network
from harness.schema.constants import OpKind

PICO_1_BYTES = 262_144  # of SRAM, as the paper counts it: without the two 4 KB banks
SDK_BYTES = 7_964  # .data and .bss of its SDK and TinyUSB (Sec. 5.4)
STACK_BYTES = 2_048


def table3() -> Comparison:
    """Base: TinyEngine's schedule, first fit. Buffer: TinyEngine's formula; our own scratch beside it is
    in `ripbench plan`. Pico 1: arena and buffer beside the SDK and the stack, the paper's accounting."""
    rows = []
    for stated in TABLE3:
        found = sizes(stated.model)
        ours = cells(
            Buffer=found.buffer, Base=found.base, RiP=found.rip, Ratio=found.ratio,
            **{"Base on Pico 1": _runs(found.base, found.buffer)},
            **{"RiP on Pico 1": _runs(found.rip, found.buffer)},
        )  # fmt: skip
        theirs = cells(
            Buffer=stated.buffer, Base=stated.base, RiP=stated.rip, Ratio=stated.ratio,
            **{"Base on Pico 1": "yes" if stated.base_runs else "no"},
            **{"RiP on Pico 1": "yes" if stated.rip_runs else "no"},
        )  # fmt: skip
        rows.append(Row(stated.model, ours, theirs))
    return Comparison("Table 3: eleven models (bytes, computed)", tuple(rows), tuple(_facts()))


@dataclass(frozen=True)
class Sizes:
    """Bytes of one model."""

    buffer: int
    base: int
    rip: int

    @property
    def ratio(self) -> str:
        return str(Fraction(self.rip, self.base))


def sizes(model: str) -> Sizes:
    network = network_of_model(model)
    return Sizes(
        buffer_bytes(network),
        plan_of(model, Strategy.BASELINE).peak,
        plan_of(model, Strategy.RIP).peak,
    )


@cache
def network_of_model(name: str) -> Network:
    found = load_network(name)
    assert isinstance(found, Network), "a shipped model is a shape"
    return found


@cache
def plan_of(model: str, strategy: Strategy) -> NetworkPlan:
    return plan_network(network_of_model(model), strategy)


def buffer_bytes(network: Network) -> int:
    """TinyEngine's im2col and kernel buffers: two int16 columns of the largest convolution or two int8
    planes, padded by half the kernel, of the largest depthwise one; and int16 weights of the largest
    convolution that is not pointwise."""
    im2col = kernel = 0
    for node in network.nodes:
        layer = node.layer
        if layer.kind is OpKind.CONV:
            g = layer.window
            im2col = max(im2col, 2 * 2 * g.field)
            kernel = max(kernel, 2 * g.field * g.c_out if g.k_h * g.k_w > 1 else 0)
        if layer.kind is OpKind.DEPTHWISE:
            im2col = max(im2col, 2 * _plane(layer.window))
    return im2col + kernel


def _plane(g: ConvGeometry) -> int:
    """Of one channel with half a kernel of padding on each side."""
    return (g.h_in + 2 * (g.k_h // 2)) * (g.w_in + 2 * (g.k_w // 2))


def margin(arena: int, buffer: int) -> int:
    """Bytes that the paper's Pico 1 has left; below 0, missing."""
    return PICO_1_BYTES - SDK_BYTES - STACK_BYTES - buffer - arena


def _runs(arena: int, buffer: int) -> str:
    return "yes" if margin(arena, buffer) >= 0 else "no"


def _facts() -> list[Row]:
    """Of Sec. 5.4 and the abstract."""
    found = {row.model: sizes(row.model) for row in TABLE3}
    cuts = [1 - Fraction(s.rip, s.base) for s in found.values()]
    in3 = found["mcunet-in3"]
    facts: list[tuple[str, object, object]] = [
        ("least cut, per cent", f"{float(min(cuts)) * 100:.1f}", "12.5"),
        ("largest cut, per cent", f"{float(max(cuts)) * 100:.1f}", "33.3"),
        ("mean cut, per cent", f"{float(sum(cuts) / len(cuts)) * 100:.1f}", "19.7"),
        ("bytes saved in total", sum(s.base - s.rip for s in found.values()), 444_672),
        ("band above in3's arena", SDK_BYTES + STACK_BYTES + in3.buffer, 28_548),
        ("in3 under Base overruns a Pico 1 by", -margin(in3.base, in3.buffer), 14_212),
        ("in3 under RiP clears it by", margin(in3.rip, in3.buffer), 47_740),
        (
            "Person-Det clears it by",
            margin(found["person-det"].rip, found["person-det"].buffer),
            76_604,
        ),
        (
            "models on a Pico 1",
            f"{_count(found, 'base')} to {_count(found, 'rip')}",
            "6 to 9",
        ),
    ]
    return [Row(name, cells(value=ours), cells(value=stated)) for name, ours, stated in facts]


def _count(found: dict[str, Sizes], which: str) -> int:
    return sum(margin(getattr(s, which), s.buffer) >= 0 for s in found.values())
