# SPDX-License-Identifier: Apache-2.0
"""Kernels of several pixels a step: formulas, bulk simulator, and every read and write by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from harness.bounds import Bound, dense, dense_scalar_direct, steps
from harness.bounds.batch import geometries_of
from harness.bounds.steps import Steps
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Execution, Pad
from harness.liveness import literal
from harness.liveness.literal import stored_pixel
from harness.schema.constants import Layout, Traversal
from tests.bounds.judge import Judge, Stepped, draw_layers

PIXELS = (1, 2, 3, 4, 8)
CHANNELS = (1, 2, 4)
Formula = Callable[[ConvGeometry, Steps, Layout], Bound]
FORMULAS: dict[str, Formula] = {
    "gather": steps.gather,
    "direct": steps.direct,
    "pipelined": steps.pipelined,
    "ring": lambda g, _, layout: steps.ring(g, layout),
}


def _runs(g: ConvGeometry, s: Steps) -> list[range]:
    """The steps, as runs of output pixels."""
    if s.over_rows:
        return [range(f, min(f + s.pixels, g.pixels_out)) for f in range(0, g.pixels_out, s.pixels)]
    return [
        range(row + f, min(row + f + s.pixels, row + g.w_out))
        for row in range(0, g.pixels_out, g.w_out)
        for f in range(0, g.w_out, s.pixels)
    ]


def _events(order: str, g: ConvGeometry, s: Steps, layout: Layout) -> Iterator[literal.Event]:
    """Every read and write of the kernel; a step's number is that of its run."""
    execution = Execution(layout)
    width = g.w_in + (g.pad.left + g.pad.right if layout is Layout.PADDED else 0)
    height = g.h_in + (g.pad.top + g.pad.bottom if layout is Layout.PADDED else 0)

    def field(pixels: range, step: int) -> Iterator[literal.Event]:
        for pixel in pixels:
            r, c = divmod(pixel, g.w_out)
            for i in range(g.k_h):
                for j in range(g.k_w):
                    y = r * g.s_h + i * g.d_h - g.pad.top
                    x = c * g.s_w + j * g.d_w - g.pad.left
                    tap = stored_pixel(g, execution, y, x)
                    if tap is not None:
                        yield from (("read", tap * g.c_in + n, step) for n in range(g.c_in))

    def written(pixels: range, channels: range, step: int) -> Iterator[literal.Event]:
        yield from (("write", p * g.c_out + n, step) for p in pixels for n in channels)

    runs = _runs(g, s)
    if order == "ring":
        top_pad = g.pad.top if layout is Layout.DENSE else 0
        copied: set[int] = set()
        for row in range(g.h_out):
            top = row * g.s_h - top_pad
            for y in range(max(0, top), min(height, top + g.k_h_eff)):
                if y not in copied and not any(other > y for other in copied):
                    yield from (
                        ("read", n, row)
                        for n in range(y * width * g.c_in, (y + 1) * width * g.c_in)
                    )
                    copied.add(y)
            yield from written(range(row * g.w_out, (row + 1) * g.w_out), range(g.c_out), row)
        return
    if order == "pipelined":
        yield from field(runs[0], 0)
    for step, run in enumerate(runs):
        if order == "pipelined" and step + 1 < len(runs):
            yield from field(runs[step + 1], step + 1)
        block = s.channels if order == "direct" else g.c_out
        for first in range(0, g.c_out, block):
            if order != "pipelined":
                yield from field(run, step)
            yield from written(run, range(first, min(first + block, g.c_out)), step)


def _enumerated(order: str, g: ConvGeometry, s: Steps, layout: Layout) -> int | None:
    padded = layout is Layout.PADDED
    height = g.h_in + (g.pad.top + g.pad.bottom if padded else 0)
    width = g.w_in + (g.pad.left + g.pad.right if padded else 0)
    happened = list(_events(order, g, s, layout))
    return literal.debt(happened, height * width * g.c_in, g.n_out, Traversal.ROW)


def _schedules(g: ConvGeometry) -> list[Steps]:
    return [
        *(Steps(b, q, over) for b in PIXELS for q in CHANNELS for over in (False, True)),
        *(of(g, q) for of in (Steps.row, Steps.whole) for q in CHANNELS),
    ]


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.name.lower())
@pytest.mark.parametrize("order", FORMULAS)
def test_equals_the_enumeration(order: str, layout: Layout) -> None:
    rng = random.Random(order)
    known = 0
    for g in geometries_of(draw_layers(300, seed=31, extent=6, channels=4)):
        s = rng.choice(_schedules(g))
        truth = _enumerated(order, g, s, layout)
        assert FORMULAS[order](g, s, layout).debt == truth, (g, s)
        known += truth is not None
    assert known > 80


