# SPDX-License-Identifier: Apache-2.0
"""Weights and scales for networks that are only shapes: drawn op by op from the layers' ids.

Each tensor has one scale and zero point, which all ops around it share; pools, upsampling,
concatenations and borders hand theirs on. Each op is calibrated on what one seeded input makes of the
ops before it, so that no tensor is saturated and none is flat. The sums are whole numbers and what
follows is division and square roots alone: every machine draws the same parameters.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.case.inputs import generate_input
from harness.case.quantised import clamp_of, multipliers, require_table, table_of
from harness.errors import ConfigError
from harness.geometry import MeanGeometry
from harness.network import Layer, Network, Node, Quantisation
from harness.reference import (
    ClampParameters,
    ConvParameters,
    MeanParameters,
    MoveParameters,
    Parameters,
    PoolParameters,
    TableParameters,
    add_parameters,
    apply_table,
    compute,
    convolution_sums,
    depthwise_sums,
    finish,
    logistic_table,
    mean_multiplier,
    mul_parameters,
    softmax_parameters,
)
from harness.schema.constants import OpKind

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]

_HANDED_ON = (
    OpKind.AVERAGE_POOL, OpKind.MAX_POOL, OpKind.UPSAMPLE, OpKind.CONCAT, OpKind.PAD, OpKind.CLAMP,
)  # fmt: skip
_AVERAGED = (OpKind.AVERAGE_POOL, OpKind.MEAN)
_PROBABILITY = Quantisation(1 / 256, -128)
_LINEAR_SCALE = 2.0**-5  # of a convolution without activation; any will do
_RELU_SCALE, _RELU_ZERO = 6 / 200, -100  # RELU6 from -100 to 100: its clamp is inside int8
_DEVIATION = 42.0  # of sums and products, in steps of the output
_STEPS = 220.0  # what a table's outputs span
_A_FEW, _ENOUGH = 4, 9  # pixels for a channel's own mean, and for its own deviation


@lru_cache(maxsize=16)
def draw_network_parameters(network: Network) -> tuple[Parameters, ...]:
    """One for each node, always the same for the same network. Errors: ConfigError for an op without
    a kernel, before anything is computed."""
    for node in network.nodes:
        if node.layer.kind not in _DRAW:
            raise ConfigError(f"{node.layer.id}: no kernel for {node.layer.kind.name.lower()}")
        if node.layer.kind is OpKind.TABLE:
            require_table(node.layer.function)
    drawing = _Drawing(network)
    return tuple(drawing.draw(node) for node in network.nodes)


class _Drawing:
    """values: int8 [h, w, c] of the tensors so far, on the seeded input."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.values: dict[int, Int8s] = {}
        self._roots = _roots(network)
        self._last = network.last_readers
        self._known: dict[int, Quantisation] = {}
        self.averaged = {
            self._roots[n] for node in network.nodes if node.layer.kind in _AVERAGED
            for n in node.inputs
        }  # fmt: skip
        for node in network.nodes:
            if node.layer.kind is OpKind.SOFTMAX or node.layer.function == "logistic":
                self._known.setdefault(self._roots[node.output], _PROBABILITY)
        seed = zlib.crc32(network.name.encode())
        for n, tensor in enumerate(network.inputs):
            shape = network.tensors[tensor]
            x = generate_input((seed + n) % 2**32, shape.size)
            self.values[tensor] = x.reshape(shape.h, shape.w, shape.c)
            self.quantisation(tensor, Quantisation(2.0**-6, seed % 21 - 10))

    def quantisation(self, tensor: int, wanted: Quantisation | None = None) -> Quantisation:
        """What the tensor has, or else gets now."""
        root = self._roots[tensor]
        if wanted is not None:
            self._known.setdefault(root, wanted)
        return self._known[root]

    def is_averaged(self, tensor: int) -> bool:
        return self._roots[tensor] in self.averaged

    def fixed(self, tensor: int) -> Quantisation | None:
        return self._known.get(self._roots[tensor])

    def inputs(self, node: Node) -> list[tuple[Int8s, Quantisation]]:
        return [(self.values[n], self.quantisation(n)) for n in node.inputs]

    def draw(self, node: Node) -> Parameters:
        number = len(self.values) - len(self.network.inputs)
        p, made = _DRAW[node.layer.kind](self, node)
        layer = node.layer
        if made is None:
            operands = [self.values[n] for n in node.inputs]
            made = compute(layer.kind, layer.geometry, p, *operands)
        self.values[node.output] = made
        for n in node.inputs:
            if self._last[n] == number:  # nobody reads it again
                self.values[n] = np.zeros(0, np.int8)
        return p


def _roots(network: Network) -> list[int]:
    """Of each tensor, one that stands for all that must have its scale."""
    roots = list(range(len(network.tensors)))

    def root(n: int) -> int:
        while roots[n] != n:
            roots[n] = roots[roots[n]]
            n = roots[n]
        return n

    for node in network.nodes:
        if node.layer.kind in _HANDED_ON:
            for tensor in node.inputs:
                roots[root(node.output)] = root(tensor)
    return [root(n) for n in range(len(roots))]


