# SPDX-License-Identifier: Apache-2.0
"""The small ops on which a kernel is tried: of all that its declaration accepts, systematic and random.

Systematic ones are chosen so that any two values of two extents meet in one of them wherever the kernel
accepts that: a kernel that is right only for even channels, or wrong for one column under a stride, has
no place to hide. They are the same for the same seed.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, ElementwiseGeometry, Geometry, Pad
from harness.kernels import Kernel, KernelTraits
from harness.network import Layer
from harness.network.draw import draw_geometry
from harness.network.names import name_of
from harness.plan import Mode, modes
from harness.schema.constants import OpKind

_TRIES = 6_000  # of values, to find those that a kernel accepts
_MOST_MACS = 40_000  # so that hundreds take seconds on an emulated board
_ACTIVATIONS = ("none", "relu", "relu6")
_EXTENTS = (1, 2, 3, 4, 5, 8, 12)
_CHANNELS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17)
_KERNELS = ((1, 1), (3, 3), (5, 5), (7, 7), (2, 2), (1, 3), (3, 1))
_WITH_ACTIVATION = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.FULLY_CONNECTED, OpKind.ADD, OpKind.MUL)
_WINDOWS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.AVERAGE_POOL, OpKind.MAX_POOL)
_Values = tuple[Any, ...]  # one of each pool of an op


def trial_layers(
    kernel: Kernel, traits: KernelTraits, count: int, seed: int
) -> tuple[tuple[Layer, Mode], ...]:
    """Up to `count` different ones that this kernel of the set runs, each in a mode in which it does:
    the systematic ones first, of them half at the most where there are more. Errors: ConfigError
    where none is found."""
    rng = random.Random(f"{kernel.kind.name} {seed}")
    found: dict[str, tuple[Layer, Mode]] = {}
    numbers = itertools.count()

    def take(geometries: Iterator[Geometry], most: int) -> None:
        for geometry in geometries:
            if len(found) >= most:
                return
            trial = _trial(kernel, traits, geometry, next(numbers))
            if trial is not None:
                found.setdefault(trial[0].id, trial)

    def runs(geometry: Geometry) -> bool:
        return _trial(kernel, traits, geometry, 0) is not None

    take(_systematic(kernel.kind, rng, runs), count // 2)
    drawn = draw_geometry(kernel.kind, seed) if kernel.kind is not OpKind.MOVE else iter(())
    take(_alternately(itertools.islice(drawn, _TRIES // 4), _pooled(kernel.kind, rng)), count)
    if not found:
        raise ConfigError(
            f"{kernel.name}: none of {_TRIES} small geometries is one that it accepts",
            evidence={"accepts": [formula.text for formula in kernel.accepts]},
            hint="prove it on layers of your own: --layers FILE",
        )
    return tuple(found.values())


def modes_of(kernel: Kernel, traits: KernelTraits, layer: Layer) -> list[Mode]:
    """Those in which this very kernel runs the layer, the usual one first."""
    found = []
    for mode in modes(layer):
        if not kernel.runs_as(layer.kind, mode.execution, layer.rounding):
            continue
        try:
            choice = traits.choose(layer.kind, layer.geometry, mode.execution, layer.rounding)
        except ConfigError:  # no kernel takes it so, or with so little scratch
            continue
        if choice.kernel is kernel:
            found.append(mode)
    return found


def _trial(
    kernel: Kernel, traits: KernelTraits, geometry: Geometry, number: int
) -> tuple[Layer, Mode] | None:
    """Roundings, activations and modes in turn."""
    roundings = sorted(kernel.roundings)
    layer = Layer("", geometry, kernel.kind, rounding=roundings[number % len(roundings)])
    if kernel.kind in _WITH_ACTIVATION:
        layer = replace(layer, activation=_ACTIVATIONS[number % len(_ACTIVATIONS)])
    if kernel.kind is OpKind.TABLE:
        layer = replace(layer, function="logistic")
    if layer.macs > _MOST_MACS:
        return None
    fitting = modes_of(kernel, traits, layer)
    if not fitting:
        return None
    return replace(layer, id=name_of(layer)), fitting[number % len(fitting)]


def _systematic(
    kind: OpKind, rng: random.Random, runs: Callable[[Geometry], bool]
) -> Iterator[Geometry]:
    """Each brings two values together that have not met."""
    if kind not in _POOLS:
        return
    pools, make = _POOLS[kind]
    met: set[tuple[int, Any, int, Any]] = set()
    for _ in range(_TRIES):
        values = tuple(rng.choice(pool) for pool in pools)
        new = {
            (a, values[a], b, values[b]) for a, b in itertools.combinations(range(len(values)), 2)
        }
        if new <= met:
            continue
        geometry = _made(make, values)
        if geometry is not None and runs(geometry):
            met |= new
            yield geometry


def _pooled(kind: OpKind, rng: random.Random) -> Iterator[Geometry]:
    """Of the same values, whatever they meet."""
    if kind not in _POOLS:
        return
    pools, make = _POOLS[kind]
    for _ in range(_TRIES):
        geometry = _made(make, tuple(rng.choice(pool) for pool in pools))
        if geometry is not None:
            yield geometry


def _made(make: Callable[[_Values], Geometry], values: _Values) -> Geometry | None:
    try:
        return make(values)
    except ConfigError:  # no output: the kernel is larger than the padded input
        return None


def _alternately(*parts: Iterator[Geometry]) -> Iterator[Geometry]:
    for some in itertools.zip_longest(*parts):
        yield from (geometry for geometry in some if geometry is not None)


def _padding(where: str, k_h: int, k_w: int, d: int) -> Pad:
    rows, columns = (k_h - 1) * d, (k_w - 1) * d
    match where:
        case "same":
            return Pad.same(rows // 2, columns // 2)
        case "first":
            return Pad(top=rows, left=columns)
        case "last":
            return Pad(bottom=rows, right=columns)
    return Pad()


def _conv(values: _Values) -> ConvGeometry:
    h, w, c_in, c_out, (k_h, k_w), s, d, where = values
    return ConvGeometry(h, w, c_in, c_out, k_h, k_w, s, s, d, d, _padding(where, k_h, k_w, d))


def _by_channel(values: _Values) -> ConvGeometry:
    h, w, c, *others = values
    return _conv((h, w, c, c, *others))


def _pool(values: _Values) -> ConvGeometry:
    h, w, c, kernel, s, where = values
    return _conv((h, w, c, c, kernel, s, 1, where))


def _elementwise(values: _Values) -> ElementwiseGeometry:
    return ElementwiseGeometry(*values)


_WINDOW = (_KERNELS, (1, 2, 3), (1, 1, 2), ("none", "same", "same", "first", "last"))
_IMAGE = (_EXTENTS, _EXTENTS, _CHANNELS)
_Pools = tuple[Sequence[Sequence[Any]], Callable[[_Values], Geometry]]
_POOLS: dict[OpKind, _Pools] = {
    OpKind.CONV: ((*_IMAGE, _CHANNELS, *_WINDOW), _conv),
    OpKind.DEPTHWISE: ((*_IMAGE, *_WINDOW), _by_channel),
    OpKind.AVERAGE_POOL: ((*_IMAGE, *_WINDOW[:2], ("none", "same")), _pool),
    OpKind.MAX_POOL: ((*_IMAGE, *_WINDOW[:2], ("none", "same")), _pool),
    OpKind.ADD: ((*_IMAGE, (2,), (False, True)), _elementwise),
    OpKind.MUL: ((*_IMAGE, (2,), (False, True)), _elementwise),
    OpKind.TABLE: ((*_IMAGE, (1,)), _elementwise),
    OpKind.CLAMP: ((*_IMAGE, (1,)), _elementwise),
    OpKind.SOFTMAX: ((*_IMAGE, (1,)), _elementwise),
}
