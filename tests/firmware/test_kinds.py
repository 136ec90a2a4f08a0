# SPDX-License-Identifier: Apache-2.0
"""What each kind of op demands of its operands, its output and its constants (runner/shapes.c)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.schema.constants import FrameType, Refusal, StoredBy, TapOrder, Traversal
from tests.firmware.hostile import RUNS, run_sanitized, with_extremes
from tests.firmware.kinds import KINDS, good, reshaped, stored
from tests.firmware.support import CaseParts, HostRunner, build, refusal

# of tensors that are whole in memory; the others are of segments' rows
WHOLE = [by for by in StoredBy if by <= StoredBy.ORDER]

# the lower half of a BAD_RECORD's detail (runner/pack.h)
GEOMETRY, SHAPE, WEIGHTS, QUANTS, OPERANDS, POSITIONS, RING = 7, 8, 9, 10, 16, 17, 21
_TWO = ["add", "add-broadcast", "mul", "mul-broadcast"]
_OF_THE_OUTPUT = [*_TWO, "concat"]
_OWN_CHANNELS = ("conv", "fully-connected")  # any c_out is sound, and the constants follow it
_WINDOWS = [name for name in KINDS if name.startswith(("conv", "depthwise")) or "pool" in name]
_NO_WINDOWS = [name for name in KINDS if name not in (*_WINDOWS, "move")]


def _expect(host: HostRunner, case: CaseParts, what: int) -> None:
    host.flash(build([case]))
    answer = refusal(host.run(0, 1))
    assert (answer.reason, answer.detail) == (Refusal.BAD_RECORD, what)  # of op or tensor 0


def _op(case: CaseParts, **changes: Any) -> CaseParts:
    case.ops = [replace(case.ops[0], **changes)]
    return case


def _shaped(case: CaseParts, number: int, h: int, w: int, c: int) -> CaseParts:
    case.tensors[number] = reshaped(case.tensors[number], h, w, c)
    return case


@pytest.mark.parametrize("name", KINDS)
def test_the_good_case_runs(host: HostRunner, name: str) -> None:
    host.flash(build([good(name)]))
    assert [f.type for f in host.run(0, 1)] == [FrameType.CASE, FrameType.OP, FrameType.RESULT]


# ---- for every kind ----


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("name", KINDS)
def test_the_output_has_the_extents_that_the_kind_says(
    host: HostRunner, name: str, change: int
) -> None:
    for axis in range(3):
        case = good(name)
        output = case.tensors[-1]
        shape = [output.h, output.w, output.c]
        shape[axis] += change
        if 0 in shape:
            continue  # no tensor at all
        what = WEIGHTS if axis == 2 and name.startswith(_OWN_CHANNELS) else SHAPE
        _expect(host, _shaped(case, len(case.tensors) - 1, *shape), what)


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("name", KINDS)
def test_the_kind_says_how_many_constants(host: HostRunner, name: str, change: int) -> None:
    """The slices hold more, so that it is the number that is wrong."""
    op = good(name).ops[0]
    if op.weights_bytes + change >= 0:
        _expect(host, _op(good(name), weights_bytes=op.weights_bytes + change), WEIGHTS)
    if op.quant_count + change >= 0:
        _expect(host, _op(good(name), quant_count=op.quant_count + change), QUANTS)


@pytest.mark.parametrize("name", KINDS)
def test_constants_lie_in_their_slices(host: HostRunner, name: str) -> None:
    """The last offset at which enough of the slice is left, and the first at which it is not."""
    case = good(name)
    op = case.ops[0]
    if op.weights_bytes:
        step = 4 if name == "softmax" else 1
        last = (len(case.weights) - op.weights_bytes) // step * step
        host.flash(build([_op(good(name), weights_offset=last)]))
        assert host.run(0, 1)[-1].type is FrameType.RESULT
        _expect(host, _op(good(name), weights_offset=last + step), WEIGHTS)
    if op.quant_count:
        last = len(case.quants) - op.quant_count
        host.flash(build([_op(good(name), quant_first=last)]))
        assert host.run(0, 1)[-1].type is FrameType.RESULT
        _expect(host, _op(good(name), quant_first=last + 1), QUANTS)


@pytest.mark.parametrize("name", [n for n in KINDS if n not in _OF_THE_OUTPUT])
def test_one_operand(host: HostRunner, name: str) -> None:
    _expect(host, _op(good(name), input_count=2), OPERANDS)


# ---- storage ----


@pytest.mark.parametrize("name", _NO_WINDOWS)
def test_no_window_takes_its_tensors_by_rows(host: HostRunner, name: str) -> None:
    """Each operand, and the output."""
    for number in range(len(good(name).tensors)):
        case = good(name)
        case.tensors[number] = stored(case.tensors[number], StoredBy.COLUMN)
        _expect(host, case, GEOMETRY)


@pytest.mark.parametrize("by", WHOLE, ids=lambda by: by.name.lower())
@pytest.mark.parametrize("name", _WINDOWS)
def test_a_window_takes_its_input_as_it_goes(host: HostRunner, name: str, by: StoredBy) -> None:
    case = good(name)
    sound = case.tensors[0].stored_by == by
    case.weights = bytes(len(case.weights))  # positions, too: all pixels at the first place
    case.tensors[0] = replace(stored(case.tensors[0], by), positions_offset=0)
    if sound:
        host.flash(build([case]))
        assert host.run(0, 1)[-1].type is FrameType.RESULT
    else:
        _expect(host, case, RING if by > StoredBy.ORDER else GEOMETRY)


@pytest.mark.parametrize("by", [StoredBy.COLUMN, StoredBy.ORDER], ids=lambda by: by.name.lower())
def test_a_move_takes_any_storage(host: HostRunner, by: StoredBy) -> None:
    case = good("move")
    case.weights = bytes(2 * 3 * 4)
    case.tensors = [stored(record, by) for record in case.tensors]
    host.flash(build([case]))
    assert host.run(0, 1)[-1].type is FrameType.RESULT


@pytest.mark.parametrize("side", ["pad_top", "pad_left", "pad_bottom", "pad_right"])
@pytest.mark.parametrize("name", ["mean", "fully-connected", "conv", "depthwise", "max-pool"])
def test_padding_may_not_count_as_values(host: HostRunner, name: str, side: str) -> None:
    case = good(name)
    case.tensors[0] = replace(case.tensors[0], **{side: 1})
    _expect(host, case, GEOMETRY)


@pytest.mark.parametrize("side", ["pad_top", "pad_left", "pad_bottom", "pad_right"])
def test_stored_padding_is_the_ops(host: HostRunner, side: str) -> None:
    """More of it in the tensor alone, and in the op alone."""
    case = good("conv-padded")
    case.tensors[0] = replace(case.tensors[0], **{side: 2})
    _expect(host, case, GEOMETRY)
    _expect(host, _op(good("conv-padded"), **{side: 2}), GEOMETRY)


# ---- kind by kind ----


@pytest.mark.parametrize(
    "shape", [(3, 4, 4), (3, 4, 6), (3, 3, 5), (2, 4, 5), (1, 4, 5), (3, 1, 5)]
)
@pytest.mark.parametrize("name", _TWO)
def test_the_second_operand_is_like_the_first_or_a_pixel(
    host: HostRunner, name: str, shape: tuple[int, int, int]
) -> None:
    _expect(host, _shaped(good(name), 1, *shape), OPERANDS)


@pytest.mark.parametrize("channels", [1, 4, 6])
@pytest.mark.parametrize("name", _TWO)
def test_a_pixel_has_as_many_channels(host: HostRunner, name: str, channels: int) -> None:
    _expect(host, _shaped(good(name), 1, 1, 1, channels), OPERANDS)


@pytest.mark.parametrize("name", ["add", "mul"])
def test_only_the_second_operand_is_repeated(host: HostRunner, name: str) -> None:
    _expect(host, _shaped(good(name), 0, 1, 1, 5), OPERANDS)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", _TWO)
def test_two_operands(host: HostRunner, name: str, count: int) -> None:
    _expect(host, _op(good(name), input_count=count), OPERANDS)


@pytest.mark.parametrize(("h", "w"), [(2, 4), (4, 4), (3, 3), (3, 5), (4, 3)])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_concatenated_operands_have_one_extent(
    host: HostRunner, number: int, h: int, w: int
) -> None:
    case = good("concat")
    _expect(host, _shaped(case, number, h, w, case.tensors[number].c), SHAPE)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_concatenated_channels_add_up(host: HostRunner, count: int) -> None:
    _expect(host, _op(good("concat"), input_count=count), SHAPE)


@pytest.mark.parametrize("factors", [(0, 3), (2, 0), (0, 0), (1, 3), (2, 4), (0xFFFF, 0xFFFF)])
def test_upsampling_factors(host: HostRunner, factors: tuple[int, int]) -> None:
    _expect(host, _op(good("upsample"), s_h=factors[0], s_w=factors[1]), SHAPE)


@pytest.mark.parametrize("side", ["pad_top", "pad_left", "pad_bottom", "pad_right"])
@pytest.mark.parametrize("by", [-1, 1, 0xFF00])
def test_a_border_is_as_wide_as_it_says(host: HostRunner, side: str, by: int) -> None:
    op = good("pad").ops[0]
    _expect(host, _op(good("pad"), **{side: getattr(op, side) + by}), SHAPE)


@pytest.mark.parametrize("channels", [1, 2, 4, 5, 7])
def test_depthwise_channels_are_a_multiple(host: HostRunner, channels: int) -> None:
    _expect(host, _shaped(good("depthwise"), 1, 4, 5, channels), SHAPE)


def test_by_channels_there_is_no_multiplier(host: HostRunner) -> None:
    case = good("depthwise")
    _expect(host, _op(case, traversal=Traversal.CHANNEL), GEOMETRY)


@pytest.mark.parametrize("name", ["average-pool", "max-pool"])
@pytest.mark.parametrize(
    ("changes", "h", "w"),
    [
        ({"pad_top": 3}, 6, 5),  # the first row of windows is padding
        ({"pad_bottom": 3}, 6, 5),
        ({"pad_left": 3}, 4, 7),
        ({"pad_right": 3}, 4, 7),
        # two taps, five apart, one on either side of the four rows
        ({"k_h": 2, "d_h": 5, "pad_top": 1}, 1, 5),
    ],
)
def test_a_pooled_window_has_a_tap(
    host: HostRunner, name: str, changes: dict[str, int], h: int, w: int
) -> None:
    _expect(host, _shaped(_op(good(name), **changes), 1, h, w, 3), GEOMETRY)


@pytest.mark.parametrize("name", ["average-pool", "max-pool"])
@pytest.mark.parametrize(
    ("changes", "h", "w"),
    [
        ({"pad_top": 2}, 5, 5),  # as far as it goes
        ({"pad_bottom": 2}, 5, 5),
        ({"pad_left": 2, "pad_right": 2}, 4, 7),
        ({"k_h": 2, "d_h": 4, "pad_top": 1}, 2, 5),
    ],
)
def test_one_tap_is_enough(
    host: HostRunner, name: str, changes: dict[str, int], h: int, w: int
) -> None:
    host.flash(build([_shaped(_op(good(name), **changes), 1, h, w, 3)]))
    assert host.run(0, 1)[-1].type is FrameType.RESULT


def test_softmax_channels(host: HostRunner) -> None:
    """4,095 equal ones: the sum of 2^19 each is the last under 2^31."""
    for channels, sound in ((4095, True), (4096, False)):
        case = good("softmax")
        for number, offset in enumerate((0, 4096)):
            record = reshaped(case.tensors[number], 1, 1, channels)
            case.tensors[number] = replace(record, offset=offset)
        if sound:
            host.flash(build([case]))
            assert host.run(0, 1)[-1].type is FrameType.RESULT
        else:
            _expect(host, case, GEOMETRY)


@pytest.mark.parametrize("offset", [1, 2, 3, 5])
def test_the_softmax_table_is_aligned(host: HostRunner, offset: int) -> None:
    _expect(host, _op(good("softmax"), weights_offset=offset), WEIGHTS)


@pytest.mark.parametrize("entry", [20, 0x7FFF, 0xFFFF])
def test_positions_stay_in_their_tensor(host: HostRunner, entry: int) -> None:
    """20 pixels, so 19 is the last place. The first and the last entry."""
    for pixel in (0, 19):
        case = good("conv-herringbone")
        weights = bytearray(case.weights)
        at = case.tensors[0].positions_offset + 2 * pixel
        weights[at : at + 2] = entry.to_bytes(2, "little")
        case.weights = bytes(weights)
        _expect(host, case, POSITIONS)


# ---- every field of every kind at its extremes, under sanitizers ----


def _hostile() -> list[CaseParts]:
    cases = []
    for name in KINDS:
        case = good(name)
        for changed in with_extremes(case.ops[0]):
            cases.append(replace(case, ops=[changed]))
            if case.ops[0].tap_order == TapOrder.GATHER:
                cases.append(replace(case, ops=[changed], scratch=1))
        for number, record in enumerate(case.tensors):
            for changed in with_extremes(record):
                tensors = [*case.tensors[:number], changed, *case.tensors[number + 1 :]]
                cases.append(replace(case, tensors=tensors))
    return cases


def test_hostile_fields_under_sanitizers(sanitized: Path) -> None:
    cases = _hostile()
    cases += [good(KINDS[0])] * (-len(cases) % RUNS)
    packs = [build(cases[at : at + RUNS]) for at in range(0, len(cases), RUNS)]
    answers = _runs(run_sanitized(sanitized, packs))
    refused = sum(answer == [FrameType.REFUSED] for answer in answers)
    ran = sum(answer[-1] is FrameType.RESULT for answer in answers)
    assert refused + ran == len(cases)
    assert ran > 1000
    assert refused > 5000


def _runs(answers: list[list[FrameType]]) -> list[list[FrameType]]:
    """Without the answer to HELLO, which is the first for each pack."""
    return [answer for number, answer in enumerate(answers) if number % (1 + RUNS)]
