# SPDX-License-Identifier: Apache-2.0
"""A plain kernel's bound is a formula, in every mode of every layer, and the simulator's debt."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from harness.bounds import bound_of
from harness.geometry import ElementwiseGeometry
from harness.kernels import PLAIN, closed_form, operands_to_share, traits
from harness.liveness import debt, schedule
from harness.network import Layer, find_set, load_set
from harness.plan import in_place, modes
from harness.schema.constants import OpKind, Traversal

SMALL = 60_000  # scalars: the larger ones differ in size alone
MOST = 150  # layers of a set
SETS = sorted(path.stem for path in (Path(__file__).parents[2] / "layers" / "sets").glob("*.yaml"))


def _layers(name: str) -> list[Layer]:
    found = [layer for layer in load_set(find_set(name)) if in_place(layer)]
    return random.Random(name).sample(found, min(MOST, len(found)))


@pytest.mark.parametrize("name", SETS)
def test_the_bound_is_the_simulators(name: str) -> None:
    for layer in _layers(name):
        if layer.n_in + layer.n_out > SMALL:
            continue
        for mode in modes(layer):
            asked = (layer.kind, layer.geometry, mode.execution, mode.onto)
            bound = PLAIN.bound(*asked)
            steps = schedule(*asked)
            truth = debt(steps)
            gap = max(0, steps.n_out - steps.n_in, 0 if truth is None else truth)
            assert (bound.debt, bound.gap, bound.workspace) == (truth, gap, gap + steps.n_in), (
                layer.id,
                mode,
            )


@pytest.mark.parametrize("name", SETS)
def test_no_bound_asks_the_simulator(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def simulate(*_: object) -> None:
        raise AssertionError("a bound was simulated")

    monkeypatch.setattr(traits, "schedule", simulate)
    monkeypatch.setattr(traits, "schedule_of", simulate)
    for layer in _layers(name):
        for mode in modes(layer):
            asked = (layer.kind, layer.geometry, mode.execution, mode.onto)
            assert PLAIN.bound(*asked) == bound_of(*asked)
            herringbone = mode.execution.traversal is Traversal.HERRINGBONE
            assert closed_form(mode.execution) != herringbone


def test_no_output_lies_on_an_operand_that_every_pixel_reads() -> None:
    """Not even where there is one pixel, and so both operands have the output's shape."""
    for h in (1, 3):
        broadcast = ElementwiseGeometry(h, 1, 4, 2, broadcast=True)
        assert operands_to_share(OpKind.ADD, broadcast) == (0,)
    assert operands_to_share(OpKind.ADD, ElementwiseGeometry(1, 1, 4, 2)) == (0, 1)
