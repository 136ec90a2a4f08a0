# SPDX-License-Identifier: Apache-2.0
"""The fast simulator against the literal one, and both on collisions found by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.geometry import ConvGeometry, Pad
from harness.liveness import debt, first_collision, literal
from harness.results import Collision
from tests.strategies import conv_geometries


@settings(max_examples=200, deadline=None)
@given(conv_geometries(), st.booleans(), st.integers(-30, 30))
def test_equals_the_literal_simulator(geometry: ConvGeometry, direct: bool, distance: int) -> None:
    assert debt(geometry, direct=direct) == literal.debt(geometry, direct=direct)
    found = first_collision(geometry, distance, direct=direct)
    by_hand = literal.collisions(literal.events(geometry, direct=direct), distance)
    assert (found is None) == (not by_hand)
    if found is not None:
        assert (found.writer, found.address, found.last_reader) == by_hand[0]


def test_names_the_victim() -> None:
    """4x1, 1 -> 2 channels, 1x1: pixel 0 writes scalars 0 and 1; at distance 1 the second one lands on
    input scalar 0, which is read already, so the first harm is pixel 1 writing 3 onto scalar 2."""
    geometry = ConvGeometry(4, 1, 1, 2)
    assert debt(geometry, direct=False) == 3
    assert first_collision(geometry, 3, direct=False) is None
    assert first_collision(geometry, 1, direct=False) == Collision(1, 3, 2, 2)


def test_no_collision_is_possible_with_one_output() -> None:
    geometry = ConvGeometry(3, 3, 2, 1, 3, 3)
    assert debt(geometry, direct=False) is None


@pytest.mark.parametrize("direct", [False, True])
def test_a_real_layer(direct: bool) -> None:
    stem = ConvGeometry(48, 48, 3, 24, 3, 3, 2, 2, pad=Pad.same(1, 1))
    least = debt(stem, direct=direct)
    assert least == (7208 if direct else 7185)
    assert first_collision(stem, least, direct=direct) is None
    assert first_collision(stem, least - 1, direct=direct) is not None