Drawn = tuple[Parameters, Int8s | None]  # and the output, where it is known already


# ---- filters ----


def _filters(drawing: _Drawing, node: Node) -> Drawn:
    """Uniform weights; each channel's multiplier and bias bring its sums to a centre and a spread of
    its own. Where a channel has too few pixels, they are those of the whole tensor."""
    layer, g = node.layer, node.layer.window
    ((x, q_in),) = drawing.inputs(node)
    rng = np.random.default_rng(layer.weight_seed)
    weights = rng.integers(-127, 128, _shape(layer)).astype(np.int8)
    if layer.kind is OpKind.DEPTHWISE:
        sums = depthwise_sums(g, weights, x, q_in.zero_point)
    elif layer.kind is OpKind.CONV:
        sums = convolution_sums(g, weights, x, q_in.zero_point)
    else:
        sums = convolution_sums(g, weights, x.reshape(1, 1, -1), q_in.zero_point)
    linear = layer.activation == "none"
    usual = Quantisation(_LINEAR_SCALE, 0) if linear else Quantisation(_RELU_SCALE, _RELU_ZERO)
    q = drawing.quantisation(node.output, usual)
    low, high = clamp_of(layer.activation, q.scale, q.zero_point)
    centres, deviation = _targets(rng, g.c_out, low, high, linear, drawing.is_averaged(node.output))
    means, deviations = _statistics(sums)
    if g.pixels_out < _A_FEW:
        centres = np.full(g.c_out, math.fsum(centres) / g.c_out)
        deviation = (high - low) * 0.17
    reals = deviation / deviations
    multiplier, shift = multipliers(reals)
    bias = np.clip(np.rint((centres - q.zero_point) / reals - means), -(2**30), 2**30)
    p = ConvParameters(
        weights, bias.astype(np.int32), multiplier, shift, q_in.zero_point, q.zero_point, low, high,
        layer.rounding,
    )  # fmt: skip
    return p, finish(p, sums)


def _shape(layer: Layer) -> tuple[int, ...]:
    g = layer.window
    if layer.kind is OpKind.DEPTHWISE:
        return g.k_h, g.k_w, g.c_out
    if layer.kind is OpKind.CONV:
        return g.c_out, g.k_h, g.k_w, g.c_in
    return g.c_out, g.c_in


def _targets(
    rng: np.random.Generator, c_out: int, low: int, high: int, linear: bool, averaged: bool
) -> tuple[NDArray[np.float64], float]:
    """Centres of the channels, evenly spread in a random order, and the deviation around them. An
    average keeps little but the centres: before one they are far apart."""
    span = high - low
    spread, deviation = (0.22, 0.13) if linear else (0.2, 0.3)
    if averaged:
        spread, deviation = (0.45, 0.06) if linear else (0.45, 0.15)
    middle = low + span * (0.5 if linear or averaged else 0.4)
    places = (rng.permutation(c_out) + 0.5) / c_out * 2 - 1
    return middle + places * spread * span, deviation * span


