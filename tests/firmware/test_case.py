# SPDX-License-Identifier: Apache-2.0
"""Cases of more than one op, and what is warm in the flash cache when an op's window opens."""

from __future__ import annotations

import ctypes
import random
import zlib
from dataclasses import replace

import pytest

from harness.schema import records
from harness.schema.constants import FrameType, OpKind, TapOrder
from tests.firmware import window_op
from tests.firmware.kinds import KINDS, good
from tests.firmware.support import (
    CaseParts,
    Conv,
    Frame,
    HostRunner,
    build,
    convolve,
    input_byte,
    paint,
    parts,
    tensor,
)

_GEOMETRIES = 100
_WARM_MAX = 8  # of host_port.c
_WINDOW_CYCLES = 1000  # of host_port.c


# ---- two ops ----


def _moved(conv: Conv, offset: int) -> CaseParts:
    """The convolution's input is loaded at `offset` and moved to where it belongs first."""
    case = parts(conv)
    image = replace(case.tensors[0], offset=offset)
    move = window_op.OneOp(OpKind.MOVE, image, case.tensors[0]).record
    case.ops = [move, replace(case.ops[0], inputs=(1, 0, 0, 0), output=2)]
    case.tensors = [image, *case.tensors]
    case.arena = max(case.arena, offset + image.bytes)
    case.outputs = (2,)
    return case


def _after(case: CaseParts, conv: Conv, seed: int) -> bytes:
    arena = bytearray(paint(1024 + at, 0) for at in range(case.arena))
    offset = case.tensors[0].offset
    arena[offset : offset + conv.n_in] = bytes(input_byte(seed, at) for at in range(conv.n_in))
    image = arena[offset : offset + conv.n_in]
    arena[conv.input_offset : conv.input_offset + conv.n_in] = image
    convolve(conv, arena)
    return bytes(arena)


def _draw(rng: random.Random, order: TapOrder) -> tuple[Conv, int]:
    """A convolution, and where its input is loaded: at the place that it moves to, or over a part of
    it from either side, by bytes and by words. The output lies somewhere over them."""
    conv = Conv(
        rng.randint(2, 6), rng.randint(2, 6), rng.choice((1, 2, 3, 8)), rng.choice((1, 2, 5)),
        (rng.randint(1, 3), rng.randint(1, 3)), (rng.randint(1, 2), rng.randint(1, 2)),
        pad=(1, rng.randint(0, 2), 1, 1), order=order, seed=rng.getrandbits(30),
        input_offset=rng.choice((40, rng.randint(30, 60))), output_offset=rng.randint(0, 90),
    )  # fmt: skip
    return conv, conv.input_offset + rng.choice((-28, -4, 4, 28, 0, rng.randint(-30, 30)))


@pytest.mark.parametrize("order", list(TapOrder), ids=lambda order: order.name.lower())
def test_a_move_and_a_convolution(host: HostRunner, order: TapOrder) -> None:
    for seed in range(_GEOMETRIES):
        conv, offset = _draw(random.Random(seed), order)
        case = _moved(conv, offset)
        host.flash(build([case]))
        frames = host.run(0, seed)
        kinds = [FrameType.CASE, FrameType.OP, FrameType.OP, FrameType.RESULT]
        assert [f.type for f in frames] == kinds, conv
        assert host.read(0, case.arena) == _after(case, conv, seed), (offset, conv)
        ops = [records.OpResult.unpack(f.payload) for f in frames[1:3]]
        assert [(op.op_index, op.cycles) for op in ops] == [
            (0, _WINDOW_CYCLES),
            (1, _WINDOW_CYCLES),
        ]
        result = records.RunResult.unpack(frames[-1].payload)
        assert result.cycles == 2 * _WINDOW_CYCLES
        assert result.outside_count == 0


# ---- warm windows ----


def _warm(host: HostRunner) -> list[tuple[int, int]]:
    """Offset in flash and length of the ranges that were warm in the latest window."""
    ranges = (ctypes.c_uint32 * (2 * _WARM_MAX))()
    count = host.c.host_warm(ranges)
    assert count <= _WARM_MAX
    return [(ranges[2 * number], ranges[2 * number + 1]) for number in range(count)]


def _ranges_of(pack: bytes, case: CaseParts, op: records.OpRecord) -> list[tuple[int, int]]:
    head = records.PackHeader.unpack(pack[: records.PackHeader.size()])
    quants = head.quants_offset + 12 * op.quant_first
    ranges = [
        (head.weights_offset + op.weights_offset, op.weights_bytes),
        (quants, 12 * op.quant_count),
    ]
    image = case.tensors[op.inputs[0]]
    if image.stored_by == 2:
        ranges.append((head.weights_offset + image.positions_offset, 2 * image.h * image.w))
    return ranges


