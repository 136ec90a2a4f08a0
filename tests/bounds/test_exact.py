# SPDX-License-Identifier: Apache-2.0
"""`bound_of` is the simulator's debt, on every operator in every execution, on hostile layers."""

from __future__ import annotations

import random

import pytest

from harness.bounds import bound_of, is_safe_at_zero
from harness.bounds.batch import geometries_of
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, Geometry
from harness.liveness import Release, collides, debt, literal, schedule
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from tests.bounds.judge import Judge, Window, check_window, draw_layers, windows
from tests.drawn import WAYS, Way, draw_geometry

QUICK, LONG = 3_000, 20_000
OTHERS = [way for way in WAYS if not str(way).startswith(("conv", "depthwise", "max", "average"))]


@pytest.mark.parametrize("window", windows(), ids=str)
def test_windows_equal_the_simulator(judge: Judge, window: Window) -> None:
    check_window(judge, window, QUICK)


def _check_other(way: Way, count: int) -> None:
    rng = random.Random(str(way))
    for _ in range(count):
        g = draw_geometry(way, rng)
        steps = schedule(way.kind, g, way.execution, way.onto)
        truth = debt(steps)
        bound = bound_of(way.kind, g, way.execution, way.onto)
        gap = max(0, steps.n_out - steps.n_in, 0 if truth is None else truth)
        assert (bound.debt, bound.gap, bound.workspace) == (truth, gap, gap + steps.n_in), g


@pytest.mark.parametrize("way", OTHERS, ids=str)
def test_other_operators_equal_the_simulator(way: Way) -> None:
    _check_other(way, QUICK)


@pytest.mark.extra
@pytest.mark.parametrize("way", OTHERS, ids=str)
def test_other_operators_at_length(way: Way) -> None:
    _check_other(way, LONG)


def _check_judges(judge: Judge, window: Window, count: int, exhaustive: bool) -> None:
    """exhaustive: the literal simulator in Python as well."""
    extent, channels = (4, 3) if exhaustive else (12, 8)
    layers = window.layers(draw_layers(count, seed=7, extent=extent, channels=channels))
    for g, truth in zip(geometries_of(layers), judge.windows(layers, window), strict=True):
        steps = schedule(window.kind, g, window.execution, release=window.release)
        assert debt(steps) == truth, g
        if exhaustive:
            happened = literal.events(window.kind, g, window.execution, release=window.release)
            traversal = window.execution.traversal
            assert literal.debt(happened, steps.n_in, steps.n_out, traversal) == truth, g


@pytest.mark.parametrize("window", windows(), ids=str)
def test_the_bulk_simulator_equals_the_fast_one(judge: Judge, window: Window) -> None:
    _check_judges(judge, window, 60, exhaustive=False)


@pytest.mark.extra
@pytest.mark.parametrize("window", windows(), ids=str)
def test_all_three_simulators_agree(judge: Judge, window: Window) -> None:
    _check_judges(judge, window, 2_000, exhaustive=False)
    _check_judges(judge, window, 2_000, exhaustive=True)


@pytest.mark.parametrize("layout", list(Layout))
def test_channel_by_channel_is_safe_at_distance_0_or_not(layout: Layout) -> None:
    execution = Execution(layout, traversal=Traversal.CHANNEL)
    window = Window(OpKind.DEPTHWISE, execution)
    layers = window.layers(draw_layers(1_000, seed=3, extent=8, channels=3))
    seen = set()
    for g in geometries_of(layers):
        safe = not collides(schedule(OpKind.DEPTHWISE, g, execution), 0)
        assert is_safe_at_zero(g, execution) == safe, g
        seen.add(safe)
    # where the padding is input, the output is never the wider one and never starts before its field
    assert seen == ({True} if layout is Layout.PADDED else {True, False})


def _everything() -> list[tuple[OpKind, Geometry, Execution, int]]:
    rng = random.Random(5)
    shapes = {type(g): g for way in WAYS for g in [draw_geometry(way, rng)]}
    two = draw_geometry(Way(OpKind.ADD, Execution(), 1), rng)
    return [
        (kind, g, Execution(layout, order, traversal), onto)
        for kind in OpKind
        for g in (*shapes.values(), two, ConvGeometry(3, 3, 2, 4), ConvGeometry(1, 1, 2, 3))
        for layout in Layout
        for order in TapOrder
        for traversal in Traversal
        for onto in range(3)
    ]


def test_refuses_what_the_simulator_refuses() -> None:
    releases: tuple[Release, ...] = ("scalar", "pixel")
    seen = set()
    for kind, g, execution, onto in _everything():
        for release in releases:
            try:
                truth = debt(schedule(kind, g, execution, onto, release=release))
            except ConfigError:
                with pytest.raises(ConfigError):
                    bound_of(kind, g, execution, onto, release=release)
                seen.add("refused")
            else:
                assert bound_of(kind, g, execution, onto, release=release).debt == truth
                seen.add("known")
    assert seen == {"refused", "known"}
