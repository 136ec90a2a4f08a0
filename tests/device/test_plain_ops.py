# SPDX-License-Identifier: Apache-2.0
"""The plain kernels that are no windows: an emulated board of each chip gives what the same sources give
on the host, overlapping or not, and the witness sees no access that it should not see."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import cast

import pytest

from harness.boards import Board, BoardEntry
from harness.bounds import round_up
from harness.build import RunnerImage
from harness.case import Pack
from harness.schema.constants import ARENA_LEAD, GUARD_BYTES, FrameType, OpKind, Rounding, Traversal
from harness.schema.records import CaseEntry, PackHeader, RunResult
from tests.firmware.one_op import STRAIGHT, OneOp, size
from tests.firmware.support import HostRunner, build, compile_host
from tests.firmware.test_elementwise import one_operand, two_operands
from tests.firmware.test_rearranging import draw as rearranging
from tests.firmware.test_rearranging import move
from tests.firmware.test_softmax import draw as softmax

_EACH = 12  # cases of a kernel and traversal
_SHIFT = (32, 32, 8)  # 8 KiB


def _drawn() -> Iterator[OneOp]:
    for traversal in STRAIGHT:
        for seed in range(_EACH):
            for kind in (OpKind.ADD, OpKind.MUL):
                for rounding in (Rounding.DOUBLE, Rounding.SINGLE):
                    yield two_operands(seed, kind, traversal, rounding)
            for kind in (OpKind.TABLE, OpKind.CLAMP):
                yield one_operand(seed, kind, traversal)
            for kind in (OpKind.UPSAMPLE, OpKind.CONCAT, OpKind.PAD):
                yield rearranging(seed, kind, traversal)
            yield softmax(seed, traversal)


def _moves() -> Iterator[OneOp]:
    """Lengths around the unrolled loop's turn, distances around its groups, aligned or not."""
    rng = random.Random(8)
    for length in (*range(1, 9), 15, 16, 31, 32, 33, 36, 63, 64, 67, 96, 100, 129):
        for distance in rng.sample(
            (-64, -33, -32, -16, -4, -2, -1, 0, 1, 2, 4, 16, 20, 32, 33, 64), 6
        ):
            yield move((1, 1, length), max(0, -distance), max(0, distance))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> HostRunner:
    library = tmp_path_factory.mktemp("host") / "runner.so"
    compile_host("cc", library, ["-O2", "-shared", "-fPIC"], [])
    return HostRunner(library)


def _pack(ops: list[OneOp]) -> Pack:
    """Of what a board asks its pack for; these cases have no layer."""
    data = build([op.parts() for op in ops])
    header = PackHeader.unpack(data[: PackHeader.size()])
    at = header.directory_offset
    entries = [
        CaseEntry.unpack(data[start : start + CaseEntry.size()])
        for start in range(at, at + len(ops) * CaseEntry.size(), CaseEntry.size())
    ]
    cases = [
        SimpleNamespace(
            id=f"{number}-{op.kind.name}",
            macs=30 * size(op.output),
            n_out=size(op.output),
        )
        for number, op in enumerate(ops)
    ]
    return cast(
        Pack,
        SimpleNamespace(
            cases=cases, entries=entries, header=header, data=data, op_count=lambda _: 1
        ),
    )


@contextmanager
def _started(entry: BoardEntry, image: RunnerImage, pack: Pack) -> Iterator[Board]:
    with Board(entry) as board:
        board.start(image, pack)
        yield board


def _first_stores(op: OneOp, output: int, count: int) -> range:
    """Where the first byte is written; a move goes by up to 16. Memory alone does not show in which
    order a pixel is written that was read before."""
    last = output + count - 1
    if op.kind is OpKind.MOVE:
        up = op.output_offset > op.input_offsets[0]
        return range(last - 15, last + 1) if up else range(output, output + 1)
    return range(last, last + 1) if op.traversal is Traversal.REVERSE else range(output, output + 1)


@pytest.mark.parametrize("which", [_drawn, _moves], ids=["drawn", "moves"])
def test_board_and_host_agree(
    which: object, entry: BoardEntry, image: RunnerImage, host: HostRunner
) -> None:
    ops = list(_drawn() if which is _drawn else _moves())
    pack = _pack(ops)
    host.flash(pack.data)
    with _started(entry, image, pack) as board:
        witness = board.witness
        assert witness is not None
        for index, op in enumerate(ops):
            what = f"case {index}: {op}"
            pool = image.symbols["__pool_start"]
            base = pool + ARENA_LEAD
            scratch = round_up(base + op.arena + GUARD_BYTES, 8)
            behind = scratch + op.scratch
            operands = zip(op.input_offsets, op.inputs, strict=True)
            output = (base + op.output_offset, size(op.output))
            witness.watch(
                begin=image.symbols["port_window_begin"],
                end=image.symbols["port_window_end"],
                areas={
                    "arena": [(base, op.arena)],
                    "scratch": [(scratch, op.scratch)],
                    "outside": [
                        (pool, ARENA_LEAD),
                        (base + op.arena, scratch - base - op.arena),
                        (behind, pool + image.pool_bytes - behind),
                    ],
                },
                inputs=[(base + at, size(shape)) for at, shape in operands],
                outputs=[output],
            )
            (result,) = board.run(index, seed=index, paint=index & 1).results
            (window,) = witness.windows()
            frames = host.run(index, seed=index, paint=index & 1)
            assert frames[-1].type is FrameType.RESULT
            expected = RunResult.unpack(frames[-1].payload)
            assert result.output_crc == expected.output_crc, what
            assert board.read(0, op.arena) == host.read(0, op.arena), what
            assert result.outside_count == 0, what
            zones = window.zones
            assert zones["outside"].written.count == 0, what
            assert zones["arena"].written.count == size(op.output), what
            assert zones["arena"].written.first == output[0], what
            first = zones["arena"].first_store
            assert first is not None, what
            assert first.address in _first_stores(op, *output), what
            for area in ("arena", "scratch", "outside"):
                assert zones[area].unwritten.count == 0, f"{area}, {what}"


@pytest.mark.parametrize("distance", [-512, -4, 4, 512])
def test_a_shift_takes_a_cycle_a_byte_at_most(
    distance: int, entry: BoardEntry, image: RunnerImage
) -> None:
    op = move(_SHIFT, max(0, -distance), max(0, distance))
    with _started(entry, image, _pack([op])) as board:
        (result,) = board.run(0, seed=1).results
    print(f"{entry.chip} {distance}: {result.cycles / size(_SHIFT):.3f} cycles a byte")
    assert result.cycles <= size(_SHIFT)
