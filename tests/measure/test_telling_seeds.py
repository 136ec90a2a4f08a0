# SPDX-License-Identifier: Apache-2.0
"""Seeds whose corruption shows, and what takes the place of those whose does not."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np
import pytest

from harness.case import Case, make_case
from harness.errors import ConfigError
from harness.geometry import ElementwiseGeometry
from harness.measure.layer import MAX_REPLACED, telling_seeds
from harness.network import Layer
from harness.plan import Mode, Strategy, plan_at_distance, plan_layer, proof_distances
from harness.schema.constants import OpKind
from tests.layers import shipped


class _Silent:
    """A case that shows nothing of some seeds."""

    def __init__(self, silent: Collection[int]) -> None:
        self.plan = plan_layer(Layer("a", ElementwiseGeometry(3, 4, 5), OpKind.CLAMP), Strategy.RIP)
        self._silent = silent

    def expected(self, _: int) -> np.ndarray:
        return np.zeros(4, np.int8)

    def predicted(self, seed: int) -> np.ndarray:
        return np.full(4, 0 if seed in self._silent else 1, np.int8)


@pytest.mark.parametrize(
    ("silent", "seeds", "telling", "replaced"),
    [
        ((), (1, 2, 3), [1, 2, 3], 0),
        ((2,), (1, 2, 3), [1, 3, 4], 1),
        ((1, 2, 3, 4), (1, 2, 3), [5, 6, 7], 4),
        ((7,), (9, 7), [9, 10], 1),
        (range(MAX_REPLACED), (0,), [MAX_REPLACED], MAX_REPLACED),
    ],
)
def test_replacements(
    silent: Collection[int], seeds: tuple[int, ...], telling: list[int], replaced: int
) -> None:
    assert telling_seeds(cast(Case, _Silent(silent)), seeds) == (telling, replaced)


def test_no_seed_tells() -> None:
    with pytest.raises(ConfigError, match="a: no seed shows the corruption") as caught:
        telling_seeds(cast(Case, _Silent(range(100))), (1, 2))
    assert caught.value.evidence["seeds tried"] == MAX_REPLACED + 1


@pytest.mark.parametrize(
    "name", ["conv-5x6x3-5-k3x3-p1.1.1.1", "add-4x5x5", "concat-3x4-2.7", "pad-3x4x5-p1.1.1.1"]
)
def test_real_corruptions(name: str) -> None:
    layer = shipped()[name]
    plan = plan_layer(layer, Strategy.RIP)
    sides = proof_distances(plan)
    assert sides is not None
    right, wrong = (make_case(plan_at_distance(layer, distance, Mode())) for distance in sides)
    telling, replaced = telling_seeds(wrong, (1, 2, 3))
    assert len(set(telling)) == 3
    assert replaced <= 2
    for seed in telling:
        assert wrong.predicted(seed).tolist() != wrong.expected(seed).tolist()
        assert right.predicted(seed).tolist() == wrong.expected(seed).tolist()
