# SPDX-License-Identifier: Apache-2.0
"""Which output may be laid onto which operand, at what distance and by which execution.

An output shares memory only with an operand that its op is the last to read. The gap is the debt of
the kernel that runs, clamped at 0: the term n_out - n_in of a workspace that stands alone is left to the
peak, which counts the ends of all tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.bounds import is_safe_at_zero, round_up
from harness.geometry import DIRECT, GATHER, ConvGeometry, Execution
from harness.kernels import KernelTraits, executions, operands_to_share
from harness.network import Layer, Network
from harness.plan.layer import Strategy
from harness.schema.constants import OpKind, Traversal

REVERSED = Execution(traversal=Traversal.REVERSE)
CHANNEL = Execution(traversal=Traversal.CHANNEL)
_POOLS = (OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_ELEMENTWISE = (OpKind.ADD, OpKind.MUL, OpKind.TABLE, OpKind.CLAMP, OpKind.SOFTMAX)
_RIP = {
    OpKind.CONV: (GATHER,),
    OpKind.UPSAMPLE: (REVERSED,),
    **dict.fromkeys(_POOLS, (DIRECT,)),
    **dict.fromkeys(_ELEMENTWISE, (GATHER,)),
}
_EXTENDED = {
    OpKind.CONV: (GATHER, REVERSED),
    OpKind.UPSAMPLE: (REVERSED, GATHER),
    OpKind.CONCAT: (GATHER, REVERSED),
    OpKind.PAD: (GATHER, REVERSED),
    OpKind.MEAN: (GATHER,),
    **dict.fromkeys(
        _POOLS, (DIRECT, Execution(DIRECT.layout, DIRECT.tap_order, Traversal.REVERSE))
    ),
    **dict.fromkeys(_ELEMENTWISE, (GATHER, REVERSED)),
}


@dataclass(frozen=True)
class Edge:
    """One way of laying the output of `op` onto one of its operands.

    onto: the operand's place among the op's operands; source: its tensor; output: the op's. gap: bytes,
    not rounded (Step.gap). low, high: the distances at which it is safe, the operand's offset minus the
    output's, multiples of V; None without limit.
    """

    op: int
    onto: int
    source: int
    output: int
    execution: Execution
    gap: int
    low: int | None
    high: int | None

    def allows(self, distance: int) -> bool:
        return (self.low is None or distance >= self.low) and (
            self.high is None or distance <= self.high
        )

    @property
    def at(self) -> int:
        """The distance of the smallest workspace, where a shift moves the operand to."""
        limit = self.low if self.low is not None else self.high
        assert limit is not None
        return limit

    def workspace(self, sizes: Sequence[int]) -> int:
        """Bytes that output and operand take together, at least."""
        above = max(sizes[self.output], self.at + sizes[self.source])
        return above - min(0, self.at)


def usual_execution(layer: Layer, *, spatial_depthwise: bool = False) -> Execution:
    """How an op runs whose output has its own memory: as it would in place where that is possible."""
    ways = executions(layer.kind, layer.geometry)
    if not ways:
        return DIRECT
    if ways[0] == CHANNEL and (spatial_depthwise or not _channel_is_safe(layer)):
        return GATHER
    return ways[0]


def edges_of(
    network: Network,
    strategy: Strategy,
    kernel: KernelTraits,
    alignment: int,
    *,
    spatial_depthwise: bool = False,
) -> tuple[Edge, ...]:
    """All of them, in the order of ops. alignment: V, to which distances are rounded."""
    if strategy is Strategy.DUAL:
        return ()
    gaps = _Gaps(kernel)
    readers = network.last_readers
    found: list[Edge] = []
    for op, node in enumerate(network.nodes):
        layer = node.layer
        ways = tuple(_ways(layer, strategy, spatial_depthwise))
        if not ways:
            continue
        shared = operands_to_share(layer.kind, layer.geometry)
        for source in dict.fromkeys(node.inputs):
            places = [onto for onto, tensor in enumerate(node.inputs) if tensor == source]
            if readers[source] != op or not set(places) <= set(shared):
                continue
            for way in ways:
                gap = max(gaps.of(layer, way, onto) for onto in places)
                low, high = _limits(layer, way, gap, places[0], alignment)
                found.append(Edge(op, places[0], source, node.output, way, gap, low, high))
    return tuple(found)


def _limits(
    layer: Layer, way: Execution, gap: int, onto: int, alignment: int
) -> tuple[int | None, int | None]:
    if way.traversal is Traversal.CHANNEL:
        return 0, 0
    if way.traversal is Traversal.REVERSE:  # from end to end, and the output lies above
        grown = layer.n_out - layer.inputs[onto].size
        return None, -round_up(gap - grown, alignment)
    return round_up(gap, alignment), None


def _ways(layer: Layer, strategy: Strategy, spatial_depthwise: bool) -> Iterable[Execution]:
    offered = executions(layer.kind, layer.geometry)
    if layer.kind is OpKind.DEPTHWISE:
        return _depthwise_ways(layer, offered, strategy, spatial_depthwise)
    if strategy is Strategy.BASELINE:
        return ()
    table = _EXTENDED if strategy is Strategy.EXTENDED else _RIP
    return (way for way in table.get(layer.kind, ()) if way in offered)


def _depthwise_ways(
    layer: Layer, offered: tuple[Execution, ...], strategy: Strategy, spatial: bool
) -> Iterator[Execution]:
    """Channel in place if that is offered and safe, else by pixels, which is no way of the baseline."""
    channel = CHANNEL in offered and _channel_is_safe(layer)
    if channel and (strategy is Strategy.BASELINE or not spatial):
        yield CHANNEL
    elif strategy is not Strategy.BASELINE and GATHER in offered:
        yield GATHER


def _channel_is_safe(layer: Layer) -> bool:
    assert isinstance(layer.geometry, ConvGeometry)
    return is_safe_at_zero(layer.geometry, CHANNEL)


class _Gaps:
    """Networks repeat their layers: each gap is worked out once."""

    def __init__(self, kernel: KernelTraits) -> None:
        self._kernel = kernel
        self._known: dict[object, int] = {}

    def of(self, layer: Layer, way: Execution, onto: int) -> int:
        if way.traversal is Traversal.CHANNEL:
            return 0
        key = (layer.kind, layer.geometry, way, onto, layer.rounding)
        if key not in self._known:
            debt = self._kernel.bound(layer.kind, layer.geometry, way, onto, layer.rounding).debt
            self._known[key] = max(0, debt or 0)
        return self._known[key]
