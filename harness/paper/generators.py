# SPDX-License-Identifier: Apache-2.0
"""The twenty generators of the paper's Table 5, with ranges of our own: the paper does not give its.

All extents of an input are 1 to 128. Unless a generator says otherwise: kernels are square, 1 to 7;
channels 1 to 64; stride and dilation 1; no padding. A generator that is about the output (a collapsed
axis, a small grid) draws the output first and takes the input that gives it, plus a ragged rest that
no output steps over.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad
from harness.paper.stated import TABLE5

MAX_EXTENT = 128
_Rng = random.Random
_Pair = tuple[int, int]


def draw_layers(count: int, seed: int) -> list[tuple[str, ConvGeometry]]:
    """Generator and layer, `count` times. Every 100 hold each generator by its share, in a fixed
    order; fewer layers of a seed are the first of more."""
    rng = random.Random(f"sweep {seed}")
    return [(name, _draw(name, rng)) for name, _ in zip(_order(), range(count), strict=False)]


def _order() -> Iterator[str]:
    """The generators in turn, each as often as its share, spread over every 100."""
    slots = [((n + 0.5) / row.share, row.generator) for row in TABLE5 for n in range(row.share)]
    while True:
        yield from (name for _, name in sorted(slots))


def _draw(name: str, rng: _Rng) -> ConvGeometry:
    while True:
        try:
            geometry = GENERATORS[name](rng)
        except ConfigError:  # no output: the kernel is larger than the padded input
            continue
        if max(geometry.h_in, geometry.w_in) <= MAX_EXTENT:
            return geometry


def _conv(
    extents: _Pair,
    channels: _Pair,
    k: _Pair,
    s: _Pair = (1, 1),
    d: _Pair = (1, 1),
    pad: Pad | None = None,
) -> ConvGeometry:
    return ConvGeometry(*extents, *channels, *k, *s, *d, Pad() if pad is None else pad)


def _of_output(
    outputs: _Pair,
    channels: _Pair,
    k: _Pair,
    rng: _Rng,
    s: _Pair = (1, 1),
    d: _Pair = (1, 1),
    pad: _Pair = (0, 0),
) -> ConvGeometry:
    """The input that has these outputs, and up to a stride less one more of it. Errors: ConfigError
    where the padding alone is more than that."""
    extents = []
    for n, k_, s_, d_, pad_ in zip(outputs, k, s, d, pad, strict=True):
        extents.append((n - 1) * s_ + (k_ - 1) * d_ + 1 - 2 * pad_ + rng.randint(0, s_ - 1))
    return _conv((extents[0], extents[1]), channels, k, s, d, Pad.same(*pad))


def _channels(rng: _Rng, most: int = 64) -> _Pair:
    return rng.randint(1, most), rng.randint(1, most)


def _rising(rng: _Rng) -> _Pair:
    """More channels out than in, as herringbone's critical leg needs."""
    c_in = rng.randint(1, 32)
    return c_in, c_in + rng.randint(1, 64)


def _extents(rng: _Rng, least: int = 1, most: int = MAX_EXTENT) -> _Pair:
    return rng.randint(least, most), rng.randint(least, most)


def _two(rng: _Rng, least: int, most: int) -> _Pair:
    return rng.randint(least, most), rng.randint(least, most)


def _unlike(rng: _Rng, least: int, most: int) -> _Pair:
    first, second = rng.sample(range(least, most + 1), 2)
    return first, second


def _plain(rng: _Rng) -> ConvGeometry:
    """Kernel 1 to 7, square input 8 to 128."""
    k, n = rng.randint(1, 7), rng.randint(8, MAX_EXTENT)
    return _conv((n, n), _channels(rng), (k, k))


