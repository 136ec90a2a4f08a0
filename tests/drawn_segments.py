# SPDX-License-Identifier: Apache-2.0
"""Random small segments, hostile in shape: stems, several depthwise stages, strides, skips that end
inside and at the end, operands from outside, padding beyond the kernel, dilation."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad, Shape
from harness.geometry.segment import Segment, Stage
from harness.schema.constants import OpKind

CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD


def draw_segments(seed: int, most: int = 8) -> Iterator[Segment]:
    """Without end, and the same ones for the same seed. most: stages."""
    rng = random.Random(seed)
    while True:
        try:
            yield _segment(rng, rng.randint(2, most))
        except ConfigError:  # no output, or a skip that comes too late
            continue


def draw_bottlenecks(seed: int) -> Iterator[Segment]:
    """Expand, depthwise, project, and an add where the shapes allow one: what pixel pull runs."""
    rng = random.Random(seed)
    while True:
        shape = Shape(rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 4))
        wide = rng.randint(1, 6)
        try:
            expand = ConvGeometry(shape.h, shape.w, shape.c, wide)
            window = _window(rng, expand.output, DEPTHWISE, hostile=rng.random() < 0.3)
            if window.k_h_eff < window.s_h or window.k_w_eff < window.s_w:
                continue
            inner = window.output
            same = (inner.h, inner.w) == (shape.h, shape.w)
            narrow = shape.c if same and rng.random() < 0.7 else rng.choice((1, 3, 6, 12))
            project = ConvGeometry(inner.h, inner.w, inner.c, narrow)
            stages = [Stage(CONV, expand), Stage(DEPTHWISE, window), Stage(CONV, project)]
            if rng.random() < 0.8:
                stages.append(_add(project.output, 0 if project.output == shape else -1))
            yield Segment(tuple(stages))
        except ConfigError:
            continue


def _segment(rng: random.Random, length: int) -> Segment:
    hostile = rng.random() < 0.3
    shapes = [Shape(rng.randint(1, 9), rng.randint(1, 7), rng.randint(1, 4))]
    stages: list[Stage] = []
    for number in range(1, length + 1):
        stage = _stage(rng, number, shapes, hostile)
        stages.append(stage)
        shapes.append(stage.output)
    return Segment(tuple(stages))


def _stage(rng: random.Random, number: int, shapes: list[Shape], hostile: bool) -> Stage:
    shape = shapes[-1]
    skips = [t for t, other in enumerate(shapes[:-1]) if other == shape]
    if number > 1 and (skips or rng.random() < 0.1) and rng.random() < 0.5:
        return _add(shape, rng.choice(skips) if skips else -number)
    if rng.random() < 0.5:
        kind = DEPTHWISE if number > 1 or rng.random() < 0.3 else CONV
        return Stage(kind, _window(rng, shape, kind, hostile))
    c_out = rng.choice([rng.randint(1, 5), shapes[0].c])  # often back to what can be added
    return Stage(CONV, ConvGeometry(shape.h, shape.w, shape.c, c_out))


def _add(shape: Shape, other: int) -> Stage:
    return Stage(ADD, ConvGeometry(shape.h, shape.w, shape.c, shape.c), other)


def _window(rng: random.Random, shape: Shape, kind: OpKind, hostile: bool) -> ConvGeometry:
    """Of a clean one half the kernel is padding, as in real models."""
    c_out = shape.c * rng.choice((1, 1, 1, 2)) if kind is DEPTHWISE else rng.randint(1, 5)
    k = rng.choice((1, 3, 3, 5, 7)), rng.choice((1, 3, 3, 5))
    s = rng.choice((1, 1, 2, 3))
    clean = ConvGeometry(
        shape.h, shape.w, shape.c, c_out, *k, s, s, pad=Pad.same(k[0] // 2, k[1] // 2)
    )
    if not hostile:
        return clean
    return replace(
        clean,
        k_h=rng.randint(1, 4),
        k_w=rng.randint(1, 4),
        s_h=rng.randint(1, 3),
        s_w=rng.randint(1, 3),
        d_h=rng.choice((1, 1, 2)),
        d_w=rng.choice((1, 1, 2)),
        pad=Pad(*(rng.randint(0, 4) for _ in range(4))),
    )
