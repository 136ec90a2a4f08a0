# SPDX-License-Identifier: Apache-2.0
"""Constants of the set m0plus: taps in groups that a 16-bit lane holds, and proved requantisation.

All take the op's weights and quantisation as TFLite has them, and give the bytes that
firmware/kernels/m0plus/*.c describe.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from harness.geometry import ConvGeometry, Geometry
from harness.kernels.packers.addition import linear_sum
from harness.kernels.packers.guarded import Channel, Scale, guard_channel, reach, records, wrap
from harness.schema.records import QuantRecord

Int8s = NDArray[np.int8]
Int32s = NDArray[np.int32]

GROUP_MAX = 16  # firmware/kernels/m0plus/conv_sweep.S
LANE = 255  # of a group's |w|: with |a| <= 128, |sum of a * w| <= 32640 < 2^15
_END_CYCLES = 15  # of a group's end
_TAP_CYCLES = 8  # of a tap in a pair
_ODD_CYCLES = 1  # of the tap that has no partner


@dataclass(frozen=True)
class Quantisation:
    """Of an op with one multiplier for each output channel. bias, multiplier, shift: [c_out]."""

    bias: Int32s
    multiplier: Int32s
    shift: Int32s
    input_zero_point: int
    output_zero_point: int
    activation_min: int = -128
    activation_max: int = 127


def pack_conv(weights: Int8s, q: Quantisation) -> bytes:
    """weights [c_out, k_h, k_w, c_in] -> a record for each channel, then for each channel its groups:
    size and weights, and a size of 0 at the end."""
    rows = weights.reshape(len(weights), -1)
    made = [records(_channels(rows, q))]
    for row, sizes in zip(rows, group_sizes(rows), strict=True):
        at = 0
        for size in sizes:
            made.append(bytes([size]) + row[at : at + size].tobytes())
            at += size
        made.append(b"\0")
    return b"".join(made)


def pack_depthwise(weights: Int8s, q: Quantisation) -> bytes:
    """weights [k_h, k_w, c] -> a record for each channel, then each channel's weights."""
    rows = np.ascontiguousarray(weights.reshape(-1, weights.shape[2]).T)
    return records(_channels(rows, q)) + rows.tobytes()


@dataclass(frozen=True)
class Addition:
    """y = z + R((R((a - z_1) << 20) + R((b - z_2) << 20)) as TFLite has it, each R by a multiplier *
    2^(shift - 31). zero_points, multipliers, shifts: of a, of b and of the output."""

    zero_points: tuple[int, int, int]
    multipliers: tuple[int, int, int]
    shifts: tuple[int, int, int]


def pack_add(p: Addition) -> bytes:
    """Factor of a, of b, offset, guard: words of struct packed_add."""
    return struct.pack("<iiiI", *linear_sum(p.zero_points, p.multipliers, p.shifts))


def _channels(rows: Int8s, q: Quantisation) -> list[Channel]:
    lowest, highest = reach(rows)
    sums = rows.astype(np.int64).sum(axis=1)
    made = []
    for n, total in enumerate(sums):
        scale = Scale(
            int(q.multiplier[n]), int(q.shift[n]), q.output_zero_point, q.activation_min,
            q.activation_max,
        )  # fmt: skip
        constant = wrap(int(q.bias[n]) - q.input_zero_point * int(total))
        made.append(guard_channel(int(lowest[n]), int(highest[n]), constant, scale))
    return made


def group_sizes(rows: Int8s) -> list[list[int]]:
    """[channels, taps] -> for each channel the sizes of its groups, in order, of fewest cycles. No
    group has more than LANE of |w| or more than GROUP_MAX taps."""
    channels, taps = rows.shape
    total = np.zeros((channels, taps + 1), np.int64)
    np.cumsum(np.abs(rows.astype(np.int64)), axis=1, out=total[:, 1:])
    best = np.full((channels, taps + 1), np.iinfo(np.int64).max // 2)
    best[:, 0] = 0
    chosen = np.zeros((channels, taps + 1), np.int64)
    for end in range(1, taps + 1):
        for size in range(1, min(GROUP_MAX, end) + 1):
            cost = best[:, end - size] + _END_CYCLES + _TAP_CYCLES * size + _ODD_CYCLES * (size % 2)
            better = (total[:, end] - total[:, end - size] <= LANE) & (cost < best[:, end])
            best[better, end] = cost[better]
            chosen[better, end] = size
    return [_path(row) for row in chosen]


def _path(chosen: NDArray[np.int64]) -> list[int]:
    """From the size of the last group at each end to all sizes in order."""
    sizes, end = [], len(chosen) - 1
    while end > 0:
        sizes.append(int(chosen[end]))
        end -= sizes[-1]
    return sizes[::-1]


class Constants(Protocol):
    """An op's constants as its record has them: weights as bytes, quants in the record's order."""

    @property
    def geometry(self) -> Geometry: ...
    @property
    def weights(self) -> bytes: ...
    @property
    def quants(self) -> tuple[QuantRecord, ...]: ...
    @property
    def input_zero_points(self) -> tuple[int, int]: ...
    @property
    def output_zero_point(self) -> int: ...
    @property
    def clamp(self) -> tuple[int, int]: ...


def conv_of(op: Constants) -> bytes:
    g = op.geometry
    assert isinstance(g, ConvGeometry)
    weights = np.frombuffer(op.weights, np.int8).reshape(g.c_out, g.k_h, g.k_w, g.c_in)
    return pack_conv(weights, _quantisation(op))


def depthwise_of(op: Constants) -> bytes:
    g = op.geometry
    assert isinstance(g, ConvGeometry)
    weights = np.frombuffer(op.weights, np.int8).reshape(g.k_h, g.k_w, g.c_out)
    return pack_depthwise(weights, _quantisation(op))


def add_of(op: Constants) -> bytes:
    first, second, output = op.quants
    return pack_add(
        Addition(
            (*op.input_zero_points, op.output_zero_point),
            (first.multiplier, second.multiplier, output.multiplier),
            (first.shift, second.shift, output.shift),
        )
    )


def _quantisation(op: Constants) -> Quantisation:
    return Quantisation(
        np.array([q.bias for q in op.quants], np.int32),
        np.array([q.multiplier for q in op.quants], np.int32),
        np.array([q.shift for q in op.quants], np.int32),
        op.input_zero_points[0],
        op.output_zero_point,
        *op.clamp,
    )


PACKERS: dict[str, Callable[[Constants], bytes]] = {
    "m0plus_conv": conv_of,
    "m0plus_depthwise": depthwise_of,
    "m0plus_add": add_of,
}
"""By the names that kernels.yaml uses."""