def _check(judge: Judge, order: str, layout: Layout, count: int, every: int) -> None:
    """All schedules, each on every `every`-th layer, in turn. The last two sizes are whole rows or the
    whole tensor: more pixels than any output has."""
    layers = draw_layers(count, seed=32)
    channels = CHANNELS if order == "direct" else (1,)
    sizes = (*PIXELS, 5, 11, 10**6, None) if order != "ring" else (1,)
    ways = product((False, True) if order != "ring" else (False,), channels, sizes)
    for n, (over, q, size) in enumerate(ways):
        some = {name: array[n % every :: every] for name, array in layers.items()}
        truths = judge.steps(some, Stepped(order, layout, q, over), size or 10**6)
        for g, truth in zip(geometries_of(some), truths, strict=True):
            whole = Steps.whole(g, q) if over else Steps.row(g, q)
            s = whole if size is None else Steps(size, q, over)
            assert FORMULAS[order](g, s, layout).debt == truth, (g, s)


@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.name.lower())
@pytest.mark.parametrize("order", FORMULAS)
def test_equals_the_bulk_simulator(judge: Judge, order: str, layout: Layout) -> None:
    _check(judge, order, layout, 3_000, every=1 if order == "ring" else 15)


@pytest.mark.extra
@pytest.mark.parametrize("layout", list(Layout), ids=lambda layout: layout.name.lower())
@pytest.mark.parametrize("order", FORMULAS)
def test_equals_the_bulk_simulator_at_length(judge: Judge, order: str, layout: Layout) -> None:
    _check(judge, order, layout, 20_000, every=1 if order == "ring" else 4)


def test_one_pixel_a_step_is_the_plain_kernel() -> None:
    for g in geometries_of(draw_layers(500, seed=33)):
        assert steps.gather(g, Steps(1)).debt == dense(g, direct=False).debt
        assert steps.direct(g, Steps(1)).debt == dense_scalar_direct(g).debt
        assert steps.direct(g, Steps(1)).sigma == g.c_out - 1 or g.c_out == 1


def test_larger_steps_that_gather_need_no_more() -> None:
    """Theorem A's corollary: the paper's sigma = 0 gap is safe for any of them; and prefetching too."""
    for g in geometries_of(draw_layers(150, seed=34)):
        one = dense(g, direct=False).gap
        for s in _schedules(g):
            assert steps.pipelined(g, s).gap <= steps.gather(g, s).gap <= one


GAPS = [
    # layer, gather B = 1, 2, 4, row; direct (Q = 4) the same; pipelined B = 2; ring
    (
        ConvGeometry(40, 40, 16, 96),
        [128_000] * 4, [128_012, 128_028, 128_060, 128_636], 128_000, 128_000,
    ),
    (ConvGeometry(20, 20, 144, 24), [0] * 4, [20, 44, 92, 476], 0, 0),
    (
        ConvGeometry(80, 80, 3, 16, 3, 3, 2, 2, pad=Pad.same(1, 1)),
        [6_873, 6_863, 6_843, 6_480], [6_885, 6_891, 6_903, 7_116], 6_831, 6_400,
    ),
    (
        ConvGeometry(32, 32, 16, 32, 3, 3, pad=Pad.same(1, 1)),
        [16_896, 16_880, 16_848, 16_384], [16_924, 16_940, 16_972, 17_404], 16_816, 16_384,
    ),
    (
        ConvGeometry(20, 20, 96, 96, 7, 7, pad=Pad.same(3, 3)),
        [6_048, 6_048, 6_048, 5_760], [6_140, 6_236, 6_428, 7_676], 5_856, 0,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("g", "gather", "direct", "pipelined", "ring"), GAPS)
def test_known_gaps(
    g: ConvGeometry, gather: list[int], direct: list[int], pipelined: int, ring: int
) -> None:
    sizes = [Steps(1, 4), Steps(2, 4), Steps(4, 4), Steps.row(g, 4)]
    assert [steps.gather(g, s).gap for s in sizes] == gather
    assert [steps.direct(g, s).gap for s in sizes] == direct
    assert steps.pipelined(g, sizes[1]).gap == pipelined
    assert steps.ring(g).gap == ring


def test_refuses_steps_of_nothing() -> None:
    for pixels, channels in ((0, 1), (1, 0)):
        with pytest.raises(ConfigError):
            Steps(pixels, channels)
