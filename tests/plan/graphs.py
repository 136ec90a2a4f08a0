# SPDX-License-Identifier: Apache-2.0
"""Graphs of layers/keras and layers/models as networks, by name."""

from __future__ import annotations

from functools import cache

from harness.network import Network, load_network, model_files
from harness.plan import Strategy

WHOLE = [way for way in Strategy if way is not Strategy.FUSED]
"""Every op a step of its own, and its scratch beside the arena."""


@cache
def keras(name: str) -> Network:
    return _shape(name)


@cache
def model(name: str) -> Network:
    return _shape(name)


def keras_names() -> list[str]:
    return sorted(path.stem for path in model_files().values() if path.suffix == ".json")


def _shape(name: str) -> Network:
    found = load_network(name)
    assert isinstance(found, Network)
    return found
