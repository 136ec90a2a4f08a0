# SPDX-License-Identifier: Apache-2.0
"""The operators by the names that layer sets use: their keys, and their shapes from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.geometry import (
    MAX_EXTENT,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Geometry,
    MeanGeometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.schema.constants import OPERANDS_MAX, OpKind, Rounding
from harness.strictyaml import Mapping


@dataclass(frozen=True)
class Operator:
    """kind and function: as in Layer. needed, optional: keys of its entry that say its shape.
    rounding: the usual one. roundings: those that its kernels know, none where nothing is requantised.
    activated: has it a clamp, into which an activation can be fused."""

    kind: OpKind
    geometry: Callable[[Mapping], Geometry]
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    function: str = ""
    rounding: Rounding = Rounding.DOUBLE
    roundings: tuple[Rounding, ...] = ()
    activated: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """Keys that say how it computes: without effect, they would only make another id."""
        return ("rounding",) * bool(self.roundings) + ("activation",) * self.activated


def _number(entry: Mapping, name: str) -> int:
    return entry[name].integer(1, MAX_EXTENT)


def _pair(entry: Mapping, name: str) -> tuple[int, int]:
    node = entry.get(name)
    h, w = node.integers(2, 1, MAX_EXTENT) if node else (1, 1)
    return h, w


def _pad(entry: Mapping) -> Pad:
    node = entry.get("pad")
    return Pad(*node.integers(4, 0, MAX_EXTENT)) if node else Pad()


def _extents(entry: Mapping) -> tuple[int, int, int]:
    return _number(entry, "h_in"), _number(entry, "w_in"), _number(entry, "c_in")


def _window(entry: Mapping) -> ConvGeometry:
    """c_out, where it is left out, is c_in: depthwise and pools."""
    h_in, w_in, c_in = _extents(entry)
    return ConvGeometry(
        h_in,
        w_in,
        c_in,
        _number(entry, "c_out") if "c_out" in entry else c_in,
        *_pair(entry, "k"),
        *_pair(entry, "s"),
        *_pair(entry, "d"),
        _pad(entry),
    )


def _depthwise(entry: Mapping) -> ConvGeometry:
    geometry = _window(entry)
    if geometry.c_out % geometry.c_in:
        raise entry.node.fail(f"c_out {geometry.c_out} is no multiple of c_in {geometry.c_in}")
    return geometry


def _pool(entry: Mapping) -> ConvGeometry:
    """As TFLite's: without dilation, and padding less than the kernel, so that every window has a real
    tap."""
    geometry = _window(entry)
    pad = geometry.pad
    if max(pad.top, pad.bottom) >= geometry.k_h_eff or max(pad.left, pad.right) >= geometry.k_w_eff:
        raise entry.node.fail("a pool's padding is less than its kernel")
    return geometry


def _one(entry: Mapping) -> ElementwiseGeometry:
    return ElementwiseGeometry(*_extents(entry))


def _two(entry: Mapping) -> ElementwiseGeometry:
    node = entry.get("broadcast")
    broadcast = node is not None and node.choice(("true", "false")) == "true"
    return ElementwiseGeometry(*_extents(entry), operands=2, broadcast=broadcast)


def _mean(entry: Mapping) -> MeanGeometry:
    return MeanGeometry(*_extents(entry))


def _fully_connected(entry: Mapping) -> ConvGeometry:
    return ConvGeometry(1, 1, _number(entry, "c_in"), _number(entry, "c_out"))


def _upsample(entry: Mapping) -> UpsampleGeometry:
    return UpsampleGeometry(*_extents(entry), *_pair(entry, "factor"))


def _concat(entry: Mapping) -> ConcatGeometry:
    nodes = entry["channels"].sequence()
    if not 1 <= len(nodes) <= OPERANDS_MAX:
        raise entry["channels"].fail(f"1 to {OPERANDS_MAX} operands are possible")
    channels = tuple(node.integer(1, MAX_EXTENT) for node in nodes)
    return ConcatGeometry(_number(entry, "h_in"), _number(entry, "w_in"), channels)


def _padding(entry: Mapping) -> PadGeometry:
    return PadGeometry(*_extents(entry), _pad(entry))


_HWC = ("h_in", "w_in", "c_in")
_WINDOW = ("k", "s", "d", "pad")
_POOL = ("k", "s", "pad")
_TWICE_OR_ONCE = (Rounding.DOUBLE, Rounding.SINGLE)

OPERATORS = {
    "conv": Operator(
        OpKind.CONV,
        _window,
        (*_HWC, "c_out"),
        _WINDOW,
        roundings=tuple(Rounding),
        activated=True,
    ),
    "depthwise": Operator(
        OpKind.DEPTHWISE,
        _depthwise,
        _HWC,
        ("c_out", *_WINDOW),
        roundings=_TWICE_OR_ONCE,
        activated=True,
    ),
    "average_pool": Operator(OpKind.AVERAGE_POOL, _pool, _HWC, _POOL, activated=True),
    "max_pool": Operator(OpKind.MAX_POOL, _pool, _HWC, _POOL, activated=True),
    "add": Operator(
        OpKind.ADD, _two, _HWC, ("broadcast",), roundings=_TWICE_OR_ONCE, activated=True
    ),
    "mul": Operator(
        OpKind.MUL, _two, _HWC, ("broadcast",), roundings=_TWICE_OR_ONCE, activated=True
    ),
    "mean": Operator(OpKind.MEAN, _mean, _HWC, roundings=_TWICE_OR_ONCE),
    "fully_connected": Operator(
        OpKind.FULLY_CONNECTED,
        _fully_connected,
        ("c_in", "c_out"),
        rounding=Rounding.SINGLE,
        roundings=_TWICE_OR_ONCE,
        activated=True,
    ),
    "upsample": Operator(OpKind.UPSAMPLE, _upsample, (*_HWC, "factor")),
    "concat": Operator(OpKind.CONCAT, _concat, ("h_in", "w_in", "channels")),
    "logistic": Operator(OpKind.TABLE, _one, _HWC, function="logistic"),
    "hard_swish": Operator(OpKind.TABLE, _one, _HWC, function="hard_swish"),
    "relu": Operator(OpKind.TABLE, _one, _HWC, function="relu"),
    "relu6": Operator(OpKind.TABLE, _one, _HWC, function="relu6"),
    "clamp": Operator(OpKind.CLAMP, _one, _HWC, activated=True),
    "softmax": Operator(OpKind.SOFTMAX, _one, _HWC),
    "pad": Operator(OpKind.PAD, _padding, (*_HWC, "pad")),
}
