# SPDX-License-Identifier: Apache-2.0
"""Every operator in place against its literal events executed on real bytes, at safe distances and
at others."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from harness.geometry import (
    GATHER,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    Pad,
    PadGeometry,
    UpsampleGeometry,
)
from harness.geometry.traversal import input_positions
from harness.liveness import debt, literal, schedule
from harness.reference import (
    ConvParameters,
    concat_in_place,
    convolve,
    convolve_in_place,
    copy_in_place,
    depthwise_in_place,
    elementwise_in_place,
    pool_in_place,
    quantize_multiplier,
    softmax_in_place,
    stored_input,
    stored_output,
    unstored_output,
)
from harness.reference.storage import unstored
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal
from tests.drawn import WAYS, WINDOWS, Way, draw_geometry
from tests.reference.in_memory import (
    Value,
    concatenated,
    convolved,
    copied,
    execute,
    mapped,
    pooled,
    softmax_like,
)

_EXECUTED = [way for way in WAYS if way.kind not in (OpKind.MEAN, OpKind.FULLY_CONNECTED)]


@dataclass(frozen=True)
class _Op:
    """One op with data: the operand's bytes in memory, what each write holds, and the output's bytes as
    the reference finds them at a distance."""

    geometry: Geometry
    stored: np.ndarray
    value: Value
    in_place: Callable[[int], np.ndarray]


def _int8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape).astype(np.int8)


def _parameters(kind: OpKind, g: ConvGeometry, rng: np.random.Generator) -> ConvParameters:
    scales = [quantize_multiplier(s) for s in rng.uniform(1e-3, 1e-2, g.c_out)]
    depthwise = kind is OpKind.DEPTHWISE
    shape = (g.k_h, g.k_w, g.c_out) if depthwise else (g.c_out, g.k_h, g.k_w, g.c_in)
    return ConvParameters(
        weights=_int8(rng, *shape),
        bias=rng.integers(-200, 200, g.c_out).astype(np.int32),
        multiplier=np.array([m for m, _ in scales], np.int32),
        shift=np.array([s for _, s in scales], np.int32),
        input_zero_point=int(rng.integers(-128, 128)),
        output_zero_point=int(rng.integers(-20, 20)),
    )


def _window(way: Way, g: ConvGeometry, rng: np.random.Generator) -> _Op:
    x, execution = _int8(rng, g.h_in, g.w_in, g.c_in), way.execution

    def flat(y: np.ndarray) -> np.ndarray:
        return stored_output(g, execution.traversal, y)

    if way.kind in (OpKind.MAX_POOL, OpKind.AVERAGE_POOL):
        largest = way.kind is OpKind.MAX_POOL

        def compute(values: np.ndarray, real: np.ndarray) -> np.ndarray:
            count = real.sum(axis=1)[:, None]
            masked = np.where(real[:, :, None], values.astype(np.int64), -999 if largest else 0)
            found = masked.max(axis=1) if largest else masked.sum(axis=1) // np.maximum(count, 1)
            return np.where(count == 0, 0, found).astype(np.int8)

        return _Op(
            g, stored_input(g, execution, x, 0), pooled(g, execution, largest=largest),
            lambda distance: flat(pool_in_place(g, x, distance, execution, compute)),
        )  # fmt: skip
    p = _parameters(way.kind, g, rng)
    run = convolve_in_place if way.kind is OpKind.CONV else depthwise_in_place
    return _Op(
        g, stored_input(g, execution, x, p.input_zero_point), convolved(way.kind, g, p, execution),
        lambda distance: flat(run(g, p, x, distance, execution)),
    )  # fmt: skip


def _op(way: Way, g: Geometry, seed: int) -> _Op:
    rng = np.random.default_rng(seed)
    match g:
        case ConvGeometry():
            return _window(way, g, rng)
        case ElementwiseGeometry() if way.kind is OpKind.SOFTMAX:
            x = _int8(rng, g.h, g.w, g.c)

            def passes(first: np.ndarray, now: np.ndarray) -> np.ndarray:
                wide = first.astype(np.int64)
                rest = wide.max(axis=1, keepdims=True) - wide.sum(axis=1, keepdims=True)
                return (rest + 3 * now.astype(np.int64)).astype(np.int8)

            return _Op(
                g, x.ravel(), softmax_like(g.c),
                lambda distance: softmax_in_place(g, x, distance, way.execution, passes).ravel(),
            )  # fmt: skip
        case ElementwiseGeometry():
            x, table = _int8(rng, g.h, g.w, g.c), _int8(rng, 256)
            other = _int8(rng, g.c if g.broadcast else g.output.size)

            def compute(values: np.ndarray, scalars: np.ndarray) -> np.ndarray:
                found = table[values.astype(np.int64) + 128].astype(np.int64)
                return (found + other[scalars % len(other)]).astype(np.int8)

            return _Op(
                g, x.ravel(), mapped(table, other),
                lambda distance: elementwise_in_place(g, x, distance, way.execution, compute).ravel(),
            )  # fmt: skip
        case ConcatGeometry():
            xs = [_int8(rng, shape.h, shape.w, shape.c) for shape in g.inputs]
            return _Op(
                g, xs[way.onto].ravel(), concatenated(g, xs, way.onto),
                lambda distance: concat_in_place(g, xs, distance, way.execution, way.onto).ravel(),
            )  # fmt: skip
        case UpsampleGeometry() | PadGeometry():
            x = _int8(rng, g.h, g.w, g.c)
            return _Op(
                g, x.ravel(), copied(g, -7),
                lambda distance: copy_in_place(g, x, distance, way.execution, -7).ravel(),
            )  # fmt: skip
    raise AssertionError(g)


@pytest.mark.parametrize("way", _EXECUTED, ids=str)
def test_leaves_the_bytes_of_its_events(way: Way) -> None:
    """At random distances, at the debt, where the output is right, and just below it, where it is wrong
    unless the destroyed scalar does not matter."""
    rng = random.Random(str(way))
    wrong = known = 0
    for seed in range(20):
        op = _op(way, draw_geometry(way, rng), seed)
        steps = schedule(way.kind, op.geometry, way.execution, way.onto)
        happened = literal.events(way.kind, op.geometry, way.execution, way.onto)
        right = op.in_place(steps.n_out)  # the two do not meet
        assert np.array_equal(
            execute(happened, op.stored, steps.n_out, steps.n_out, op.value), right
        )
        least = debt(steps)
        distances = [rng.randint(-steps.n_in, steps.n_out) for _ in range(3)]
        if least is not None:
            at, below = steps.distance(least), steps.distance(least - 1)
            assert np.array_equal(op.in_place(at), right)
            known += 1
            wrong += not np.array_equal(op.in_place(below), right)
            distances.append(below)
        for distance in distances:
            expected = execute(happened, op.stored, steps.n_out, distance, op.value)
            assert np.array_equal(op.in_place(distance), expected), f"{op.geometry} at {distance}"
    assert known > 10
    assert wrong > known // 2


@pytest.mark.parametrize("way", [way for way in WAYS if way.kind is OpKind.CONV], ids=str)
def test_convolutions_equal_the_clean_one(way: Way) -> None:
    rng = random.Random(str(way))
    for seed in range(20):
        g = draw_geometry(way, rng)
        assert isinstance(g, ConvGeometry)
        numbers = np.random.default_rng(seed)
        p, x = _parameters(way.kind, g, numbers), _int8(numbers, g.h_in, g.w_in, g.c_in)
        assert np.array_equal(convolve_in_place(g, p, x, g.n_out, way.execution), convolve(g, p, x))


@pytest.mark.parametrize("traversal", list(Traversal)[:4], ids=lambda t: t.name.lower())
@pytest.mark.parametrize("order", list(TapOrder), ids=lambda order: order.name.lower())
def test_long_runs_in_one_go_change_nothing(traversal: Traversal, order: TapOrder) -> None:
    """Steps are computed together where they may be; a chunk of one step each is the definition."""
    g = ConvGeometry(13, 11, 3, 5, 3, 3, pad=Pad.same(1, 1))
    rng = np.random.default_rng(7)
    p, x = _parameters(OpKind.CONV, g, rng), _int8(rng, g.h_in, g.w_in, g.c_in)
    execution = Execution(Layout.PADDED, order, traversal)
    steps = schedule(OpKind.CONV, g, execution)
    happened = literal.events(OpKind.CONV, g, execution)
    stored = stored_input(g, execution, x, p.input_zero_point)
    value = convolved(OpKind.CONV, g, p, execution)
    for distance in (0, 1, 7, 100, steps.distance(debt(steps) or 0) - 1, -30):
        expected = execute(happened, stored, steps.n_out, distance, value)
        found = convolve_in_place(g, p, x, distance, execution)
        assert np.array_equal(stored_output(g, traversal, found), expected)


@pytest.mark.parametrize("way", [way for way in WAYS if way.kind in WINDOWS], ids=str)
def test_storage_there_and_back(way: Way) -> None:
    rng = random.Random(str(way))
    for seed in range(10):
        g = draw_geometry(way, rng)
        assert isinstance(g, ConvGeometry)
        numbers = np.random.default_rng(seed)
        x, y = _int8(numbers, g.h_in, g.w_in, g.c_in), _int8(numbers, g.h_out, g.w_out, g.c_out)
        traversal = way.execution.traversal
        assert np.array_equal(unstored_output(g, traversal, stored_output(g, traversal, y)), y)
        memory = stored_input(g, way.execution, x, -9)
        p = g.pad if way.execution.layout is Layout.PADDED else Pad()
        h, w = g.h_in + p.top + p.bottom, g.w_in + p.left + p.right
        image = unstored(memory, input_positions(g, way.execution), h, w)
        assert np.array_equal(image[p.top : p.top + g.h_in, p.left : p.left + g.w_in], x)
        assert (image == -9).sum() == (x == -9).sum() + (h * w - g.h_in * g.w_in) * g.c_in


def test_columns_in_memory_by_hand() -> None:
    """2x2 with a row of padding above, one channel: columns one after the other."""
    g = ConvGeometry(2, 2, 1, 1, pad=Pad(top=1))
    x = np.array([[1, 2], [3, 4]], np.int8)
    padded = Execution(Layout.PADDED, traversal=Traversal.COLUMN)
    assert stored_input(g, padded, x, 9).tolist() == [9, 1, 3, 9, 2, 4]
    assert stored_input(g, GATHER, x, 9).tolist() == [1, 2, 3, 4]
