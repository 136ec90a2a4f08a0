# SPDX-License-Identifier: Apache-2.0
"""From the words of a command line to layers, plans and options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

from harness.bench import BenchOptions
from harness.boards import BoardEntry
from harness.boards.lock import duration
from harness.build import RunnerImage, build_runner
from harness.errors import ConfigError
from harness.geometry import Execution
from harness.kernels import Selection, kernel_set, schedule_of
from harness.measure.fit import fits
from harness.network import (
    Layer,
    Model,
    Network,
    find_set,
    load_network,
    load_set,
    model_files,
)
from harness.plan import (
    LAYER_STRATEGIES,
    Mode,
    Strategy,
    find_mode,
    in_place,
    mode_name,
    modes,
    plan_at_distance,
    plan_layer,
    proof_distances,
)
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from harness.strictyaml import nearest

NETWORK_STRATEGIES = (Strategy.BASELINE, Strategy.RIP, Strategy.EXTENDED)
_MAX_SEED = 2**32 - 1
_MAX_SEEDS = 100
_MAX_REPEATS = 100
_PLACED, _COPY = "placed", "copy"
_Member = TypeVar("_Member", bound=IntEnum)


def choose_layers(words: str) -> list[Layer]:
    """`first`, `my.yaml`, `first#mcunet-in0.0`, or several of these joined by commas.

    Errors: ConfigError names the nearest set or layer.
    """
    chosen: dict[str, Layer] = {}
    for word in words.split(","):
        name, _, slug = word.partition("#")
        layers = {layer.id: layer for layer in load_set(find_set(name))}
        if slug and slug not in layers:
            raise ConfigError(f"no layer {slug!r} in {name}", hint=nearest(slug, layers))
        for layer in [layers[slug]] if slug else layers.values():
            if chosen.setdefault(layer.id, layer) != layer:
                raise ConfigError(f"two different layers are called {layer.id!r}")
    return list(chosen.values())


def choose_models(words: str | None) -> list[Network | Model]:
    """By name or file, joined by commas; without a word, all of layers/models. Errors: ConfigError."""
    names = (
        words.split(",")
        if words
        else [path.stem for path in model_files().values() if path.suffix == ".yaml"]
    )
    return [load_network(name) for name in names]


@dataclass(frozen=True)
class Wanted:
    """What a command line says of plans. tap_orders, layouts, traversals: None where it says nothing."""

    strategies: frozenset[Strategy]
    tap_orders: frozenset[TapOrder] | None
    layouts: frozenset[Layout] | None
    traversals: frozenset[Traversal] | None
    inputs: frozenset[str]

    def plans(self, layer: Layer) -> list[str]:
        """Names of the layer's plans that are wanted, `dual` before `rip` in each mode."""
        found = []
        for mode in filter(lambda mode: self._wants(layer, mode), modes(layer)):
            name = mode_name(layer, mode)
            if Strategy.DUAL in self.strategies and mode.onto == 0:
                found.append(f"{Strategy.DUAL}{name}")
            if Strategy.RIP in self.strategies and in_place(layer):
                found += [f"{Strategy.RIP}{name}"] if _PLACED in self.inputs else []
                found += [f"{Strategy.RIP}{name}-copy"] if _COPY in self.inputs else []
        return found

    def _wants(self, layer: Layer, mode: Mode) -> bool:
        """Of what is not said: both tap orders of a convolution, the usual layout and traversal, and
        for other ops the usual mode; said one thing, all of the others that go with it."""
        way = mode.execution
        if self.layouts is None and self.traversals is None:
            if layer.kind is not OpKind.CONV:
                return mode == modes(layer)[0]
            usual = (Layout.DENSE, Traversal.ROW)
            return (way.layout, way.traversal) == usual and self._orders(way)
        layouts = {Layout.DENSE} if self.layouts is None else self.layouts
        traversals = {Traversal.ROW} if self.traversals is None else self.traversals
        return way.layout in layouts and way.traversal in traversals and self._orders(way)

    def _orders(self, way: Execution) -> bool:
        return self.tap_orders is None or way.tap_order in self.tap_orders


@dataclass(frozen=True)
class Fitting:
    """Layers and plans that a board has room for, and, in words, how many there are and how many not."""

    chosen: tuple[tuple[Layer, str], ...]
    words: str


