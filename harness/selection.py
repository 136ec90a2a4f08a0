# SPDX-License-Identifier: Apache-2.0
"""From the words of a command line to layers, plans and options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.bench import PLANS, BenchOptions
from harness.errors import ConfigError
from harness.network import Layer, find_set, load_set
from harness.plan import Strategy
from harness.schema.constants import TapOrder
from harness.strictyaml import nearest

_MAX_SEED = 2**32 - 1
_MAX_SEEDS = 100
_MAX_REPEATS = 100


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


def choose_plans(strategies: str | None, tap_orders: str | None) -> list[str]:
    """The plans to run, `dual` before `rip`. Errors: ConfigError names the nearest word."""
    wanted = _words("--strategy", strategies, [strategy.value for strategy in Strategy])
    orders = choose_tap_orders(tap_orders)
    return [name for name, (s, order) in PLANS.items() if s in wanted and order in orders]


def choose_tap_orders(words: str | None) -> list[TapOrder]:
    names = _words("--tap-order", words, [order.name.lower() for order in TapOrder])
    return [TapOrder[name.upper()] for name in names]


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
