# SPDX-License-Identifier: Apache-2.0
"""Kernels of several scalars a step: the formula, the simulator, and every read and write by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from harness.bounds import stepped_bound
from harness.errors import ConfigError
from harness.geometry import (
    DIRECT,
    GATHER,
    ConcatGeometry,
    ConvGeometry,
    ElementwiseGeometry,
    Execution,
    Geometry,
    Pad,
    Step,
)
from harness.liveness import collides, debt, literal, stepped_schedule
from harness.liveness.literal import Event, stored_pixel
from harness.schema.constants import Layout, OpKind, TapOrder, Traversal

CHANNEL = Execution(traversal=Traversal.CHANNEL)
_WINDOWS = (OpKind.CONV, OpKind.DEPTHWISE, OpKind.MAX_POOL)
Drawn = tuple[OpKind, Geometry, Execution, Step]


def _draw(rng: random.Random) -> Drawn:
    """One that is possible."""
    number = rng.randint
    kind = rng.choice((*_WINDOWS, OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD, OpKind.SOFTMAX))
    if kind not in _WINDOWS:
        g: Geometry = ElementwiseGeometry(number(1, 4), number(1, 4), number(1, 6), 1)
        way = Execution(traversal=rng.choice((Traversal.ROW, Traversal.REVERSE)))
        return kind, g, way, Step(1, number(1, 6))
    c_in = number(1, 4)
    c_out = c_in * (number(1, 3) if kind is OpKind.DEPTHWISE else 1)
    window = ConvGeometry(
        number(1, 6), number(1, 6), c_in, number(1, 5) if kind is OpKind.CONV else c_out,
        number(1, 3), number(1, 3), number(1, 3), number(1, 3), number(1, 2), number(1, 2),
        Pad(number(0, 2), number(0, 2), number(0, 2), number(0, 2)),
    )  # fmt: skip
    if kind is OpKind.DEPTHWISE and c_in == c_out and rng.random() < 0.5:
        rows = rng.choice((0, 1, 2, 3, window.h_out))  # 0: a pixel, which stands for a row
        return kind, window, CHANNEL, Step(rows * window.w_out or 1, number(1, 5))
    if kind is OpKind.MAX_POOL:
        return kind, window, DIRECT, Step(1, number(1, 5))
    layout, order = rng.choice(list(Layout)), rng.choice(list(TapOrder))
    pixels = rng.choice((1, 2, 3, window.w_out, 2 * window.w_out, window.pixels_out))
    way = Execution(layout, order)
    if order is TapOrder.GATHER:
        prefetch = rng.random() < 0.2
        step = Step(pixels, number(1, 3), rng.random() < 0.5, prefetch)
        return kind, window, way, Step(ring=True) if rng.random() < 0.2 else step
    if kind is OpKind.DEPTHWISE:
        return kind, window, way, Step(1, number(1, 5))
    return kind, window, way, Step(pixels, number(1, 5), rng.random() < 0.5)


def _drawn(count: int, seed: int) -> Iterator[Drawn]:
    rng = random.Random(seed)
    while count:
        try:
            found = _draw(rng)
        except ConfigError:  # no output
            continue
        count -= 1
        yield found


def _taps(g: ConvGeometry, way: Execution, pixel: int) -> list[int]:
    r, c = divmod(pixel, g.w_out)
    places = (
        stored_pixel(g, way, r * g.s_h + i * g.d_h - g.pad.top, c * g.s_w + j * g.d_w - g.pad.left)
        for i in range(g.k_h)
        for j in range(g.k_w)
    )
    return [place for place in places if place is not None]


def _events(kind: OpKind, g: Geometry, way: Execution, step: Step) -> Iterator[Event]:
    """By the words of Step: all that a block reads, then all that it writes."""
    if isinstance(g, ElementwiseGeometry):
        turns = list(range(g.output.size))[:: -1 if way.traversal is Traversal.REVERSE else 1]
        whole = g.c if kind is OpKind.SOFTMAX else len(turns)
        for start in range(0, len(turns), whole):
            for first in range(start, start + whole, step.channels):
                block = turns[first : min(first + step.channels, start + whole)]
                yield from (("read", scalar, first) for scalar in block)
                yield from (("write", scalar, first) for scalar in block)
        return
    assert isinstance(g, ConvGeometry)
    if way.traversal is Traversal.CHANNEL or step.ring:
        if step.ring:
            yield from _ring(g, way, g.c_out, 1)
        else:
            yield from _ring(g, way, step.channels, max(1, step.pixels // g.w_out))
        return
    runs = [range(row * g.w_out, (row + 1) * g.w_out) for row in range(g.h_out)]
    if step.over_rows or step.pixels > g.w_out:
        runs = [range(g.pixels_out)]
    steps = [run[at : at + step.pixels] for run in runs for at in range(0, len(run), step.pixels)]
    m = 1 if kind is OpKind.CONV else g.c_out // g.c_in

    def field(pixels: range, inputs: range, at: int) -> Iterator[Event]:
        for pixel in pixels:
            for tap in _taps(g, way, pixel):
                yield from (("read", tap * g.c_in + n, at) for n in inputs)

    if step.prefetch:
        yield from field(steps[0], range(g.c_in), 0)
    for at, pixels in enumerate(steps):
        if step.prefetch and at + 1 < len(steps):
            yield from field(steps[at + 1], range(g.c_in), at)
        block = step.channels if way.direct else g.c_out
        for first in range(0, g.c_out, block):
            outputs = range(first, min(first + block, g.c_out))
            inputs = range(g.c_in)
            if kind is not OpKind.CONV:
                inputs = range(outputs[0] // m, outputs[-1] // m + 1)
            if not step.prefetch:
                yield from field(pixels, inputs, at)
            yield from (("write", p * g.c_out + n, at) for p in pixels for n in outputs)


def _ring(g: ConvGeometry, way: Execution, channels: int, band: int) -> Iterator[Event]:
    stored = (
        (g.h_in, g.w_in, g.pad.top)
        if way.layout is Layout.DENSE
        else (g.h_in + g.pad.top + g.pad.bottom, g.w_in + g.pad.left + g.pad.right, 0)
    )
    height, width, top = stored
    for first in range(0, g.c_out, channels):
        outputs = range(first, min(first + channels, g.c_out))
        inputs = outputs if channels < g.c_out else range(g.c_in)
        following = 0
        for row in range(0, g.h_out, band):
            end = min(row + band, g.h_out)
            reached = (end - 1) * g.s_h - top + g.k_h_eff
            for y in range(max(following, row * g.s_h - top), min(height, reached)):
                following = y + 1
                places = range(y * width, (y + 1) * width)
                yield from (("read", p * g.c_in + n, row) for p in places for n in inputs)
            for n in outputs:  # of a band a channel after the other, rows ascending
                pixels = range(row * g.w_out, end * g.w_out)
                yield from (("write", p * g.c_out + n, row) for p in pixels)


def test_formula_and_simulator_are_the_enumeration() -> None:
    seen: dict[str, int] = {}
    for kind, g, way, step in _drawn(1500, seed=3):
        steps = stepped_schedule(kind, g, way, 0, step)
        happened = list(_events(kind, g, way, step))
        truth = literal.debt(happened, steps.n_in, steps.n_out, way.traversal)
        asked = (kind.name, str(g), way, step)
        assert debt(steps) == truth, asked
        assert stepped_bound(kind, g, way, 0, step).debt == truth, asked
        seen[kind.name] = seen.get(kind.name, 0) + (truth is not None)
    assert min(seen.values()) > 60, seen


def test_gap_and_workspace() -> None:
    """Of many, from the simulator's debt; and a step never needs more than single pixels do."""
    for kind, g, way, step in _drawn(3000, seed=4):
        steps, bound = stepped_schedule(kind, g, way, 0, step), stepped_bound(kind, g, way, 0, step)
        truth = debt(steps)
        gap = max(0, steps.n_out - steps.n_in, truth or 0)
        assert (bound.debt, bound.gap, bound.workspace) == (truth, gap, gap + steps.n_in)
        assert sorted(steps.addresses.tolist()) == list(range(steps.n_out))
        if kind is OpKind.CONV and not (way.direct or step.ring):  # a ring reads whole rows
            assert bound.gap <= stepped_bound(kind, g, way).gap


