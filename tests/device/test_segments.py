# SPDX-License-Identifier: Apache-2.0
"""Segments on both chips: exact to the byte at their gap, and wrong with a byte, a row, a pixel less."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from operator import or_

import pytest

from harness.boards import Board, BoardEntry
from harness.build import RunnerImage, build_runner
from harness.case import NetworkCase, build_pack
from harness.errors import ConfigError
from harness.geometry import ConvGeometry, Pad
from harness.geometry.segment import Segment, Stage
from harness.kernels import PLAIN, Choice, KernelTraits
from harness.schema.constants import ARENA_LEAD, OpKind, Rounding
from tests.bounds.test_fused import bottleneck
from tests.device.forced_segments import forced_case, forced_plan, gap_of
from tests.device.support import new_entry
from tests.drawn_segments import draw_segments

CONV, DEPTHWISE, ADD = OpKind.CONV, OpKind.DEPTHWISE, OpKind.ADD
ONE = Pad.same(1, 1)

RESIDUAL = bottleneck(8, 3, 7, 3, 3, 1, adds=True)
SHORT = bottleneck(2, 3, 5, 3, 5, 1)  # fewer rows than the kernel: a spare slot for the parked row
STEM = Segment(
    (
        Stage(CONV, ConvGeometry(13, 11, 3, 6, 3, 3, 2, 2, pad=ONE)),
        Stage(DEPTHWISE, ConvGeometry(7, 6, 6, 6, 3, 3, pad=ONE)),
        Stage(CONV, ConvGeometry(7, 6, 6, 5)),
        Stage(CONV, ConvGeometry(7, 6, 5, 9)),
        Stage(DEPTHWISE, ConvGeometry(7, 6, 9, 9, 5, 5, 2, 2, pad=Pad(1, 1, 2, 2))),
    )
)
HALVED = Segment(  # expand, depthwise of stride 2: the one kind with a gap above 0
    (
        Stage(CONV, ConvGeometry(9, 8, 2, 16)),
        Stage(DEPTHWISE, ConvGeometry(9, 8, 16, 16, 3, 3, 2, 2, pad=ONE)),
    )
)
SKIP = Segment(  # a skip that ends inside, and an operand from outside
    (
        Stage(CONV, ConvGeometry(6, 5, 3, 4)),
        Stage(CONV, ConvGeometry(6, 5, 4, 8)),
        Stage(DEPTHWISE, ConvGeometry(6, 5, 8, 8, 3, 3, pad=ONE)),
        Stage(CONV, ConvGeometry(6, 5, 8, 4)),
        Stage(ADD, ConvGeometry(6, 5, 4, 4), 1),
        Stage(ADD, ConvGeometry(6, 5, 4, 4), -1),
    )
)
NAMED = {"residual": RESIDUAL, "short": SHORT, "stem": STEM, "halved": HALVED, "skip": SKIP}


def choice_of(kernel: KernelTraits, segment: Segment) -> Choice:
    return kernel.choose_segment(segment, [Rounding.DOUBLE] * segment.last)


def usable(seed: int, kernel: KernelTraits) -> Iterator[tuple[str, Segment]]:
    """Drawn ones that the set's own kernel takes, of tensors whose scales can be added."""
    for number, segment in enumerate(draw_segments(seed)):
        name = f"drawn{number}"
        try:
            if choice_of(kernel, segment).kernel.set == kernel.name and len(segment.operands) <= 4:
                forced_case(forced_plan(segment, name, kernel=kernel))
                yield name, segment
        except ConfigError:
            continue


FAST = {"rp2040": "m0plus"}  # sets with a kernel of their own for segments


@pytest.fixture(scope="module")
def image(chip: str) -> RunnerImage:
    return build_runner(chip, kernels=forced_plan(RESIDUAL, "residual").kernels)


class Segments:
    """A board with cases on it."""

    def __init__(self, board: Board, image: RunnerImage, cases: list[NetworkCase]) -> None:
        self.board, self.cases = board, cases
        board.start(image, build_pack(cases))

    def wrong(self, number: int, seed: int = 1) -> str:
        """What is wrong with a case under either paint; the outputs' CRC comes first."""
        case = self.cases[number]
        right = case.output_crc(case.tensors(seed))
        for paint in (0, 1):
            (result,) = self.board.run(number, seed, paint=paint).results
            if result.output_crc != right:
                return "output"
            if result.outside_count or result.high_water > case.arena_bytes:
                return "outside"
        return ""


