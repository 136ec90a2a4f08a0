# SPDX-License-Identifier: Apache-2.0
"""Which layers and plans a test of a set gets on which boards."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.boards import BoardEntry, find_board
from harness.network import Layer
from harness.selection import choose_layers, choose_plans, what_fits

Chosen = tuple[str, Layer, str]  # board, layer, name of the plan


@dataclass(frozen=True)
class Asked:
    """chosen: what is to be run. words: for the summary, what there is no room for."""

    chosen: tuple[Chosen, ...]
    words: tuple[str, ...] = ()


def all_layers(option: Any, name: str, tap_order: str | None, boards: Sequence[str]) -> Asked:
    """option: the namespace of the command line. name: of the set, where `--layers` names no other.
    Errors: ConfigError."""
    layers = choose_layers(option.layers or name)
    wanted = choose_plans(option, tap_order)
    return Asked(
        tuple(
            (board, layer, plan)
            for board in boards
            for layer in layers
            for plan in wanted.plans(layer)
        )
    )


def layers_that_fit(
    option: Any,
    name: str,
    tap_order: str | None,
    boards: Sequence[str],
    known: Mapping[str, BoardEntry],
) -> Asked:
    """Of the set alone: `--layers` narrows it where -m names it, and else asks for other tests. Errors:
    ConfigError, BuildError."""
    named = re.search(rf"\b{re.escape(name)}\b", option.markexpr) is not None
    asked = choose_layers(option.layers) if option.layers else None
    layers = choose_layers(name)
    of_all = len(layers)
    if not named:
        layers = [layer for layer in layers if not layer.slow and asked is None]
    elif asked is not None:
        layers = [layer for layer in layers if layer in asked]
    if not layers:
        return Asked(())
    wanted = choose_plans(option, tap_order)
    chosen: list[Chosen] = []
    words = []
    for board in boards:
        fitting = what_fits(layers, wanted, find_board(board, known))
        rest = "" if named else f"; only the quick ones of {of_all}: -m {name} runs all that fit"
        words.append(f"{name} on {board}: {fitting.words}{rest}")
        chosen += [(board, layer, plan) for layer, plan in fitting.chosen]
    return Asked(tuple(chosen), tuple(words))