def test_the_layers_of_the_reference() -> None:
    """Padding gaps of 2-pixel, 4-pixel and row steps, in gather and in direct order with Q = 4, in a
    pipeline of two pixels, and with a ring of rows (DESIGN's kernel notes, dense)."""
    conv = ConvGeometry(32, 32, 16, 32, 3, 3, pad=Pad.same(1, 1))
    for step, way, gap in (
        (Step(1, 1), GATHER, 16896),
        (Step(2), GATHER, 16880),
        (Step(4), GATHER, 16848),
        (Step(32), GATHER, 16384),
        (Step(1, 4), DIRECT, 16924),
        (Step(2, 4), DIRECT, 16940),
        (Step(32, 4), DIRECT, 17404),
        (Step(2, prefetch=True), GATHER, 16816),
        (Step(ring=True), GATHER, 16384),
    ):
        assert stepped_bound(OpKind.CONV, conv, way, 0, step).gap == gap
    seven = ConvGeometry(20, 20, 96, 96, 7, 7, pad=Pad.same(3, 3))
    for pixels, gap in ((1, 6048), (2, 6048), (20, 5760)):
        assert stepped_bound(OpKind.DEPTHWISE, seven, GATHER, 0, Step(pixels, 4)).gap == gap


def _bands(count: int) -> Iterator[tuple[ConvGeometry, Step]]:
    """Channel by channel, more than a row at once."""
    for kind, g, way, step in _drawn(count, seed=5):
        if kind is OpKind.DEPTHWISE and way == CHANNEL:
            assert isinstance(g, ConvGeometry)
            yield g, step


