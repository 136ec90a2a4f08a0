# SPDX-License-Identifier: Apache-2.0
"""What RUN loads as input: in every storage, with padding on any side, read back after a move that
leaves the input where it is."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import dataclass, replace

import pytest

from harness.schema import records
from harness.schema.constants import FrameType, OpKind, StoredBy
from tests.firmware import window_op
from tests.firmware.support import CaseParts, HostRunner, build, input_byte, paint, tensor

# of tensors that are whole in memory; the others are of segments' rows
WHOLE = [by for by in StoredBy if by <= StoredBy.ORDER]

_SIDES = ("pad_top", "pad_left", "pad_bottom", "pad_right")
_GEOMETRIES = 100  # of each storage
_OFFSET = 7  # of the input in the arena


@dataclass(frozen=True)
class _Stored:
    """An image and its padding, pads = (top, left, bottom, right).

    places: of each pixel of the stored tensor, row-major, in memory.
    """

    h: int
    w: int
    c: int
    pads: tuple[int, int, int, int]
    by: StoredBy
    fill: int
    places: tuple[int, ...]

    @property
    def extents(self) -> tuple[int, int]:
        top, left, bottom, right = self.pads
        return self.h + top + bottom, self.w + left + right


def _stored(
    h: int, w: int, c: int, pads: tuple[int, int, int, int], by: StoredBy, seed: int
) -> _Stored:
    rng = random.Random(seed)
    rows, columns = h + pads[0] + pads[2], w + pads[1] + pads[3]
    if by is StoredBy.COLUMN:
        places = [x * rows + y for y in range(rows) for x in range(columns)]
    else:
        places = list(range(rows * columns))
    if by is StoredBy.ORDER:
        rng.shuffle(places)
    return _Stored(h, w, c, pads, by, rng.choice((-128, -1, 0, 5, 127)), tuple(places))


def _by_definition(image: _Stored, seed: int) -> bytes:
    """The values of the image row-major, channels last, without gaps for the padding."""
    rows, columns = image.extents
    memory = bytearray([image.fill & 0xFF]) * (rows * columns * image.c)
    for y in range(image.h):
        for x in range(image.w):
            pixel = (y + image.pads[0]) * columns + x + image.pads[1]
            for channel in range(image.c):
                value = input_byte(seed, (y * image.w + x) * image.c + channel)
                memory[image.places[pixel] * image.c + channel] = value
    return bytes(memory)


def _case(image: _Stored) -> CaseParts:
    """A move to behind the input, where no value is lost."""
    rows, columns = image.extents
    input = tensor(
        _OFFSET, rows, columns, image.c, stored_by=image.by, fill=image.fill,
        **dict(zip(_SIDES, image.pads, strict=True)),
    )  # fmt: skip
    output = replace(input, offset=_OFFSET + input.bytes)
    case = window_op.OneOp(OpKind.MOVE, input, output).parts()
    if image.by is StoredBy.ORDER:
        case.weights = struct.pack(f"<{len(image.places)}H", *image.places)
    return case


def _check(host: HostRunner, image: _Stored, seed: int) -> None:
    case = _case(image)
    host.flash(build([case]))
    frames = host.run(0, seed, paint=seed & 1)
    assert [f.type for f in frames] == [FrameType.CASE, FrameType.OP, FrameType.RESULT], image
    expected = _by_definition(image, seed)
    below = bytes(paint(1024 + at, seed & 1) for at in range(_OFFSET))
    assert host.read(0, case.arena) == below + expected + expected, image
    result = records.RunResult.unpack(frames[2].payload)
    assert result.input_crc == result.output_crc == zlib.crc32(expected)


@pytest.mark.parametrize("by", WHOLE, ids=lambda by: by.name.lower())
def test_random_geometries(host: HostRunner, by: StoredBy) -> None:
    for seed in range(_GEOMETRIES):
        rng = random.Random(seed)
        h, w, c = rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 9)
        top, left, bottom, right = (rng.choice((0, 0, 1, 2, 5)) for _ in range(4))
        _check(host, _stored(h, w, c, (top, left, bottom, right), by, seed), seed)


@pytest.mark.parametrize("side", range(4), ids=_SIDES)
@pytest.mark.parametrize("by", WHOLE, ids=lambda by: by.name.lower())
def test_padding_on_one_side(host: HostRunner, by: StoredBy, side: int) -> None:
    top, left, bottom, right = (2 * (number == side) for number in range(4))
    _check(host, _stored(3, 4, 5, (top, left, bottom, right), by, side), seed=9)


def test_positions_of_sixteen_bits(host: HostRunner) -> None:
    """20,000 pixels: bytes of the table in the right order, and every one of them used."""
    _check(host, _stored(100, 196, 1, (0, 2, 0, 2), StoredBy.ORDER, 3), seed=4)


def test_every_operand_has_a_seed_of_its_own(host: HostRunner) -> None:
    """The n-th has the run's seed + n; one of them padded, one by columns."""
    images = [
        _stored(3, 4, 5, (0, 0, 0, 0), StoredBy.ROW, 1),
        _stored(2, 3, 4, (1, 0, 2, 1), StoredBy.ROW, 2),
        _stored(4, 3, 2, (0, 1, 0, 0), StoredBy.COLUMN, 3),
    ]
    case = _case(images[0])
    at = case.arena
    expected = _by_definition(images[0], 70)
    wanted = b""
    for number, image in enumerate(images[1:], 1):
        record = replace(_case(image).tensors[0], offset=at)
        case.tensors.append(record)
        wanted += _by_definition(image, 70 + number)
        at += record.bytes
    start, case.arena, case.inputs = case.arena, at, (0, 2, 3)
    host.flash(build([case]))
    frames = host.run(0, 70)
    assert host.read(start, at - start) == wanted
    assert records.RunResult.unpack(frames[-1].payload).input_crc == zlib.crc32(expected + wanted)