def _same(rng: _Rng) -> ConvGeometry:
    """Kernel 1 to 7, padding k // 2, inputs 4 to 128."""
    k = rng.randint(1, 7)
    return _conv(_extents(rng, 4), _channels(rng), (k, k), pad=Pad.same(k // 2, k // 2))


def _strided(rng: _Rng) -> ConvGeometry:
    """Kernel 1 to 7, stride 2 to 4, padding k // 2 or none, inputs 8 to 128."""
    k, s = rng.randint(1, 7), rng.randint(2, 4)
    p = rng.choice((0, k // 2))
    return _conv(_extents(rng, 8), _channels(rng), (k, k), (s, s), pad=Pad.same(p, p))


def _expansion(rng: _Rng) -> ConvGeometry:
    """Pointwise, 2 to 6 times the channels (8 to 32), inputs 4 to 112."""
    c = rng.randint(8, 32)
    return _conv(_extents(rng, 4, 112), (c, c * rng.randint(2, 6)), (1, 1))


def _projection(rng: _Rng) -> ConvGeometry:
    """Kernel 1 or 3 (same padding), c_out at most c_in, inputs 4 to 112."""
    c, k = rng.randint(1, 128), rng.choice((1, 3))
    channels = c, rng.randint(1, c)
    return _conv(_extents(rng, 4, 112), channels, (k, k), pad=Pad.same(k // 2, k // 2))


def _collapsed(rng: _Rng) -> ConvGeometry:
    """The shorter output axis 1, 2 or 3, the other one up to 64; kernel 1 to 5, stride 1 to 3."""
    outputs = [rng.randint(1, 3), rng.randint(3, 64)]
    rng.shuffle(outputs)
    return _of_output(
        (outputs[0], outputs[1]), _channels(rng), _two(rng, 1, 5), rng, _two(rng, 1, 3)
    )


def _small_herringbone(rng: _Rng) -> ConvGeometry:
    """Both output axes up to 6, more channels out than in, kernel 1 to 9."""
    k = rng.randint(1, 9)
    return _of_output(_two(rng, 1, 6), _rising(rng), (k, k), rng)


def _small_output(rng: _Rng) -> ConvGeometry:
    """Both output axes up to 4; kernel 1 to 7, stride 1 to 4, padding less than the kernel."""
    k, s = _two(rng, 1, 7), _two(rng, 1, 4)
    pad = rng.randint(0, k[0] - 1), rng.randint(0, k[1] - 1)
    return _of_output(_two(rng, 1, 4), _channels(rng), k, rng, s, pad=pad)


def _thin(rng: _Rng) -> ConvGeometry:
    """One output axis of 1, the other one up to 128; kernel 1 to 7."""
    outputs = [1, rng.randint(1, MAX_EXTENT)]
    rng.shuffle(outputs)
    return _of_output((outputs[0], outputs[1]), _channels(rng), _two(rng, 1, 7), rng)


def _integer_leg(rng: _Rng) -> ConvGeometry:
    """Restricted, (k - 1) c_in a multiple of c_out - c_in; kernel 1, 3, 5 or 7; outputs 1 to 40."""
    k, c_in, n = rng.choice((1, 3, 5, 7)), rng.randint(1, 32), rng.randint(1, 40)
    residual = (k - 1) * c_in
    steps = [step for step in range(1, 65) if residual % step == 0]
    return _of_output((n, n), (c_in, c_in + rng.choice(steps)), (k, k), rng)


def _symmetric(rng: _Rng) -> ConvGeometry:
    """Everything drawn once for both axes: input 1 to 64, kernel 1 to 7, stride 1 to 3, dilation 1 or 2,
    padding less than the dilated kernel."""
    n, k, s, d = rng.randint(1, 64), rng.randint(1, 7), rng.randint(1, 3), rng.randint(1, 2)
    p = rng.randint(0, (k - 1) * d)
    return _conv((n, n), _channels(rng), (k, k), (s, s), (d, d), Pad.same(p, p))


def _fractional_leg(rng: _Rng) -> ConvGeometry:
    """Restricted, (k - 1) c_in no multiple of c_out - c_in; kernel 3, 5 or 7; outputs 1 to 40."""
    while True:
        k, n, (c_in, c_out) = rng.choice((3, 5, 7)), rng.randint(1, 40), _rising(rng)
        if (k - 1) * c_in % (c_out - c_in):
            return _of_output((n, n), (c_in, c_out), (k, k), rng)


def _non_monotone(rng: _Rng) -> ConvGeometry:
    """Padding of a dilation step or more, so that a later output reads lower addresses than an earlier
    one did; kernel 2 to 5, dilation 2 to 4, stride 1 to 3, inputs 1 to 48."""
    k, d = _two(rng, 2, 5), _two(rng, 2, 4)
    pad = rng.randint(d[0], (k[0] - 1) * d[0]), rng.randint(d[1], (k[1] - 1) * d[1])
    return _conv(_extents(rng, 1, 48), _channels(rng), k, _two(rng, 1, 3), d, Pad.same(*pad))


def _rectangular(rng: _Rng) -> ConvGeometry:
    """Unlike axes of 1 to 9, padding k // 2 or none, inputs 4 to 96."""
    k = _unlike(rng, 1, 9)
    pad = rng.choice((Pad(), Pad.same(k[0] // 2, k[1] // 2)))
    return _conv(_extents(rng, 4, 96), _channels(rng), k, pad=pad)


def _dilated(rng: _Rng) -> ConvGeometry:
    """Kernel 2 to 5, dilation 2 to 4, padding d (k // 2) or none, inputs 8 to 96."""
    k, d = rng.randint(2, 5), rng.randint(2, 4)
    p = rng.choice((0, d * (k // 2)))
    return _conv(_extents(rng, 8, 96), _channels(rng), (k, k), d=(d, d), pad=Pad.same(p, p))


def _unlike_strides(rng: _Rng) -> ConvGeometry:
    """Unlike strides of 1 to 5, kernel 1 to 7, padding k // 2 or none, inputs 4 to 96."""
    k = rng.randint(1, 7)
    p = rng.choice((0, k // 2))
    return _conv(
        _extents(rng, 4, 96), _channels(rng), (k, k), _unlike(rng, 1, 5), pad=Pad.same(p, p)
    )


def _unlike_dilations(rng: _Rng) -> ConvGeometry:
    """Dilations of 1 to 4, kernel 2 to 5, padding less than the dilated kernel; inputs 8 to 96."""
    k, d = rng.randint(2, 5), _unlike(rng, 1, 4)
    pad = Pad.same(rng.randint(0, (k - 1) * d[0]), rng.randint(0, (k - 1) * d[1]))
    return _conv(_extents(rng, 8, 96), _channels(rng), (k, k), d=d, pad=pad)


def _unlike_paddings(rng: _Rng) -> ConvGeometry:
    """Unlike paddings of rows and columns, each less than the kernel of 2 to 7; inputs 4 to 96."""
    k = rng.randint(2, 7)
    return _conv(
        _extents(rng, 4, 96), _channels(rng), (k, k), pad=Pad.same(*_unlike(rng, 0, k - 1))
    )


def _asymmetric(rng: _Rng) -> ConvGeometry:
    """Everything drawn for itself: kernel 1 to 7, stride 1 to 4, dilation 1 to 3, padding less than the
    dilated kernel, inputs 1 to 96."""
    k, d = _two(rng, 1, 7), _two(rng, 1, 3)
    pad = Pad.same(rng.randint(0, (k[0] - 1) * d[0]), rng.randint(0, (k[1] - 1) * d[1]))
    return _conv(_extents(rng, 1, 96), _channels(rng), k, _two(rng, 1, 4), d, pad)


def _most_padding(rng: _Rng) -> ConvGeometry:
    """Padding of the dilated kernel less 1, or 1 to 4 more than that, on both axes: with more, border
    outputs read nothing but padding, which Theorem 13 excludes. Kernel 1 to 5, stride 1 to 3, dilation
    1 or 2, inputs 1 to 64."""
    k, d = _two(rng, 1, 5), _two(rng, 1, 2)
    wide = rng.randint(0, 4)
    pad = Pad.same((k[0] - 1) * d[0] + wide, (k[1] - 1) * d[1] + wide)
    return _conv(_extents(rng, 1, 64), _channels(rng), k, _two(rng, 1, 3), d, pad)


GENERATORS: dict[str, Callable[[_Rng], ConvGeometry]] = dict(
    zip(
        [row.generator for row in TABLE5],
        [
            *(_plain, _same, _strided, _expansion, _projection),
            *(_collapsed, _small_herringbone, _small_output, _thin, _integer_leg, _symmetric),
            *(_fractional_leg, _non_monotone, _rectangular, _dilated, _unlike_strides),
            *(_unlike_dilations, _unlike_paddings, _asymmetric, _most_padding),
        ],
        strict=True,
    )
)


def ranges(generator: str) -> str:
    """What a generator draws, in words."""
    return " ".join((GENERATORS[generator].__doc__ or "").split())