def what_fits(
    layers: Sequence[Layer],
    wanted: Wanted,
    board: BoardEntry,
    build: Callable[..., RunnerImage] = build_runner,
) -> Fitting:
    """The bench's own question, asked before anything is flashed. Errors: BuildError."""
    images: dict[Selection, RunnerImage] = {}
    chosen = []
    asked: Counter[str] = Counter()
    for layer in layers:
        for name in wanted.plans(layer):
            _, mode = find_mode(layer, name)
            kernels = kernel_set(layer.kind, mode.execution, layer.rounding)
            if kernels not in images:
                images[kernels] = build(board.chip, kernels=kernels)
            asked[name] += 1
            if _has_room(layer, name, images[kernels]):
                chosen.append((layer, name))
    schedule_of.cache_clear()  # of layers too large to keep
    found = Counter(name for _, name in chosen)
    words = [
        f"{found[name]} of {count} layers fit under {name}, {count - found[name]} do not"
        for name, count in asked.items()
    ]
    return Fitting(tuple(chosen), "; ".join(words) or "no plan is asked for")


def _has_room(layer: Layer, name: str, image: RunnerImage) -> bool:
    """For the plan, and where its debt is proved for both sides of that."""
    strategy, mode = find_mode(layer, name)
    plan = plan_layer(layer, strategy, mode)
    if not fits(plan, image):
        return False
    if strategy is not Strategy.RIP or mode.copied:
        return True
    return all(
        fits(plan_at_distance(layer, distance, mode, plan.kernel, plan.bound), image)
        for distance in proof_distances(plan) or ()
    )


def choose_plans(option: Any, tap_order: str | None = None) -> Wanted:
    """From the namespace of the command line; tap_order: where that says nothing of it. Errors:
    ConfigError names the nearest word."""
    strategies = _members_of_strategy(option) if option.strategy else LAYER_STRATEGIES
    return Wanted(
        frozenset(strategies) & frozenset(LAYER_STRATEGIES),
        _members("--tap-order", option.tap_order or tap_order, TapOrder),
        _members("--layout", option.layout, Layout),
        _members("--traversal", option.traversal, Traversal),
        frozenset(_words("--input", option.input or _PLACED, [_PLACED, _COPY])),
    )


def choose_strategies(option: Any) -> tuple[Strategy, ...]:
    """Of whole networks, in a fixed order. Errors: ConfigError names the nearest word."""
    return _members_of_strategy(option) if option.strategy else NETWORK_STRATEGIES


def _members_of_strategy(option: Any) -> tuple[Strategy, ...]:
    words = _words("--strategy", option.strategy, [strategy.value for strategy in Strategy])
    return tuple(strategy for strategy in Strategy if strategy.value in words)


def _members(option: str, words: str | None, enum: type[_Member]) -> frozenset[_Member] | None:
    """`all` is all of them."""
    if words is None:
        return None
    if words == "all":
        return frozenset(enum)
    return frozenset(enum[w.upper()] for w in _words(option, words, [m.name.lower() for m in enum]))


def bench_options(option: Any) -> BenchOptions:
    """From the namespace of the command line. Errors: ConfigError for numbers out of range."""
    _range("--seeds", option.seeds, 1, _MAX_SEEDS)
    _range("--seed", option.seed, 0, _MAX_SEED - _MAX_SEEDS)
    _range("--repeat", option.repeat, 1, _MAX_REPEATS)
    return BenchOptions(
        seeds=tuple(range(option.seed, option.seed + option.seeds)),
        repeats=option.repeat,
        history=Path(option.history) if option.history else None,
        nonce=_nonce(option.nonce),
        reflash=option.reflash,
        witness=not option.no_witness,
        wait=0.0 if option.wait is None else duration(option.wait),
        recovery=not option.no_recovery,
        quarantine=not option.no_quarantine,
        kernels=option.kernels,
    )


def _words(option: str, text: str | None, known: Sequence[str]) -> list[str]:
    if text is None:
        return list(known)
    words = text.split(",")
    for word in words:
        if word not in known:
            raise ConfigError(f"{option} {word!r} is not known", hint=nearest(word, known))
    return words


def _range(option: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{option} {value} is not within {least} to {most}")


def _nonce(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        nonce = int(text, 16)
    except ValueError:
        raise ConfigError(f"--nonce {text!r} is not a hexadecimal number") from None
    _range("--nonce", nonce, 0, 2**32 - 1)
    return nonce