def _repeats(host: HostRunner, pack: bytes, repeats: int) -> list[Frame]:
    host.flash(pack)
    frames = host.run(0, 1, repeats=repeats)
    assert frames[-1].type is FrameType.RESULT
    return frames


@pytest.mark.parametrize("name", KINDS)
def test_a_warm_window_holds_the_constants_of_its_op(host: HostRunner, name: str) -> None:
    """Behind other constants in their slices; the first repeat is cold."""
    case = good(name)
    op = case.ops[0]
    shift = 8 * (op.weights_bytes > 0)
    first = 1 if op.quant_count else 0
    case.ops = [replace(op, weights_offset=op.weights_offset + shift, quant_first=first)]
    pack = build([case])
    _repeats(host, pack, 1)
    assert _warm(host) == []
    _repeats(host, pack, 2)
    ranges = _ranges_of(pack, case, case.ops[0])
    assert len(ranges) == (3 if name == "conv-herringbone" else 2)
    assert _warm(host) == ranges


def test_each_op_has_its_own_ranges(host: HostRunner) -> None:
    """A convolution after a move: those of the convolution."""
    conv = Conv(4, 5, 3, 2, (3, 3), pad=(1, 1, 1, 1), seed=8)
    case = _moved(conv, conv.arena)
    pack = build([case])
    _repeats(host, pack, 2)
    assert _warm(host) == _ranges_of(pack, case, case.ops[1])
    case.ops = case.ops[:1]
    case.outputs = (1,)
    pack = build([case])
    _repeats(host, pack, 2)
    assert [length for _, length in _warm(host)] == [0, 0]


@pytest.mark.parametrize("into_line", range(8))
def test_each_line_of_a_warm_range_is_loaded_once(host: HostRunner, into_line: int) -> None:
    """The last one, too, where the range does not begin with a line."""
    base = 0x1001_0000 + into_line
    for length in range(41):
        loads, at = [], 0
        while at < length:
            loads.append((base + at) // 8)
            at = host.c.host_next_line(base, at, 8)
        assert loads == sorted({(base + byte) // 8 for byte in range(length)}), length


def test_a_tensor_may_be_read_by_two_ops(host: HostRunner) -> None:
    """The input moves twice, to both sides."""
    image = tensor(20, 1, 4, 5)
    places = [tensor(0, 1, 4, 5), tensor(40, 1, 4, 5)]
    ops = [
        replace(window_op.OneOp(OpKind.MOVE, image, place).record, output=number)
        for number, place in enumerate(places, 1)
    ]
    case = CaseParts(ops, [image, *places], [], b"", 60, 0, outputs=(2,))
    host.flash(build([case]))
    assert host.run(0, 5)[-1].type is FrameType.RESULT
    assert host.read(0, 60) == 3 * bytes(input_byte(5, at) for at in range(20))


def _two_moves() -> CaseParts:
    """Forward by 20 bytes, and on by another 20."""
    places = [tensor(20 * number, 1, 4, 5) for number in range(3)]
    ops = [
        replace(
            window_op.OneOp(OpKind.MOVE, places[number], places[number + 1]).record,
            inputs=(number, 0, 0, 0),
            output=number + 1,
        )
        for number in range(2)
    ]
    return CaseParts(ops, places, [], b"", 60, 0, outputs=(2, 0))


def test_the_crc_of_several_outputs_is_of_one_after_the_other(host: HostRunner) -> None:
    host.flash(build([_two_moves()]))
    result = records.RunResult.unpack(host.run(0, 5)[-1].payload)
    image = bytes(input_byte(5, at) for at in range(20))
    assert result.output_crc == zlib.crc32(2 * image)


def test_a_run_of_the_first_ops_stops_there(host: HostRunner) -> None:
    """The second move has not been run, and the CRC is of what the first one made."""
    host.flash(build([_two_moves()]))
    frames = host.run(0, 5, ops=1)
    assert [frame.type for frame in frames] == [FrameType.CASE, FrameType.OP, FrameType.RESULT]
    image = bytes(input_byte(5, at) for at in range(20))
    assert host.read(0, 40) == 2 * image
    assert host.read(40, 20) != image
    assert records.RunResult.unpack(frames[-1].payload).output_crc == zlib.crc32(image)