def test_segments_are_exact_at_their_gap(entry: BoardEntry, image: RunnerImage) -> None:
    """In an arena of just these bytes, dirty two ways; what lies outside stays as it was."""
    cases = [
        forced_case(forced_plan(s, n)) for n, s in (*NAMED.items(), *islice(usable(5, PLAIN), 24))
    ]
    assert len(cases) == len(NAMED) + 24
    with Board(entry) as board:
        segments = Segments(board, image, cases)
        found = {case.id: segments.wrong(n) for n, case in enumerate(cases)}
    assert set(found.values()) == {""}, found


@pytest.mark.parametrize("chip", FAST)
def test_fast_segments_are_exact_at_their_gap(chip: str) -> None:
    """Of a set's own kernel, rows parked in its own way included."""
    kernel = KernelTraits(FAST[chip], chip)
    more = [
        ("k5s2", bottleneck(9, 5, 12, 7, 5, 2)),
        ("k7", bottleneck(6, 4, 9, 4, 7, 1, adds=True)),
        ("k7s2", bottleneck(7, 2, 5, 9, 7, 2)),
        ("short7", bottleneck(3, 4, 6, 4, 7, 1, adds=True)),
    ]
    cases = []
    for name, segment in (*NAMED.items(), *more, *islice(usable(9, kernel), 40)):
        assert choice_of(kernel, segment).kernel.set == FAST[chip]
        cases.append(forced_case(forced_plan(segment, name, kernel=kernel)))
    fast = build_runner(chip, kernels=reduce(or_, (case.plan.kernels for case in cases)))
    with Board(new_entry(chip)) as board:
        segments = Segments(board, fast, cases)
        found = {case.id: segments.wrong(n) for n, case in enumerate(cases)}
    assert set(found.values()) == {""}, found


def test_what_is_too_near_is_wrong(entry: BoardEntry, image: RunnerImage) -> None:
    """A byte of the gap less, a row of a ring less, the output a pixel up."""
    cases = [
        forced_case(forced_plan(HALVED, "at-the-gap")),
        forced_case(forced_plan(HALVED, "a-byte-closer", closer=1)),
        forced_case(forced_plan(HALVED, "a-row-less", fewer_rows=1)),
        forced_case(forced_plan(RESIDUAL, "a-ring-row-less", fewer_rows=1)),
        forced_case(forced_plan(RESIDUAL, "a-pixel-up", raised=3)),
        forced_case(forced_plan(STEM, "a-stem-row-less", fewer_rows=1)),
    ]
    assert gap_of(HALVED) > 0 == gap_of(RESIDUAL)
    with Board(entry) as board:
        segments = Segments(board, image, cases)
        assert [segments.wrong(n) for n in range(len(cases))] == ["", *["output"] * 5]


def test_the_witness_sees_what_is_overwritten_too_early(
    entry: BoardEntry, image: RunnerImage
) -> None:
    """Bytes of the input that are stored to and loaded again later."""
    tight = [forced_plan(HALVED, "tight"), forced_plan(RESIDUAL, "residual")]
    broken = [
        forced_plan(HALVED, "closer", closer=1),
        forced_plan(RESIDUAL, "up", raised=3),
    ]
    cases = [forced_case(plan) for plan in (*tight, *broken)]
    pool = image.symbols["__pool_start"]
    arena = pool + ARENA_LEAD
    with Board(entry) as board:
        segments = Segments(board, image, cases)
        witness = board.witness
        assert witness is not None
        seen = []
        for number, case in enumerate(cases):
            network, offsets = case.plan.network, case.plan.offsets
            (source,), (output,) = network.inputs, network.outputs
            witness.watch(
                begin=image.symbols["port_window_begin"],
                end=image.symbols["port_window_end"],
                areas={"arena": [(arena, case.arena_bytes)]},
                inputs=[(arena + offsets[source], network.tensors[source].size)],
                outputs=[(arena + offsets[output], network.tensors[output].size)],
            )
            segments.wrong(number)
            windows = witness.windows()
            seen.append([window.collisions > 0 for window in windows])
        witness.stop()
    assert seen[:2] == [[False, False]] * 2
    assert all(any(collided) for collided in seen[2:])