def _statistics(sums: Int64s) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each channel; deviations are at least a quarter of the usual one, and
    positive. From few pixels, all channels have the usual one."""
    pixels = sums.reshape(-1, sums.shape[2])
    if len(pixels) < _A_FEW:
        mean, deviation = _spread(pixels.ravel())
        return np.full(sums.shape[2], mean), np.full(sums.shape[2], max(deviation, 1.0))
    found = [_spread(pixels[:, channel]) for channel in range(sums.shape[2])]
    means = np.array([mean for mean, _ in found])
    deviations = np.array([deviation for _, deviation in found])
    usual = math.fsum(deviations) / len(deviations)
    if len(pixels) < _ENOUGH:
        return means, np.full(len(means), max(usual, 1.0))
    return means, np.maximum(deviations, max(usual / 4, 1.0))


def _spread(values: Int64s) -> tuple[float, float]:
    """Mean and deviation, from exact sums."""
    count, first = len(values), int(values[0])
    rest = values - first
    total = int(rest.sum())
    if int(np.abs(rest).max()) ** 2 * count < 2**63:
        squares = int((rest * rest).sum())
    else:
        squares = sum(int(value) ** 2 for value in rest)
    return first + total / count, math.sqrt(count * squares - total * total) / count


# ---- element by element ----


def _fitted(
    drawing: _Drawing, node: Node, mean: float, deviation: float, unit: float
) -> Quantisation:
    """For values of that mean and deviation, in `unit`."""
    scale = float(np.float32(max(deviation, 1.0) * unit / _DEVIATION))
    zero = round(-mean * unit / scale)
    return drawing.quantisation(node.output, Quantisation(scale, max(-110, min(110, zero))))


def _add(drawing: _Drawing, node: Node) -> Drawn:
    """Both in steps of 2^-8 of the first scale, so that the sums are whole."""
    (a, q_a), (b, q_b) = drawing.inputs(node)
    ratio = round(q_b.scale / q_a.scale * 256)
    total = (a.astype(np.int64) - q_a.zero_point) * 256 + (
        b.astype(np.int64) - q_b.zero_point
    ) * ratio
    q = _fitted(drawing, node, *_spread(total.ravel()), q_a.scale / 256)
    return _of_two(add_parameters, node.layer, q_a, q_b, q), None


def _mul(drawing: _Drawing, node: Node) -> Drawn:
    (a, q_a), (b, q_b) = drawing.inputs(node)
    q = _product(drawing, node, a, q_a, b, q_b)
    return _of_two(mul_parameters, node.layer, q_a, q_b, q), None


def _product(
    drawing: _Drawing, node: Node, a: Int8s, q_a: Quantisation, b: Int8s, q_b: Quantisation
) -> Quantisation:
    product = (a.astype(np.int64) - q_a.zero_point) * (b.astype(np.int64) - q_b.zero_point)
    return _fitted(drawing, node, *_spread(product.ravel()), q_a.scale * q_b.scale)


def _of_two(
    make: Callable[..., Any], layer: Layer, a: Quantisation, b: Quantisation, y: Quantisation
) -> Parameters:
    made: Parameters = make(
        a.scale, a.zero_point, b.scale, b.zero_point, y.scale, y.zero_point,
        clamp_of(layer.activation, y.scale, y.zero_point), layer.rounding,
    )  # fmt: skip
    return made


def _table(drawing: _Drawing, node: Node) -> Drawn:
    """swish is what LOGISTIC and MUL would be: the same scale, the same values."""
    ((x, q_in),) = drawing.inputs(node)
    function = node.layer.function
    if function == "swish":
        gate = apply_table(logistic_table(q_in.scale, q_in.zero_point), x)
        q = _product(drawing, node, x, q_in, gate, _PROBABILITY)
    else:
        low, high = _REACH.get(function, _plain)(q_in, int(x.min()), int(x.max()))
        scale = float(np.float32(max((high - low) / _STEPS, q_in.scale / 64)))
        zero = round(-_STEPS / 2 - low / scale)
        q = drawing.quantisation(node.output, Quantisation(scale, max(-128, min(127, zero))))
    around = q_in.scale, q_in.zero_point, q.scale, q.zero_point
    return TableParameters(table_of(function, *around)), None


def _plain(q: Quantisation, least: int, most: int) -> tuple[float, float]:
    return q.scale * (least - q.zero_point), q.scale * (most - q.zero_point)


def _relu(q: Quantisation, least: int, most: int) -> tuple[float, float]:
    low, high = _plain(q, least, most)
    return max(low, 0.0), max(high, 0.0)


def _relu6(q: Quantisation, least: int, most: int) -> tuple[float, float]:
    low, high = _relu(q, least, most)
    return min(low, 6.0), min(high, 6.0)


def _hard_swish(q: Quantisation, least: int, most: int) -> tuple[float, float]:
    """The least value is -3/8, at -3/2."""
    low, high = _plain(q, least, most)
    return max(-0.375, low), max(high, 0.0)


_REACH = {"relu": _relu, "relu6": _relu6, "hard_swish": _hard_swish}


# ---- the rest ----


def _mean(drawing: _Drawing, node: Node) -> Drawn:
    assert isinstance(node.layer.geometry, MeanGeometry)
    ((x, q_in),) = drawing.inputs(node)
    pixels = node.layer.geometry.h * node.layer.geometry.w
    totals = x.astype(np.int64).sum(axis=(0, 1)) - pixels * q_in.zero_point
    q = _fitted(drawing, node, *_spread(totals), q_in.scale / pixels)
    multiplier, shift = mean_multiplier(q_in.scale, q.scale, pixels)
    p = MeanParameters(q_in.zero_point, q.zero_point, multiplier, shift, node.layer.rounding)
    return p, None


def _softmax(drawing: _Drawing, node: Node) -> Drawn:
    return softmax_parameters(drawing.quantisation(node.inputs[0]).scale), None


def _pool(drawing: _Drawing, node: Node) -> Drawn:
    return PoolParameters(*_clamp(drawing, node)), None


def _clamped(drawing: _Drawing, node: Node) -> Drawn:
    return ClampParameters(*_clamp(drawing, node)), None


def _clamp(drawing: _Drawing, node: Node) -> tuple[int, int]:
    q = drawing.quantisation(node.output)
    return clamp_of(node.layer.activation, q.scale, q.zero_point)


def _move(drawing: _Drawing, node: Node) -> Drawn:
    return MoveParameters(drawing.quantisation(node.output).zero_point), None


_DRAW: dict[OpKind, Callable[[_Drawing, Node], Drawn]] = {
    OpKind.CONV: _filters,
    OpKind.FULLY_CONNECTED: _filters,
    OpKind.DEPTHWISE: _filters,
    OpKind.AVERAGE_POOL: _pool,
    OpKind.MAX_POOL: _pool,
    OpKind.MEAN: _mean,
    OpKind.ADD: _add,
    OpKind.MUL: _mul,
    OpKind.TABLE: _table,
    OpKind.CLAMP: _clamped,
    OpKind.SOFTMAX: _softmax,
    OpKind.UPSAMPLE: _move,
    OpKind.CONCAT: _move,
    OpKind.PAD: _move,
}