def test_bands_are_safe_wherever_single_rows_are() -> None:
    """At equal bases; and the order of their writes is a channel after the other."""
    safe = more = 0
    for g, step in _bands(10000):
        rows = stepped_schedule(OpKind.DEPTHWISE, g, CHANNEL)
        bands = stepped_schedule(OpKind.DEPTHWISE, g, CHANNEL, 0, step)
        alone, together = not collides(rows, 0), not collides(bands, 0)
        assert together or not alone, (g, step)
        safe, more = safe + alone, more + (together and not alone)
        writes = [
            a for what, a, _ in _events(OpKind.DEPTHWISE, g, CHANNEL, step) if what == "write"
        ]
        assert bands.addresses.tolist() == writes
    assert safe > 300
    assert more > 30


def test_bands_in_deep_padding() -> None:
    """Where whole rows of the output see no input, and strides leave some of it out."""
    rng = random.Random(8)
    number = rng.randint
    unsafe = late = 0
    for _ in range(3000):
        c, s = number(1, 3), number(1, 4)
        pad = Pad(number(0, 7), number(0, 3), number(0, 3), number(0, 3))
        g = ConvGeometry(
            number(2, 7), number(1, 4), c, c, number(1, 2), 1, s, number(1, 2), pad=pad
        )
        step = Step(number(1, 4) * g.w_out, number(1, 3))
        steps = stepped_schedule(OpKind.DEPTHWISE, g, CHANNEL, 0, step)
        happened = list(_events(OpKind.DEPTHWISE, g, CHANNEL, step))
        truth = literal.debt(happened, steps.n_in, steps.n_out, Traversal.CHANNEL)
        assert debt(steps) == truth, (g, step)
        assert stepped_bound(OpKind.DEPTHWISE, g, CHANNEL, 0, step).debt == truth, (g, step)
        unsafe += truth not in (None, 0)
        late += pad.top >= g.k_h_eff + s and truth is not None
    assert unsafe > 500
    assert late > 500


def test_a_band_of_the_paper() -> None:
    """MCUNet's 3x3 at 20x20x96 in bands of 5 rows: rows 0 to 5 are read before row 0 is written, row 6
    as the first one of the second band, after 5 * 20 pixels of 4 channels."""
    g = ConvGeometry(20, 20, 96, 96, 3, 3, pad=Pad.same(1, 1))
    steps = stepped_schedule(OpKind.DEPTHWISE, g, CHANNEL, 0, Step(100, 4))
    first_channel = steps.released.reshape(20, 20, 96)[:, 0, 0].tolist()
    assert first_channel == [0] * 6 + [400] * 5 + [800] * 5 + [1200] * 4
    assert steps.unit == 400
    assert steps.addresses[:3].tolist() == [0, 96, 192]
    assert steps.addresses[99:102].tolist() == [99 * 96, 1, 97]
    assert stepped_bound(OpKind.DEPTHWISE, g, CHANNEL, 0, Step(100, 4)).gap == 0


@pytest.mark.parametrize(
    ("kind", "geometry", "way", "step"),
    [
        (OpKind.CONV, ConvGeometry(4, 4, 2, 2), Execution(traversal=Traversal.REVERSE), Step(2)),
        (OpKind.CONV, ConvGeometry(4, 4, 2, 2), DIRECT, Step(2, prefetch=True)),
        (OpKind.CONV, ConvGeometry(4, 4, 2, 2), DIRECT, Step(ring=True)),
        (OpKind.MAX_POOL, ConvGeometry(4, 4, 2, 2), DIRECT, Step(2, 1)),
        (OpKind.DEPTHWISE, ConvGeometry(4, 4, 2, 2), CHANNEL, Step(2)),
        (OpKind.DEPTHWISE, ConvGeometry(4, 4, 2, 2), CHANNEL, Step(6)),
        (OpKind.ADD, ElementwiseGeometry(4, 4, 2, 2), GATHER, Step(2)),
        (OpKind.CONCAT, ConcatGeometry(4, 4, (2, 2)), GATHER, Step(2)),
    ],
)
def test_steps_of_which_no_bound_is_known(
    kind: OpKind, geometry: Geometry, way: Execution, step: Step
) -> None:
    with pytest.raises(ConfigError, match="in such steps"):
        stepped_bound(kind, geometry, way, 0, step)


def test_a_step_is_of_something() -> None:
    for pixels, channels in ((0, 1), (1, 0)):
        with pytest.raises(ConfigError, match="steps of"):
            Step(pixels, channels)
