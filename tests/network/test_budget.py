# SPDX-License-Identifier: Apache-2.0
"""The key `budget` of layers and of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.network import Ceiling, Network, ceiling_of, load_network, load_set

SHAPE = "h_in: 4, w_in: 4, c_in: 1, c_out: 1"
MODEL = """
inputs: [0]
outputs: [1]
budget: {rp2350: 7}
tensors: {0: [4, 4, 1], 1: [4, 4, 2]}
ops: [{op: conv, in: [0], out: 1}]
"""
BUDGET = (
    Ceiling("rp2040", "", 123_456),
    Ceiling("rp2350", "plain", 9),
    Ceiling("rp2350", "m33", 4),
)


def _set(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "set.yaml"
    path.write_text(text)
    return path


def test_of_a_layer(tmp_path: Path) -> None:
    words = "budget: {rp2040: 123456, rp2350: {plain: 9, m33: 4}}"
    path = _set(tmp_path, f"layers: [{{id: a, {SHAPE}, {words}}}, {{id: b, {SHAPE}}}]")
    assert [layer.budget for layer in load_set(path)] == [BUDGET, ()]


def test_of_varied_layers(tmp_path: Path) -> None:
    text = (
        f"varied: [{{base: {{{SHAPE}, budget: {{rp2040: 5}}}}, vary: [{{k: [[1, 1], [3, 3]]}}]}}]"
    )
    budgets = [layer.budget for layer in load_set(_set(tmp_path, text))]
    assert budgets == [(Ceiling("rp2040", "", 5),)] * 2


def test_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(MODEL)
    network = load_network(str(path))
    assert isinstance(network, Network)
    assert network.budget == (Ceiling("rp2350", "", 7),)


@pytest.mark.parametrize(
    ("chip", "kernels", "cycles"),
    [
        ("rp2040", "plain", 123_456),
        ("rp2350", "plain", 9),
        ("rp2350", "m33", 4),
        ("rp2350", "/some/where/m33", 4),
        ("rp2350", "mine", None),
    ],
)
def test_which_one_holds(chip: str, kernels: str, cycles: int | None) -> None:
    assert ceiling_of(BUDGET, chip, kernels) == cycles


@pytest.mark.parametrize(
    ("budget", "says"),
    [
        ("5", "set.yaml:1:63: a mapping"),
        ("{}", "a budget without a chip"),
        ("{rp2041: 5}", "'rp2041' is not a chip"),
        ("{rp2040: 0}", "0 is not within 1 to"),
        ("{rp2040: 1.5}", "a whole number from 1"),
        ("{rp2040: fast}", "a whole number from 1"),
        ("{rp2040: {'a b': 5}}", "'a b' is not the name of a kernel set"),
        ("{rp2040: {plain: -1}}", "-1 is not within 1 to"),
    ],
)
def test_mistakes(tmp_path: Path, budget: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_set(_set(tmp_path, f"layers: [{{id: a, {SHAPE}, budget: {budget}}}]"))
    assert says in str(caught.value)
