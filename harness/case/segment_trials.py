# SPDX-License-Identifier: Apache-2.0
"""The small segments on which a segment's kernel is tried: of all that its declaration accepts, the
usual kinds systematically, then chains of any stages. They are the same for the same seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.case.network_weights import draw_network_parameters
from harness.case.segment_layout import lay_out, network_of_segment
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad, Shape
from harness.geometry.segment import Segment, Stage
from harness.kernels import Kernel, KernelTraits
from harness.kernels.segments import takes_segment
from harness.network import Network, Node
from harness.schema.constants import OPERANDS_MAX, OpKind, Rounding

CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD
_TRIES = 8_000
_MOST_MACS = 20_000  # each runs three times and more
_MOST_STAGES = 7
_ACTIVATIONS = ("none", "relu", "relu6")
_WITH_ACTIVATION = (CONV, DEPTHWISE, ADD)
_FORMS = (
    "expand dw project",
    "expand dw project add",  # of X
    "expand dw project outside",  # an add of a tensor from outside
    "expand dw",
    "dw project",
    "stem dw project",
    "stem dw",
    "expand dw project expand dw project",
    "stem dw project expand dw",
    "expand expand dw project skip",  # an add of what stage 1 makes
    "expand dw project outside outside",
)
_KERNELS = (3, 5, 7)
_STRIDES = (1, 1, 2)
_PADDINGS = ("same", "same", "none", "uneven")
_EXTENTS = (1, 2, 3, 4, 5, 7, 8, 11)
_CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9)
_POOLS: tuple[Sequence[Any], ...] = (
    *(_FORMS, _KERNELS, _STRIDES, _PADDINGS, _EXTENTS, _EXTENTS),
    *(_CHANNELS, _CHANNELS, _CHANNELS),
)


def trial_segments(
    kernel: Kernel, traits: KernelTraits, count: int, seed: int
) -> tuple[Network, ...]:
    """Up to `count` different ones that this kernel of the set runs, each as a network, its operands and
    its output being the network's: systematic ones first, so that any two values of form, window,
    stride, padding and extents meet where the kernel accepts that; of them half at the most where there
    are more. Errors: ConfigError where none is found."""
    rng = random.Random(f"{kernel.kind.name} {seed}")
    found: dict[str, Network] = {}
    numbers = itertools.count()

    def take(segment: Segment) -> bool:
        if not takes_segment(kernel, segment, ()):
            return False
        network = named(segment, kernel, next(numbers))
        if not runs(kernel, traits, network, segment):
            return False
        found.setdefault(network.name, network)
        return True

    systematic, chains = _systematic(rng, take), itertools.islice(_chains(rng), _TRIES)
    while len(found) < count // 2 and next(systematic, None) is not None:
        pass
    while len(found) < count and (segment := next(chains, None)) is not None:
        take(segment)
    if not found:
        raise ConfigError(
            f"{kernel.name}: none of {_TRIES} small segments is one that it accepts",
            evidence={"accepts": [formula.text for formula in kernel.accepts]},
            hint="`accepts` must hold for every stage: convolutions, depthwise ones and adds",
        )
    return tuple(found.values())


def usual_segments(kernel: Kernel, traits: KernelTraits) -> list[Network]:
    """Of MobileNets, those that this very kernel runs, for its speed."""
    found = []
    for segment in _USUAL:
        network = named(segment, kernel, 0)
        if _takes(kernel, traits, network):
            found.append(network)
    return found


def _takes(kernel: Kernel, traits: KernelTraits, network: Network) -> bool:
    try:
        return lay_out(network, traits).step_choices[0].kernel is kernel
    except ConfigError:
        return False


def runs(kernel: Kernel, traits: KernelTraits, network: Network, segment: Segment) -> bool:
    """Does this very kernel run it, and can it be a case?"""
    if network.macs > _MOST_MACS or len(segment.operands) > OPERANDS_MAX:
        return False
    if not _takes(kernel, traits, network):
        return False
    try:
        draw_network_parameters(network)
    except ConfigError:  # its scales cannot be added
        return False
    return True


def named(segment: Segment, kernel: Kernel, number: int) -> Network:
    """As a network whose name says what it is. Roundings and activations in turn, one for all stages or
    each its own; of adds either operand first."""
    network = network_of_segment(segment)
    roundings = sorted(kernel.roundings)
    name = _name(segment)
    nodes = []
    for stage, node in enumerate(network.nodes):
        turn = number + stage if number % 3 == 2 else number
        layer = replace(node.layer, rounding=roundings[turn % len(roundings)])
        if node.layer.kind in _WITH_ACTIVATION:
            layer = replace(layer, activation=_ACTIVATIONS[(number + stage) % len(_ACTIVATIONS)])
        inputs = node.inputs[::-1] if (number + stage) % 2 else node.inputs
        nodes.append(Node(layer, inputs, node.output))
    if {node.layer.rounding for node in nodes} != {Rounding.DOUBLE}:
        name += "-" + ".".join(node.layer.rounding.name.lower() for node in nodes)
    named_nodes = tuple(
        replace(node, layer=replace(node.layer, id=f"{name}:{n}")) for n, node in enumerate(nodes)
    )
    return replace(network, name=name, nodes=named_nodes)


def _name(segment: Segment) -> str:
    """`5x6x3-conv7-dw-k3x3-s2x2-p1.1.1.1-conv4-add0`: X, then each stage. addx1: of the
    first operand from outside."""
    x = segment.shape(0)
    parts = [f"{x.h}x{x.w}x{x.c}"]
    for stage in segment.stages:
        g = stage.window
        if stage.kind is ADD:
            other = stage.other or 0
            parts.append(f"add{other}" if other >= 0 else f"addx{segment.operands.index(other)}")
            continue
        parts.append("dw" if stage.kind is DEPTHWISE else f"conv{g.c_out}")
        if (g.k_h, g.k_w) != (1, 1):
            parts.append(f"k{g.k_h}x{g.k_w}")
        if (g.s_h, g.s_w) != (1, 1):
            parts.append(f"s{g.s_h}x{g.s_w}")
        if (g.d_h, g.d_w) != (1, 1):
            parts.append(f"d{g.d_h}x{g.d_w}")
        if g.pad != Pad():
            parts.append(f"p{g.pad.top}.{g.pad.left}.{g.pad.bottom}.{g.pad.right}")
    return "-".join(parts)


def _systematic(rng: random.Random, take: Callable[[Segment], bool]) -> Iterator[Segment]:
    """Those that are taken: each brings two values together that have not met."""
    met: set[tuple[int, Any, int, Any]] = set()
    for _ in range(_TRIES // 4):
        values = tuple(rng.choice(pool) for pool in _POOLS)
        new = {
            (a, values[a], b, values[b]) for a, b in itertools.combinations(range(len(values)), 2)
        }
        if new <= met:
            continue
        try:
            segment = _of_form(rng, *values)
        except ConfigError:  # no output, or a skip that comes too late
            continue
        if take(segment):
            met |= new
            yield segment


def _of_form(
    rng: random.Random,
    form: str,
    k: int,
    s: int,
    padding: str,
    h: int,
    w: int,
    c: int,
    wide: int,
    narrow: int,
) -> Segment:
    """Errors: ConfigError for what is none."""
    shape = Shape(h, w, c)
    stages: list[Stage] = []
    words = form.split()
    for number, word in enumerate(words):
        match word:
            case "expand":
                stage = Stage(CONV, ConvGeometry(shape.h, shape.w, shape.c, wide))
            case "project":
                # back to the channels of what is added
                added = {"add": c, "skip": wide}.get(words[-1], narrow)
                stage = Stage(CONV, ConvGeometry(shape.h, shape.w, shape.c, added))
            case "stem" | "dw":
                kind = CONV if word == "stem" else DEPTHWISE
                c_out = shape.c if kind is DEPTHWISE else wide
                # what is added keeps its extent
                by, pad = (1, "same") if words[-1] in ("add", "skip") else (s, padding)
                window = ConvGeometry(
                    *(shape.h, shape.w, shape.c, c_out, k, k, by, by),
                    pad=_pad(rng, pad, k, k),
                )
                stage = Stage(kind, window)
            case "add" | "outside" | "skip":
                earlier = -1 - sum((one.other or 0) < 0 for one in stages)
                other = {"add": 0, "skip": 1, "outside": earlier}[word]
                stage = Stage(ADD, ConvGeometry(shape.h, shape.w, shape.c, shape.c), other)
            case _:
                raise AssertionError(f"stage {number}: {word}")
        stages.append(stage)
        shape = stage.output
    return Segment(tuple(stages))


def _pad(rng: random.Random, padding: str, k_h: int, k_w: int) -> Pad:
    if padding == "same":
        return Pad.same(k_h // 2, k_w // 2)
    if padding == "none":
        return Pad()
    return Pad(*(rng.randint(0, k - 1) for k in (k_h, k_w, k_h, k_w)))


def _chains(rng: random.Random) -> Iterator[Segment]:
    """Without end: stages of any kind in any order, windows that are not square among them, adds of
    any earlier tensor of the same shape; a few with dilation, or more padding than the window has
    rows."""
    while True:
        shape = Shape(rng.randint(1, 12), rng.randint(1, 14), rng.randint(1, 9))
        shapes = [shape]
        stages: list[Stage] = []
        try:
            for number in range(1, rng.randint(2, _MOST_STAGES) + 1):
                stages.append(_stage(rng, number, shapes))
                shapes.append(stages[-1].output)
            segment = Segment(tuple(stages))
        except ConfigError:  # no output, or a skip that comes too late
            continue
        yield segment


def _stage(rng: random.Random, number: int, shapes: Sequence[Shape]) -> Stage:
    shape = shapes[-1]
    skips = [tensor for tensor, other in enumerate(shapes[:-1]) if other == shape]
    kind = rng.choice((CONV, CONV, DEPTHWISE, DEPTHWISE, ADD)) if number > 1 else _first(rng)
    if kind is ADD:
        other = rng.choice(skips) if skips else -number
        return Stage(ADD, ConvGeometry(shape.h, shape.w, shape.c, shape.c), other)
    c_out = shape.c if kind is DEPTHWISE else rng.choice((rng.randint(1, 16), shapes[0].c))
    if kind is CONV and (number > 1 or rng.random() < 0.6) and rng.random() < 0.95:
        return Stage(CONV, ConvGeometry(shape.h, shape.w, shape.c, c_out))
    k_h = rng.choice((3, 3, 5, 7, 1, 2, 4))
    k_w = k_h if rng.random() < 0.7 else rng.choice((1, 2, 3, 5))
    s_h = rng.choice((1, 1, 2, 3))
    s_w = s_h if rng.random() < 0.8 else rng.choice((1, 2))
    d = 2 if rng.random() < 0.05 else 1
    pad = _pad(rng, rng.choice(_PADDINGS), k_h, k_w)
    if rng.random() < 0.05:
        pad = Pad(*(rng.randint(0, k + 1) for k in (k_h, k_w, k_h, k_w)))
    return Stage(
        kind, ConvGeometry(shape.h, shape.w, shape.c, c_out, k_h, k_w, s_h, s_w, d, d, pad=pad)
    )


def _first(rng: random.Random) -> OpKind:
    return rng.choice((CONV, CONV, CONV, DEPTHWISE))


def _bottleneck(h: int, c: int, wide: int, k: int, s: int, c_out: int) -> tuple[Stage, ...]:
    window = ConvGeometry(h, h, wide, wide, k, k, s, s, pad=Pad.same(k // 2, k // 2))
    inner = window.output
    return (
        Stage(CONV, ConvGeometry(h, h, c, wide)),
        Stage(DEPTHWISE, window),
        Stage(CONV, ConvGeometry(inner.h, inner.w, wide, c_out)),
    )


_USUAL = (
    Segment((*_bottleneck(20, 16, 96, 3, 1, 16), Stage(ADD, ConvGeometry(20, 20, 16, 16), 0))),
    Segment(_bottleneck(20, 16, 64, 5, 2, 24)),
    Segment(_bottleneck(24, 8, 48, 3, 1, 8)[:2]),
    Segment(_bottleneck(24, 8, 48, 3, 1, 8)[1:]),
)
